/* Rows of one file that belong to different curves, each with its own steps, so that two curves never become one:
 *
 *   - a column `split` or `phase` says train or val (val/loss);
 *   - a long table has the name of the metric in a column `metric` or `name`, and its number in `value`;
 *   - a column `rank`, `fold` or `seed` has another number than in the first row, or one such as `model` another text, and
 *     the steps begin anew or come again with it: "fold 1/loss". The first one's curves have the plain names;
 *   - rows with other columns than those before count by another step: MMEngine writes the loss for every iteration, and
 *     the score with the epoch as its step. A row that has columns of both ends that: from then on all count by one step. */
#ifndef METRICS_PART_H
#define METRICS_PART_H

#include "metrics/step.h"

#include <stddef.h>

struct metrics_part {
	char *word; /* "val" */
	bool names; /* the word names the number in the column `value` */
	bool run; /* another training than the first of the file */
	bool plain; /* rows with columns of their own, under their own names; the word is empty */
	struct metrics_step step;
};

/* The columns that a row has, as a sum of their names, and which part such rows are. */
struct metrics_shape {
	uint32_t sum;
	size_t part; /* SIZE_MAX: none */
};

/* A column, as a sum of its name, and the part whose step it has. */
struct metrics_column {
	uint32_t sum;
	size_t part; /* SIZE_MAX: none */
};

struct metrics_parts {
	VEC(struct metrics_shape) shapes;
	size_t shape; /* of the last row */
	VEC(struct metrics_column) columns; /* of rows that name no part */
	bool shapeless; /* there are too many shapes to tell parts by them */
	VEC(struct metrics_part) list;
	char *word; /* of the row being collected; NULL: it names none */
	char *metric; /* the same in a long table: the name of its number */
	double first; /* what the column `rank` or `fold` said first; NAN */
	bool has_first;
	char *first_column; /* whose number that is; NULL */
	char *run,
		*first_run; /* "model vgg": what was trained, of the row being collected and of the first; NULL: none */
};

/* Takes the text in a column: it may name the part of the data, or the metric of a long table. The first one of a row
 * counts. */
void metrics_part_note(struct metrics_parts *parts, const char *column, const char *word, size_t len);
/* Does this column, or what stands in it, name the part of the data: split, phase; train, val? */
bool metrics_part_is_word(const char *column, const char *word, size_t len);
/* Is this the column that has the number in a long table? */
bool metrics_part_is_value(const char *column);
/* The part of the row being collected, made where it is new; NULL: none, or there are too many (*ret_too_many). `step`: of
 * the rows without a part. Removes the column that names the part from the cells. */
struct metrics_part *metrics_part_of_row(struct metrics_parts *parts, struct metrics_step *step, struct metric *cells,
					 size_t *count, bool *ret_too_many);
/* Of a row that names no part, once its step is known: counts and timings stay with the rows that had them first, since the
 * others have other steps. part: NULL, or the plain part of the row. */
void metrics_part_keep_own(struct metrics_parts *parts, const struct metrics_part *part, struct metric *cells,
			   size_t *count);
/* What the first run of the file was: "fold 0". */
void metrics_parts_say_first(const struct metrics_parts *parts, char *ret, size_t size);
void metrics_part_end_row(struct metrics_parts *parts);
void metrics_parts_resume(struct metrics_parts *parts); /* as metrics_step_resume */
void metrics_parts_clear(struct metrics_parts *parts);

#endif
