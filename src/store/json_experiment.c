/* Experiments as JSON: see json.h. The list carries summaries only; what it needs of the tasks is one
 * look at the tally for each experiment. */
#include "store/json_row.h"

#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define SPARK_POINTS 24

enum experiment_column {
	EXP_ID,
	EXP_NAME,
	EXP_DESCRIPTION,
	EXP_STATE,
	EXP_CREATED,
	EXP_STARTED,
	EXP_FINISHED,
	EXP_STRATEGY,
	EXP_BACKEND,
	EXP_SCRIPT,
	EXP_OBJECTIVE,
	EXP_PLANNED,
	EXP_NOTE,
	EXP_BEST_TASK,
	EXP_BEST_VALUE,
	EXP_BEST_STEP,
	EXP_BEST_PARAMETERS,
	EXP_BEST_ID,
	EXP_METRIC_NAME_ID,
};

/* A search that has proposed everything has made as many tasks as there will be: going on with one is no new task. */
#define EXPERIMENT_SELECT                                                                                              \
	"SELECT e.id, e.name, e.description, e.state, e.created_ms, e.started_ms, e.finished_ms, "                     \
	"e.strategy, e.backend, e.script, e.objective, "                                                               \
	"CASE WHEN e.asked_all THEN (SELECT sum(t.tasks) FROM tally t WHERE t.experiment = e.id) ELSE e.planned END, " \
	"e.note, e.best_task, b.best, "                                                                                \
	"b.best_step, b.parameters, b.id, m.id "                                                                       \
	"FROM experiment e "                                                                                           \
	"LEFT JOIN task b ON b.experiment = e.id AND b.number = e.best_task "                                          \
	"LEFT JOIN metric_name m ON m.experiment = e.id "                                                              \
	"AND m.name = json_extract(e.objective, '$[0].metric') "

static const char sql_one[] = EXPERIMENT_SELECT "WHERE e.id = ?1 AND e.removing = 0";
/* ?1: ids below, ?2: state or -1, ?3: limit */
static const char sql_page[] = EXPERIMENT_SELECT
	"WHERE e.id < ?1 AND e.removing = 0 AND (?2 < 0 OR e.state = ?2) ORDER BY e.id DESC LIMIT ?3";
static const char sql_page_total[] = "SELECT count(*) FROM experiment WHERE removing = 0 AND (?1 < 0 OR state = ?1)";
static const char sql_tally[] =
	"SELECT state, tasks, wall_ms, with_wall, cpu_ms, with_cpu, gpu_ms, with_gpu, energy_j, with_energy, source "
	"FROM tally WHERE experiment = ?1 AND tasks > 0";
static const char sql_detail[] =
	"SELECT spec, parameters, varying, parallel, strategy, strategy_reason, seed, planned, "
	"json_extract(spec, '$.search.options'), step_name, warnings, "
	"json_extract(spec, '$.resources'), json_extract(spec, '$.pass') "
	"FROM experiment WHERE id = ?1";

/* What the tasks of an experiment add up to. A sum is unknown while no task has told its share. */
struct tally {
	int64_t by_state[STORE_STATE_COUNT];
	struct tally_sum {
		int64_t ms, tasks;
	} wall, cpu, gpu;
	double energy_j;
	int64_t with_energy;
	char energy_source[96];
	bool mixed_sources;
};

static void tally_add_ms(sqlite3_stmt *row, int column, struct tally_sum *sum)
{
	sum->ms += sqlite3_column_int64(row, column);
	sum->tasks += sqlite3_column_int64(row, column + 1);
}

static void tally_add_source(struct tally *tally, const char *source)
{
	if (!tally->energy_source[0])
		snprintf(tally->energy_source, sizeof(tally->energy_source), "%s", source);
	else if (strcmp(tally->energy_source, source) != 0)
		tally->mixed_sources = true;
}

static void tally_read(struct store *store, int64_t experiment, struct tally *ret)
{
	*ret = (struct tally){0};
	sqlite3_stmt *row = store_prepare(store, sql_tally);
	sqlite3_bind_int64(row, 1, experiment);
	while (row_next(row)) {
		int state = sqlite3_column_int(row, 0);
		if (state >= 0 && state < STORE_STATE_COUNT)
			ret->by_state[state] += sqlite3_column_int64(row, 1);
		tally_add_ms(row, 2, &ret->wall);
		tally_add_ms(row, 4, &ret->cpu);
		tally_add_ms(row, 6, &ret->gpu);
		if (!sqlite3_column_int64(row, 9))
			continue;
		ret->energy_j += sqlite3_column_double(row, 8);
		ret->with_energy += sqlite3_column_int64(row, 9);
		tally_add_source(ret, row_text(row, 10));
	}
}

static void put_seconds(struct json *out, const char *key, const struct tally_sum *sum)
{
	if (sum->tasks)
		json_key_real(out, key, (double)sum->ms / 1000);
	else
		json_key_null(out, key);
}

static void put_cost(const struct tally *tally, struct json *out)
{
	json_key(out, "cost");
	json_map(out);
	put_seconds(out, "wall_s", &tally->wall);
	put_seconds(out, "cpu_s", &tally->cpu);
	put_seconds(out, "gpu_s", &tally->gpu);
	if (!tally->with_energy) {
		json_key_null(out, "energy_j");
		json_key_string(out, "energy_source", "not measured");
	} else {
		char source[192];
		snprintf(source, sizeof(source), "%s", tally->mixed_sources ? "several sources" : tally->energy_source);
		/* A sum over some of the tasks must not pass for the whole. */
		if (tally->with_energy < tally->wall.tasks)
			snprintf(source + strlen(source), sizeof(source) - strlen(source),
				 " (%" PRId64 " of %" PRId64 " tasks)", tally->with_energy, tally->wall.tasks);
		json_key_real(out, "energy_j", tally->energy_j);
		json_key_string(out, "energy_source", source);
	}
	json_end(out);
}

static void put_best(sqlite3_stmt *row, struct json *out)
{
	json_key(out, "best");
	if (row_is_null(row, EXP_BEST_ID) || row_is_null(row, EXP_BEST_STEP)) {
		json_null(out);
		return;
	}
	json_map(out);
	row_put_int(row, EXP_BEST_TASK, "task", out);
	json_key_real(out, "value",
		      row_is_null(row, EXP_BEST_VALUE) ? NAN : sqlite3_column_double(row, EXP_BEST_VALUE));
	row_put_int(row, EXP_BEST_STEP, "epoch", out);
	row_put_json(row, EXP_BEST_PARAMETERS, "parameters", out);
	json_end(out);
}

/* Opens a map with the summary's members; the caller ends it. */
static void put_summary(struct store *store, sqlite3_stmt *row, const char *counts_key, struct json *out)
{
	int64_t id = sqlite3_column_int64(row, EXP_ID);
	struct tally tally;
	char name[24];

	tally_read(store, id, &tally);
	snprintf(name, sizeof(name), "e%" PRId64, id);
	json_map(out);
	json_key_string(out, "id", name);
	row_put_text(row, EXP_NAME, "name", out);
	row_put_text(row, EXP_DESCRIPTION, "description", out);
	row_put_state(row, EXP_STATE, "state", out);
	row_put_time(row, EXP_CREATED, "created", out);
	row_put_time(row, EXP_STARTED, "started", out);
	row_put_time(row, EXP_FINISHED, "finished", out);
	row_put_text(row, EXP_STRATEGY, "strategy", out);
	row_put_text(row, EXP_BACKEND, "backend", out);
	row_put_text(row, EXP_SCRIPT, "script", out);
	row_put_json(row, EXP_OBJECTIVE, "objective", out);
	json_key(out, counts_key);
	json_map(out);
	row_put_int(row, EXP_PLANNED, "total", out);
	for (int state = 0; state < STORE_STATE_COUNT; state++)
		json_key_int(out, store_state_name((enum store_state)state), tally.by_state[state]);
	json_end(out);
	put_best(row, out);
	read_put_spark(store, sqlite3_column_int64(row, EXP_BEST_ID), sqlite3_column_int64(row, EXP_METRIC_NAME_ID),
		       SPARK_POINTS, out);
	put_cost(&tally, out);
	row_put_text(row, EXP_NOTE, "waiting_for", out);
	/* While some of its tasks run, it is no news that others wait. */
	if (tally.by_state[STORE_SUBMITTED] + tally.by_state[STORE_RUNNING])
		json_key_null(out, "note");
	else
		row_put_text(row, EXP_NOTE, "note", out);
}

static void put_detail(struct store *store, int64_t experiment, struct json *out)
{
	sqlite3_stmt *row = store_prepare(store, sql_detail);
	sqlite3_bind_int64(row, 1, experiment);
	if (!row_next(row))
		return;
	row_put_json(row, 0, "spec", out);
	row_put_json(row, 1, "parameters", out);
	row_put_json(row, 2, "varying", out);
	row_put_int(row, 3, "parallel", out);
	json_key(out, "search");
	json_map(out);
	row_put_text(row, 4, "strategy", out);
	row_put_text(row, 5, "reason", out);
	row_put_int(row, 6, "seed", out);
	row_put_int(row, 7, "tasks", out);
	json_key_raw(out, "options", row_is_null(row, 8) ? "{}" : row_text(row, 8));
	json_end(out);
	row_put_text(row, 9, "step_name", out);
	row_put_json(row, 10, "warnings", out);
	json_key_raw(out, "resources", row_is_null(row, 11) ? "{}" : row_text(row, 11));
	row_put_text(row, 12, "pass", out);
	sqlite3_reset(row);
	read_put_metric_names(store, experiment, 0, out);
}

int read_open_experiment(struct store *store, int64_t experiment, bool detail, const char *counts_key, struct json *out)
{
	sqlite3_stmt *row = store_prepare(store, sql_one);
	sqlite3_bind_int64(row, 1, experiment);
	if (!row_next(row))
		return -ENOENT;
	put_summary(store, row, counts_key, out);
	sqlite3_reset(row);
	if (detail)
		put_detail(store, experiment, out);
	return 0;
}

bool store_has_experiment(struct store *store, int64_t experiment)
{
	sqlite3_stmt *row = store_prepare(store, sql_one);
	sqlite3_bind_int64(row, 1, experiment);
	bool there = row_next(row);
	sqlite3_reset(row);
	return there;
}

int store_json_open_experiment(struct store *store, int64_t experiment, struct json *out)
{
	return read_open_experiment(store, experiment, true, "tasks", out);
}

int store_json_experiment(struct store *store, int64_t experiment, struct json *out)
{
	int rc = read_open_experiment(store, experiment, false, "tasks", out);
	if (rc == 0)
		json_end(out);
	return rc;
}

static int64_t count_page(struct store *store, int state)
{
	sqlite3_stmt *row = store_prepare(store, sql_page_total);
	sqlite3_bind_int(row, 1, state);
	int64_t total = row_next(row) ? sqlite3_column_int64(row, 0) : 0;
	sqlite3_reset(row);
	return total;
}

int store_json_experiments(struct store *store, const struct store_page *page, struct json *out)
{
	int64_t below = INT64_MAX, last = 0, written = 0;
	int state = page->state ? store_state_find(page->state) : -1;
	if (page->state && state < 0)
		return -EINVAL;
	if (page->cursor && num_parse_int(page->cursor, strlen(page->cursor), 1, INT64_MAX, &below) < 0)
		return -EINVAL;

	sqlite3_stmt *row = store_prepare(store, sql_page);
	sqlite3_bind_int64(row, 1, below);
	sqlite3_bind_int(row, 2, state);
	sqlite3_bind_int64(row, 3, page->limit + 1);
	json_map(out);
	json_key(out, "items");
	json_list(out);
	bool more = false;
	while (row_next(row)) {
		if (written == page->limit) {
			more = true;
			break;
		}
		last = sqlite3_column_int64(row, EXP_ID);
		put_summary(store, row, "tasks", out);
		json_end(out);
		written++;
	}
	sqlite3_reset(row);
	json_end(out);
	char next[24];
	snprintf(next, sizeof(next), "%" PRId64, last);
	json_key_string(out, "next", more ? next : NULL);
	json_key_int(out, "total", count_page(store, state));
	json_end(out);
	return 0;
}

int store_read_text(struct store *store, int64_t experiment, const char *column, struct buf *out)
{
	static const struct {
		const char *column, *sql;
	} texts[] = {
		{"source", "SELECT source FROM experiment WHERE id = ?1 AND removing = 0"},
		{"source_name", "SELECT source_name FROM experiment WHERE id = ?1 AND removing = 0"},
		{"batch_script", "SELECT batch_script FROM experiment WHERE id = ?1 AND removing = 0"},
		{"last_batch",
		 "SELECT token FROM batch WHERE experiment = ?1 AND state > 0 ORDER BY created_ms DESC LIMIT 1"},
	};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		if (strcmp(texts[i].column, column) != 0)
			continue;
		sqlite3_stmt *row = store_prepare(store, texts[i].sql);
		sqlite3_bind_int64(row, 1, experiment);
		int rc = -ENOENT;
		if (row_next(row) && !row_is_null(row, 0)) {
			buf_add(out, row_text(row, 0), (size_t)sqlite3_column_bytes(row, 0));
			rc = 0;
		}
		sqlite3_reset(row);
		return rc;
	}
	return -EINVAL;
}
