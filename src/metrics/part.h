/* Rows of one file that belong to different parts of the data: a column `split` or `phase` that says train or val. Each
 * part has its own series and steps, so that two curves never become one. */
#ifndef METRICS_PART_H
#define METRICS_PART_H

#include "metrics/step.h"

#include <stddef.h>

struct metrics_part {
	char *word; /* "val" */
	struct metrics_step step;
};

struct metrics_parts {
	VEC(struct metrics_part) list;
	char *word; /* of the row being collected; NULL: it names none */
};

/* Is this the name of a column that names the part of the data? */
bool metrics_part_is_column(const char *name);
/* The row being collected belongs to this part. The first such word of a row counts. */
void metrics_part_note(struct metrics_parts *parts, const char *word, size_t len);
/* The part of the row being collected, made where it is new; NULL: none, or there are too many (*ret_too_many). */
struct metrics_part *metrics_part_of_row(struct metrics_parts *parts, bool *ret_too_many);
void metrics_part_end_row(struct metrics_parts *parts);
void metrics_parts_resume(struct metrics_parts *parts); /* as metrics_step_resume */
void metrics_parts_clear(struct metrics_parts *parts);

#endif
