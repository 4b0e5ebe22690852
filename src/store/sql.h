/* SQLite as the files of this room use it: statements prepared once, bound and stepped. No other room includes this. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include "store/store.h"

#include <sqlite3.h>

/* The statement for a constant SQL text: prepared once, reset and unbound. NULL (logged) when the SQL is
 * wrong. */
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
