/* The parts of the analysis that come straight from the tasks: see json.h. */
#include "store/configuration.h"
#include "store/json_row.h"

#include <math.h>

#define BEST_COUNT 10

static const char sql_objective[] =
	"SELECT json_extract(objective, '$[0].goal'), objective, json_extract(spec, '$.repeats') FROM experiment "
	"WHERE id = ?1 AND removing = 0";

#define BEST_JSON(X)                                                                                                   \
	X(int, "task", "number")                                                                                       \
	X(real, "value", "best")                                                                                       \
	X(int, "epoch", "best_step")                                                                                   \
	X(text, "step_name", "step_name")                                                                              \
	X(state, "state", "state")                                                                                     \
	X(json, "parameters", "parameters")
#define SQL_BEST(order)                                                                                                \
	"SELECT id" BEST_JSON(ROW_COLUMN) " FROM task WHERE experiment = ?1 AND best IS NOT NULL "                     \
					  "AND beyond IS NULL ORDER BY best" order ", number LIMIT ?2"
static const char sql_least[] = SQL_BEST(""), sql_most[] = SQL_BEST(" DESC");
/* The same of configurations, each with the repeat that is nearest to the mean. */
#define MEAN_JSON(X)                                                                                                   \
	BEST_JSON(X)                                                                                                   \
	X(real, "mean", "c.m")                                                                                         \
	X(real, "spread", CONFIGURATION_SPREAD)                                                                        \
	X(int, "repeats", "c.n")
#define SQL_MEAN(order) SQL_CONFIGURATIONS("t.id" MEAN_JSON(ROW_COLUMN), order, "?2")
static const char sql_least_mean[] = SQL_MEAN(""), sql_most_mean[] = SQL_MEAN(" DESC");
/* Those that SQL_BEST counts, once they have ended, however they ended. The plus keeps SQLite from the index by state: the
 * one by end has the order. It takes that one for a plain comparison only; for (finished_ms, number) > (?2, ?3) it sorts
 * all tasks by their best first, for each piece of the answer. */
static const char sql_ended[] =
	"SELECT number, finished_ms, best FROM task WHERE experiment = ?1 AND finished_ms >= ?2 "
	"AND (finished_ms > ?2 OR number > ?3) AND +state >= " NUMBER(
		FINISHED) " AND best IS NOT NULL AND beyond IS NULL ORDER BY finished_ms, number LIMIT ?4";
/* Where configurations are repeated: each with its mean, at the end of its last task, once all have ended well. */
static const char sql_ended_means[] =
	"SELECT min(t.number), max(t.finished_ms) AS at, c.m, c.f FROM task t JOIN (" SQL_MEANS
	") c ON c.p = t.parameters WHERE t.experiment = ?1 AND c.o = 0 AND c.b = 0 AND c.m IS NOT NULL "
	"GROUP BY c.p HAVING (at, c.f) > (?2, ?3) ORDER BY at, c.f LIMIT ?4";
static const char sql_fidelities[] = "SELECT fidelity, count(*), sum(state = " NUMBER(
	FINISHED) ") FROM task "
		  "WHERE experiment = ?1 AND fidelity IS NOT NULL GROUP BY fidelity ORDER BY fidelity";

int store_json_progress(struct store *store, int64_t experiment, struct store_progress *progress, int64_t limit,
			struct json *out)
{
	int count = 0, rc;
	sqlite3_stmt *row = store_bind(store, progress->repeated ? sql_ended_means : sql_ended, "iiii", experiment,
				       progress->after_ms, progress->after_number, limit);
	for (; (rc = store_step(store, row)) > 0; count++) {
		double value = row_real(row, 2);
		if (isnan(progress->best) || (progress->maximise ? value > progress->best : value < progress->best))
			progress->best = value;
		progress->after_number = row_int(row, 0);
		progress->after_ms = row_int(row, 1);
		json_map(out);
		row_put_int(row, 0, "task", out);
		row_put_time(row, 1, "time", out);
		json_key_real(out, "value", value);
		json_key_real(out, "best", progress->best);
		json_end(out);
	}
	return rc < 0 ? rc : count;
}

int store_json_best(struct store *store, int64_t experiment, struct store_progress *ret_progress, struct json *out)
{
	static const struct row_member members[] = {BEST_JSON(ROW_MEMBER)}, means[] = {MEAN_JSON(ROW_MEMBER)};
	sqlite3_stmt *row = store_bind(store, sql_objective, "i", experiment);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	const char *goal = row_text(row, 0);
	bool maximise = goal && !strcmp(goal, "max"), repeats = row_int(row, 2) > 1;
	*ret_progress = (struct store_progress){.maximise = maximise, .repeated = repeats, .best = NAN};
	row_put_json(row, 1, "objective", out);
	store_end(row);
	if (repeats) {
		row = store_bind(store, maximise ? sql_most_mean : sql_least_mean, "ii", experiment,
				 (int64_t)BEST_COUNT);
		return row_put_list(store, row, "best", means, COUNT_OF(means), out);
	}
	row = store_bind(store, maximise ? sql_most : sql_least, "ii", experiment, (int64_t)BEST_COUNT);
	return row_put_list(store, row, "best", members, COUNT_OF(members), out);
}

int store_json_fidelities(struct store *store, int64_t experiment, struct json *out)
{
	sqlite3_stmt *row = store_bind(store, sql_fidelities, "i", experiment);
	int rc;
	json_list(out);
	while ((rc = store_step(store, row)) > 0) {
		json_map(out);
		row_put_real(row, 0, "fidelity", out);
		row_put_int(row, 1, "tasks", out);
		row_put_int(row, 2, "finished", out);
		json_end(out);
	}
	json_end(out);
	return rc;
}
