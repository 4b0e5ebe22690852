/* Statements and their rows. Only for the files of this folder. Every query has one of two forms:
 *
 *	sqlite3_stmt *row = store_bind(store, sql, "i", id);
 *	while ((rc = store_step(store, row)) > 0)
 *		...
 *	return rc;
 *
 *	sqlite3_stmt *row = store_bind(store, sql, "i", id);
 *	int rc = store_one(store, row);
 *	if (rc < 0)
 *		return rc;
 *	...
 *	store_end(row);
 *
 * A failed read is never the end of a list: the caller gets the errno and passes it on. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include "store/store.h"

#include <sqlite3.h>

sqlite3 *store_db(struct store *store);
/* Bytes for a statement. */
struct store_blob {
	const void *data;
	size_t len;
};
/* The statement of a constant SQL text (prepared once, found again by its address), with one value a letter: i int64,
 * I int64 with 0 as NULL, d double with NaN as NULL, s text (NULL is NULL), b const struct store_blob *. NULL when it cannot be prepared; the
 * functions below take that and fail. */
sqlite3_stmt *store_bind(struct store *store, const char *sql, const char *types, ...);
/* store_bind and one step, for statements that give no row. 0, or a negative errno: -ENOSPC when the disk
 * is full, else -EIO (logged). */
int store_run(struct store *store, const char *sql, const char *types, ...) MUST_USE;
/* The next row: 1; 0 after the last (the statement is reset then); or a negative errno (logged, and reset). A text with
 * a zero byte is an error too: none is ever written, so its page is damaged. */
int store_step(struct store *store, sqlite3_stmt *row) MUST_USE;
/* The first row: 0, -ENOENT when there is none, or another negative errno. After 0 the caller ends it. */
int store_one(struct store *store, sqlite3_stmt *row) MUST_USE;
/* Ends a query before its last row was read. NULL is fine. */
static inline void store_end(sqlite3_stmt *row)
{
	sqlite3_reset(row);
}

/* Columns of the row that was read last. A text is valid until the next step; NULL for NULL. */
static inline const char *row_text(sqlite3_stmt *row, int column)
{
	return (const char *)sqlite3_column_text(row, column);
}

static inline bool row_is_null(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) == SQLITE_NULL;
}

/* 0 for NULL. */
static inline int64_t row_int(sqlite3_stmt *row, int column)
{
	return sqlite3_column_int64(row, column);
}

static inline int64_t row_int_or(sqlite3_stmt *row, int column, int64_t if_null)
{
	return row_is_null(row, column) ? if_null : sqlite3_column_int64(row, column);
}

/* NAN for NULL. */
static inline double row_real(sqlite3_stmt *row, int column)
{
	return row_is_null(row, column) ? __builtin_nan("") : sqlite3_column_double(row, column);
}

#endif
