/* JSON files (`*.json`): one value, or several after each other, as JSON lines are. An object with numbers is a row; a
 * list of objects is a row each; an object that holds such a list (Hugging Face's trainer_state.json: log_history) is
 * that list; an object with lists of numbers (the history of Keras) has a row for every place in them. */
#include "base/limits.h"
#include "metrics/json.h"

#include <inttypes.h>
#include <stdio.h>

struct document {
	struct metrics_reader reader;
	struct json_names names;
	struct buf text; /* the value that is being collected */
	int64_t depth;
	bool in_string, escaped, skipping;
};

/* One member that is a list of numbers. */
struct document_list {
	char *name;
	VEC(double) values;
};

struct document_lists {
	VEC(struct document_list) lists;
	size_t longest;
};

static bool document_take_rows(struct document *d, struct json_cursor *c)
{
	if (!json_take(c, '['))
		return false;
	if (json_take(c, ']'))
		return true;
	do {
		bool number;
		double value;
		json_skip_space(c);
		if (c->at < c->end && *c->at == '{') {
			if (!json_take_row(c, &d->reader, &d->names))
				return false;
			metrics_give(&d->reader);
			json_names_clear(&d->names);
		} else if (!json_take_value(c, &number, &value)) {
			return false;
		}
	} while (json_take(c, ','));
	return json_take(c, ']');
}

/* A list of numbers; another list is passed over, and has no values. null is a place without a value. */
static bool document_take_numbers(struct json_cursor *c, struct document_list *list)
{
	bool numbers = true;
	if (!json_take(c, '['))
		return false;
	if (json_take(c, ']'))
		return true;
	do {
		bool number;
		double value = __builtin_nan("");
		json_skip_space(c);
		bool null = c->end - c->at >= 4 && memcmp(c->at, "null", 4) == 0;
		if (!json_take_value(c, &number, &value))
			return false;
		numbers &= number || null;
		vec_push(&list->values, value);
	} while (json_take(c, ','));
	if (!numbers)
		list->values.len = 0;
	return json_take(c, ']');
}

/* What a list holds, from its first member: '{' objects, '[' lists or nothing, '0' anything else. */
static char document_list_kind(struct json_cursor c)
{
	if (!json_take(&c, '['))
		return 0;
	json_skip_space(&c);
	return c.at >= c.end || *c.at == ']' || *c.at == '[' ? '[' : *c.at == '{' ? '{' : '0';
}

/* The first list of objects among the members; false: there is none. */
static bool document_find_rows(struct json_cursor c, struct json_cursor *ret)
{
	const char *name;
	size_t len;
	bool number;
	double value;
	if (!json_take(&c, '{'))
		return false;
	do {
		if (!json_take_string(&c, &name, &len) || !json_take(&c, ':'))
			return false;
		json_skip_space(&c);
		*ret = c;
		if (document_list_kind(c) == '{')
			return true;
		if (!json_take_value(&c, &number, &value))
			return false;
	} while (json_take(&c, ','));
	return false;
}

/* The lists of numbers of an object, also of one in it ({"history": {"loss": […]}}). */
static bool document_find_lists(struct json_cursor *c, int depth, struct document_lists *found)
{
	if (!json_take(c, '{'))
		return false;
	if (json_take(c, '}'))
		return true;
	do {
		const char *name;
		size_t len;
		bool number;
		double value;
		if (!json_take_string(c, &name, &len) || !json_take(c, ':'))
			return false;
		json_skip_space(c);
		if (document_list_kind(*c) == '0') {
			struct document_list list = {.name = metrics_clean_name(name, len)};
			bool taken = document_take_numbers(c, &list);
			vec_push(&found->lists, list);
			if (list.values.len > found->longest)
				found->longest = list.values.len;
			if (!taken)
				return false;
		} else if (c->at < c->end && *c->at == '{' && depth < 2) {
			if (!document_find_lists(c, depth + 1, found))
				return false;
		} else if (!json_take_value(c, &number, &value)) {
			return false;
		}
	} while (json_take(c, ','));
	return json_take(c, '}');
}

static void document_give_lists(struct document *d, const struct document_lists *found)
{
	for (size_t i = 0; i < found->longest; i++) {
		for (size_t k = 0; k < found->lists.len; k++)
			if (i < found->lists.at[k].values.len)
				metrics_add(&d->reader, found->lists.at[k].name, found->lists.at[k].values.at[i]);
		metrics_give(&d->reader);
	}
}

static void document_free_lists(struct document_lists *found)
{
	for (size_t i = 0; i < found->lists.len; i++) {
		free(found->lists.at[i].name);
		free(found->lists.at[i].values.at);
	}
	free(found->lists.at);
}

static bool document_read_object(struct document *d, struct json_cursor c)
{
	struct json_cursor at = c, rows;
	struct document_lists found = {0};
	if (document_find_rows(c, &rows))
		return document_take_rows(d, &rows);
	bool taken = document_find_lists(&at, 0, &found);
	if (taken && found.longest > 1) {
		document_give_lists(d, &found);
	} else if (taken) {
		taken = json_take_row(&c, &d->reader, &d->names);
		if (taken)
			metrics_give(&d->reader);
		json_names_clear(&d->names);
	}
	document_free_lists(&found);
	d->reader.cells.len = 0;
	return taken;
}

static void document_read(struct document *d)
{
	struct json_cursor c = {d->text.data, d->text.data + d->text.len};
	if (!(*c.at == '[' ? document_take_rows(d, &c) : document_read_object(d, c)))
		metrics_complain(&d->reader, "line %" PRIu64 " is not JSON", d->reader.record_line);
	d->reader.cells.len = 0;
	json_names_clear(&d->names);
}

static void document_end_value(struct document *d)
{
	if (d->skipping)
		metrics_complain(&d->reader, "line %" PRIu64 " begins a value of more than %d bytes",
				 d->reader.record_line, LIMIT_METRIC_DOCUMENT_BYTES);
	else
		document_read(d);
	buf_clear(&d->text);
	d->skipping = false;
}

/* Collects one value after the other by its brackets; what stands between them is passed over. */
static void document_feed(struct metrics_reader *reader, const char *data, size_t len)
{
	struct document *d = (struct document *)reader;
	for (size_t i = 0; i < len; i++) {
		char c = data[i];
		bool open = !d->in_string && (c == '{' || c == '['), close = !d->in_string && (c == '}' || c == ']');
		if (c == '\n')
			reader->line++;
		if (!d->depth && !open)
			continue;
		if (!d->depth)
			reader->record_line = reader->line;
		d->depth += open;
		if (d->in_string && !d->escaped && c == '\\')
			d->escaped = true;
		else if (c == '"' && !d->escaped)
			d->in_string = !d->in_string;
		else
			d->escaped = false;
		if (!d->skipping)
			buf_add_char(&d->text, c);
		d->skipping |= d->text.full;
		d->depth -= close;
		if (!d->depth)
			document_end_value(d);
	}
}

static void document_finish(struct metrics_reader *reader)
{
	const struct document *d = (const struct document *)reader;
	if (d->depth)
		metrics_complain(reader, "line %" PRIu64 " begins a value that has no end", reader->record_line);
}

static void document_restart(struct metrics_reader *reader)
{
	struct document *d = (struct document *)reader;
	json_names_clear(&d->names);
	buf_free(&d->text);
	d->text = buf_make(LIMIT_METRIC_DOCUMENT_BYTES);
	d->depth = 0;
	d->in_string = d->escaped = d->skipping = false;
}

struct metrics_reader *metrics_document_open(metrics_row_f row, void *ctx)
{
	static const struct metrics_ops ops = {
		.feed = document_feed, .finish = document_finish, .restart = document_restart};
	struct document *d = metrics_reader_new(sizeof(*d), &ops, row, ctx);
	document_restart(&d->reader);
	return &d->reader;
}
