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
	const struct node *patterns; /* as metrics/place.h says, relative to work_dir; NULL: found automatically */
	const char *const *wanted; /* names of metrics that count wherever they are printed, */
	size_t wanted_count;
	const char *first; /* the file to look for first when files are found automatically; NULL */
	const char *report; /* what `sluice report` appends to */
	const char *printed[2]; /* the script's stdout and stderr: trusted least; NULL */
	const struct cuts *cuts; /* where earlier attempts began to write; NULL */
	bool resumes; /* work_dir may hold files of an earlier attempt */
	const struct find_list *before; /* what was there before the script started; NULL: what is there now */
	/* For a reader that works after the script has ended. `known` returns the format in which a file (relative to
	 * work_dir) was read before, or NULL. `after`: rows without a time get the time of their file. */
	const struct metrics_format *(*known)(void *ctx, const char *path);
	bool after;
	bool retell; /* also give the rows of earlier attempts, if a file is not written any more */
	metrics_row_f row;
	void (*note)(void *ctx, const char *text);
	void (*renumbered)(void *ctx, const char *text); /* a note that rows have other steps than in their file */
	bool (*blocked)(void *ctx); /* true: rows cannot be taken now; try again later */
	void *ctx;
};

struct follow;

/* Records which files exist before the script starts. The texts of the config must stay valid. */
struct follow *follow_new(const struct follow_config *config);
/* Calls `each` for the files that may hold metrics and existed before the script started, except submitted files. Paths
 * are relative to the work folder. */
void follow_each_before(struct follow *follow,
			void (*each)(void *ctx, const char *path, const struct find_entry *entry), void *ctx);
/* Reads what is new in the known files; with `search` also looks for new files. */
void follow_poll(struct follow *follow, bool search);
/* Call it when the script has ended. Reads everything to the end, also a last line without a newline unless the script
 * was killed. Returns true when all rows were taken; false when blocked: call it again. */
bool follow_finish(struct follow *follow, bool killed);
/* From now on a file that cannot be read holds nothing up: follow_finish says so in a note, and goes on without it. */
void follow_give_up(struct follow *follow);
/* After follow_finish: was every line of this file taken, so that the journal has all that is in it? */
bool follow_has_all(const struct follow *follow, const char *path);
void follow_free(struct follow *follow);

#endif
