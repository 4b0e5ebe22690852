/* Request bodies against schemas.json: see schema.h. */
#include "http/schema.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

static const struct schema_type {
	const char *name;
	enum node_type type;
	const char *words;
} schema_types[] = {
	{"boolean", NODE_BOOL, "true or false"}, {"integer", NODE_INT, "a whole number"},
	{"string", NODE_STRING, "a string"},     {"array", NODE_LIST, "a list"},
	{"object", NODE_MAP, "an object"},
};

struct node *schema_load(void)
{
	struct node *root;
	struct error err;
	if (node_parse_json(openapi_components, strlen(openapi_components), &root, &err) < 0)
		return NULL;
	return root;
}

static const struct node *schema_find(const struct node *schemas, const char *name)
{
	return node_get(node_get(schemas, "schemas"), name);
}

bool schema_is_closed(const struct node *schemas, const char *name)
{
	return !node_get_bool(schema_find(schemas, name), "additionalProperties", true);
}

static int schema_check_type(const struct node *schema, const struct node *value, struct error *err)
{
	const char *wanted = node_get_string(schema, "type");
	for (size_t i = 0; wanted && i < COUNT_OF(schema_types); i++) {
		if (strcmp(schema_types[i].name, wanted) != 0 || schema_types[i].type == value->type)
			continue;
		char *where = node_pointer(value, NULL);
		errorf(err, -EINVAL, "%s must be %s, not %s", *where ? where : "the body", schema_types[i].words,
		       node_type_name(value));
		free(where);
		return -EINVAL;
	}
	return 0;
}

static int schema_check_value(const struct node *schema, const struct node *value, struct error *err)
{
	const struct node *properties = node_get(schema, "properties"), *items = node_get(schema, "items");
	int rc = schema_check_type(schema, value, err);
	for (size_t i = 0; rc == 0 && i < value->count; i++) {
		const struct node *item = value->items[i];
		const struct node *inner = value->type == NODE_MAP ? node_get(properties, item->key) : items;
		if (inner)
			rc = schema_check_value(inner, item, err);
		else if (value->type == NODE_MAP && !node_get_bool(schema, "additionalProperties", true))
			rc = errorf(err, -EINVAL, "'%s' is not known here", item->key);
	}
	return rc;
}

int schema_check(const struct node *schemas, const char *name, const struct node *body, struct error *err)
{
	const struct node *schema = schema_find(schemas, name);
	return schema ? schema_check_value(schema, body, err) : 0;
}
