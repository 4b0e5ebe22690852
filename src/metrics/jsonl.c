/* JSON lines: an object a line, as `sluice report`, the Python callback and many loggers write it. The
 * numbers at its top level are the row. Python writes NaN and Infinity as bare words, which no strict
 * parser takes, so this is a small one of our own. */
#include "base/num.h"
#include "metrics/reader.h"

#include <inttypes.h>
#include <stdio.h>

struct jsonl {
	struct metrics_reader reader;
	VEC(char *) names; /* of the row being read */
};

struct cursor {
	const char *at, *end;
};

static void jsonl_skip_space(struct cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\r'))
		c->at++;
}

static bool jsonl_take(struct cursor *c, char expected)
{
	jsonl_skip_space(c);
	if (c->at >= c->end || *c->at != expected)
		return false;
	c->at++;
	return true;
}

/* The text between the quotes, with its escapes as they stand: names with escapes stay readable. */
static bool jsonl_take_string(struct cursor *c, const char **ret, size_t *ret_len)
{
	if (!jsonl_take(c, '"'))
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
static bool jsonl_skip_nested(struct cursor *c)
{
	const char *text;
	size_t len, depth = 0;
	while (c->at < c->end) {
		if (*c->at == '"') {
			if (!jsonl_take_string(c, &text, &len))
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

/* Takes any value; *ret_number says whether it is one. The words for what JSON has no number for count
 * with and without quotes. */
static bool jsonl_take_value(struct cursor *c, bool *ret_number, double *ret)
{
	const char *text;
	size_t len;

	*ret_number = false;
	jsonl_skip_space(c);
	if (c->at >= c->end)
		return false;
	if (*c->at == '[' || *c->at == '{')
		return jsonl_skip_nested(c);
	if (*c->at == '"') {
		if (!jsonl_take_string(c, &text, &len))
			return false;
		*ret_number = len && (text[len - 1] == 'y' || text[len - 1] == 'N') &&
			num_parse_real(text, len, ret) == 0;
		return true;
	}
	text = c->at;
	while (c->at < c->end && *c->at != ',' && *c->at != '}' && *c->at != ' ' && *c->at != '\t')
		c->at++;
	len = (size_t)(c->at - text);
	*ret_number = num_parse_real(text, len, ret) == 0;
	return *ret_number || (len == 4 && memcmp(text, "true", 4) == 0) ||
		(len == 5 && memcmp(text, "false", 5) == 0) || (len == 4 && memcmp(text, "null", 4) == 0);
}

static bool jsonl_read_object(struct jsonl *jsonl, struct cursor *c)
{
	if (!jsonl_take(c, '{'))
		return false;
	if (jsonl_take(c, '}'))
		return true;
	do {
		const char *name;
		size_t len;
		bool number;
		double value;
		if (!jsonl_take_string(c, &name, &len) || !jsonl_take(c, ':') || !jsonl_take_value(c, &number, &value))
			return false;
		if (number) {
			vec_push(&jsonl->names, metrics_clean_name(name, len));
			metrics_add(&jsonl->reader, jsonl->names.at[jsonl->names.len - 1], value);
		}
	} while (jsonl_take(c, ','));
	if (!jsonl_take(c, '}'))
		return false;
	jsonl_skip_space(c);
	return c->at == c->end;
}

static void jsonl_restart(struct metrics_reader *reader)
{
	struct jsonl *jsonl = (struct jsonl *)reader;
	for (size_t i = 0; i < jsonl->names.len; i++)
		free(jsonl->names.at[i]);
	free(jsonl->names.at);
	jsonl->names.at = NULL;
	jsonl->names.len = jsonl->names.cap = 0;
}

static void jsonl_record(struct metrics_reader *reader, const char *text, size_t len)
{
	struct jsonl *jsonl = (struct jsonl *)reader;
	struct cursor c = {text, text + len};
	if (jsonl_read_object(jsonl, &c))
		metrics_give(reader);
	else
		metrics_complain(reader, "line %" PRIu64 " is not a JSON object", reader->record_line);
	jsonl_restart(reader);
}

struct metrics_reader *metrics_jsonl_open(metrics_row_f row, void *ctx)
{
	static const struct metrics_ops ops = {.record = jsonl_record, .restart = jsonl_restart};
	struct jsonl *jsonl = metrics_reader_new(sizeof(*jsonl), &ops, row, ctx);
	return &jsonl->reader;
}
