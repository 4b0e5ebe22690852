/* Tokens: see access.h. */
#include "store/access.h"

#include "base/log.h"
#include "store/sql.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define TOKEN_USED_MS (3600 * (int64_t)1000)

static const char sql_add_token[] = "INSERT INTO access_token (name, hash, created_ms) VALUES (?1, ?2, ?3)";
static const char sql_find_token[] = "SELECT id, coalesce(used_ms, 0) FROM access_token WHERE hash = ?1";
static const char sql_use_token[] = "UPDATE access_token SET used_ms = ?2 WHERE id = ?1";
static const char sql_delete_token[] = "DELETE FROM access_token WHERE id = ?1";
static const char sql_tokens[] = "SELECT id, name, created_ms, coalesce(used_ms, 0) FROM access_token ORDER BY id";

/* Ends the transaction of one change: commits when rc is 0. */
static int access_change_end(struct store *store, int rc, struct error *err)
{
	if (rc == 0)
		return store_commit(store, err);
	store_rollback(store);
	return errorf(err, rc, "the database could not be written: %s", strerror(-rc));
}

int store_add_token(struct store *store, const char *name, const char *hash, int64_t now_ms, int64_t *ret_id,
		    struct error *err)
{
	int rc = store_begin(store, err);
	if (rc < 0)
		return rc;
	rc = store_run(store, sql_add_token, "ssi", name, hash, now_ms);
	int64_t id = sqlite3_last_insert_rowid(store_db(store));
	rc = access_change_end(store, rc, err);
	if (rc == 0)
		*ret_id = id;
	return rc;
}

int store_find_token(struct store *store, const char *hash, int64_t now_ms, int64_t *ret_id)
{
	sqlite3_stmt *row = store_bind(store, sql_find_token, "s", hash);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	int64_t id = row_int(row, 0), used_ms = row_int(row, 1);
	store_end(row);
	*ret_id = id;
	if (now_ms - used_ms < TOKEN_USED_MS)
		return 0;
	/* The door opens also when the note cannot be written. */
	if (store_begin(store, NULL) == 0 &&
	    access_change_end(store, store_run(store, sql_use_token, "ii", id, now_ms), NULL) < 0)
		log_warning("the use of token %" PRId64 " could not be recorded", id);
	return 0;
}

int store_delete_token(struct store *store, int64_t id, struct error *err)
{
	int rc = store_begin(store, err);
	if (rc < 0)
		return rc;
	rc = store_run(store, sql_delete_token, "i", id);
	bool found = sqlite3_changes(store_db(store)) > 0;
	rc = access_change_end(store, rc, err);
	return rc == 0 && !found ? errorf(err, -ENOENT, "there is no token %" PRId64, id) : rc;
}

int store_json_tokens(struct store *store, struct json *out)
{
	int64_t count = 0;
	int rc;
	sqlite3_stmt *row = store_bind(store, sql_tokens, "");
	json_map(out);
	json_key(out, "items");
	json_list(out);
	for (; (rc = store_step(store, row)) > 0; count++) {
		json_map(out);
		json_key_int(out, "id", row_int(row, 0));
		json_key_string(out, "name", row_text(row, 1));
		json_key_time(out, "created", row_int(row, 2));
		json_key_time(out, "used", row_int(row, 3));
		json_end(out);
	}
	json_end(out);
	json_key_null(out, "next");
	json_key_int(out, "total", count);
	json_end(out);
	return rc;
}
