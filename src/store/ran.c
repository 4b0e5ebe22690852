/* What attempts ran: see rows.h and json.h. */
#include "store/json_row.h"
#include "store/rows.h"

#include <errno.h>

static const char sql_has[] = "SELECT id FROM ran WHERE experiment = ?1 AND digest = ?2";
static const char sql_add[] = "INSERT OR IGNORE INTO ran (experiment, digest, content) VALUES (?1, ?2, ?3)";
static const char sql_set[] = "UPDATE attempt SET ran = ?2 WHERE id = ?1";
static const char sql_all[] = "SELECT digest, content FROM ran WHERE experiment = ?1 ORDER BY id";

#define RAN_JSON(X)                                                                                                    \
	X(int, "attempt", "a.number")                                                                                  \
	X(text, "node", "a.node")                                                                                      \
	X(text, "gpus", "a.gpus")                                                                                      \
	X(text, "job", "a.job")                                                                                        \
	X(int, "seed", "t.seed")                                                                                       \
	X(text, "digest", "a.ran")                                                                                     \
	X(json, "ran", "r.content")
static const struct row_member ran_members[] = {RAN_JSON(ROW_MEMBER)};
/* ?3 0: the newest attempt. */
static const char sql_one[] = "SELECT t.id" RAN_JSON(
	ROW_COLUMN) " FROM task t JOIN experiment e ON e.id = t.experiment AND e.removing = 0 "
		    "LEFT JOIN attempt a ON a.task = t.id AND (?3 = 0 OR a.number = ?3) "
		    "LEFT JOIN ran r ON r.experiment = t.experiment AND r.digest = a.ran "
		    "WHERE t.experiment = ?1 AND t.number = ?2 AND (?3 = 0 OR a.id IS NOT NULL) "
		    "ORDER BY a.number DESC LIMIT 1";

int store_has_ran(struct store *store, int64_t experiment, const char *digest)
{
	sqlite3_stmt *row = store_bind(store, sql_has, "is", experiment, digest);
	int rc = store_one(store, row);
	if (rc == 0)
		store_end(row);
	return rc == 0 ? 1 : rc == -ENOENT ? 0 : rc;
}

int store_add_ran(struct store *store, int64_t experiment, const char *digest, const char *content)
{
	return store_run(store, sql_add, "iss", experiment, digest, content);
}

int store_set_ran(struct store *store, int64_t attempt, const char *digest)
{
	return store_run(store, sql_set, "is", attempt, digest);
}

int store_json_ran(struct store *store, int64_t experiment, int64_t number, int64_t attempt, struct json *out)
{
	sqlite3_stmt *row = store_bind(store, sql_one, "iii", experiment, number, attempt);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	json_map(out);
	row_put_members(row, 1, ran_members, COUNT_OF(ran_members), out);
	json_end(out);
	store_end(row);
	return 0;
}

int json_put_ran(struct store *store, int64_t experiment, struct json *out)
{
	sqlite3_stmt *row = store_bind(store, sql_all, "i", experiment);
	int rc;
	json_key(out, "ran");
	json_map(out);
	while ((rc = store_step(store, row)) > 0)
		json_key_raw(out, row_text(row, 0), row_text(row, 1));
	json_end(out);
	return rc;
}
