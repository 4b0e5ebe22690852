/* Finding the row for a request: see route.h. Paths are decoded once, segment by segment. */
#include "http/route.h"

#include "base/num.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const struct path_param route_path_params[] = {
	{"id", "^e[1-9][0-9]{0,17}$", true, 'e', "the experiment, such as e12"},
	{"n", "^[1-9][0-9]{0,17}$", true, 0, "the task's number within the experiment"},
	{"key", "^[1-9][0-9]{0,17}$", true, 0, "the id of the token or session"},
	{"index", "^[0-9]{1,18}$", true, 0, "the attempt's index within its batch"},
	{"token", "^[0-9a-f]{32}$", false, 0, "the batch's token"},
	{"name", "^[A-Za-z0-9_.-]{1,200}$", false, 0, "the file's name"},
};

const struct path_param *path_param_find(const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT_OF(route_path_params); i++)
		if (strlen(route_path_params[i].name) == len && !memcmp(route_path_params[i].name, name, len))
			return &route_path_params[i];
	return NULL;
}

int route_decode(const char *text, size_t len, bool query, char **ret)
{
	char *out = mem_alloc(len + 1);
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c == '%') {
			if (len - i < 3)
				goto bad;
			int high = text_hex_digit(text[i + 1]), low = text_hex_digit(text[i + 2]);
			if (high < 0 || low < 0)
				goto bad;
			c = (unsigned char)(high * 16 + low);
			i += 2;
			if (c < 0x20 || c == 0x7f || (c == '/' && !query))
				goto bad;
		} else if (c == '+' && query) {
			c = ' ';
		}
		out[n++] = (char)c;
	}
	out[n] = 0;
	if (text_utf8_check(out, n) != n)
		goto bad;
	*ret = out;
	return 0;
bad:
	free(out);
	return -EINVAL;
}

static bool route_value_matches(const struct path_param *param, const char *text, size_t len, int64_t *ret)
{
	if (param->number) {
		size_t skip = param->prefix ? 1 : 0;
		if (len <= skip || len > 20 || (skip && text[0] != param->prefix))
			return false;
		/* e01 and e1 are not two names of one thing. */
		if (text[skip] == '0' && (len > skip + 1 || strcmp(param->name, "index") != 0))
			return false;
		uint64_t value;
		if (num_parse_unsigned(text + skip, len - skip, INT64_MAX, &value) < 0)
			return false;
		*ret = (int64_t)value;
		return true;
	}
	if (!strcmp(param->name, "token"))
		return len == 32 && strspn(text, "0123456789abcdef") >= 32;
	if (len == 0 || len > 200 || text[0] == '.')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-", text[i]))
			return false;
	return true;
}

/* Where the values in braces begin, when the path fits the pattern. */
struct route_match {
	size_t from[REQUEST_PATH_VALUES], len[REQUEST_PATH_VALUES];
	int64_t number[REQUEST_PATH_VALUES];
	size_t count;
};

static bool route_path_matches(const char *pattern, const char *path, struct route_match *match)
{
	const char *p = path;
	match->count = 0;
	while (*pattern == '/' && *p == '/') {
		pattern++;
		p++;
		size_t want = strcspn(pattern, "/"), have = strcspn(p, "/");
		if (*pattern == '{') {
			const struct path_param *param = path_param_find(pattern + 1, want - 2);
			size_t i = match->count++;
			if (!route_value_matches(param, p, have, &match->number[i]))
				return false;
			match->from[i] = (size_t)(p - path);
			match->len[i] = have;
		} else if (want != have || memcmp(pattern, p, want) != 0) {
			return false;
		}
		pattern += want;
		p += have;
	}
	return !*pattern && !*p;
}

static int param_check(const struct param *param, struct query_value *value, struct response *response)
{
	size_t len = strlen(value->text);
	switch (param->type) {
	case PARAM_TEXT: return 0;
	case PARAM_INT:
		if (num_parse_int(value->text, len, param->min, param->max, &value->integer) == 0)
			return 0;
		response_problem(response, 400, "?%s= must be a whole number from %" PRId64 " to %" PRId64, param->name,
				 param->min, param->max);
		return -1;
	case PARAM_BOOL:
		value->integer = !strcmp(value->text, "1") || !strcmp(value->text, "true");
		if (value->integer || !strcmp(value->text, "0") || !strcmp(value->text, "false"))
			return 0;
		response_problem(response, 400, "?%s= must be 1 or 0", param->name);
		return -1;
	default:
		for (const char *choice = param->choices; *choice;) {
			size_t n = strcspn(choice, "|");
			if (n == len && !memcmp(choice, value->text, n))
				return 0;
			choice += n + (choice[n] == '|');
		}
		response_problem(response, 400, "?%s= must be one of %s", param->name, param->choices);
		return -1;
	}
}

/* One name=value of the query. */
static int route_query_take(struct request *request, const char *text, size_t len, struct response *response)
{
	const struct route *route = request->route;
	const char *equals = memchr(text, '=', len);
	size_t name_len = equals ? (size_t)(equals - text) : len;
	size_t i = 0;
	while (i < REQUEST_QUERY_VALUES && route->query[i] &&
	       (strlen(route->query[i]->name) != name_len || memcmp(route->query[i]->name, text, name_len)))
		i++;
	if (i == REQUEST_QUERY_VALUES || !route->query[i]) {
		response_problem(response, 400, "?%.*s: there is no such parameter here",
				 (int)(name_len < 60 ? name_len : 60), text);
		return -1;
	}
	if (request->query[i].text) {
		response_problem(response, 400, "?%s= is given twice", route->query[i]->name);
		return -1;
	}
	const char *value = equals ? equals + 1 : text + len;
	if (route_decode(value, (size_t)(text + len - value), true, &request->query[i].text) < 0) {
		response_problem(response, 400, "?%s= is not properly encoded", route->query[i]->name);
		return -1;
	}
	/* ?state= without a value is how a form says "any". */
	if (!*request->query[i].text) {
		free(request->query[i].text);
		request->query[i].text = NULL;
		return 0;
	}
	return param_check(route->query[i], &request->query[i], response);
}

static int route_query_read(struct request *request, const char *query, struct response *response)
{
	const struct route *route = request->route;
	for (size_t i = 0; i < REQUEST_QUERY_VALUES && route->query[i]; i++)
		request->query[i].integer = route->query[i]->fallback;
	while (*query) {
		size_t len = strcspn(query, "&");
		if (len && route_query_take(request, query, len, response) < 0)
			return -1;
		query += len + (query[len] == '&');
	}
	for (size_t i = 0; i < REQUEST_QUERY_VALUES && route->query[i]; i++) {
		if (route->query[i]->required && !request->query[i].text) {
			response_problem(response, 400, "?%s= is needed", route->query[i]->name);
			return -1;
		}
	}
	return 0;
}

static void route_take_match(struct request *request, size_t prefix, const struct route_match *match)
{
	for (size_t i = 0; i < match->count; i++) {
		char *text = request->path + prefix + match->from[i];
		text[match->len[i]] = 0;
		request->path_values[i] = text;
		request->path_numbers[i] = match->number[i];
	}
}

static int route_refuse(const char *allowed, struct response *response)
{
	if (!*allowed) {
		response_problem(response, 404, "there is nothing at this address");
	} else {
		response_problem(response, 405, "this address accepts only %s", allowed);
		response_header(response, "Allow", "%s", allowed);
	}
	return -1;
}

int route_find(struct request *request, struct response *response)
{
	enum method method = request->head->method == METHOD_HEAD ? METHOD_GET : request->head->method;
	size_t prefix = strlen(ROUTE_PREFIX);
	const char *path = request->path + prefix;
	struct route_match match;
	char allowed[64] = "";

	for (size_t i = 0; i < routes_count; i++) {
		if (!route_path_matches(routes[i].path, path, &match))
			continue;
		if (routes[i].method == method) {
			const char *query = strchr(request->head->target, '?');
			request->route = &routes[i];
			route_take_match(request, prefix, &match);
			return route_query_read(request, query ? query + 1 : "", response);
		}
		snprintf(allowed + strlen(allowed), sizeof(allowed) - strlen(allowed), "%s%s%s", *allowed ? ", " : "",
			 method_name(routes[i].method), routes[i].method == METHOD_GET ? ", HEAD" : "");
	}
	return route_refuse(allowed, response);
}
