/* Readers of what training scripts write by themselves: CSV with a header (Keras, Lightning, pandas) and JSON
 * lines. A reader is fed bytes as they appear and gives rows. */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include "base/error.h"
#include "base/metric.h"

#include <stdint.h>

/* One row. Steps never go backwards within one reader: where the file's own step column does (a second
 * fit() appended to the same file), counting goes on from the last one. */
typedef void (*metrics_row_f)(void *ctx, int64_t step, const char *step_name, const struct metric *metrics,
			      size_t count);

struct metrics_reader;

/* One format: a row in the table. */
struct metrics_format {
	const char *name; /* "csv" */
	const char *suffix; /* ".csv": how a file of this kind is recognised */
	struct metrics_reader *(*open)(metrics_row_f row, void *ctx);
};

extern const struct metrics_format metrics_formats[]; /* ends with a row without a name */
const struct metrics_format *metrics_format_for(const char *path); /* NULL when none fits */

struct metrics_reader *metrics_open(const struct metrics_format *format, metrics_row_f row, void *ctx);
/* Takes the next bytes of the file. Rows are given once they are complete. */
void metrics_feed(struct metrics_reader *reader, const char *data, size_t len);
/* The file has ended: a last line without a newline counts now. */
void metrics_finish(struct metrics_reader *reader);
/* The file was truncated or replaced: forget the header and the partial line, begin anew. */
void metrics_restart(struct metrics_reader *reader);
/* What follows was appended by a later attempt that may have gone back to a checkpoint: the file's own
 * steps count again. The header stays. */
void metrics_resume(struct metrics_reader *reader);
/* What was wrong so far ("line 7 has 3 fields, the header 5"), or NULL. */
const char *metrics_complaint(const struct metrics_reader *reader);
void metrics_free(struct metrics_reader *reader);

#endif
