/* Reads results that are printed in columns:
 * a table, with a header whose first column counts ("epoch  train_loss  valid_loss  time": fastai, skorch, spaCy, and the
 * gradient boosting of scikit-learn) and a row for each count, also with bars and borders around the columns (Markdown, rich);
 * a box of names and values between two lines of dashes ("|    ep_rew_mean | 21.5 |": Stable-Baselines, Spinning Up). */
#ifndef METRICS_GRID_H
#define METRICS_GRID_H

#include "metrics/phrase.h"

#define GRID_COLUMNS_MAX 16
#define GRID_COLUMN_BYTES 64

struct grid {
	char columns[GRID_COLUMNS_MAX][GRID_COLUMN_BYTES]; /* of the table that is being printed */
	size_t column_count; /* 0: none */
	size_t above; /* of a header in two lines, of which the first was seen: its columns; 0: none */
	bool narrow; /* the header has one space between its columns */
	char separator; /* '|', or ',', ';' or a tab of a table without bars; 0: spaces stand between the columns */
	struct phrase box; /* what the box holds so far; its steps are kept in it, too */
	char section[GRID_COLUMN_BYTES]; /* "train/" in a box */
	bool boxed, reports; /* a box is being printed; it has a name of a metric */
};

enum grid_answer {
	GRID_NONE, /* the line is no part of a grid */
	GRID_PART, /* it is part of a grid, but does not complete a row */
	GRID_ROW, /* it completes a row: the phrase has its count and pairs */
};

void grid_clear(struct grid *grid);
/* May the line belong to a grid, so that grid_read should see it although it has no number in it? */
bool grid_expects(const struct grid *grid, const char *text, size_t len);
/* Takes a line without spaces around it. */
enum grid_answer grid_read(struct grid *grid, const char *text, size_t len, struct phrase *ret);

#endif
