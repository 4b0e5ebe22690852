/* JSON files (`*.json`): one value, or several after each other, as JSON lines are. An object with numbers is a row; a
 * list of objects is a row each; an object that holds such a list (Hugging Face's trainer_state.json: log_history) is
 * that list; an object with lists of numbers (the history of Keras) has a row for every place in them. */
#include "base/limits.h"
#include "metrics/json.h"
#include "metrics/phrase.h"

#include <inttypes.h>
#include <stdio.h>

/* A row has no more metrics than LIMIT_METRIC_COLUMNS; several objects may have as many. */
#define DOCUMENT_LISTS_MAX 1024

struct document {
	struct metrics_reader reader;
	struct json_names names;
	struct buf text; /* the value that is being collected */
	int64_t depth;
	bool in_string, escaped, skipping;
	uint64_t values; /* read so far */
};

/* One member that is a list of numbers. */
struct document_list {
	char *name, *around; /* around: the names of the objects that it is in, with slashes; "" for none */
	VEC(double) values;
};

struct document_lists {
	VEC(struct document_list) lists;
	size_t longest;
	bool many; /* there are more, which were passed over */
};

static void document_free_list(struct document_list *list)
{
	free(list->name);
	free(list->around);
	free(list->values.at);
}

/* A score beside the curves: {"test_accuracy": 0.9, "history": {"loss": […]}}. What is named like the best one is no
 * point of a curve. */
static bool document_is_score(const char *name, size_t len)
{
	return phrase_is_metric(name, len) && !memmem(name, len, "best", 4);
}

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
static bool document_find_lists(struct json_cursor *c, const char *around, int depth, struct document_lists *found)
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
			struct document_list list = {.name = metrics_clean_name(name, len),
						     .around = mem_strdup(around)};
			bool taken = document_take_numbers(c, &list);
			found->many |= found->lists.len == DOCUMENT_LISTS_MAX;
			if (found->many)
				document_free_list(&list);
			else
				vec_push(&found->lists, list);
			if (!found->many && list.values.len > found->longest)
				found->longest = list.values.len;
			if (!taken)
				return false;
		} else if (c->at < c->end && *c->at == '{' && depth < 2) {
			char *inner = mem_printf("%s%s%.*s", around, *around ? "/" : "", (int)len, name);
			bool taken = document_find_lists(c, inner, depth + 1, found);
			free(inner);
			if (!taken)
				return false;
		} else if (!json_take_value(c, &number, &value)) {
			return false;
		}
	} while (json_take(c, ','));
	return json_take(c, '}');
}

/* Adds the scores of the object to the row. */
static void document_add_scores(struct document *d, struct json_cursor c)
{
	const char *name;
	size_t len;
	bool number;
	double value;
	if (!json_take(&c, '{'))
		return;
	do {
		if (!json_take_string(&c, &name, &len) || !json_take(&c, ':') || !json_take_value(&c, &number, &value))
			return;
		if (!number || !document_is_score(name, len))
			continue;
		vec_push(&d->names.list, metrics_clean_name(name, len));
		metrics_add(&d->reader, d->names.list.at[d->names.list.len - 1], value);
	} while (json_take(&c, ','));
}

/* Has another object a list of the same name? {"train": {"loss": […]}, "val": {"loss": […]}} */
static bool document_has_twins(const struct document_lists *found)
{
	for (size_t i = 0; i < found->lists.len; i++)
		for (size_t k = 0; k < i; k++)
			if (found->lists.at[i].values.len && found->lists.at[k].values.len &&
			    strcmp(found->lists.at[i].name, found->lists.at[k].name) == 0)
				return true;
	return false;
}

/* The lists of one object, as a part of the data that has its name and steps of its own; around NULL: all lists together. */
static void document_give_group(struct document *d, const struct document_lists *found, const char *around,
				struct json_cursor object)
{
	size_t longest = 0;
	for (size_t k = 0; k < found->lists.len; k++) {
		const struct document_list *list = &found->lists.at[k];
		if ((!around || strcmp(list->around, around) == 0) && list->values.len > longest)
			longest = list->values.len;
	}
	for (size_t i = 0; i < longest; i++) {
		for (size_t k = 0; k < found->lists.len; k++) {
			const struct document_list *list = &found->lists.at[k];
			if ((!around || strcmp(list->around, around) == 0) && i < list->values.len)
				metrics_add(&d->reader, list->name, list->values.at[i]);
		}
		if (around && *around)
			metrics_part_note(&d->reader.parts, "split", around, strlen(around));
		else if (i + 1 == longest)
			document_add_scores(d, object);
		metrics_give(&d->reader);
	}
}

static void document_give_lists(struct document *d, const struct document_lists *found, struct json_cursor object)
{
	bool twins = document_has_twins(found), plain = !twins;
	if (!twins)
		document_give_group(d, found, NULL, object);
	for (size_t k = 0; twins && k < found->lists.len; k++) {
		size_t first = 0;
		while (strcmp(found->lists.at[first].around, found->lists.at[k].around) != 0)
			first++;
		if (first == k)
			document_give_group(d, found, found->lists.at[k].around, object);
		plain |= !*found->lists.at[k].around;
	}
	if (!plain) {
		document_add_scores(d, object);
		metrics_give(&d->reader);
	}
	json_names_clear(&d->names);
}

static void document_free_lists(struct document_lists *found)
{
	for (size_t i = 0; i < found->lists.len; i++)
		document_free_list(&found->lists.at[i]);
	free(found->lists.at);
}

static bool document_read_object(struct document *d, struct json_cursor c)
{
	struct json_cursor at = c, rows;
	struct document_lists found = {0};
	if (document_find_rows(c, &rows)) {
		d->reader.whole = false;
		bool read = document_take_rows(d, &rows);
		document_add_scores(d, c);
		if (read && d->reader.cells.len)
			metrics_give(&d->reader);
		json_names_clear(&d->names);
		return read;
	}
	bool taken = document_find_lists(&at, "", 0, &found);
	if (taken && found.longest > 1) {
		d->reader.whole = false;
		document_give_lists(d, &found, c);
	} else if (taken) {
		taken = json_take_row(&c, &d->reader, &d->names);
		if (taken)
			metrics_give(&d->reader);
		json_names_clear(&d->names);
	}
	if (found.many)
		metrics_complain(&d->reader, "line %" PRIu64 " has more than %d lists; the others are left out",
				 d->reader.record_line, DOCUMENT_LISTS_MAX);
	document_free_lists(&found);
	d->reader.cells.len = 0;
	return taken;
}

static void document_read(struct document *d)
{
	struct json_cursor c = {d->text.data, d->text.data + d->text.len};
	d->reader.whole &= *c.at == '{';
	if (!(*c.at == '[' ? document_take_rows(d, &c) : document_read_object(d, c)))
		metrics_complain(&d->reader, "line %" PRIu64 " is not JSON", d->reader.record_line);
	d->reader.cells.len = 0;
	json_names_clear(&d->names);
}

static void document_end_value(struct document *d)
{
	d->reader.whole = !d->values++;
	if (d->skipping)
		metrics_complain(&d->reader, "line %" PRIu64 " begins a value of more than %d bytes",
				 d->reader.record_line, LIMIT_METRIC_DOCUMENT_BYTES);
	else
		document_read(d);
	buf_clear(&d->text);
	d->skipping = d->reader.whole = false;
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
	d->values = 0;
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
