/* The store: everything that is known, in one SQLite file that only the daemon opens. Writes go
 * through typed functions inside one transaction at a time; reads come out as JSON (json.h). */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/error.h"
#include "base/json.h"

#include <sqlite3.h>

/* The states of a task; stored as these numbers, shown as store_state_name(). */
enum store_state {
	STORE_WAITING,
	STORE_SUBMITTED,
	STORE_RUNNING,
	STORE_FINISHED,
	STORE_ERROR,
	STORE_STOPPED,
	STORE_PRUNED,
	STORE_STATE_COUNT,
};

const char *store_state_name(enum store_state state);
/* -1 when the name is unknown. */
int store_state_find(const char *name);
static inline bool store_state_is_over(enum store_state state)
{
	return state >= STORE_FINISHED;
}

struct store;

/* Opens (creates, migrates) the database at path. -EBUSY when another process has it. */
int store_open(const char *path, struct store **ret, struct error *err) MUST_USE;
void store_close(struct store *store);

/* One transaction at a time. Begin is harmless when one is open. After a failed commit nothing of it
 * happened. Where SQLite itself undid it (an error while it was open), begin, writes and commit fail until the
 * commit or a rollback has ended it. */
int store_begin(struct store *store, struct error *err) MUST_USE;
int store_commit(struct store *store, struct error *err) MUST_USE;
void store_rollback(struct store *store);
/* Grows with every committed change: what was rendered under the same number is still true. */
uint64_t store_version(const struct store *store);

/* The statement for a constant SQL text: prepared once, reset and unbound. NULL (logged) when the SQL is
 * wrong. Shared by the files of this room only. */
sqlite3_stmt *store_prepare(struct store *store, const char *sql);
sqlite3 *store_db(struct store *store);
/* Prepares as above and binds one value a letter: i int64, I int64 with 0 as NULL, d double with NaN as
 * NULL, s text (NULL is NULL). */
sqlite3_stmt *store_bind(struct store *store, const char *sql, const char *types, ...);
/* store_bind and one step, for statements that give no row. 0, or a negative errno: -ENOSPC when the disk
 * is full, -EIO otherwise (logged). */
int store_run(struct store *store, const char *sql, const char *types, ...) MUST_USE;
/* Steps a query: 1 a row, 0 the end (the statement is reset then), or a negative errno. */
int store_step(struct store *store, sqlite3_stmt *stmt) MUST_USE;
/* The text of a column; valid until the next step. NULL for NULL. */
const char *store_text(sqlite3_stmt *stmt, int column);

#endif
