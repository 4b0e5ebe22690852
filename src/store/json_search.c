/* Search over experiments and tasks: see json.h. Every row is looked at, some of them a turn. A word is found anywhere
 * in the texts of a row, in either case, an id only as a whole word; all words must be found in the same row. What
 * every task of an experiment has (its name, the names of its parameters) finds a task only beside another word. */
#include "store/json_row.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/node.h"
#include "base/num.h"
#include "store/number.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#define SEARCH_WORDS 8 /* further ones are ignored */
#define SEARCH_BLANKS " \t\r\n"
#define SEARCH_BEFORE 40 /* characters of a text that are shown before the first word */
#define SEARCH_SHOWN 160
#define SEARCH_CUT (4 * SEARCH_SHOWN) /* what is read for it: tracebacks are full of blanks and marks */

/* What a hit is in, in the order of the columns after the first six. */
static const char *const search_experiment_fields[] = {"name",   "description", "tag",       "note",
						       "script", "strategy",    "parameter", "objective"};
static const char *const search_task_fields[] = {"tag", "note", "cause", "reason", "job", "node", "parameter"};

enum search_column {
	SEARCH_ID,
	SEARCH_EXPERIMENT,
	SEARCH_NUMBER,
	SEARCH_NAME,
	SEARCH_STATE,
	SEARCH_TIME,
	SEARCH_TEXTS
};
/* ?1: ids below */
static const char sql_experiments[] =
	"SELECT id, id, 0, name, state, created_ms, name, description, "
	"(SELECT group_concat(value, ' ') FROM json_each(tags)), notes, script, strategy, "
	"(SELECT group_concat(json_extract(value, '$.name'), ' ') FROM json_each(parameters)), "
	"(SELECT group_concat(json_extract(value, '$.metric'), ' ') FROM json_each(objective)) "
	"FROM experiment WHERE id < ?1 AND removing = 0 ORDER BY id DESC";
static const char sql_tasks[] =
	"SELECT t.id, t.experiment, t.number, e.name, t.state, coalesce(t.finished_ms, t.started_ms, t.created_ms), "
	"(SELECT group_concat(value, ' ') FROM json_each(t.tags)), t.notes, "
	"coalesce(json_extract(t.cause, '$.tail') || char(10), '') || json_extract(t.cause, '$.text'), "
	"CASE WHEN t.cause IS NULL THEN t.reason END, t.job, t.node, t.parameters "
	"FROM task t JOIN experiment e ON e.id = t.experiment AND e.removing = 0 WHERE t.id < ?1 ORDER BY t.id DESC";

struct search {
	struct store *store;
	char *text; /* the words, each with an end of its own */
	const char *words[SEARCH_WORDS];
	size_t count;
	int64_t limit, below, hits;
	bool tasks; /* the experiments are done */
	bool more;
	struct buf parameters; /* of the row, as name=value */
	struct json json;
};

static void search_free(void *ctx)
{
	struct search *search = ctx;
	free(search->text);
	buf_free(&search->parameters);
	free(search);
}

/* "lr=0.001 optimizer=adam": a name alone would find every task. */
static const char *search_parameters(struct search *search, const char *json)
{
	struct node *map = NULL;
	buf_clear(&search->parameters);
	if (!json || node_parse_json(json, strlen(json), &map, NULL) < 0)
		return "";
	for (size_t i = 0; i < map->count; i++) {
		const struct node *item = map->items[i];
		char number[NUM_REAL_CHARS] = "";
		const char *value = item->string;
		if (node_is_number(item)) {
			num_format_real(item->real, number);
			value = number;
		} else if (item->type == NODE_BOOL) {
			value = item->boolean ? "true" : "false";
		}
		buf_addf(&search->parameters, "%s%s=%s", i ? " " : "", item->key, value ? value : "none");
	}
	node_free(map);
	return buf_text(&search->parameters);
}

static const char *search_field(struct search *search, sqlite3_stmt *row, size_t field)
{
	const char *text = row_text(row, SEARCH_TEXTS + (int)field);
	bool values = search->tasks && field == COUNT_OF(search_task_fields) - 1;
	return values ? search_parameters(search, text) : text;
}

static bool search_is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Has the form of an id: e12 or e12/7. */
static bool search_has_id_form(const char *word)
{
	size_t digits = strspn(word + 1, "0123456789");
	if ((*word != 'e' && *word != 'E') || !digits)
		return false;
	const char *rest = word + 1 + digits;
	return !*rest || (*rest == '/' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789")]);
}

/* The first place of a word in a text. An id is found as a whole word only: e1 is not in "/tmp/core1". */
static const char *search_find(const char *text, const char *word)
{
	if (!search_has_id_form(word))
		return strcasestr(text, word);
	size_t len = strlen(word);
	for (const char *hit = strcasestr(text, word); hit; hit = strcasestr(hit + 1, word))
		if ((hit == text || !search_is_letter(hit[-1])) && !search_is_letter(hit[len]))
			return hit;
	return NULL;
}

/* In the values: a word with = as it is, any other behind the = of a value. */
static const char *search_values(const char *text, const char *word)
{
	if (strchr(word, '='))
		return strcasestr(text, word);
	for (const char *at = strchr(text, '='); at; at = strchr(at + 1, '=')) {
		const char *end = strchrnul(at, ' '), *hit = strcasestr(at + 1, word);
		if (hit && hit < end)
			return hit;
	}
	return NULL;
}

/* The place of a word in the row: its field and where in the text; -1: it is not there. */
static int search_word(struct search *search, sqlite3_stmt *row, const char *word, size_t *ret_at)
{
	size_t count = search->tasks ? COUNT_OF(search_task_fields) : COUNT_OF(search_experiment_fields);
	for (size_t field = 0; field < count; field++) {
		bool values = search->tasks && field == count - 1;
		const char *text = search_field(search, row, field);
		const char *hit = !text ? NULL : values ? search_values(text, word) : search_find(text, word);
		if (hit) {
			*ret_at = (size_t)(hit - text);
			return (int)field;
		}
	}
	return -1;
}

/* "e12" and "e12/7" are words, too. */
static bool search_is_id(sqlite3_stmt *row, const char *word)
{
	char id[48];
	int64_t number = row_int(row, SEARCH_NUMBER);
	if (number)
		snprintf(id, sizeof(id), "e%" PRId64 "/%" PRId64, row_int(row, SEARCH_EXPERIMENT), number);
	else
		snprintf(id, sizeof(id), "e%" PRId64, row_int(row, SEARCH_EXPERIMENT));
	return strcasecmp(id, word) == 0;
}

/* Is it in what a task has in common with all tasks of its experiment? */
static bool search_is_common(struct search *search, sqlite3_stmt *row, const char *word)
{
	if (!search->tasks)
		return false;
	const char *name = row_text(row, SEARCH_NAME);
	return (name && search_find(name, word)) ||
		strcasestr(search_field(search, row, COUNT_OF(search_task_fields) - 1), word);
}

static bool search_holds(struct search *search, sqlite3_stmt *row, int *ret_field, size_t *ret_at)
{
	bool own = false;
	*ret_field = -1;
	*ret_at = 0;
	for (size_t i = 0; i < search->count; i++) {
		size_t at = 0;
		int field = search_word(search, row, search->words[i], &at);
		if (field >= 0 || search_is_id(row, search->words[i]))
			own = true;
		else if (!search_is_common(search, row, search->words[i]))
			return false;
		if (*ret_field < 0 && field >= 0) {
			*ret_field = field;
			*ret_at = at;
		}
	}
	return own;
}

/* The end of a piece of a text that is not cut within a character. */
static size_t search_end(const char *text, size_t most)
{
	size_t len = strlen(text), end = len > most ? most : len;
	while (end < len && ((unsigned char)text[end] & 0xc0) == 0x80)
		end++;
	return end;
}

/* One blank for many, and none of the marks that Python writes below a line of a traceback. */
static void search_shorten(char *text)
{
	char *out = text;
	for (const char *in = text; *in;) {
		size_t blanks = strspn(in, SEARCH_BLANKS), marks = strspn(in + blanks, "^~");
		if (marks > 2)
			blanks += marks + strspn(in + blanks + marks, SEARCH_BLANKS);
		in += blanks;
		if (blanks)
			*out++ = ' ';
		else
			*out++ = *in++;
	}
	*out = 0;
}

/* The words around a hit. */
static void search_put_text(const char *text, size_t at, struct json *out)
{
	size_t from = at > SEARCH_BEFORE ? at - SEARCH_BEFORE : 0;
	while (from && ((unsigned char)text[from] & 0xc0) == 0x80)
		from--;
	size_t to = search_end(text + from, SEARCH_CUT);
	char *piece = mem_copy(text + from, to);
	search_shorten(piece);
	size_t end = search_end(piece, SEARCH_SHOWN);
	bool cut = piece[end] || text[from + to];
	piece[end] = 0;
	char *shown = mem_printf("%s%s%s", from ? "…" : "", piece, cut ? "…" : "");
	json_key_string(out, "text", shown);
	free(shown);
	free(piece);
}

static void search_put_hit(struct search *search, sqlite3_stmt *row, int field, size_t at)
{
	struct json *out = &search->json;
	char id[24];
	snprintf(id, sizeof(id), "e%" PRId64, row_int(row, SEARCH_EXPERIMENT));
	json_map(out);
	json_key_string(out, "experiment", id);
	if (search->tasks)
		row_put_int(row, SEARCH_NUMBER, "task", out);
	else
		json_key_null(out, "task");
	row_put_text(row, SEARCH_NAME, "name", out);
	row_put_state(row, SEARCH_STATE, "state", out);
	row_put_time(row, SEARCH_TIME, "time", out);
	json_key_string(out, "in",
			field < 0               ? "id"
				: search->tasks ? search_task_fields[field]
						: search_experiment_fields[field]);
	if (field < 0)
		json_key_string(out, "text", "");
	else
		search_put_text(search_field(search, row, (size_t)field), at, out);
	json_end(out);
}

/* Looks at rows until the time is over. 1: there are more. */
static int search_scan(struct search *search, int64_t until)
{
	int rc, field;
	size_t at;
	sqlite3_stmt *row = store_bind(search->store, search->tasks ? sql_tasks : sql_experiments, "i", search->below);
	while ((rc = store_step(search->store, row)) > 0) {
		search->below = row_int(row, SEARCH_ID);
		if (search_holds(search, row, &field, &at)) {
			search->more = search->hits == search->limit;
			if (search->more)
				break;
			search->hits++;
			search_put_hit(search, row, field, at);
		}
		if (clock_mono_ms() >= until)
			break;
	}
	store_end(row);
	return rc;
}

static int search_make(void *ctx, struct buf *out)
{
	struct search *search = ctx;
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS;
	search->json.out = out;
	if (!search->json.depth) {
		json_map(&search->json);
		json_key(&search->json, "items");
		json_list(&search->json);
	}
	int rc = search_scan(search, until);
	if (rc < 0)
		return rc;
	if (rc == 0 && !search->tasks) {
		search->tasks = true;
		search->below = INT64_MAX;
		return 1;
	}
	if (rc > 0 && !search->more)
		return 1;
	json_end(&search->json);
	json_key_bool(&search->json, "more", search->more);
	json_end(&search->json);
	return 0;
}

int store_json_search(struct store *store, const char *text, int64_t limit, struct pieces *ret)
{
	struct search *search = mem_alloc(sizeof(*search));
	*search = (struct search){.store = store, .limit = limit, .below = INT64_MAX, .text = mem_strdup(text)};
	search->parameters = buf_make(BUF_UNLIMITED);
	search->json = json_to(NULL);
	for (char *word = search->text; search->count < SEARCH_WORDS;) {
		word += strspn(word, SEARCH_BLANKS);
		if (!*word)
			break;
		search->words[search->count++] = word;
		word += strcspn(word, SEARCH_BLANKS);
		if (*word)
			*word++ = 0;
	}
	if (!search->count) {
		search_free(search);
		return -EINVAL;
	}
	*ret = (struct pieces){search_make, search_free, search};
	return 0;
}
