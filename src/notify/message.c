/* See message.h. */
#include "notify/message.h"

#include "base/json.h"
#include "base/node.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>

/* A reason may quote the output of a script; a message is no place for pages of it. */
#define MESSAGE_TEXT_BYTES 2000
/* Of a webhook's document, and of a description where the whole is longer than that. */
#define MESSAGE_JSON_BYTES (48u << 10)
#define MESSAGE_DESCRIPTION_BYTES 1000

/* Adds text as one line: control characters, also those of Unicode that order a line or end it, become blanks. The
 * backticks around commands are left out. */
static void message_add_line(const char *text, struct buf *out)
{
	struct buf clean = buf_make(BUF_UNLIMITED);
	size_t len = strlen(text);
	text_utf8_clean(text, len < MESSAGE_TEXT_BYTES ? len : MESSAGE_TEXT_BYTES, &clean);
	const char *at = buf_text(&clean);
	for (size_t i = 0; i < clean.len; i++) {
		unsigned char c = (unsigned char)at[i], next = (unsigned char)at[i + 1];
		bool control = c < 0x20 || c == 0x7f;
		if (c == 0xc2 && next >= 0x80 && next < 0xa0) { /* U+0080 to U+009F */
			control = true;
			i++;
		} else if (c == 0xe2 && next == 0x80 && (unsigned char)at[i + 2] >= 0xa8 &&
			   (unsigned char)at[i + 2] <= 0xae) { /* U+2028 to U+202E */
			control = true;
			i += 2;
		}
		if (c != '`')
			buf_add_char(out, control ? ' ' : (char)c);
	}
	if (len > MESSAGE_TEXT_BYTES)
		buf_add_text(out, "…");
	buf_free(&clean);
}

static void message_add_best(const struct node *summary, struct buf *out)
{
	const struct node *best = node_get(summary, "best"), *objectives = node_get(summary, "objective");
	const struct node *value = node_get(best, "value");
	if (!node_is_number(value) || !objectives || !objectives->count)
		return;
	const char *metric = node_get_string(objectives->items[0], "metric"), *id = node_get_string(summary, "id");
	buf_add_text(out, " Best ");
	message_add_line(metric ? metric : "value", out);
	buf_addf(out, " %.4g (%s/%" PRId64 ").", value->real, id ? id : "?", node_get_int(best, "task", 0));
}

static void message_add_end(const struct node *summary, struct buf *out)
{
	const struct node *tasks = node_get(summary, "tasks");
	const char *state = node_get_string(summary, "state");
	int64_t errors = node_get_int(tasks, "error", 0);
	bool failed = state && strcmp(state, "error") == 0;
	buf_addf(out, " %s: %" PRId64 " of %" PRId64 " tasks finished",
		 failed          ? "ended with errors"
			 : state ? state
				 : "ended",
		 node_get_int(tasks, "finished", 0), node_get_int(tasks, "total", 0));
	if (errors)
		buf_addf(out, ", %" PRId64 " failed", errors);
	buf_add_char(out, '.');
	message_add_best(summary, out);
}

static void message_add_stall(const struct store_message *row, const char *id, struct buf *out)
{
	if (row->many > 1)
		buf_addf(out, ": %" PRId64 " tasks make no progress. The newest of them ", row->many);
	else
		buf_addf(out, ": task %s/%" PRId64 " ", id, row->task);
	message_add_line(row->text, out);
}

void notify_add_sentence(const struct store_message *row, struct buf *out)
{
	struct node *summary = NULL;
	if (row->summary && node_parse_json(row->summary, strlen(row->summary), &summary, NULL) < 0)
		summary = NULL;
	const char *name = node_get_string(summary, "name"), *id = node_get_string(summary, "id");
	if (!row->experiment) {
		message_add_line(row->text, out);
	} else {
		message_add_line(name ? name : "an experiment", out);
		buf_addf(out, " (%s)", id ? id : "?");
		if (strcmp(row->kind, "end") == 0)
			message_add_end(summary, out);
		else if (strcmp(row->kind, "stall") == 0)
			message_add_stall(row, id ? id : "?", out);
		else {
			buf_add_text(out, " is paused: ");
			message_add_line(row->text, out);
		}
	}
	node_free(summary);
}

bool notify_add_link(const struct notify_message *message, struct buf *out)
{
	const struct store_message *row = message->row;
	if (!message->url)
		return false;
	buf_add_text(out, message->url);
	if (row->experiment)
		buf_addf(out, "/e/e%" PRId64, row->experiment);
	if (row->experiment && row->task)
		buf_addf(out, "/%" PRId64, row->task);
	return true;
}

/* Slack and those that took over its format read &, < and > as marks: `<!channel>` would call everyone. */
static void message_add_slack(const char *text, struct buf *out)
{
	for (; *text; text++)
		if (*text == '&')
			buf_add_text(out, "&amp;");
		else if (*text == '<')
			buf_add_text(out, "&lt;");
		else if (*text == '>')
			buf_add_text(out, "&gt;");
		else
			buf_add_char(out, *text);
}

static void message_write_json(const struct notify_message *message, const char *summary, struct buf *out)
{
	const struct store_message *row = message->row;
	struct buf sentence = buf_make(BUF_UNLIMITED), link = buf_make(BUF_UNLIMITED), slack = buf_make(BUF_UNLIMITED);
	struct json json = json_to(out);
	notify_add_sentence(row, &sentence);
	bool linked = notify_add_link(message, &link);
	message_add_slack(buf_text(&sentence), &slack);
	if (linked)
		buf_addf(&slack, "\n%s", buf_text(&link));
	json_map(&json);
	json_key_string(&json, "text", buf_text(&slack));
	json_key_string(&json, "message", buf_text(&sentence));
	json_key_string(&json, "kind", row->kind);
	json_key_string(&json, "id", row->token);
	json_key_time(&json, "time", row->created_ms);
	json_key_string(&json, "host", message->host);
	json_key_string(&json, "url", linked ? buf_text(&link) : NULL);
	json_key(&json, "task");
	if (row->task)
		json_put_int(&json, row->task);
	else
		json_put_null(&json);
	json_key_raw(&json, "experiment", summary);
	json_end(&json);
	buf_free(&sentence);
	buf_free(&link);
	buf_free(&slack);
}

/* The summary with the begin of its description only. The caller frees it; NULL: it cannot be read. */
static char *message_shorten_summary(const char *text)
{
	struct node *summary = NULL;
	if (!text || node_parse_json(text, strlen(text), &summary, NULL) < 0)
		return NULL;
	const char *description = node_get_string(summary, "description");
	struct buf out = buf_make(BUF_UNLIMITED);
	struct json json = json_to(&out);
	if (description && strlen(description) > MESSAGE_DESCRIPTION_BYTES) {
		size_t len = MESSAGE_DESCRIPTION_BYTES;
		while (len && ((unsigned char)description[len] & 0xc0) == 0x80)
			len--; /* a character stays whole */
		char *begin = mem_printf("%.*s…", (int)len, description);
		node_add(summary, "description", node_new_string(begin));
		free(begin);
	}
	node_write_json(summary, &json);
	node_free(summary);
	return buf_take(&out);
}

void notify_add_json(const struct notify_message *message, struct buf *out)
{
	struct buf whole = buf_make(BUF_UNLIMITED);
	message_write_json(message, message->row->summary, &whole);
	if (whole.len > MESSAGE_JSON_BYTES) {
		char *summary = message_shorten_summary(message->row->summary);
		buf_clear(&whole);
		message_write_json(message, summary, &whole);
		free(summary);
	}
	if (whole.len > MESSAGE_JSON_BYTES) {
		buf_clear(&whole);
		message_write_json(message, NULL, &whole);
	}
	buf_add(out, whole.data, whole.len);
	buf_free(&whole);
}
