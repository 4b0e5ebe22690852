/* One tree for YAML and JSON documents. Every node knows its place in the text and its parent, so
 * that a validator can say where something is wrong. */
#ifndef BASE_NODE_H
#define BASE_NODE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum node_type { NODE_NULL, NODE_BOOL, NODE_INT, NODE_REAL, NODE_STRING, NODE_LIST, NODE_MAP };

struct node {
	enum node_type type;
	int line, column; /* of the value (of the key for a member of a map); 1-based, 0 unknown */
	struct node *parent;
	char *key; /* as a member of a map */
	bool boolean;
	int64_t integer;
	double real; /* also set for NODE_INT */
	char *string; /* NUL-terminated; holds no NUL itself. Also the text of INT and REAL as written. */
	struct node **items;
	size_t count, capacity;
};

/* Parse a document of at most LIMIT_DOCUMENT_BYTES (JSON: LIMIT_BODY_BYTES, as requests have). 0, or
 * a negative errno with text and place.
 * Refused with a clear message: NUL bytes, invalid UTF-8, duplicate keys, anchors and aliases, tags,
 * several documents, too deep, too many values. Scalars follow the YAML 1.2 core schema (`no` stays
 * a string, 1e-3 is a number). */
int node_parse_json(const char *text, size_t len, struct node **ret, struct error *err) MUST_USE;
int node_parse_yaml(const char *text, size_t len, struct node **ret, struct error *err) MUST_USE;
/* JSON when the name ends in .json, or in neither .yaml nor .yml and the text begins with '{'. */
int node_parse(const char *name, const char *text, size_t len, struct node **ret, struct error *err) MUST_USE;
/* The values of a form field or of `name=values`: "64,32,16" is a list, "1e-5..1e-1" a range map
 * ({min,max}) with ":log" or ":step=16" behind it, anything else a scalar. A comma or ".." inside
 * double quotes does not split. 0 or -EINVAL. */
int node_parse_values(const char *text, struct node **ret, struct error *err) MUST_USE;
void node_free(struct node *node);

/* Building. */
struct node *node_new(enum node_type type);
struct node *node_new_string(const char *text);
struct node *node_new_int(int64_t value);
struct node *node_new_real(double value);
struct node *node_new_bool(bool value);
/* A scalar typed by the YAML 1.2 core schema. What no number can hold as it is written stays a text: whole numbers with
 * more than 63 bits or a leading 0, 1e400. */
struct node *node_new_scalar(const char *text, size_t len);
/* Appends `give` to a list, or to a map under key (replacing a member of that name). */
void node_add(struct node *to, const char *key, struct node *give);
struct node *node_clone(const struct node *node);

/* Reading. node may be NULL everywhere here. */
struct node *node_get(const struct node *map, const char *key); /* NULL when absent */
const char *node_string(const struct node *node); /* NULL unless NODE_STRING */
const char *node_get_string(const struct node *map, const char *key);
int64_t node_get_int(const struct node *map, const char *key, int64_t fallback);
double node_get_real(const struct node *map, const char *key, double fallback);
bool node_get_bool(const struct node *map, const char *key, bool fallback);
bool node_is_number(const struct node *node);
bool node_equal(const struct node *a, const struct node *b);
/* "a list", "a number", …: for messages. */
const char *node_type_name(const struct node *node);
/* JSON pointer of the node, with /key behind it where key is not NULL. The caller frees it. */
char *node_pointer(const struct node *node, const char *key);

void node_write_json(const struct node *node, struct json *out);
/* Block-style YAML that node_parse_yaml reads back to the same tree. */
struct buf;
void node_write_yaml(const struct node *node, struct buf *out);

#endif
