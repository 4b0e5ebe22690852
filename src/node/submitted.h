/* The submitted files in the work folder of a task. Every task has copies of its own, with their modes and times, so that a
 * script may change them and finds itself where it runs. A file over the limit of the experiment is a link instead. */
#ifndef NODE_SUBMITTED_H
#define NODE_SUBMITTED_H

#include "base/buf.h"
#include "spool/descriptor.h"

enum submitted_which {
	SUBMITTED_ALL, /* into a folder that no script has seen */
	SUBMITTED_NEWER, /* those that were submitted again since they were laid; what the script changed or removed stays so */
	SUBMITTED_MISSING, /* those too, and what is not there */
};

/* Lays the submitted files into the folder `to`. Adds a line to notes for each that became a link. */
int submitted_lay(const struct spool_descriptor *descriptor, const char *to, enum submitted_which which,
		  struct buf *notes, struct error *err) MUST_USE;
/* Is the file at this path of the work folder as it was submitted? Then the script has not written it. */
bool submitted_is_untouched(const char *files_dir, const char *work_dir, const char *path, int64_t size,
			    int64_t mtime_ns);
/* Removes the copies and links that the script has not changed, Python's caches of them, and folders that are empty then. */
void submitted_remove(const struct spool_descriptor *descriptor);

#endif
