/* JSON for the web pages and the command line, made directly from SQL. docs/internals/rest.md has the schema. Each
 * function writes one JSON value. On -ENOENT it has written nothing. On any other negative errno (-EIO: the database
 * cannot be read) the caller must discard the output. Rows as structs: rows.h. */
#ifndef STORE_JSON_H
#define STORE_JSON_H

#include "base/error.h"
#include "base/pieces.h"
#include "store/store.h"

enum store_archived { STORE_ARCHIVED_NO, STORE_ARCHIVED_ONLY, STORE_ARCHIVED_ALL };

struct store_page {
	int64_t limit; /* 1..1000 */
	const char *cursor; /* what an earlier answer gave as "next"; NULL: from the start */
	const char *state; /* only this state; NULL: all */
	const char
		*sort; /* number, -number, best, -best, started, elapsed; NULL: number. store_json_query: any column */
	const char *filter; /* only tasks that pass (filter.h); NULL: all */
	const char *metrics; /* names between commas, whose values every item carries; NULL: none */
	const char *tag; /* store_json_experiments: only those with this tag; NULL: all */
	enum store_archived archived; /* store_json_experiments */
};

int store_json_experiment(struct store *store, int64_t experiment, struct json *out) MUST_USE;
/* With all details. The map stays open, so that the caller can add what is not in the store. */
int store_json_open_experiment(struct store *store, int64_t experiment, struct json *out) MUST_USE;
/* -EINVAL for a bad cursor, state or sort. */
int store_json_experiments(struct store *store, const struct store_page *page, struct json *out) MUST_USE;
int store_json_task(struct store *store, int64_t experiment, int64_t number, struct json *out) MUST_USE;
/* With all details. The map stays open too. */
int store_json_open_task(struct store *store, int64_t experiment, int64_t number, struct json *out) MUST_USE;
/* Only the orders that an index or the database can sort, without a filter: -EINVAL for others. */
int store_json_tasks(struct store *store, int64_t experiment, const struct store_page *page, struct json *out) MUST_USE;
/* Can store_json_tasks make this page? */
bool store_page_is_plain(const struct store_page *page);
/* Any order and filter; looks at every task. -EINVAL with a text for the user, or -ENOENT. With
 * repeats each item has "configuration", what they say together. */
int store_json_query(struct store *store, int64_t experiment, const struct store_page *page, struct pieces *ret,
		     struct error *err) MUST_USE;
/* Which columns of which tasks. */
struct store_columns {
	const char *of; /* whole names between commas */
	const char *state, *filter; /* only tasks in this state, that pass; NULL: all */
	int64_t most; /* of more that pass a fair sample */
};
/* {"experiment","columns":[…],"one_of","rows":[[number, …], …],"total"}. -EINVAL with a text for the user, or -ENOENT. */
int store_json_columns(struct store *store, int64_t experiment, const struct store_columns *asked, struct pieces *ret,
		       struct error *err) MUST_USE;
/* Experiments and tasks in which every word of the text stands, at most `limit` of them: experiments first, the newest
 * first. Looks at names, ids, descriptions, tags, notes, scripts, parameters, causes, nodes and jobs. -EINVAL when there
 * is no word. */
int store_json_search(struct store *store, const char *text, int64_t limit, struct pieces *ret) MUST_USE;
/* The x axis of a curve, in the order of the words of the query parameter. The step is always written; the epoch, or
 * the seconds since the task first started, is in a further member "x". */
enum store_axis { STORE_AXIS_STEP, STORE_AXIS_EPOCH, STORE_AXIS_TIME };

/* Which curves of an experiment, and how much of them. */
struct store_curves {
	const char *name; /* NULL: the first objective's metric */
	int64_t points; /* at most this many per curve, keeping first, last, minima and maxima */
	int64_t digits; /* of values, or of their difference where that is smaller; 0: all */
	enum store_axis axis;
	const char *tasks; /* only of these numbers, between commas; NULL: of all */
	int64_t from, to; /* steps */
};
int store_json_metrics(struct store *store, int64_t experiment, const struct store_curves *asked,
		       struct pieces *ret) MUST_USE;
int store_json_task_metrics(struct store *store, int64_t experiment, int64_t number, int64_t points,
			    enum store_axis axis, struct json *out) MUST_USE;
/* What the tasks of an experiment (0: of all) cost in energy, and what that costs: by state, strategy and source. -ENOENT
 * when there is no such experiment. */
struct tariff;
int store_json_energy(struct store *store, int64_t experiment, const struct tariff *tariff, struct json *out) MUST_USE;
/* Writes the member "failed": what the failed tasks of an experiment have cost. */
int store_json_failed(struct store *store, int64_t experiment, struct json *out) MUST_USE;
/* When and where every attempt of an experiment ran. */
int store_json_attempts(struct store *store, int64_t experiment, struct pieces *ret) MUST_USE;
/* Where a running task is, and what its newest sample says: the members "node", "gpus", "job", "started" and "use" of the
 * open map. Adds the node's name to ret_node. */
int store_json_place(struct store *store, int64_t task, struct json *out, struct buf *ret_node) MUST_USE;
/* All samples of a task, in columns; time in seconds since it started. */
int store_json_samples(struct store *store, int64_t experiment, int64_t number, struct json *out) MUST_USE;
/* What an attempt (0: the newest) ran. */
int store_json_ran(struct store *store, int64_t experiment, int64_t number, int64_t attempt, struct json *out) MUST_USE;
/* folder: the experiment's folder, as the export names it. */
int store_export(struct store *store, int64_t experiment, const char *folder, bool csv, struct pieces *ret) MUST_USE;
/* The position in "progress" of the analysis. It has one entry for each ended task, in the order in which they ended,
 * with the best value so far; where configurations are repeated, one for each configuration whose tasks have all ended,
 * with its mean. */
struct store_progress {
	bool maximise, repeated;
	double best; /* NAN at the start */
	int64_t after_ms, after_number;
};
/* The members "objective" and "best" (a list) of the analysis; the map is open. *ret_progress: the start. */
int store_json_best(struct store *store, int64_t experiment, struct store_progress *ret_progress,
		    struct json *out) MUST_USE;
/* Adds at most `limit` entries to the open list. Returns how many (less than `limit` at the end), or a negative
 * errno. */
int store_json_progress(struct store *store, int64_t experiment, struct store_progress *progress, int64_t limit,
			struct json *out) MUST_USE;

/* A list of {"fidelity","tasks","finished"}: how many tasks are at each fidelity. */
int store_json_fidelities(struct store *store, int64_t experiment, struct json *out) MUST_USE;

#endif
