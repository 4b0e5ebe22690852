/* The basis of the store: opening, migrations, transactions, and statements that are prepared once. */
#include "store/sql.h"

#include "base/log.h"
#include "store/vfs.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <stdarg.h>
#include <stdio.h>

struct store {
	sqlite3 *db;
	uint64_t version;
	int64_t changes; /* rows changed ever, when the transaction began */
	bool open; /* a transaction, as its owner believes */
	bool unread; /* a read failed in it */
	char failure[256];
	store_failure_f failed;
	void *failed_ctx;
	VEC(struct store_statement {
		const char *sql; /* identity is the address: SQL texts are constants */
		sqlite3_stmt *stmt;
	}) statements;
};

/* The texts of schema_*.sql: entry n takes a database from version n to n + 1. */
extern const char *const store_migrations[];
extern const size_t store_migration_count;

static const char *const store_state_names[STORE_STATE_COUNT] = {
	[STORE_WAITING] = "waiting",   [STORE_SUBMITTED] = "submitted", [STORE_RUNNING] = "running",
	[STORE_FINISHED] = "finished", [STORE_ERROR] = "error",         [STORE_STOPPED] = "stopped",
	[STORE_PRUNED] = "pruned",
};

const char *store_state_name(enum store_state state)
{
	return state < STORE_STATE_COUNT ? store_state_names[state] : "unknown";
}

int store_state_find(const char *name)
{
	for (int i = 0; i < STORE_STATE_COUNT; i++)
		if (strcmp(store_state_names[i], name) == 0)
			return i;
	return -1;
}

static int store_errno(struct store *store)
{
	switch (sqlite3_errcode(store->db) & 0xff) {
	case SQLITE_FULL: return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED: return -EBUSY;
	default:
		/* A full disk or quota also shows as a failed write. */
		return sqlite3_system_errno(store->db) == ENOSPC || sqlite3_system_errno(store->db) == EDQUOT ? -ENOSPC
													      : -EIO;
	}
}

static int store_fail(struct store *store, const char *what, struct error *err)
{
	int rc = store_errno(store);
	return errorf(err, rc, "%s: %s%s", what, sqlite3_errmsg(store->db),
		      rc == -EBUSY ? "; another sluice uses this state folder" : "");
}

static int store_user_version(struct store *store, int *ret, struct error *err)
{
	sqlite3_stmt *stmt;
	if (sqlite3_prepare_v2(store->db, "PRAGMA user_version", -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_ROW) {
		sqlite3_finalize(stmt);
		return store_fail(store, "reading the database", err);
	}
	*ret = sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	return 0;
}

static int store_migrate(struct store *store, const char *path, struct error *err)
{
	int version = 0;
	int rc = store_user_version(store, &version, err);
	if (rc < 0)
		return rc;
	if (version > (int)store_migration_count)
		return errorf(err, -EINVAL,
			      "%s was written by a newer sluice (version %d, this one knows %zu); use that "
			      "one, or another state folder",
			      path, version, store_migration_count);
	if (version == (int)store_migration_count)
		return 0;
	/* All of them or none. */
	char done[64];
	snprintf(done, sizeof(done), "PRAGMA user_version=%zu; COMMIT", store_migration_count);
	int good = sqlite3_exec(store->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	for (; good == SQLITE_OK && version < (int)store_migration_count; version++)
		good = sqlite3_exec(store->db, store_migrations[version], NULL, NULL, NULL);
	if (good == SQLITE_OK)
		good = sqlite3_exec(store->db, done, NULL, NULL, NULL);
	if (good != SQLITE_OK) {
		rc = store_fail(store, "setting up the database", err);
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	}
	return rc;
}

int store_open(const char *path, struct store **ret, struct error *err)
{
	/* Exclusive locking before WAL: no -shm file, so that it also works on NFS and Lustre. A cache of
	 * 2 MB keeps an idle daemon small. */
	static const char setup[] = "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
				    "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
				    "PRAGMA cache_size=-2000; PRAGMA temp_store=MEMORY;"
				    "PRAGMA wal_autocheckpoint=2000; PRAGMA journal_size_limit=8000000;"
				    "BEGIN EXCLUSIVE; COMMIT";
	struct store *store = mem_alloc(sizeof(*store));
	int rc = 0;
	store->version = 1;
	/* One thread has it: nothing in it needs locks or counts its memory. Refused, and done already, from the second time on. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	mode_t before = umask(077); /* only the owner reads the database, whatever its folder's mode */
	if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    store_vfs()) != SQLITE_OK ||
	    sqlite3_exec(store->db, setup, NULL, NULL, NULL) != SQLITE_OK)
		rc = store_fail(store, path, err);
	umask(before);
	if (rc == 0)
		rc = store_migrate(store, path, err);
	if (rc < 0) {
		store_close(store);
		return rc;
	}
	*ret = store;
	return 0;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->statements.len; i++)
		sqlite3_finalize(store->statements.at[i].stmt);
	free(store->statements.at);
	sqlite3_close(store->db);
	free(store);
}

sqlite3 *store_db(struct store *store)
{
	return store->db;
}

uint64_t store_version(const struct store *store)
{
	return store->version;
}

/* SQLite undoes a transaction by itself when it cannot go on, also in the middle of a read. Its owner must know:
 * what it writes from then on would be kept, each statement by itself. */
static bool store_is_undone(struct store *store)
{
	return store->open && sqlite3_get_autocommit(store->db);
}

static int store_fail_undone(struct error *err)
{
	return errorf(err, -EIO, "the database undid what was not written yet, after an error");
}

void store_on_failure(struct store *store, store_failure_f failed, void *ctx)
{
	store->failed = failed;
	store->failed_ctx = ctx;
}

const char *store_failure(const struct store *store)
{
	return store->failure;
}

int store_begin(struct store *store, struct error *err)
{
	if (store_is_undone(store))
		return store_fail_undone(err);
	if (store->open)
		return errorf(err, -EALREADY, "a transaction is already open; its owner must end it first");
	store->changes = sqlite3_total_changes64(store->db);
	int rc = store_run(store, "BEGIN IMMEDIATE", "");
	store->open = rc == 0;
	return rc < 0 ? store_fail(store, "beginning a transaction", err) : 0;
}

int store_commit(struct store *store, struct error *err)
{
	int rc = 0;
	if (!store->open)
		return 0;
	if (store_is_undone(store))
		rc = store_fail_undone(err);
	else if (store->unread)
		rc = errorf(err, -EIO, "the database could not be read: %s", store->failure);
	else if (store_run(store, "COMMIT", "") < 0)
		rc = store_fail(store, "writing to the database", err);
	if (rc < 0) {
		store_rollback(store);
		return rc;
	}
	store->open = false;
	if (sqlite3_total_changes64(store->db) != store->changes)
		store->version++;
	return 0;
}

void store_rollback(struct store *store)
{
	store->open = store->unread = false;
	if (!sqlite3_get_autocommit(store->db) && store_run(store, "ROLLBACK", "") < 0)
		log_error("store: rolling back: %s", sqlite3_errmsg(store->db));
	store->version++;
}

/* A read has failed. */
static int store_fail_read(struct store *store, int rc, const char *text, const char *sql)
{
	snprintf(store->failure, sizeof(store->failure), "%s", text);
	store->unread = store->open;
	log_error("store: %s in: %.200s", store->failure, sql);
	if (store->failed)
		store->failed(store->failed_ctx, store->failure);
	return rc;
}

static sqlite3_stmt *store_prepare(struct store *store, const char *sql)
{
	struct store_statement *list = store->statements.at, entry = {.sql = sql};
	for (size_t i = 0; i < store->statements.len; i++) {
		if (list[i].sql == sql) {
			/* What is used often comes to stand near the front. */
			entry = list[i];
			list[i] = list[i / 2];
			list[i / 2] = entry;
			sqlite3_reset(entry.stmt);
			sqlite3_clear_bindings(entry.stmt);
			return entry.stmt;
		}
	}
	if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &entry.stmt, NULL) != SQLITE_OK) {
		store_fail_read(store, 0, sqlite3_errmsg(store->db), sql);
		return NULL;
	}
	vec_push(&store->statements, entry);
	return entry.stmt;
}

static sqlite3_stmt *store_bind_list(struct store *store, const char *sql, const char *types, va_list args)
{
	sqlite3_stmt *stmt = store_prepare(store, sql);
	for (int i = 0; stmt && types[i]; i++) {
		if (types[i] == 's') {
			const char *text = va_arg(args, const char *);
			sqlite3_bind_text(stmt, i + 1, text, -1, SQLITE_TRANSIENT);
		} else if (types[i] == 'b') {
			const struct store_blob *blob = va_arg(args, const struct store_blob *);
			sqlite3_bind_blob64(stmt, i + 1, blob->data, blob->len, SQLITE_TRANSIENT);
		} else if (types[i] == 'd') {
			double value = va_arg(args, double);
			if (!isnan(value)) /* unbound is NULL */
				sqlite3_bind_double(stmt, i + 1, value);
		} else {
			int64_t value = va_arg(args, int64_t);
			if (types[i] == 'i' || value)
				sqlite3_bind_int64(stmt, i + 1, value);
		}
	}
	return stmt;
}

sqlite3_stmt *store_bind(struct store *store, const char *sql, const char *types, ...)
{
	va_list args;
	va_start(args, types);
	sqlite3_stmt *stmt = store_bind_list(store, sql, types, args);
	va_end(args);
	return stmt;
}

int store_run(struct store *store, const char *sql, const char *types, ...)
{
	va_list args;
	va_start(args, types);
	sqlite3_stmt *stmt = store_bind_list(store, sql, types, args);
	va_end(args);
	if (!stmt || (store_is_undone(store) && !sqlite3_stmt_readonly(stmt)))
		return -EIO;
	int step = sqlite3_step(stmt);
	int rc = step == SQLITE_DONE || step == SQLITE_ROW ? 0 : store_errno(store);
	if (rc < 0)
		log_error("store: %s in: %.100s", sqlite3_errmsg(store->db), sql);
	sqlite3_reset(stmt);
	return rc;
}

/* Texts are bound up to their first zero byte: one with a zero byte in it stands in a page that was overwritten. */
static bool store_row_is_sound(sqlite3_stmt *row)
{
	for (int i = sqlite3_column_count(row); i-- > 0;) {
		if (sqlite3_column_type(row, i) != SQLITE_TEXT)
			continue;
		const char *text = row_text(row, i);
		if (memchr(text, 0, (size_t)sqlite3_column_bytes(row, i)))
			return false;
	}
	return true;
}

int store_step(struct store *store, sqlite3_stmt *row)
{
	if (!row)
		return -EIO;
	int step = sqlite3_step(row), rc = 0;
	if (step == SQLITE_ROW && store_row_is_sound(row))
		return 1;
	if (step == SQLITE_ROW)
		rc = store_fail_read(store, -EIO, "a damaged text", sqlite3_sql(row));
	else if (step != SQLITE_DONE)
		rc = store_fail_read(store, store_errno(store), sqlite3_errmsg(store->db), sqlite3_sql(row));
	sqlite3_reset(row);
	return rc;
}

int store_one(struct store *store, sqlite3_stmt *row)
{
	int rc = store_step(store, row);
	return rc > 0 ? 0 : rc == 0 ? -ENOENT : rc;
}

int store_check(struct store *store, char table[static STORE_TABLE_CHARS], struct buf *out)
{
	static const char next[] =
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name > ?1 ORDER BY name LIMIT 1";
	static const char check[] = "SELECT * FROM pragma_quick_check(?1)";
	sqlite3_stmt *row = store_bind(store, next, "s", table);
	int rc = store_step(store, row);
	if (rc <= 0)
		return rc;
	snprintf(table, STORE_TABLE_CHARS, "%s", row_text(row, 0));
	store_end(row);
	row = store_bind(store, check, "s", table);
	while ((rc = store_step(store, row)) > 0)
		if (strcmp(row_text(row, 0), "ok") != 0)
			buf_addf(out, "%s%s: %s", out->len ? "; " : "", table, row_text(row, 0));
	/* SQLite gives up at some damage; the other tables can be checked all the same. */
	if (rc < 0)
		buf_addf(out, "%s%s: %s", out->len ? "; " : "", table, store->failure);
	return 1;
}
