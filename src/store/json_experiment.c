/* Experiments as JSON: see json.h. The list carries summaries only; what it needs of the tasks is one
 * look at the tally for each experiment. */
#include "store/json_row.h"

#include "base/num.h"
#include "store/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define SPARK_POINTS 24

/* The text of its warning of a kind; NULL: there is none. */
#define EXPERIMENT_WARNING(kind)                                                                                       \
	"(SELECT json_extract(w.value, '$.text') FROM json_each(e.warnings) w "                                        \
	"WHERE json_extract(w.value, '$.kind') = '" kind "')"

/* The words of the newest task that failed; the index by state has that order. Where none failed and no task has a value:
 * why, as engine/missing.h says it. */
#define EXPERIMENT_FAILURE                                                                                             \
	"coalesce((SELECT f.reason FROM task f WHERE f.experiment = e.id AND f.state = " NUMBER(                       \
		ERROR) " ORDER BY f.id DESC LIMIT 1), "                                                                \
		       "CASE WHEN e.best_task IS NULL THEN " EXPERIMENT_WARNING(STORE_WARNS_MISSING) " END)"

#define EXPERIMENT_STALLED                                                                                             \
	"(SELECT count(a.stall) FROM task s JOIN attempt a ON a.task = s.id AND a.number = s.attempt "                 \
	"WHERE s.experiment = e.id AND s.state = " NUMBER(RUNNING) ")"

/* Beside what is listed in STORE_EXPERIMENT. */
#define EXPERIMENT_JSON(X)                                                                                             \
	X(time, "finished", "e.finished_ms")                                                                           \
	X(text, "step_name", "e.step_name")                                                                            \
	X(json, "tags", "e.tags")                                                                                      \
	X(bool, "star", "e.star")                                                                                      \
	X(bool, "archived", "e.archived")                                                                              \
	X(text, "failure", EXPERIMENT_FAILURE)                                                                         \
	X(int, "stalled", EXPERIMENT_STALLED)                                                                          \
	X(json, "warnings", "(SELECT json_group_array(json_extract(w.value, '$.text')) FROM json_each(e.warnings) w)")

#define BEST_JSON(X)                                                                                                   \
	X(int, "task", "e.best_task")                                                                                  \
	X(nan, "value", "b.best")                                                                                      \
	X(int, "epoch", "b.best_step")                                                                                 \
	X(text, "step_name", "b.step_name")                                                                            \
	X(json, "values", "json_extract(e.best_more, '$.values')")                                                     \
	X(json, "epochs", "json_extract(e.best_more, '$.epochs')")                                                     \
	X(real, "mean", "json_extract(e.best_more, '$.mean')")                                                         \
	X(real, "spread", "json_extract(e.best_more, '$.spread')")                                                     \
	X(int, "repeats", "json_extract(e.best_more, '$.repeats')")                                                    \
	X(state, "state", "b.state")                                                                                   \
	X(json, "cause", "b.cause")                                                                                    \
	X(json, "parameters", "b.parameters")

#define DETAIL_JSON(X)                                                                                                 \
	X(json, "resources", "coalesce(json_extract(e.spec, '$.resources'), '{}')")                                    \
	X(text, "pass", "json_extract(e.spec, '$.pass')")                                                              \
	X(text, "notes", "e.notes")                                                                                    \
	X(text, "no_value", EXPERIMENT_WARNING(STORE_WARNS_MISSING))                                                   \
	X(text, "no_energy", EXPERIMENT_WARNING(STORE_WARNS_ENERGY))

#define SEARCH_JSON(X)                                                                                                 \
	X(text, "strategy", "e.strategy")                                                                              \
	X(json, "options", "coalesce(json_extract(e.spec, '$.search.options'), '{}')")

/* A search that has proposed everything has made as many tasks as there will be: going on with one is no new task. */
#define EXPERIMENT_TOTAL                                                                                               \
	"CASE WHEN e.asked_all THEN (SELECT sum(t.tasks) FROM tally t WHERE t.experiment = e.id) "                     \
	"ELSE max(e.planned - e.removed, 0, (SELECT coalesce(sum(t.tasks), 0) FROM tally t WHERE t.experiment = e.id)) END"

enum experiment_column {
	EXP_ID,
	EXP_BEST_ID,
	EXP_METRIC_NAME_ID,
	EXP_NOTE,
	EXP_STOPPING,
	EXP_TOTAL,
	EXP_BEST_STEP,
	EXP_MEMBERS
};
#define EXPERIMENT_SELECT                                                                                              \
	"SELECT e.id, b.id, m.id, e.note, e.stopping, " EXPERIMENT_TOTAL                                               \
	", b.best_step" STORE_EXPERIMENT(STORE_NONE, ROW_BOTH_COLUMN, STORE_NONE, STORE_NONE)                          \
		EXPERIMENT_JSON(ROW_COLUMN)                                                                            \
			BEST_JSON(ROW_COLUMN) " FROM experiment e "                                                    \
					      "LEFT JOIN task b ON b.experiment = e.id AND b.number = e.best_task "    \
					      "LEFT JOIN metric_name m ON m.experiment = e.id "                        \
					      "AND m.name = json_extract(e.objective, '$[0].metric') "

static const char sql_one[] = EXPERIMENT_SELECT "WHERE e.id = ?1 AND e.removing = 0";
/* Paused is no state of its own: its tasks go on as they are, or wait. */
#define PAGE_ALL -1
#define PAGE_PAUSED -2
#define PAGE_IN(state)                                                                                                 \
	"(" state " = -1 OR e.state = " state " OR (" state                                                            \
	" = -2 AND e.paused IS NOT NULL AND e.state < " NUMBER(FINISHED) "))"
/* ?1: a state or PAGE_, ?2: a tag or NULL, ?3: archived 0, 1 or PAGE_ALL */
#define PAGE_WHERE                                                                                                     \
	"WHERE e.removing = 0 AND " PAGE_IN(                                                                           \
		"?1") " AND (?2 IS NULL OR EXISTS (SELECT 1 FROM json_each(e.tags) g WHERE g.value = ?2)) "            \
		      "AND (?3 = -1 OR e.archived = ?3) "
/* ?4: ids below, ?5: limit */
static const char sql_page[] = EXPERIMENT_SELECT PAGE_WHERE "AND e.id < ?4 ORDER BY e.id DESC LIMIT ?5";
static const char sql_page_total[] = "SELECT count(*) FROM experiment e " PAGE_WHERE;
#define TALLY_COLUMN(name, key, column, with, ...) ", " column ", " with
#define TALLY_COLUMNS COST_FIGURES(TALLY_COLUMN, ROW_NONE)
static const char sql_tally[] = "SELECT state, tasks, source" TALLY_COLUMNS
				" FROM tally WHERE experiment = ?1 AND tasks > 0";
static const char sql_detail[] = "SELECT e.id" STORE_EXPERIMENT(STORE_NONE, STORE_NONE, ROW_BOTH_COLUMN, STORE_NONE)
	DETAIL_JSON(ROW_COLUMN) STORE_EXPERIMENT(STORE_NONE, STORE_NONE, STORE_NONE, ROW_BOTH_COLUMN)
		SEARCH_JSON(ROW_COLUMN) " FROM experiment e WHERE e.id = ?1";

/* What the tasks of an experiment add up to. A sum is unknown while no task has reported its share. */
struct tally {
	int64_t by_state[STORE_STATE_COUNT];
	struct {
		double sum;
		int64_t tasks; /* that know it */
	} of[FIGURE_COUNT]; /* only the counted ones */
	char energy_source[96];
	bool mixed_sources;
};

static void tally_add_source(struct tally *tally, const char *source)
{
	if (!tally->energy_source[0])
		snprintf(tally->energy_source, sizeof(tally->energy_source), "%s", source);
	else if (strcmp(tally->energy_source, source) != 0)
		tally->mixed_sources = true;
}

static int tally_read(struct store *store, int64_t experiment, struct tally *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_tally, "i", experiment);
	int rc;
	*ret = (struct tally){0};
	while ((rc = store_step(store, row)) > 0) {
		int64_t state = row_int(row, 0);
		if (state >= 0 && state < STORE_STATE_COUNT)
			ret->by_state[state] += row_int(row, 1);
		int64_t with_energy = ret->of[FIGURE_ENERGY].tasks;
		int column = 3;
		for (enum figure f = 0; f < FIGURE_COUNT; f++) {
			if (!cost_figures[f].counted)
				continue;
			ret->of[f].sum += sqlite3_column_double(row, column++);
			ret->of[f].tasks += row_int(row, column++);
		}
		if (ret->of[FIGURE_ENERGY].tasks > with_energy)
			tally_add_source(ret, row_text(row, 2));
	}
	return rc;
}

static void experiment_put_cost(const struct tally *tally, struct json *out)
{
	json_key(out, "cost");
	json_map(out);
	for (enum figure f = 0; f < FIGURE_COUNT; f++)
		if (cost_figures[f].counted)
			row_put_figure(tally->of[f].tasks ? tally->of[f].sum : NAN, &cost_figures[f], out);
	int64_t with_energy = tally->of[FIGURE_ENERGY].tasks, with_time = tally->of[FIGURE_WALL].tasks;
	if (!with_energy) {
		json_key_string(out, "energy_source", "not measured");
	} else {
		char source[192];
		snprintf(source, sizeof(source), "%s", tally->mixed_sources ? "several sources" : tally->energy_source);
		/* A sum over some of the tasks must not pass for the whole. */
		if (with_energy < with_time)
			snprintf(source + strlen(source), sizeof(source) - strlen(source),
				 " (%" PRId64 " of %" PRId64 " tasks)", with_energy, with_time);
		json_key_string(out, "energy_source", source);
	}
	json_end(out);
}

/* NULL is NaN. */
enum { ROW_nan = 1 };
static void row_put_nan(sqlite3_stmt *row, int first, const char *key, struct json *out)
{
	json_key_real(out, key, row_real(row, first));
}

static void experiment_put_best(sqlite3_stmt *row, int first, struct json *out)
{
	static const struct row_member members[] = {BEST_JSON(ROW_MEMBER)};
	json_key(out, "best");
	if (row_is_null(row, EXP_BEST_ID) || row_is_null(row, EXP_BEST_STEP)) {
		json_put_null(out);
		return;
	}
	json_map(out);
	row_put_members(row, first, members, COUNT_OF(members), out);
	json_end(out);
}

static void experiment_put_counts(sqlite3_stmt *row, const struct tally *tally, const char *key, struct json *out)
{
	json_key(out, key);
	json_map(out);
	row_put_int(row, EXP_TOTAL, "total", out);
	for (int state = 0; state < STORE_STATE_COUNT; state++)
		json_key_int(out, store_state_name((enum store_state)state), tally->by_state[state]);
	json_end(out);
}

/* Opens a map with the summary's members; the caller ends it. */
static int experiment_put_summary(struct store *store, sqlite3_stmt *row, const char *counts_key, struct json *out)
{
	static const struct row_member members[] = {
		STORE_EXPERIMENT(STORE_NONE, ROW_BOTH_MEMBER, STORE_NONE, STORE_NONE) EXPERIMENT_JSON(ROW_MEMBER)};
	int64_t id = row_int(row, EXP_ID);
	struct tally tally;
	char name[24];
	int rc = tally_read(store, id, &tally);
	if (rc < 0)
		return rc;

	snprintf(name, sizeof(name), "e%" PRId64, id);
	json_map(out);
	json_key_string(out, "id", name);
	int best = row_put_members(row, EXP_MEMBERS, members, COUNT_OF(members), out);
	experiment_put_counts(row, &tally, counts_key, out);
	experiment_put_best(row, best, out);
	rc = json_put_spark(store, row_int(row, EXP_BEST_ID), row_int(row, EXP_METRIC_NAME_ID), SPARK_POINTS, out);
	experiment_put_cost(&tally, out);
	row_put_text(row, EXP_NOTE, "waiting_for", out);
	/* While some of its tasks run, it is no news that others wait. While it is being stopped, it is news that they run. */
	if (!row_int(row, EXP_STOPPING) && tally.by_state[STORE_SUBMITTED] + tally.by_state[STORE_RUNNING])
		json_key_null(out, "note");
	else
		row_put_text(row, EXP_NOTE, "note", out);
	return rc;
}

static int experiment_put_detail(struct store *store, int64_t experiment, struct json *out)
{
	static const struct row_member members[] = {
		STORE_EXPERIMENT(STORE_NONE, STORE_NONE, ROW_BOTH_MEMBER, STORE_NONE) DETAIL_JSON(ROW_MEMBER)};
	static const struct row_member search[] = {STORE_EXPERIMENT(STORE_NONE, STORE_NONE, STORE_NONE, ROW_BOTH_MEMBER)
							   SEARCH_JSON(ROW_MEMBER)};
	sqlite3_stmt *row = store_bind(store, sql_detail, "i", experiment);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	int next = row_put_members(row, 1, members, COUNT_OF(members), out);
	json_key(out, "search");
	json_map(out);
	row_put_members(row, next, search, COUNT_OF(search), out);
	json_end(out);
	store_end(row);
	return json_put_metric_names(store, experiment, 0, out);
}

int json_open_experiment(struct store *store, int64_t experiment, bool detail, const char *counts_key, struct json *out)
{
	sqlite3_stmt *row = store_bind(store, sql_one, "i", experiment);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	rc = experiment_put_summary(store, row, counts_key, out);
	store_end(row);
	return rc == 0 && detail ? experiment_put_detail(store, experiment, out) : rc;
}

int store_json_open_experiment(struct store *store, int64_t experiment, struct json *out)
{
	return json_open_experiment(store, experiment, true, "tasks", out);
}

int store_json_experiment(struct store *store, int64_t experiment, struct json *out)
{
	int rc = json_open_experiment(store, experiment, false, "tasks", out);
	if (rc == 0)
		json_end(out);
	return rc;
}

/* "items" and "next" of a page. */
static int experiment_put_page(struct store *store, sqlite3_stmt *row, int64_t limit, struct json *out)
{
	int64_t last = 0, written = 0;
	char next[24];
	int rc;
	json_key(out, "items");
	json_list(out);
	while ((rc = store_step(store, row)) > 0 && written < limit) {
		last = row_int(row, EXP_ID);
		rc = experiment_put_summary(store, row, "tasks", out);
		if (rc < 0)
			break;
		json_end(out);
		written++;
	}
	store_end(row);
	json_end(out);
	snprintf(next, sizeof(next), "%" PRId64, last);
	json_key_string(out, "next", rc > 0 ? next : NULL);
	return rc < 0 ? rc : 0;
}

int store_json_experiments(struct store *store, const struct store_page *page, struct json *out)
{
	int64_t below = INT64_MAX, state = page->state ? store_state_find(page->state) : PAGE_ALL;
	if (page->state && strcmp(page->state, "paused") == 0)
		state = PAGE_PAUSED;
	else if (page->state && state < 0)
		return -EINVAL;
	if (page->cursor && num_parse_int(page->cursor, strlen(page->cursor), 1, INT64_MAX, &below) < 0)
		return -EINVAL;

	int64_t archived = page->archived == STORE_ARCHIVED_ALL ? PAGE_ALL : page->archived == STORE_ARCHIVED_ONLY;
	json_map(out);
	int rc = experiment_put_page(
		store, store_bind(store, sql_page, "isiii", state, page->tag, archived, below, page->limit + 1),
		page->limit, out);
	if (rc < 0)
		return rc;
	sqlite3_stmt *row = store_bind(store, sql_page_total, "isi", state, page->tag, archived);
	if ((rc = store_one(store, row)) < 0)
		return rc;
	row_put_int(row, 0, "total", out);
	store_end(row);
	json_end(out);
	return 0;
}
