/* See json.h. */
#include "metrics/json.h"

#include "base/limits.h"
#include "base/num.h"
#include "metrics/phrase.h"

#include <inttypes.h>

/* Deeper objects are passed over. */
#define JSON_DEPTH_MAX 8

void json_skip_space(struct json_cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r' || *c->at == '\n'))
		c->at++;
}

bool json_take(struct json_cursor *c, char expected)
{
	json_skip_space(c);
	if (c->at >= c->end || *c->at != expected)
		return false;
	c->at++;
	return true;
}

bool json_take_string(struct json_cursor *c, const char **ret, size_t *ret_len)
{
	if (!json_take(c, '"'))
		return false;
	*ret = c->at;
	while (c->at < c->end && *c->at != '"')
		c->at += *c->at == '\\' && c->at + 1 < c->end ? 2 : 1;
	if (c->at >= c->end)
		return false;
	*ret_len = (size_t)(c->at - *ret);
	c->at++;
	return true;
}

/* Steps over a list or a map, however deep. */
static bool json_skip_nested(struct json_cursor *c)
{
	const char *text;
	size_t len, depth = 0;
	while (c->at < c->end) {
		if (*c->at == '"') {
			if (!json_take_string(c, &text, &len))
				return false;
			continue;
		}
		if (*c->at == '[' || *c->at == '{')
			depth++;
		if (*c->at == ']' || *c->at == '}')
			depth--;
		c->at++;
		if (!depth)
			return true;
	}
	return false;
}

bool json_take_value(struct json_cursor *c, bool *ret_number, double *ret)
{
	const char *text;
	size_t len;

	*ret_number = false;
	json_skip_space(c);
	if (c->at >= c->end)
		return false;
	if (*c->at == '[' || *c->at == '{')
		return json_skip_nested(c);
	if (*c->at == '"') {
		if (!json_take_string(c, &text, &len))
			return false;
		*ret_number = len && (text[len - 1] == 'y' || text[len - 1] == 'N') &&
			num_parse_real(text, len, ret) == 0;
		return true;
	}
	text = c->at;
	while (c->at < c->end && !strchr(",}] \t\r\n", *c->at))
		c->at++;
	len = (size_t)(c->at - text);
	*ret_number = num_parse_real(text, len, ret) == 0;
	return *ret_number || (len == 4 && memcmp(text, "true", 4) == 0) ||
		(len == 5 && memcmp(text, "false", 5) == 0) || (len == 4 && memcmp(text, "null", 4) == 0);
}

void json_names_clear(struct json_names *names)
{
	for (size_t i = 0; i < names->list.len; i++)
		free(names->list.at[i]);
	free(names->list.at);
	*names = (struct json_names){0};
}

/* The text at the cursor, which stays. {"split": "val", "loss": 0.3}: it may name the part of the data. {"epoch": "3"}: it
 * may be a number, where the name is of a count or a metric. True: it is one. */
static bool json_take_text(struct json_cursor c, const char *name, size_t len, struct metrics_reader *reader,
			   double *ret)
{
	const char *word;
	size_t word_len;
	char *column = metrics_clean_name(name, len);
	bool taken = json_take_string(&c, &word, &word_len), number = false;
	if (taken && word_len && num_parse_real(word, word_len, ret) == 0)
		number = metrics_is_count(column) || phrase_is_metric(column, strlen(column));
	else if (taken)
		metrics_part_note(&reader->parts, column, word, word_len);
	size_t sign = taken && word_len > 1 && strchr("+-.", *word);
	if (taken && word_len && !number && word[sign] >= '0' && word[sign] <= '9' &&
	    phrase_is_metric(column, strlen(column)))
		metrics_remark(reader, METRICS_REMARK_LEFT,
			       "line %" PRIu64 ": %.60s is '%.*s', which is not a number, and is left out",
			       reader->record_line, column, word_len < 40 ? (int)word_len : 40, word);
	free(column);
	return number;
}

/* Of a name that an object has twice the last value counts, as every library of JSON reads it. */
static void json_add(struct metrics_reader *reader, struct json_names *names, const struct buf *name, double value,
		     const char *text, size_t len)
{
	char *clean = metrics_clean_name(name->data, name->len);
	for (size_t i = 0; i < reader->cells.len; i++) {
		if (strcmp(reader->cells.at[i].name, clean) != 0)
			continue;
		metrics_remark(reader, METRICS_REMARK_TWICE,
			       "line %" PRIu64 ": %.60s is there twice in one object: the last value counts",
			       reader->record_line, clean);
		reader->cells.at[i].value = value;
		free(clean);
		return;
	}
	vec_push(&names->list, clean);
	metrics_add_text(reader, clean, value, text, len);
}

/* The names of the objects around a member, each with its slash. */
static bool json_take_members(struct json_cursor *c, struct metrics_reader *reader, struct json_names *names,
			      struct buf *prefix, int depth)
{
	size_t kept = prefix->len;
	if (!json_take(c, '{'))
		return false;
	if (json_take(c, '}'))
		return true;
	do {
		const char *name;
		size_t len;
		bool number = false;
		double value = 0, said = 0;
		const char *text;
		if (!json_take_string(c, &name, &len) || !json_take(c, ':'))
			return false;
		json_skip_space(c);
		bool quoted = !depth && c->at < c->end && *c->at == '"' && json_take_text(*c, name, len, reader, &said);
		buf_add(prefix, name, len);
		text = c->at;
		if (c->at < c->end && *c->at == '{' && depth < JSON_DEPTH_MAX) {
			buf_add_char(prefix, '/');
			if (!json_take_members(c, reader, names, prefix, depth + 1))
				return false;
		} else if (!json_take_value(c, &number, &value)) {
			return false;
		}
		value = quoted && !number ? said : value;
		if (number || quoted)
			json_add(reader, names, prefix, value, text, (size_t)(c->at - text));
		prefix->len = kept;
		prefix->full = false;
	} while (json_take(c, ','));
	return json_take(c, '}');
}

bool json_take_row(struct json_cursor *c, struct metrics_reader *reader, struct json_names *names)
{
	struct buf prefix = buf_make(LIMIT_METRIC_LINE_BYTES);
	bool taken = json_take_members(c, reader, names, &prefix, 0);
	buf_free(&prefix);
	return taken;
}
