/* The names of a task's metrics. A column belongs to the file that it comes from; series.c explains the rule. */
#ifndef ENGINE_SERIES_H
#define ENGINE_SERIES_H

#include "base/mem.h"
#include "base/metric.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct engine_experiment;
struct engine_live;
struct journal_record;

/* Metrics with the names under which they are shown. The two lists have the same length. */
struct series_row {
	VEC(struct metric) metrics;
	VEC(int64_t) ids;
};
void series_row_free(struct series_row *row);

/* Adds the metrics of a row to *shown, except those that a more trusted source gives. Names may change here: then the
 * values in the store are renamed, and live->recount is set. A row without a source keeps its names. */
int series_name_row(struct engine *engine, struct engine_live *live, const struct journal_record *record,
		    struct series_row *shown) MUST_USE;
/* Adds the metrics that the attempt has reported so far: those of one column (NULL: of all). Their values are set to
 * 0. */
void series_list(const struct engine_live *live, const char *column, struct series_row *ret);
/* Forgets the attempt's sources. They are read from the store again when needed. */
void series_forget(struct engine_live *live);

/* Are two names the same but for case and for what stands between words ("Val loss", val_loss)? Pure. */
bool series_are_alike(const char *a, const char *b);
/* Finds prefixes for files that have the same columns: each path without the parts that all paths share at the
 * beginning and at the end ("logs/train.csv", "logs/val.csv": "train", "val"). A file that needs no prefix gets an
 * empty one. The caller frees each. Pure. */
void series_qualify(const char *const *paths, size_t count, char **ret);

#endif
