/* Which column of a file is the step, and what step a row has. */
#ifndef METRICS_STEP_H
#define METRICS_STEP_H

#include "base/mem.h"
#include "base/metric.h"

#include <stdbool.h>
#include <stdint.h>

/* Why a row is not shown under the number that its file has for it. */
enum step_moved {
	STEP_AS_WRITTEN,
	STEP_AGAIN, /* the count was there already: the next free one */
	STEP_BACK, /* the count went back: it is counted on */
	STEP_BARE, /* the row has no count, and brings a column again */
	STEP_ROWS, /* the column cannot tell the rows apart: they are counted from here on */
	STEP_MOVED_KINDS
};

struct metrics_step {
	const char *name; /* of the column; "row": the rows are counted; NULL before the first row */
	size_t rank; /* of the column in the table of those that count */
	size_t still; /* the rank of a column that was taken for the step and never grew; SIZE_MAX: none */
	bool counts_rows;
	bool begun; /* a row was given */
	bool grown; /* the column did grow */
	bool anew; /* a second table begins: the same step counts as a new one */
	int64_t last, offset; /* last: of the last row. offset: added to what the column says */
	double raw; /* what the column said last */
	double epoch, first_epoch; /* NAN: none so far */
	enum step_moved moved; /* the row that was taken last */
	double before; /* what the column said before that row */
	VEC(uint32_t) given; /* the columns that were given at the last step, as sums of their names */
};

void metrics_step_restart(struct metrics_step *s); /* a file begins; also the first one */
void metrics_step_resume(struct metrics_step *s); /* the file's own steps count again */
/* The step of a row: removes the step and the epoch from the cells. If *count is 0 afterwards, there is no row. */
int64_t metrics_step_take(struct metrics_step *s, struct metric *cells, size_t *count);
/* Would a row with these cells have a later step than the row before it by its own count? Also true where none counts. */
bool metrics_step_goes_on(const struct metrics_step *s, const struct metric *cells, size_t count);
/* Has the row a smaller number in the step's column than the row before it? */
bool metrics_step_goes_back(const struct metrics_step *s, const struct metric *cells, size_t count);
/* Rows that were counted by the other are counted by this one from now on. */
void metrics_step_absorb(struct metrics_step *s, const struct metrics_step *other);
/* The column that the steps come from, also once the rows are counted; NULL: there is none. */
const char *metrics_step_column(const struct metrics_step *s);
/* The epoch of the row that was taken last; NAN: not known, or it is the step itself. */
double metrics_step_epoch(const struct metrics_step *s);

#endif
