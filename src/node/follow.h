/* Follows the files that a script writes its metrics to, while it writes them. */
#ifndef NODE_FOLLOW_H
#define NODE_FOLLOW_H

#include "base/node.h"
#include "metrics/metrics.h"
#include "node/cuts.h"
#include "node/find.h"

struct follow_config {
	const char *work_dir;
	const char
		*files_dir; /* what was submitted: copies of it that the script has not changed hold no metrics; NULL */
	const struct node *patterns; /* as metrics/place.h says, relative to work_dir; NULL: found by itself */
	const char *first; /* the file to look for first when found by itself; NULL */
	const char *report; /* what `sluice report` appends to */
	const char *printed[2]; /* the script's stdout and stderr: believed least; NULL */
	const struct cuts *cuts; /* where earlier attempts began to write; NULL */
	bool resumes; /* work_dir may hold files of an earlier attempt */
	const struct find_list *before; /* what was there before the script started; NULL: what is there now */
	/* For what looks when the script has ended: the format in which a file, relative to work_dir, was read before, or NULL;
	 * and whether rows that have no time get the one of their file. */
	const struct metrics_format *(*known)(void *ctx, const char *path);
	bool after;
	bool retell; /* give the rows of earlier attempts too, where a file is not written to any more */
	metrics_row_f row;
	void (*note)(void *ctx, const char *text);
	bool (*blocked)(void *ctx); /* true: rows cannot be taken now; try again later */
	void *ctx;
};

struct follow;

/* Looks at what is there before the script starts. The texts of the config must stay. */
struct follow *follow_new(const struct follow_config *config);
/* Gives the files that may hold metrics and were there before the script started, but for those that were submitted; each
 * with its path relative to the work folder. */
void follow_each_before(struct follow *follow,
			void (*each)(void *ctx, const char *path, const struct find_entry *entry), void *ctx);
/* Reads what is new in the known files; with `search` also looks for new files. */
void follow_poll(struct follow *follow, bool search);
/* The script has ended: reads everything to the end, a last line without a newline too, unless the script was killed. True
 * when all of it was taken, false when blocked: call again. */
bool follow_finish(struct follow *follow, bool killed);
/* After follow_finish: was every line of this file taken, so that the journal has all that is in it? */
bool follow_has_all(const struct follow *follow, const char *path);
void follow_free(struct follow *follow);

#endif
