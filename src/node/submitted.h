/* The submitted files in the work folder of a task. Every task has its own copies, with their modes and times. So a
 * script may change them, and is in the folder in which it runs. A file larger than the experiment's limit is a link
 * instead. */
#ifndef NODE_SUBMITTED_H
#define NODE_SUBMITTED_H

#include "base/buf.h"
#include "spool/descriptor.h"

enum submitted_which {
	SUBMITTED_ALL, /* into a folder that no script has seen */
	SUBMITTED_NEWER, /* those submitted again since the copy was made; other changes of the script stay */
	SUBMITTED_MISSING, /* those too, and what is not there */
};

/* Puts the submitted files into the folder `to`. Adds a line to notes for each file that became a link. */
int submitted_lay(const struct spool_descriptor *descriptor, const char *to, enum submitted_which which,
		  struct buf *notes, struct error *err) MUST_USE;
/* Is the file at this path of the work folder as it was submitted? Then the script has not written it. */
bool submitted_is_untouched(const char *files_dir, const char *work_dir, const char *path, int64_t size,
			    int64_t mtime_ns);
/* Removes the copies and links that the script has not changed, Python's caches of them, and folders that are then
 * empty. */
void submitted_remove(const struct spool_descriptor *descriptor);

#endif
