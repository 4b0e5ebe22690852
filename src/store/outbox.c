/* See outbox.h. */
#include "store/outbox.h"

#include "store/sql.h"

#include <errno.h>

static const char sql_setting[] = "SELECT value FROM notify_setting WHERE name = ?1";
static const char sql_set[] = "INSERT INTO notify_setting (name, value) VALUES (?1, ?2) "
			      "ON CONFLICT (name) DO UPDATE SET value = ?2";
static const char sql_unset[] = "DELETE FROM notify_setting WHERE name = ?1";
static const char sql_add[] =
	"INSERT INTO notify_message (token, channel, kind, experiment, task, summary, text, created_ms, due_ms) "
	"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
static const char sql_add_to[] =
	"UPDATE notify_message SET many = many + 1, task = NULL, summary = ?4, text = ?5, token = ?7 WHERE id = "
	"(SELECT id FROM notify_message WHERE channel = ?1 AND state = 0 AND tries = 0 AND kind = ?2 AND experiment = ?3 "
	"AND id <> ?6 LIMIT 1)";
static const char sql_last[] =
	"SELECT coalesce(max(created_ms), 0) FROM notify_message WHERE channel = ?1 AND kind = ?2 AND experiment = ?3";
static const char sql_next[] =
	"SELECT id, token, kind, experiment, task, many, summary, text, created_ms, tries FROM notify_message "
	"WHERE channel = ?1 AND state = 0 AND due_ms <= ?2 ORDER BY tries, id LIMIT 1";
static const char sql_next_ms[] =
	"SELECT min(due_ms) FROM notify_message WHERE channel = ?1 AND state = 0 AND (tries > 0) = ?2";
static const char sql_end[] =
	"UPDATE notify_message SET tries = tries + 1, state = ?2, error = ?3, ended_ms = ?4 WHERE id = ?1";
static const char sql_drop[] = "DELETE FROM notify_message WHERE channel = ?1 AND state = 0";
static const char sql_forget[] = "DELETE FROM notify_message WHERE state <> 0 AND ended_ms < ?1";
static const char sql_channel[] = "SELECT (SELECT count(*) FROM notify_message WHERE channel = ?1 AND state = 0), "
				  "(SELECT max(ended_ms) FROM notify_message WHERE channel = ?1 AND state = 1)";
/* A message that was delivered later says that the reason is gone. */
static const char sql_trouble[] =
	"SELECT error, ended_ms FROM notify_message m WHERE channel = ?1 AND error IS NOT NULL AND NOT EXISTS "
	"(SELECT 1 FROM notify_message WHERE channel = ?1 AND state = 1 AND ended_ms > m.ended_ms) "
	"ORDER BY ended_ms DESC, id DESC LIMIT 1";
static const char sql_test[] = "SELECT state, coalesce(ended_ms, created_ms), error FROM notify_message "
			       "WHERE channel = ?1 AND kind = 'test' ORDER BY id DESC LIMIT 1";

static char *outbox_text(sqlite3_stmt *row, int column)
{
	return row_is_null(row, column) ? NULL : mem_strdup(row_text(row, column));
}

void store_message_free(struct store_message *message)
{
	free(message->token);
	free(message->kind);
	free(message->summary);
	free(message->text);
	*message = (struct store_message){0};
}

char *store_read_notify_setting(struct store *store, const char *name)
{
	sqlite3_stmt *row = store_bind(store, sql_setting, "s", name);
	if (store_one(store, row) < 0)
		return NULL;
	char *value = mem_strdup(row_text(row, 0));
	store_end(row);
	return value;
}

int store_set_notify_setting(struct store *store, const char *name, const char *value)
{
	return value ? store_run(store, sql_set, "ss", name, value) : store_run(store, sql_unset, "s", name);
}

int store_add_message(struct store *store, const char *channel, const struct store_message *m, int64_t due_ms)
{
	return store_run(store, sql_add, "sssIIssii", m->token, channel, m->kind, m->experiment, m->task, m->summary,
			 m->text, m->created_ms, due_ms);
}

int store_add_to_message(struct store *store, const char *channel, const struct store_message *m, int64_t except)
{
	int rc = store_run(store, sql_add_to, "ssissis", channel, m->kind, m->experiment, m->summary, m->text, except,
			   m->token);
	return rc < 0 ? rc : sqlite3_changes(store_db(store)) > 0;
}

int64_t store_last_message_ms(struct store *store, const char *channel, const char *kind, int64_t experiment)
{
	sqlite3_stmt *row = store_bind(store, sql_last, "ssi", channel, kind, experiment);
	if (store_one(store, row) < 0)
		return 0;
	int64_t ms = row_int(row, 0);
	store_end(row);
	return ms;
}

int store_next_message(struct store *store, const char *channel, int64_t now_ms, struct store_message *ret)
{
	sqlite3_stmt *row = store_bind(store, sql_next, "si", channel, now_ms);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	*ret = (struct store_message){
		.id = row_int(row, 0),
		.token = outbox_text(row, 1),
		.kind = outbox_text(row, 2),
		.experiment = row_int(row, 3),
		.task = row_int(row, 4),
		.many = row_int(row, 5),
		.summary = outbox_text(row, 6),
		.text = outbox_text(row, 7),
		.created_ms = row_int(row, 8),
		.tries = row_int(row, 9),
	};
	store_end(row);
	return 0;
}

int64_t store_next_message_ms(struct store *store, const char *channel, bool tried)
{
	sqlite3_stmt *row = store_bind(store, sql_next_ms, "si", channel, (int64_t)tried);
	if (store_one(store, row) < 0)
		return 0;
	int64_t ms = row_int(row, 0);
	store_end(row);
	return ms;
}

int store_end_message(struct store *store, int64_t id, enum store_message_state state, const char *error,
		      int64_t now_ms)
{
	return store_run(store, sql_end, "iisi", id, (int64_t)state, error, now_ms);
}

int store_drop_messages(struct store *store, const char *channel)
{
	return store_run(store, sql_drop, "s", channel);
}

int store_forget_messages(struct store *store, int64_t before_ms)
{
	return store_run(store, sql_forget, "i", before_ms);
}

static int outbox_write_test(struct store *store, const char *channel, struct json *out)
{
	static const char *const states[] = {"sending", "sent", "failed"};
	sqlite3_stmt *row = store_bind(store, sql_test, "s", channel);
	int rc = store_one(store, row);
	json_key(out, "test");
	if (rc < 0) {
		json_put_null(out);
		return rc == -ENOENT ? 0 : rc;
	}
	int64_t state = row_int(row, 0);
	json_map(out);
	json_key_string(out, "state", states[state >= 0 && state < 3 ? state : 2]);
	json_key_time(out, "time", row_int(row, 1));
	json_key_string(out, "error", row_text(row, 2));
	json_end(out);
	store_end(row);
	return 0;
}

int store_json_channel(struct store *store, const char *channel, struct json *out)
{
	sqlite3_stmt *row = store_bind(store, sql_channel, "s", channel);
	int rc = store_one(store, row);
	if (rc < 0)
		return rc;
	json_key_int(out, "waiting", row_int(row, 0));
	json_key_time(out, "sent", row_int(row, 1));
	store_end(row);
	row = store_bind(store, sql_trouble, "s", channel);
	rc = store_one(store, row);
	if (rc < 0 && rc != -ENOENT)
		return rc;
	json_key_string(out, "error", rc == 0 ? row_text(row, 0) : NULL);
	json_key_time(out, "failed", rc == 0 ? row_int(row, 1) : 0);
	if (rc == 0)
		store_end(row);
	return outbox_write_test(store, channel, out);
}
