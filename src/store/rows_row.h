/* Columns of a row as members of a struct: for the rows_*.c files of this room only. "SELECT t.id"
 * STORE_TASK(FIELD_COLUMN, FIELD_COLUMN, STORE_NONE) is the query; with `row` the statement, `column` at 1 and `ret` the
 * struct, STORE_TASK(FIELD_READ, FIELD_READ, STORE_NONE) reads it. */
#ifndef STORE_ROWS_ROW_H
#define STORE_ROWS_ROW_H

#include "store/number.h"
#include "store/sql.h"

/* Rows of metrics that are deleted by one statement: some milliseconds. A task may have millions. */
#define METRIC_PART "1000"

#define FIELD_COLUMN(type, member, sql, ...) ", " sql
#define FIELD_READ(type, member, ...) ret->member = FIELD_##type(row, column++);

#define FIELD_INT row_int
#define FIELD_COUNT(row, column) row_int_or(row, column, -1)
#define FIELD_REAL row_real
#define FIELD_TEXT row_text
#define FIELD_BOOL(row, column) (row_int(row, column) != 0)
#define FIELD_INDEX (uint32_t) row_int
#define FIELD_STATE (enum store_state) row_int
#define FIELD_WANTED (enum store_wanted) row_int
#define FIELD_SWEEP (enum store_sweep) row_int
#define FIELD_STOP (enum store_stop) row_int
#define FIELD_BATCH (enum store_batch_state) row_int

/* One whole number out of the first row of a query; 0 for NULL or no row. */
static inline int row_read_int(struct store *store, sqlite3_stmt *row, int64_t *ret)
{
	int rc = store_step(store, row);
	if (rc < 0)
		return rc;
	*ret = rc > 0 ? row_int(row, 0) : 0;
	store_end(row);
	return 0;
}

#endif
