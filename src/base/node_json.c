/* JSON text to the tree. jansson does the parsing and says where the syntax is wrong; it does not keep the positions of
 * values, so a second pass over the text, which is then known to be valid, finds them. */
#include "base/limits.h"
#include "base/node.h"
#include "base/text.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

struct json_walk {
	const char *text;
	size_t at;
	int line, column;
	size_t nodes;
};

static void walk_step(struct json_walk *w)
{
	unsigned char c = (unsigned char)w->text[w->at++];
	if (c == '\n') {
		w->line++;
		w->column = 1;
	} else if ((c & 0xc0) != 0x80) {
		w->column++;
	}
}

static void walk_skip(struct json_walk *w, const char *set)
{
	while (w->text[w->at] && strchr(set, w->text[w->at]))
		walk_step(w);
}

static void walk_string(struct json_walk *w)
{
	walk_step(w);
	while (w->text[w->at] != '"') {
		if (w->text[w->at] == '\\')
			walk_step(w);
		walk_step(w);
	}
	walk_step(w);
}

static int walk_value(struct json_walk *w, const json_t *value, int depth, struct node **ret, struct error *err);

static int walk_members(struct json_walk *w, const json_t *value, int depth, struct node *node, struct error *err)
{
	const char *key;
	json_t *member;
	size_t index;
	struct node *child;
	int rc;

	walk_step(w);
	if (node->type == NODE_LIST) {
		json_array_foreach(value, index, member) {
			if ((rc = walk_value(w, member, depth + 1, &child, err)) < 0)
				return rc;
			node_add(node, NULL, child);
			walk_skip(w, " \t\r\n,");
		}
	} else {
		if (json_object_size(value) > LIMIT_DOCUMENT_KEYS)
			return errorf_at(err, -E2BIG, w->line, w->column, "more than %d keys in one map",
					 LIMIT_DOCUMENT_KEYS);
		json_object_foreach((json_t *)value, key, member) {
			walk_skip(w, " \t\r\n,");
			int line = w->line, column = w->column;
			if (strlen(key) > LIMIT_DOCUMENT_KEY_BYTES)
				return errorf_at(err, -E2BIG, line, column, "a key is longer than %d bytes",
						 LIMIT_DOCUMENT_KEY_BYTES);
			walk_string(w);
			walk_skip(w, " \t\r\n:");
			if ((rc = walk_value(w, member, depth + 1, &child, err)) < 0)
				return rc;
			child->line = line;
			child->column = column;
			node_add(node, key, child);
		}
	}
	walk_skip(w, " \t\r\n");
	walk_step(w);
	return 0;
}

static struct node *walk_scalar(struct json_walk *w, const json_t *value)
{
	if (json_is_string(value)) {
		walk_string(w);
		return node_new_string(json_string_value(value));
	}
	size_t from = w->at;
	while (w->text[w->at] && !strchr(" \t\r\n,]}", w->text[w->at]))
		walk_step(w);
	struct node *node = node_new_scalar(w->text + from, w->at - from);
	if (node->type != NODE_STRING)
		return node;
	node_free(node); /* a number of a program that writes 1e20 in digits */
	return node_new_real(json_number_value(value));
}

static int walk_value(struct json_walk *w, const json_t *value, int depth, struct node **ret, struct error *err)
{
	walk_skip(w, " \t\r\n,");
	int line = w->line, column = w->column;
	if (depth > LIMIT_DOCUMENT_DEPTH)
		return errorf_at(err, -E2BIG, line, column, "nested deeper than %d levels", LIMIT_DOCUMENT_DEPTH);
	if (++w->nodes > LIMIT_DOCUMENT_NODES)
		return errorf_at(err, -E2BIG, line, column, "more than %d values", LIMIT_DOCUMENT_NODES);
	struct node *node;
	if (json_is_object(value) || json_is_array(value)) {
		node = node_new(json_is_object(value) ? NODE_MAP : NODE_LIST);
		int rc = walk_members(w, value, depth, node, err);
		if (rc < 0) {
			node_free(node);
			return rc;
		}
	} else {
		node = walk_scalar(w, value);
	}
	node->line = line;
	node->column = column;
	*ret = node;
	return 0;
}

int node_parse_json(const char *text, size_t len, struct node **ret, struct error *err)
{
	json_error_t failure;
	/* A request carries its script and small files inside. */
	if (len > LIMIT_BODY_BYTES)
		return errorf(err, -E2BIG, "the document has %zu bytes; at most %u are read", len, LIMIT_BODY_BYTES);
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &failure);
	if (!root)
		return errorf_at(err, -EINVAL, failure.line, failure.column, "not valid JSON: %s", failure.text);
	char *copy = mem_copy(text, len); /* the walk looks for the NUL */
	struct json_walk walk = {.text = copy, .line = 1, .column = 1};
	int rc = walk_value(&walk, root, 0, ret, err);
	json_decref(root);
	free(copy);
	return rc;
}
