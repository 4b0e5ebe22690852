/* The tree that YAML and JSON documents become: building, reading, writing. Parsing is in
 * node_json.c and node_yaml.c. */
#include "base/node.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/num.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

struct node *node_new(enum node_type type)
{
	struct node *node = mem_alloc(sizeof(*node));
	node->type = type;
	return node;
}

struct node *node_new_string(const char *text)
{
	struct node *node = node_new(NODE_STRING);
	node->string = mem_strdup(text);
	return node;
}

struct node *node_new_int(int64_t value)
{
	struct node *node = node_new(NODE_INT);
	node->integer = value;
	node->real = (double)value;
	node->string = mem_printf("%" PRId64, value);
	return node;
}

struct node *node_new_real(double value)
{
	char text[NUM_REAL_CHARS];
	struct node *node = node_new(NODE_REAL);
	num_format_real(value, text);
	node->real = value;
	node->string = mem_strdup(text);
	return node;
}

struct node *node_new_bool(bool value)
{
	struct node *node = node_new(NODE_BOOL);
	node->boolean = value;
	return node;
}

static bool node_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && strncasecmp(text, word, len) == 0;
}

/* A decimal number, or .nan, .inf, -.inf; the bare words nan and inf stay texts. */
static bool node_scalar_real(const char *text, size_t len, double *ret)
{
	size_t sign = *text == '-' || *text == '+';
	if (node_word(text, len, ".nan")) {
		*ret = NAN;
		return true;
	}
	if (node_word(text + sign, len - sign, ".inf")) {
		*ret = *text == '-' ? -INFINITY : INFINITY;
		return true;
	}
	return memchr(".0123456789", text[sign], 11) && num_parse_real(text, len, ret) == 0;
}

/* 007 may be a name. */
static bool node_scalar_padded(const char *text, size_t len)
{
	size_t sign = *text == '-' || *text == '+';
	return len > sign + 1 && text[sign] == '0' && strspn(text, "+-0123456789") >= len;
}

/* More than 63 bits, 1e400 and 1e-400 fit into no number as they are written. */
static bool node_scalar_beyond(const char *text, size_t len, double real)
{
	size_t sign = *text == '-' || *text == '+';
	if (strspn(text, "+-0123456789") >= len)
		return true;
	if (isinf(real))
		return text[sign] != '.' || !node_word(text + sign, len - sign, ".inf");
	size_t digit = strcspn(text, "123456789");
	return real == 0 && digit < len && digit < strcspn(text, "eE");
}

struct node *node_new_scalar(const char *text, size_t len)
{
	int64_t integer;
	double real;
	struct node *node;

	if (!len || node_word(text, len, "null") || (len == 1 && *text == '~'))
		return node_new(NODE_NULL);
	if (node_word(text, len, "true") || node_word(text, len, "false"))
		return node_new_bool(*text == 't' || *text == 'T');
	if (num_parse_int(text, len, INT64_MIN, INT64_MAX, &integer) == 0 && !node_scalar_padded(text, len))
		node = node_new_int(integer);
	else if (node_scalar_real(text, len, &real) && !node_scalar_beyond(text, len, real))
		node = node_new_real(real);
	else
		node = node_new(NODE_STRING);
	free(node->string);
	node->string = mem_copy(text, len);
	return node;
}

void node_free(struct node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->count; i++)
		node_free(node->items[i]);
	free(node->items);
	free(node->key);
	free(node->string);
	free(node);
}

void node_add(struct node *to, const char *key, struct node *give)
{
	give->parent = to;
	free(give->key);
	give->key = mem_strdup(key);
	if (key) {
		for (size_t i = 0; i < to->count; i++) {
			if (strcmp(to->items[i]->key, key) == 0) {
				node_free(to->items[i]);
				to->items[i] = give;
				return;
			}
		}
	}
	if (to->count == to->capacity) {
		to->capacity = to->capacity ? to->capacity * 2 : 4;
		to->items = mem_resize(to->items, to->capacity, sizeof(*to->items));
	}
	to->items[to->count++] = give;
}

struct node *node_clone(const struct node *node)
{
	struct node *copy = node_new(node->type);
	copy->line = node->line;
	copy->column = node->column;
	copy->boolean = node->boolean;
	copy->integer = node->integer;
	copy->real = node->real;
	copy->string = mem_strdup(node->string);
	for (size_t i = 0; i < node->count; i++)
		node_add(copy, node->items[i]->key, node_clone(node->items[i]));
	return copy;
}

struct node *node_get(const struct node *map, const char *key)
{
	if (!map || map->type != NODE_MAP)
		return NULL;
	for (size_t i = 0; i < map->count; i++)
		if (strcmp(map->items[i]->key, key) == 0)
			return map->items[i];
	return NULL;
}

const char *node_string(const struct node *node)
{
	return node && node->type == NODE_STRING ? node->string : NULL;
}

const char *node_get_string(const struct node *map, const char *key)
{
	return node_string(node_get(map, key));
}

int64_t node_get_int(const struct node *map, const char *key, int64_t fallback)
{
	const struct node *node = node_get(map, key);
	return node && node->type == NODE_INT ? node->integer : fallback;
}

double node_get_real(const struct node *map, const char *key, double fallback)
{
	const struct node *node = node_get(map, key);
	return node_is_number(node) ? node->real : fallback;
}

bool node_get_bool(const struct node *map, const char *key, bool fallback)
{
	const struct node *node = node_get(map, key);
	return node && node->type == NODE_BOOL ? node->boolean : fallback;
}

bool node_is_number(const struct node *node)
{
	return node && (node->type == NODE_INT || node->type == NODE_REAL);
}

bool node_equal(const struct node *a, const struct node *b)
{
	if (!a || !b)
		return a == b;
	if (node_is_number(a) && node_is_number(b))
		return a->type == NODE_INT && b->type == NODE_INT ? a->integer == b->integer : a->real == b->real;
	if (a->type != b->type || a->count != b->count)
		return false;
	if (a->type == NODE_BOOL)
		return a->boolean == b->boolean;
	if (a->type == NODE_STRING)
		return strcmp(a->string, b->string) == 0;
	for (size_t i = 0; i < a->count; i++) {
		const struct node *other = a->type == NODE_MAP ? node_get(b, a->items[i]->key) : b->items[i];
		if (!other || !node_equal(a->items[i], other))
			return false;
	}
	return true;
}

const char *node_type_name(const struct node *node)
{
	static const char *const names[] = {
		[NODE_NULL] = "nothing",  [NODE_BOOL] = "true or false", [NODE_INT] = "a whole number",
		[NODE_REAL] = "a number", [NODE_STRING] = "a text",      [NODE_LIST] = "a list",
		[NODE_MAP] = "a map",
	};
	return node ? names[node->type] : "nothing";
}

static void node_pointer_add(struct buf *out, const char *key)
{
	buf_add_char(out, '/');
	for (; *key; key++) {
		if (*key == '~')
			buf_add_text(out, "~0");
		else if (*key == '/')
			buf_add_text(out, "~1");
		else
			buf_add_char(out, *key);
	}
}

static void node_pointer_of(const struct node *node, struct buf *out)
{
	if (!node || !node->parent)
		return;
	node_pointer_of(node->parent, out);
	if (node->key) {
		node_pointer_add(out, node->key);
		return;
	}
	for (size_t i = 0; i < node->parent->count; i++)
		if (node->parent->items[i] == node)
			buf_addf(out, "/%zu", i);
}

char *node_pointer(const struct node *node, const char *key)
{
	struct buf out = buf_make(1u << 16);
	node_pointer_of(node, &out);
	if (key)
		node_pointer_add(&out, key);
	return buf_take(&out);
}

void node_write_json(const struct node *node, struct json *out)
{
	switch (node ? node->type : NODE_NULL) {
	case NODE_NULL: json_put_null(out); break;
	case NODE_BOOL: json_put_bool(out, node->boolean); break;
	case NODE_INT: json_put_int(out, node->integer); break;
	case NODE_REAL: json_put_float(out, node->real); break;
	case NODE_STRING: json_put_string(out, node->string); break;
	case NODE_LIST:
		json_list(out);
		for (size_t i = 0; i < node->count; i++)
			node_write_json(node->items[i], out);
		json_end(out);
		break;
	case NODE_MAP:
		json_map(out);
		for (size_t i = 0; i < node->count; i++) {
			json_key(out, node->items[i]->key);
			node_write_json(node->items[i], out);
		}
		json_end(out);
		break;
	}
}

/* A text may stand plain in YAML when it cannot be read as something else. */
static bool node_yaml_plain(const char *text)
{
	struct node *as = node_new_scalar(text, strlen(text));
	double real;
	bool plain = as->type == NODE_STRING && *text && !strchr("-?:,[]{}#&*!|>'\"%@` ", *text) &&
		!node_scalar_real(text, strlen(text), &real) && strcmp(text, "<<") != 0 && !text_starts(text, "...");
	node_free(as);
	size_t len = strlen(text);
	for (size_t i = 0; plain && i < len; i++) /* beyond ASCII there are blanks and line breaks too */
		plain = text[i] >= 0x20 && !strchr(":#,[]{}", text[i]) && text[i] != 0x7f;
	return plain && len && text[len - 1] != ' ';
}

/* A double-quoted YAML scalar. Unlike in JSON, the C1 controls may not stand there as they are, and the
 * line breaks of Unicode would be folded. */
static void node_yaml_quote(const char *text, struct buf *out)
{
	buf_add_char(out, '"');
	for (size_t i = 0, n; text[i]; i += n) {
		unsigned char c = (unsigned char)text[i], next = (unsigned char)text[i + 1];
		n = 1;
		if (c == '"' || c == '\\') {
			buf_addf(out, "\\%c", c);
		} else if (c == '\n') {
			buf_add_text(out, "\\n");
		} else if (c < 0x20 || c == 0x7f) {
			buf_addf(out, "\\x%02x", c);
		} else if (c == 0xc2 && next < 0xa0) {
			buf_addf(out, "\\x%02x", next);
			n = 2;
		} else if (strncmp(text + i, "\u2028", 3) == 0 || strncmp(text + i, "\u2029", 3) == 0) {
			buf_addf(out, "\\%c", text[i + 2] == '\xa8' ? 'L' : 'P');
			n = 3;
		} else if (c == 0xef && (next == 0xbb || next == 0xbf)) { /* byte order mark, U+FFFE, U+FFFF */
			unsigned low = (unsigned char)text[i + 2];
			buf_addf(out, "\\u%04x", 0xf000u | (next & 0x3fu) << 6 | (low & 0x3fu));
			n = 3;
		} else {
			buf_add_char(out, text[i]);
		}
	}
	buf_add_char(out, '"');
}

static void node_yaml_text(const char *text, struct buf *out)
{
	if (node_yaml_plain(text))
		buf_add_text(out, text);
	else
		node_yaml_quote(text, out);
}

static bool node_is_flat(const struct node *node)
{
	for (size_t i = 0; i < node->count; i++)
		if (node->items[i]->type >= NODE_LIST && node->items[i]->count)
			return false;
	return true;
}

static void node_yaml_inline(const struct node *node, struct buf *out)
{
	bool map = node->type == NODE_MAP;
	if (node->type == NODE_STRING) {
		node_yaml_text(node->string, out);
	} else if (node->type == NODE_REAL && !isfinite(node->real)) {
		buf_add_text(out, isnan(node->real) ? ".nan" : node->real > 0 ? ".inf" : "-.inf");
	} else if (node->type < NODE_LIST) {
		struct json w = json_to(out);
		node_write_json(node, &w);
	} else {
		buf_add_char(out, map ? '{' : '[');
		for (size_t i = 0; i < node->count; i++) {
			if (i)
				buf_add_text(out, ", ");
			if (map) {
				node_yaml_text(node->items[i]->key, out);
				buf_add_text(out, ": ");
			}
			node_yaml_inline(node->items[i], out);
		}
		buf_add_char(out, map ? '}' : ']');
	}
}

static void node_yaml_block(const struct node *node, unsigned indent, struct buf *out)
{
	for (size_t i = 0; i < node->count; i++) {
		const struct node *item = node->items[i];
		bool nested = item->type >= NODE_LIST && item->count &&
			(!node_is_flat(item) || (indent == 0 && item->type == NODE_MAP && item->count > 4));
		for (unsigned k = 0; k < indent; k++)
			buf_add_text(out, "  ");
		if (node->type == NODE_MAP) {
			node_yaml_text(item->key, out);
			buf_add_char(out, ':');
		} else {
			buf_add_char(out, '-');
		}
		if (nested && node->type == NODE_MAP) {
			buf_add_char(out, '\n');
			node_yaml_block(item, indent + 1, out);
		} else {
			buf_add_char(out, ' ');
			node_yaml_inline(item, out);
			buf_add_char(out, '\n');
		}
	}
}

void node_write_yaml(const struct node *node, struct buf *out)
{
	if (node->type < NODE_LIST || !node->count) {
		node_yaml_inline(node, out);
		buf_add_char(out, '\n');
		return;
	}
	node_yaml_block(node, 0, out);
}

/* One element of a comma list, without the blanks and quotes around it. */
static struct node *node_value_element(const char *from, const char *to)
{
	while (from < to && (*from == ' ' || *from == '\t'))
		from++;
	while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
		to--;
	if (to - from >= 2 && *from == '"' && to[-1] == '"') {
		struct node *node = node_new(NODE_STRING);
		node->string = mem_copy(from + 1, (size_t)(to - from - 2));
		return node;
	}
	return node_new_scalar(from, (size_t)(to - from));
}

/* MIN..MAX[:log][:step=S] */
static int node_parse_range(const char *text, const char *dots, struct node **ret, struct error *err)
{
	struct node *map = node_new(NODE_MAP);
	const char *end = strchrnul(dots + 2, ':');

	node_add(map, "min", node_value_element(text, dots));
	node_add(map, "max", node_value_element(dots + 2, end));
	while (*end) {
		const char *option = end + 1;
		end = strchrnul(option, ':');
		size_t len = (size_t)(end - option);
		if (node_word(option, len, "log") || node_word(option, len, "linear")) {
			node_add(map, "scale", node_value_element(option, end));
		} else if (len > 5 && strncmp(option, "step=", 5) == 0) {
			node_add(map, "step", node_value_element(option + 5, end));
		} else {
			node_free(map);
			return errorf(err, -EINVAL,
				      "'%.*s' after a range is not known; write MIN..MAX, MIN..MAX:log or "
				      "MIN..MAX:step=S",
				      (int)len, option);
		}
	}
	if (!node_is_number(node_get(map, "min")) || !node_is_number(node_get(map, "max"))) {
		node_free(map);
		return errorf(err, -EINVAL, "'%s': a range is MIN..MAX with two numbers", text);
	}
	*ret = map;
	return 0;
}

/* How far the text goes on in brackets that close: [64,32] is one value. 0: none begins here. */
static size_t node_skip_brackets(const char *text)
{
	char open[16];
	size_t depth = 0;
	for (const char *p = text; *p; p++) {
		const char *bracket = strchr("[({", *p);
		if (bracket && depth == sizeof(open))
			return 0;
		if (bracket)
			open[depth++] = "])}"[bracket - "[({"];
		else if (strchr("])}", *p) && (!depth || open[--depth] != *p))
			return 0;
		if (!depth)
			return (size_t)(p - text) + (p > text);
	}
	return 0;
}

int node_parse_values(const char *text, struct node **ret, struct error *err)
{
	size_t len = strlen(text);
	if (text_utf8_check(text, len) != len)
		return errorf(err, -EINVAL, "the values are not valid UTF-8");

	struct node *list = node_new(NODE_LIST);
	const char *from = text, *dots = NULL;
	bool quoted = false;
	for (const char *p = text;; p++) {
		for (size_t n; !quoted && (n = node_skip_brackets(p));)
			p += n;
		if (*p == '"')
			quoted = !quoted;
		if (!quoted && !dots && p[0] == '.' && p[1] == '.')
			dots = p;
		if (*p && (quoted || *p != ','))
			continue;
		struct node *item = node_value_element(from, p);
		node_add(list, NULL, item);
		if (item->type == NODE_NULL && (*p || list->count > 1)) {
			node_free(list);
			return errorf(err, -EINVAL, "'%s': an empty value between commas", text);
		}
		from = p + 1;
		if (!*p)
			break;
	}
	if (quoted) {
		node_free(list);
		return errorf(err, -EINVAL, "'%s': a quote is not closed", text);
	}
	if (list->count > 1) {
		*ret = list;
		return 0;
	}
	bool range = false;
	if (dots && list->items[0]->type == NODE_STRING) { /* "../data" and "a..b" are texts */
		struct node *first = node_value_element(text, dots);
		double real;
		range = first->string && node_scalar_real(first->string, strlen(first->string), &real);
		node_free(first);
	}
	if (range) {
		node_free(list);
		return node_parse_range(text, dots, ret, err);
	}
	*ret = list->items[0];
	(*ret)->parent = NULL;
	list->count = 0;
	node_free(list);
	return 0;
}
