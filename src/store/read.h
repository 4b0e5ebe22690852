/* What the pages and the command line read, as JSON straight from SQL; the shapes are in
 * docs/internals/rest.md. Each writes one JSON value, or returns -ENOENT and writes nothing. */
#ifndef STORE_READ_H
#define STORE_READ_H

#include "base/pieces.h"
#include "store/store.h"

struct store_page {
	int64_t limit; /* 1..1000 */
	const char *cursor; /* what an earlier answer gave as "next"; NULL: from the start */
	const char *state; /* only this state; NULL: all */
	const char *sort; /* number, -number, best, -best, started, elapsed; NULL: number */
};

int store_write_experiment(struct store *store, int64_t experiment, bool detail, struct json *out) MUST_USE;
/* -EINVAL for a bad cursor, state or sort. */
int store_write_experiments(struct store *store, const struct store_page *page, struct json *out) MUST_USE;
int store_write_task(struct store *store, int64_t experiment, int64_t number, bool detail, struct json *out) MUST_USE;
int store_write_tasks(struct store *store, int64_t experiment, const struct store_page *page,
		      struct json *out) MUST_USE;
/* name NULL: the first objective's metric. points: at most this many per curve, keeping first, last,
 * minima and maxima. */
int store_read_metrics(struct store *store, int64_t experiment, const char *name, int64_t points,
		       struct pieces *ret) MUST_USE;
int store_write_task_metrics(struct store *store, int64_t experiment, int64_t number, int64_t points,
			     struct json *out) MUST_USE;
int store_read_export(struct store *store, int64_t experiment, bool csv, struct pieces *ret) MUST_USE;
/* The members "objective" and "best" (a list) of the analysis; the map is open. *ret_maximise: the first goal. */
int store_write_best(struct store *store, int64_t experiment, bool *ret_maximise, struct json *out) MUST_USE;
/* The analysis' "progress", as far as it was written: one entry for each ended task in the order they ended, with the
 * best value so far. */
struct store_progress {
	bool maximise;
	double best; /* NAN to begin with */
	int64_t after_ms, after_number;
};
/* Adds at most `limit` entries to the open list; how many: less than that at the end. */
int64_t store_write_progress(struct store *store, int64_t experiment, struct store_progress *progress, int64_t limit,
			     struct json *out);

/* How long tasks of a program took: in the newest experiment with the same script (or program) and command (JSON; NULL: none)
 * that has finished tasks whose time was measured. Looks at the newest 100 such experiments, and 1000 tasks of that one.
 * -ENOENT. */
struct store_pace {
	int64_t experiment, median_ms;
	char backend[24];
};
int store_read_pace(struct store *store, const char *script, const char *command, struct store_pace *ret) MUST_USE;

/* A finished task, for the analysis. */
struct store_result {
	int64_t id, number;
	const char *parameters; /* JSON; valid during the callback */
	double best, time_s; /* NAN: not known */
};
typedef int (*store_result_f)(void *ctx, const struct store_result *row);
/* At most `limit` finished tasks with numbers below `below`, from the newest to the oldest. */
int store_each_result(struct store *store, int64_t experiment, int64_t below, int64_t limit, store_result_f each,
		      void *ctx) MUST_USE;
/* A task that runs, for the analysis. */
struct store_running {
	int64_t id, number;
	int64_t last_step; /* where it will end; -1: not known */
};
typedef int (*store_running_f)(void *ctx, const struct store_running *row);
/* At most `limit` running tasks, the newest where there are more; by number. */
int store_each_running(struct store *store, int64_t experiment, int64_t limit, store_running_f each,
		       void *ctx) MUST_USE;
/* A task's curve of a metric, by step; NAN for a value that is none. Returns how many points were written to the arrays;
 * 0 where there are more than `limit`. */
size_t store_read_curve(struct store *store, int64_t experiment, int64_t task, const char *metric, size_t limit,
			double *steps, double *values);
/* A list of {"fidelity","tasks","finished"}: how many tasks stand at which fidelity. */
void store_write_fidelities(struct store *store, int64_t experiment, struct json *out);
/* The number of a task's attempt, once it is known to exist: `attempt` itself, or the newest for 0. *ret is 0
 * when the task has none yet. -ENOENT when there is no such task or attempt. */
int store_find_attempt(struct store *store, int64_t experiment, int64_t number, int64_t attempt, int64_t *ret) MUST_USE;
/* "files":[{"path","bytes"}] of the open map, below a folder: regular files only, no links followed, at most 200. */
void store_write_files(const char *folder, struct json *out);
/* Is there such an experiment, and is it not being removed? */
bool store_has_experiment(struct store *store, int64_t experiment);
/* A text of the experiment: "source", "batch_script" (as foreseen), "last_batch" (the token of what was handed over last). */
int store_read_text(struct store *store, int64_t experiment, const char *column, struct buf *out) MUST_USE;

#endif
