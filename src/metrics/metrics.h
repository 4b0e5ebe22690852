/* Readers of what training scripts write by themselves: CSV with a header, JSON lines and documents, TensorBoard events,
 * and what they print (metrics_formats). A reader is fed bytes as they appear and gives rows. */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include "base/error.h"
#include "base/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row. */
struct metrics_row {
	const char *source; /* set by the caller that follows the file: "csv:logs/train.csv", see metrics.md; NULL */
	bool earlier; /* set like `source`: only an earlier attempt wrote this file */
	int64_t step; /* never goes back within one reader, except with metrics_give_at */
	const char *step_name; /* "step", "epoch", …; "row": the rows are counted */
	bool whole; /* a JSON object that is the first in its file: a result, unless another step follows */
	double epoch; /* may be a fraction; NAN: not known, or it is the step */
	int64_t epochs; /* how many there will be: 10 of "Epoch 3/10"; 0: not known */
	int64_t time_ms; /* when it was written, where the file says so; 0: it does not */
	const struct metric *metrics;
	size_t count;
};

typedef void (*metrics_row_f)(void *ctx, const struct metrics_row *row);

struct metrics_reader;

/* One format: a row in the table. The order of the table is the order of trust. */
struct metrics_format {
	const char *name; /* "csv": as in `metrics: {csv: PATTERN}` */
	const char *const
		*files; /* what its files are called: patterns of fnmatch(3) for the last part of a path, ending
				   * with NULL. NULL: it reads no files but what a script prints */
	bool (*begins)(const char *head, size_t len); /* do the first bytes fit? NULL: the name of the file is enough */
	const char *const
		*others; /* names of files that may be of this format: `other` says by the first bytes; NULL */
	bool (*other)(const char *head, size_t len);
	bool settings; /* such files often hold settings: they only count if they have names of metrics */
	bool summary; /* such files hold results, not a curve, unless they have steps */
	bool certain; /* a file whose name and first bytes fit holds metrics, even if it has no row yet */
	bool folders; /* the files of one folder are one record: see metrics_join */
	struct metrics_reader *(*open)(metrics_row_f row, void *ctx);
};

/* In a source, in place of the format: the file is one object. */
#define METRICS_RESULT "result"
/* The format of files that are read by the rules for what is printed. */
#define METRICS_LOG "log"

extern const struct metrics_format metrics_formats[]; /* ends with a row without a name */
/* The first format that fits a file by its name, and by its first bytes where `head` is not NULL; NULL: none. */
const struct metrics_format *metrics_format_for(const char *path, const char *head, size_t len);
/* The format that reads what a script prints; NULL: there is none. */
const struct metrics_format *metrics_format_printed(void);

/* Is this the name of a column that counts (epoch, step, time/total_timesteps, …)? */
bool metrics_is_count(const char *name);

struct metrics_reader *metrics_open(const struct metrics_format *format, metrics_row_f row, void *ctx);
/* A reader of printed output that uses the user's own pattern instead of the rules of metrics_format_printed. Every
 * line that matches gives a row of the named groups. 0, or -EINVAL with what is wrong with the pattern. */
int metrics_open_pattern(const char *text, metrics_row_f row, void *ctx, struct metrics_reader **ret,
			 struct error *err) MUST_USE;
int metrics_check_pattern(const char *text, struct error *err) MUST_USE;
/* For formats with `folders`, before the first bytes: every name begins with `prefix` ("" for none), and the reader
 * shares what `other`, which reads a file of the same folder, knows of its scalars; NULL: it is the first of its
 * folder. */
void metrics_join(struct metrics_reader *reader, const char *prefix, struct metrics_reader *other);
/* Names that are metrics whatever they look like, because the user named them as objectives. For what a script prints:
 * other formats take every name. The names must live as long as the reader. */
void metrics_want(struct metrics_reader *reader, const char *const *names, size_t count);
/* Takes the next bytes of the file. Rows are given once they are complete. */
void metrics_feed(struct metrics_reader *reader, const char *data, size_t len);
/* The writer was killed: a last line without a newline may be incomplete (12,0.4 of 12,0.45) and is dropped. */
void metrics_drop_line(struct metrics_reader *reader);
/* The file has ended: a last line without a newline counts now. */
void metrics_finish(struct metrics_reader *reader);
/* The file was truncated or replaced: forgets the header and the partial line, and starts again. */
void metrics_restart(struct metrics_reader *reader);
/* What follows was appended by a later attempt that may have gone back to a checkpoint: the file's own
 * steps count again. The header stays. */
void metrics_resume(struct metrics_reader *reader);
/* What was wrong so far ("line 7 has 3 fields, the header 5"), or NULL. */
const char *metrics_complaint(const struct metrics_reader *reader);
/* What is shown otherwise than the file has it, and how ("step 20 is there already; …"). `which` counts from 0 to
 * METRICS_REMARKS - 1; NULL: there is no such remark so far. */
#define METRICS_REMARKS 10
const char *metrics_remark_of(const struct metrics_reader *reader, size_t which);
/* Is that remark about a row or number that is not as in the file? */
bool metrics_remark_is_change(size_t which);
void metrics_free(struct metrics_reader *reader);

#endif
