/* Which column of a file is the step, and what step a row has. */
#ifndef METRICS_STEP_H
#define METRICS_STEP_H

#include "base/mem.h"
#include "base/metric.h"

#include <stdbool.h>
#include <stdint.h>

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
	VEC(uint32_t) given; /* the columns that were given at the last step, as sums of their names */
};

void metrics_step_restart(struct metrics_step *s); /* a file begins; also the first one */
void metrics_step_resume(struct metrics_step *s); /* the file's own steps count again */
/* The step of a row: removes the step and the epoch from the cells. If *count is 0 afterwards, there is no row. */
int64_t metrics_step_take(struct metrics_step *s, struct metric *cells, size_t *count);
/* The epoch of the row that was taken last; NAN: not known, or it is the step itself. */
double metrics_step_epoch(const struct metrics_step *s);

#endif
