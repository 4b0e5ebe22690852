/* YAML text to the tree, through libyaml's events. Scalars follow the YAML 1.2 core schema; what
 * makes YAML dangerous or surprising (aliases, tags, several documents) is refused. */
#include "base/limits.h"
#include "base/node.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

/* What the library says, in words that name the mistake. `opens`: the place to look at is where the thing begins, which is
 * mostly a line or more before the place where the library gave up. */
static const struct yaml_mistake {
	const char *context, *problem;
	bool opens;
	const char *said;
} yaml_mistakes[] = {
	{"while parsing a flow sequence", NULL, true, "the list that begins here has no ]"},
	{"while parsing a flow mapping", NULL, true, "the map that begins here has no }"},
	{"while scanning a quoted scalar", "found unexpected end of stream", true,
	 "the text that begins here has no closing quote"},
	{"while scanning a simple key", "could not find expected ':'", true, "there is no ':' behind this key"},
	{"while parsing a block mapping", "did not find expected key", false,
	 "this line is indented otherwise than the lines that it belongs to"},
	{"while parsing a block collection", "did not find expected '-' indicator", false,
	 "this line is indented otherwise than the lines that it belongs to"},
	{NULL, "mapping values are not allowed in this context", false,
	 "a ':' cannot stand here: a line is indented too far, or a text with a ':' needs quotes"},
};

struct yaml_read {
	yaml_parser_t parser;
	struct error *err;
	size_t nodes;
};

static int yaml_fail(struct yaml_read *r, const yaml_mark_t *at, const char *text)
{
	return errorf_at(r->err, -EINVAL, (int)at->line + 1, (int)at->column + 1, "%s", text);
}

static bool yaml_is_mistake(const yaml_parser_t *p, const struct yaml_mistake *mistake)
{
	bool context = !mistake->context || (p->context && strcmp(p->context, mistake->context) == 0);
	return context && (!mistake->problem || (p->problem && strcmp(p->problem, mistake->problem) == 0));
}

static int yaml_line(const yaml_parser_t *p, bool opens)
{
	return (int)(opens ? p->context_mark.line : p->problem_mark.line) + 1;
}

static int yaml_column(const yaml_parser_t *p, bool opens)
{
	return (int)(opens ? p->context_mark.column : p->problem_mark.column) + 1;
}

/* Of a sign with which no value can begin: what to do about it. NULL: it is another mistake. */
static const char *yaml_name_sign(const struct yaml_read *r)
{
	const yaml_parser_t *p = &r->parser;
	if (!p->problem || strcmp(p->problem, "found character that cannot start any token") != 0 || !p->buffer.pointer)
		return NULL;
	unsigned char c = *p->buffer.pointer;
	return c == '\t'                           ? "not valid YAML: a tab; indent with spaces"
		: c == '@' || c == '`' || c == '%' ? "not valid YAML: a text that begins with this sign needs quotes"
						   : NULL;
}

static int yaml_next(struct yaml_read *r, yaml_event_t *event)
{
	if (yaml_parser_parse(&r->parser, event))
		return 0;
	const yaml_parser_t *p = &r->parser;
	if (p->error == YAML_READER_ERROR) {
		/* The reader knows the byte, not the line. */
		return errorf(r->err, -EINVAL, "not valid YAML: %s at byte %zu", p->problem, p->problem_offset);
	}
	const char *sign = yaml_name_sign(r);
	if (sign)
		return yaml_fail(r, &p->problem_mark, sign);
	for (size_t i = 0; i < COUNT_OF(yaml_mistakes); i++)
		if (yaml_is_mistake(p, &yaml_mistakes[i]))
			return errorf_at(r->err, -EINVAL, yaml_line(p, yaml_mistakes[i].opens),
					 yaml_column(p, yaml_mistakes[i].opens), "not valid YAML: %s",
					 yaml_mistakes[i].said);
	return errorf_at(r->err, -EINVAL, (int)p->problem_mark.line + 1, (int)p->problem_mark.column + 1,
			 "not valid YAML: %s%s%s", p->problem ? p->problem : "cannot be read", p->context ? " " : "",
			 p->context ? p->context : "");
}

static int yaml_read_value(struct yaml_read *r, yaml_event_t *event, int depth, struct node **ret);

static int yaml_read_children(struct yaml_read *r, int depth, struct node *node)
{
	bool map = node->type == NODE_MAP;
	for (;;) {
		yaml_event_t event;
		int rc = yaml_next(r, &event);
		if (rc < 0)
			return rc;
		if (event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&event);
			return 0;
		}
		char *key = NULL;
		yaml_mark_t at = event.start_mark;
		if (map) {
			if (event.type != YAML_SCALAR_EVENT || event.data.scalar.anchor || event.data.scalar.tag) {
				yaml_event_delete(&event);
				return yaml_fail(r, &at, "a key must be a plain text");
			}
			size_t len = event.data.scalar.length;
			bool merge = event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && len == 2 &&
				memcmp(event.data.scalar.value, "<<", 2) == 0;
			key = mem_copy(event.data.scalar.value, len);
			yaml_event_delete(&event);
			if (node->count >= LIMIT_DOCUMENT_KEYS) {
				free(key);
				return yaml_fail(r, &at, "too many keys in one map");
			}
			if (len > LIMIT_DOCUMENT_KEY_BYTES) {
				free(key);
				return yaml_fail(r, &at, "a key is too long");
			}
			if (strlen(key) != len || merge || node_get(node, key)) {
				rc = errorf_at(r->err, -EINVAL, (int)at.line + 1, (int)at.column + 1,
					       "the key '%.80s' %s", key,
					       node_get(node, key) ? "is there twice; keep one" : "is not allowed");
				free(key);
				return rc;
			}
			if ((rc = yaml_next(r, &event)) < 0) {
				free(key);
				return rc;
			}
		}
		struct node *child;
		rc = yaml_read_value(r, &event, depth + 1, &child);
		if (rc == 0) {
			if (map) {
				child->line = (int)at.line + 1;
				child->column = (int)at.column + 1;
			}
			node_add(node, key, child);
		}
		free(key);
		if (rc < 0)
			return rc;
	}
}

static int yaml_read_scalar(struct yaml_read *r, const yaml_event_t *event, struct node **ret)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;
	if (memchr(text, 0, len))
		return yaml_fail(r, &event->start_mark, "a text holds a NUL character");
	if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
		*ret = node_new_scalar(text, len);
	} else {
		*ret = node_new(NODE_STRING);
		(*ret)->string = mem_copy(text, len);
	}
	return 0;
}

/* Takes the event (deletes it). */
static int yaml_read_value(struct yaml_read *r, yaml_event_t *event, int depth, struct node **ret)
{
	struct node *node = NULL;
	yaml_mark_t at = event->start_mark;
	int rc = 0;
	bool marked = (event->type == YAML_SCALAR_EVENT && (event->data.scalar.anchor || event->data.scalar.tag)) ||
		(event->type == YAML_MAPPING_START_EVENT &&
		 (event->data.mapping_start.anchor || event->data.mapping_start.tag)) ||
		(event->type == YAML_SEQUENCE_START_EVENT &&
		 (event->data.sequence_start.anchor || event->data.sequence_start.tag));

	if (marked || event->type == YAML_ALIAS_EVENT)
		rc = yaml_fail(r, &at, "anchors, aliases and tags are not supported; write the value out");
	else if (depth > LIMIT_DOCUMENT_DEPTH)
		rc = yaml_fail(r, &at, "nested too deep");
	else if (++r->nodes > LIMIT_DOCUMENT_NODES)
		rc = yaml_fail(r, &at, "too many values");
	else if (event->type == YAML_SCALAR_EVENT)
		rc = yaml_read_scalar(r, event, &node);
	else if (event->type == YAML_MAPPING_START_EVENT)
		node = node_new(NODE_MAP);
	else if (event->type == YAML_SEQUENCE_START_EVENT)
		node = node_new(NODE_LIST);
	else
		rc = yaml_fail(r, &at, "something unexpected");
	yaml_event_delete(event);
	if (rc == 0 && node->type >= NODE_LIST)
		rc = yaml_read_children(r, depth, node);
	if (rc < 0) {
		node_free(node);
		return rc;
	}
	node->line = (int)at.line + 1;
	node->column = (int)at.column + 1;
	*ret = node;
	return 0;
}

static int yaml_read_document(struct yaml_read *r, struct node **ret)
{
	yaml_event_t event;
	struct node *root = NULL;
	int rc = yaml_next(r, &event); /* stream start */
	if (rc < 0)
		return rc;
	yaml_event_delete(&event);
	if ((rc = yaml_next(r, &event)) < 0)
		return rc;
	if (event.type == YAML_STREAM_END_EVENT) {
		yaml_event_delete(&event);
		return errorf_at(r->err, -EINVAL, 1, 1, "the document is empty");
	}
	yaml_event_delete(&event);
	if ((rc = yaml_next(r, &event)) < 0 || (rc = yaml_read_value(r, &event, 0, &root)) < 0)
		return rc;
	if ((rc = yaml_next(r, &event)) < 0) /* document end */
		goto out;
	yaml_event_delete(&event);
	if ((rc = yaml_next(r, &event)) < 0)
		goto out;
	if (event.type != YAML_STREAM_END_EVENT)
		rc = yaml_fail(r, &event.start_mark, "a second document begins here; only one is read");
	yaml_event_delete(&event);
out:
	if (rc < 0)
		node_free(root);
	else
		*ret = root;
	return rc;
}

/* The place of byte `at`, for errors found before libyaml reads. */
static int yaml_fail_byte(struct error *err, const char *text, size_t at, const char *what)
{
	int line = 1, column = 1;
	for (size_t i = 0; i < at; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	return errorf_at(err, -EINVAL, line, column, "%s", what);
}

int node_parse_yaml(const char *text, size_t len, struct node **ret, struct error *err)
{
	if (len > LIMIT_DOCUMENT_BYTES)
		return errorf(err, -E2BIG, "the document has %zu bytes; at most %u are read", len,
			      LIMIT_DOCUMENT_BYTES);
	const char *nul = memchr(text, 0, len);
	if (nul)
		return yaml_fail_byte(err, text, (size_t)(nul - text), "a NUL byte; is this a text file?");
	size_t good = text_utf8_check(text, len);
	if (good < len)
		return yaml_fail_byte(err, text, good, "not valid UTF-8; save the file as UTF-8");

	/* libyaml would count the byte order mark of Windows' editors as a column. */
	size_t mark = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	struct yaml_read r = {.err = err};
	if (!yaml_parser_initialize(&r.parser))
		return errorf(err, -ENOMEM, "out of memory");
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text + mark, len - mark);
	int rc = yaml_read_document(&r, ret);
	yaml_parser_delete(&r.parser);
	return rc;
}

int node_parse(const char *name, const char *text, size_t len, struct node **ret, struct error *err)
{
	size_t first = 0;
	while (first < len && text[first] && strchr(" \t\r\n", text[first]))
		first++;
	bool yaml_name = name && (text_ends(name, ".yaml") || text_ends(name, ".yml"));
	bool json = (name && text_ends(name, ".json")) || (!yaml_name && first < len && text[first] == '{');
	return json ? node_parse_json(text, len, ret, err) : node_parse_yaml(text, len, ret, err);
}
