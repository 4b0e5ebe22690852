/* Request bodies against schemas.json: see schema.h. */
#include "http/schema.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

static const struct schema_type {
	const char *name;
	enum node_type type;
	const char *words;
} schema_types[] = {
	{"boolean", NODE_BOOL, "true or false"},
	{"integer", NODE_INT, "a whole number"},
	{"number", NODE_REAL, "a number"},
	{"string", NODE_STRING, "a text"},
	{"array", NODE_LIST, "a list"},
	{"object", NODE_MAP, "a map"},
	{"null", NODE_NULL, "null"},
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

/* The schema itself, where this one only refers to it. */
static const struct node *schema_resolve(const struct node *schemas, const struct node *schema)
{
	static const char prefix[] = "#/components/schemas/";
	const char *reference;
	while ((reference = node_get_string(schema, "$ref")) && text_starts(reference, prefix))
		schema = schema_find(schemas, reference + strlen(prefix));
	return schema;
}

static const struct schema_type *schema_type_find(const struct node *name)
{
	for (size_t i = 0; node_string(name) && i < COUNT_OF(schema_types); i++)
		if (strcmp(schema_types[i].name, node_string(name)) == 0)
			return &schema_types[i];
	return NULL;
}

static bool schema_fits_type(const struct node *name, const struct node *value)
{
	const struct schema_type *type = schema_type_find(name);
	return !type || type->type == value->type || (type->type == NODE_REAL && value->type == NODE_INT);
}

/* `type` is a name or a list of names. */
static bool schema_fits_types(const struct node *type, const struct node *value)
{
	if (!type || type->type != NODE_LIST)
		return schema_fits_type(type, value);
	for (size_t i = 0; i < type->count; i++)
		if (schema_fits_type(type->items[i], value))
			return true;
	return false;
}

static bool schema_fits_enum(const struct node *words, const struct node *value)
{
	for (size_t i = 0; words && i < words->count; i++)
		if (node_equal(words->items[i], value))
			return true;
	return !words;
}

/* Of one of the types and words; members and items are not looked at. */
static bool schema_fits(const struct node *schemas, const struct node *schema, const struct node *value)
{
	schema = schema_resolve(schemas, schema);
	const struct node *choices = node_get(schema, "oneOf");
	for (size_t i = 0; choices && i < choices->count; i++)
		if (schema_fits(schemas, choices->items[i], value))
			return true;
	return !choices && schema_fits_types(node_get(schema, "type"), value) &&
		schema_fits_enum(node_get(schema, "enum"), value);
}

static void schema_describe_word(const struct node *word, bool type, struct buf *out)
{
	const struct schema_type *known = type ? schema_type_find(word) : NULL;
	buf_addf(out, "%s%s", out->len ? " or " : "", known ? known->words : node_string(word));
}

/* "a number or NaN or Infinity": what schema_fits takes. */
static void schema_describe(const struct node *schemas, const struct node *schema, struct buf *out)
{
	schema = schema_resolve(schemas, schema);
	const struct node *choices = node_get(schema, "oneOf"), *words = node_get(schema, "enum");
	const struct node *said = words ? words : node_get(schema, "type");
	for (size_t i = 0; choices && i < choices->count; i++)
		schema_describe(schemas, choices->items[i], out);
	for (size_t i = 0; said && said->type == NODE_LIST && i < said->count; i++)
		schema_describe_word(said->items[i], !words, out);
	if (said && said->type == NODE_STRING)
		schema_describe_word(said, true, out);
}

static void schema_add_misfit(const struct node *schemas, const struct node *schema, const struct node *value,
			      struct problems *problems)
{
	struct buf words = buf_make(1024);
	schema_describe(schemas, schema, &words);
	if (value->type == NODE_STRING)
		problem_add(problems, value, NULL, "must be %s, not the text '%.60s'", buf_text(&words), value->string);
	else
		problem_add(problems, value, NULL, "must be %s, not %s", buf_text(&words),
			    value->type == NODE_NULL ? "null" : node_type_name(value));
	buf_free(&words);
}

static void schema_check_value(const struct node *schemas, const struct node *schema, const struct node *value,
			       struct problems *problems)
{
	schema = schema_resolve(schemas, schema);
	if (!schema_fits(schemas, schema, value)) {
		schema_add_misfit(schemas, schema, value, problems);
		return;
	}
	const struct node *properties = node_get(schema, "properties"), *items = node_get(schema, "items");
	const struct node *others = node_get(schema, "additionalProperties");
	for (size_t i = 0; i < value->count; i++) {
		const struct node *item = value->items[i];
		const struct node *inner = value->type == NODE_MAP ? node_get(properties, item->key) : items;
		if (!inner && value->type == NODE_MAP)
			inner = others;
		if (inner && inner->type == NODE_MAP)
			schema_check_value(schemas, inner, item, problems);
		else if (inner && !inner->boolean)
			problem_add(problems, item, NULL, "this member is not known");
	}
}

int schema_check(const struct node *schemas, const char *name, const struct node *body, struct problems *problems)
{
	const struct node *schema = schema_find(schemas, name);
	size_t before = problems->list.len;
	if (schema)
		schema_check_value(schemas, schema, body, problems);
	return problems->list.len > before ? -EINVAL : 0;
}
