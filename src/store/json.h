/* JSON for the web pages and the command line, made directly from SQL. docs/internals/rest.md has the schema. Each
 * function writes one JSON value. On -ENOENT it has written nothing. On any other negative errno (-EIO: the database
 * cannot be read) the caller must discard the output. Rows as structs: rows.h. */
#ifndef STORE_JSON_H
#define STORE_JSON_H

#include "base/pieces.h"
#include "store/store.h"

struct store_page {
	int64_t limit; /* 1..1000 */
	const char *cursor; /* what an earlier answer gave as "next"; NULL: from the start */
	const char *state; /* only this state; NULL: all */
	const char *sort; /* number, -number, best, -best, started, elapsed; NULL: number */
};

int store_json_experiment(struct store *store, int64_t experiment, struct json *out) MUST_USE;
/* With all details. The map stays open, so that the caller can add what is not in the store. */
int store_json_open_experiment(struct store *store, int64_t experiment, struct json *out) MUST_USE;
/* -EINVAL for a bad cursor, state or sort. */
int store_json_experiments(struct store *store, const struct store_page *page, struct json *out) MUST_USE;
int store_json_task(struct store *store, int64_t experiment, int64_t number, struct json *out) MUST_USE;
/* With all details. The map stays open too. */
int store_json_open_task(struct store *store, int64_t experiment, int64_t number, struct json *out) MUST_USE;
int store_json_tasks(struct store *store, int64_t experiment, const struct store_page *page, struct json *out) MUST_USE;
/* The x axis of a curve, in the order of the words of the query parameter. The step is always written; the epoch, or
 * the seconds since the task first started, is in a further member "x". */
enum store_axis { STORE_AXIS_STEP, STORE_AXIS_EPOCH, STORE_AXIS_TIME };

/* name NULL: the first objective's metric. points: at most this many per curve, keeping first, last,
 * minima and maxima. */
int store_json_metrics(struct store *store, int64_t experiment, const char *name, int64_t points, enum store_axis axis,
		       struct pieces *ret) MUST_USE;
int store_json_task_metrics(struct store *store, int64_t experiment, int64_t number, int64_t points,
			    enum store_axis axis, struct json *out) MUST_USE;
/* What an attempt (0: the newest) ran. */
int store_json_ran(struct store *store, int64_t experiment, int64_t number, int64_t attempt, struct json *out) MUST_USE;
/* folder: the experiment's folder, as the export names it. */
int store_export(struct store *store, int64_t experiment, const char *folder, bool csv, struct pieces *ret) MUST_USE;
/* The members "objective" and "best" (a list) of the analysis; the map is open. *ret_maximise: the first goal. */
int store_json_best(struct store *store, int64_t experiment, bool *ret_maximise, struct json *out) MUST_USE;
/* The position in "progress" of the analysis. It has one entry for each ended task, in the order in which they ended,
 * with the best value so far. */
struct store_progress {
	bool maximise;
	double best; /* NAN at the start */
	int64_t after_ms, after_number;
};
/* Adds at most `limit` entries to the open list. Returns how many (less than `limit` at the end), or a negative
 * errno. */
int store_json_progress(struct store *store, int64_t experiment, struct store_progress *progress, int64_t limit,
			struct json *out) MUST_USE;

/* A list of {"fidelity","tasks","finished"}: how many tasks are at each fidelity. */
int store_json_fidelities(struct store *store, int64_t experiment, struct json *out) MUST_USE;

#endif
