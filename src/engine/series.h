/* What a task's metrics are called. A column belongs to the file it comes from: series.c has the rule. */
#ifndef ENGINE_SERIES_H
#define ENGINE_SERIES_H

#include "engine/state.h"

struct journal_record;

/* Metrics by the names under which they are shown: two lists side by side. */
struct series_row {
	VEC(struct metric) metrics;
	VEC(int64_t) ids;
};
void series_row_free(struct series_row *row);

/* The metrics of a row, added to *shown. What a more trusted source gives is left out. Names may change here: the store's
 * values are renamed then, and live->recount is set. A row without a source keeps its names. */
int series_name_row(struct engine *engine, struct engine_live *live, const struct journal_record *record,
		    struct series_row *shown) MUST_USE;
/* Adds the metrics that the attempt has given so far, those of one column (NULL: all); their values are 0. */
void series_list(const struct engine_live *live, const char *column, struct series_row *ret);
/* The id of a metric's name in the experiment. */
int series_name_id(struct engine *engine, struct engine_experiment *e, const char *name, int64_t *ret) MUST_USE;
/* Forgets what is known of the attempt's sources: they are read from the store again when they are needed. */
void series_forget(struct engine_live *live);

/* The words before the columns of files that have the same ones: paths without what all have in common at the
 * beginning and at the end ("logs/train.csv", "logs/val.csv": "train", "val"). Empty for a file that needs none. The
 * caller frees each. Pure. */
void series_qualify(const char *const *paths, size_t count, char **ret);

#endif
