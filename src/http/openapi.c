/* The OpenAPI document, made from the route table and schemas.json. */
#include "base/json.h"
#include "http/route.h"
#include "http/schema.h"

#include <stdio.h>

static void openapi_put_reference(struct json *out, const char *schema)
{
	char *reference = mem_printf("#/components/schemas/%s", schema);
	json_map(out);
	json_key_string(out, "$ref", reference);
	json_end(out);
	free(reference);
}

/* "content" for a schema's name or, with a '/', a media type. */
static void openapi_put_content(struct json *out, const char *what)
{
	json_key(out, "content");
	json_map(out);
	if (strchr(what, '/')) {
		json_key(out, what);
		json_put_raw(out, "{\"schema\":{\"type\":\"string\"}}");
	} else {
		json_key(out, "application/json");
		json_map(out);
		json_key(out, "schema");
		openapi_put_reference(out, what);
		json_end(out);
		/* The one answer that comes in two forms. */
		if (!strcmp(what, "Export"))
			json_key_raw(out, "text/csv", "{\"schema\":{\"type\":\"string\"}}");
	}
	json_end(out);
}

static void openapi_put_choices(struct json *out, const char *choices)
{
	json_key_string(out, "type", "string");
	json_key(out, "enum");
	json_list(out);
	while (*choices) {
		size_t n = strcspn(choices, "|");
		json_put_string_n(out, choices, n);
		choices += n + (choices[n] == '|');
	}
	json_end(out);
}

static void openapi_put_schema(struct json *out, const struct param *param)
{
	json_key(out, "schema");
	json_map(out);
	switch (param->type) {
	case PARAM_TEXT: json_key_string(out, "type", "string"); break;
	case PARAM_BOOL: openapi_put_choices(out, "0|1|false|true"); break;
	case PARAM_CHOICE: openapi_put_choices(out, param->choices); break;
	default:
		json_key_string(out, "type", "integer");
		/* Bounds that are only those of the machine say nothing. */
		if (param->min > -INT64_MAX)
			json_key_int(out, "minimum", param->min);
		if (param->max < INT32_MAX)
			json_key_int(out, "maximum", param->max);
		if (!param->required)
			json_key_int(out, "default", param->fallback);
	}
	json_end(out);
}

static void openapi_put_path_parameter(struct json *out, const struct path_param *param)
{
	json_map(out);
	json_key_string(out, "name", param->name);
	json_key_string(out, "in", "path");
	json_key_bool(out, "required", true);
	json_key_string(out, "description", param->help);
	json_key(out, "schema");
	json_map(out);
	json_key_string(out, "type", "string");
	json_key_string(out, "pattern", param->pattern);
	json_end(out);
	json_end(out);
}

static void openapi_put_header_parameter(struct json *out, const char *name, const char *help)
{
	json_map(out);
	json_key_string(out, "name", name);
	json_key_string(out, "in", "header");
	json_key_string(out, "description", help);
	json_key_raw(out, "schema", "{\"type\":\"string\"}");
	json_end(out);
}

static void openapi_put_parameters(struct json *out, const struct route *route)
{
	json_key(out, "parameters");
	json_list(out);
	for (const char *p = route->path; (p = strchr(p, '{')); p++)
		openapi_put_path_parameter(out, path_param_find(p + 1, strcspn(p + 1, "}")));
	for (size_t i = 0; i < REQUEST_QUERY_VALUES && route->query[i]; i++) {
		const struct param *param = route->query[i];
		json_map(out);
		json_key_string(out, "name", param->name);
		json_key_string(out, "in", "query");
		json_key_bool(out, "required", param->required);
		json_key_string(out, "description", param->help);
		openapi_put_schema(out, param);
		json_end(out);
	}
	if (!strcmp(route->operation, "createExperiment"))
		openapi_put_header_parameter(out, "Idempotency-Key",
					     "a key that is repeated within a day gets the first answer again");
	if (route->flags & ROUTE_STREAM)
		openapi_put_header_parameter(out, "Last-Event-ID", "go on after this event");
	json_end(out);
}

static void openapi_put_responses(struct json *out, const struct route *route)
{
	char status[8];
	snprintf(status, sizeof(status), "%d", route->status);
	json_key(out, "responses");
	json_map(out);
	json_key(out, status);
	json_map(out);
	json_key_string(out, "description", route->summary);
	if (route->answer)
		openapi_put_content(out, route->answer);
	json_end(out);
	if (route->flags & ROUTE_MAYBE_NOTHING)
		json_key_raw(out, "204", "{\"description\":\"Nothing left\"}");
	json_key_raw(out, "default", "{\"$ref\":\"#/components/responses/Problem\"}");
	json_end(out);
}

static void openapi_put_operation(struct json *out, const struct route *route)
{
	static const char *const methods[] = {
		[METHOD_GET] = "get", [METHOD_POST] = "post", [METHOD_PUT] = "put", [METHOD_DELETE] = "delete"};
	json_key(out, methods[route->method]);
	json_map(out);
	json_key_string(out, "operationId", route->operation);
	json_key_string(out, "summary", route->summary);
	openapi_put_parameters(out, route);
	if (route->body) {
		json_key(out, "requestBody");
		json_map(out);
		json_key_bool(out, "required", !(route->flags & ROUTE_OPTIONAL_BODY));
		openapi_put_content(out, route->body);
		json_end(out);
	}
	openapi_put_responses(out, route);
	if (route->flags & ROUTE_PUBLIC)
		json_key_raw(out, "security", "[]");
	json_end(out);
}

/* Rows of one path stand together or apart; each path is written once, at its first row. */
static void openapi_put_path(struct json *out, size_t first)
{
	for (size_t i = 0; i < first; i++)
		if (!strcmp(routes[i].path, routes[first].path))
			return;
	json_key(out, routes[first].path);
	json_map(out);
	for (size_t i = first; i < routes_count; i++)
		if (!strcmp(routes[i].path, routes[first].path))
			openapi_put_operation(out, &routes[i]);
	json_end(out);
}

void openapi_write(struct buf *to)
{
	struct json out = json_to(to);
	json_map(&out);
	json_key_string(&out, "openapi", "3.1.0");
	json_key(&out, "info");
	json_map(&out);
	json_key_string(&out, "title", "sluice");
	json_key_string(&out, "version", SLUICE_VERSION);
	json_key_raw(&out, "license", "{\"name\":\"Apache-2.0\",\"identifier\":\"Apache-2.0\"}");
	json_end(&out);
	json_key_raw(&out, "servers", "[{\"url\":\"" ROUTE_PREFIX "\"}]");
	json_key_raw(&out, "security", "[{\"session\":[]},{\"token\":[]}]");
	json_key(&out, "paths");
	json_map(&out);
	for (size_t i = 0; i < routes_count; i++)
		openapi_put_path(&out, i);
	json_end(&out);
	json_key_raw(&out, "components", openapi_components);
	json_end(&out);
}
