/* How many tasks of a script share a GPU, as it was measured: see rows.h. */
#include "store/rows.h"
#include "store/sql.h"

static const char sql_set[] =
	"INSERT OR REPLACE INTO sharing (script, gpu, measured, updated_ms) VALUES (?1, ?2, ?3, ?4)";
static const char sql_read[] = "SELECT measured FROM sharing WHERE script = ?1 AND gpu = ?2";

int store_set_sharing(struct store *store, const char *script, const char *gpu, const char *measured, int64_t now_ms)
{
	return store_run(store, sql_set, "sssi", script, gpu, measured, now_ms);
}

int store_read_sharing(struct store *store, const char *script, const char *gpu, struct buf *out)
{
	sqlite3_stmt *row = store_bind(store, sql_read, "ss", script, gpu);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	buf_add_text(out, row_text(row, 0));
	store_end(row);
	return 0;
}
