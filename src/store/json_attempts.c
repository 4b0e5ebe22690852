/* When and where every attempt of an experiment ran, as JSON: see json.h. */
#include "store/json_pieces.h"

#include <inttypes.h>
#include <stdio.h>

static const char sql_find[] = "SELECT parallel FROM experiment WHERE id = ?1 AND removing = 0";
static const char sql_tasks[] = "SELECT id, number FROM task WHERE experiment = ?1 AND number > ?2 ORDER BY number";

#define PLACE_JSON(X)                                                                                                  \
	X(int, "number", "number")                                                                                     \
	X(state, "state", "state")                                                                                     \
	X(time, "submitted", "submitted_ms")                                                                           \
	X(time, "started", "started_ms")                                                                               \
	X(time, "finished", "finished_ms")                                                                             \
	X(text, "node", "node")                                                                                        \
	X(text, "gpus", "gpus")                                                                                        \
	X(text, "job", "job")
static const struct row_member attempts_members[] = {PLACE_JSON(ROW_MEMBER)};
static const char sql_attempts[] = "SELECT id" PLACE_JSON(ROW_COLUMN) " FROM attempt WHERE task = ?1 ORDER BY number";

static int attempts_put_task(struct task_pieces *pieces, sqlite3_stmt *task)
{
	struct json *out = &pieces->json;
	sqlite3_stmt *row = store_bind(pieces->store, sql_attempts, "i", row_int(task, 0));
	int rc;
	while ((rc = store_step(pieces->store, row)) > 0) {
		json_map(out);
		row_put_int(task, 1, "task", out);
		row_put_members(row, 1, attempts_members, COUNT_OF(attempts_members), out);
		json_end(out);
	}
	return rc;
}

int store_json_attempts(struct store *store, int64_t experiment, struct pieces *ret)
{
	char id[24];
	sqlite3_stmt *row = store_bind(store, sql_find, "i", experiment);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	store_end(row);
	struct task_pieces *pieces = task_pieces_new(store, experiment, sql_tasks, attempts_put_task, ret);
	snprintf(id, sizeof(id), "e%" PRId64, experiment);
	json_map(&pieces->json);
	json_key_string(&pieces->json, "experiment", id);
	json_key(&pieces->json, "attempts");
	json_list(&pieces->json);
	pieces->ends = 2;
	return 0;
}
