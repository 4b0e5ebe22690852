/* The table: every row is reachable, names are unique, schemas exist; and addresses that try to be clever
 * lead nowhere. */
#include "base/node.h"
#include "http/route.h"
#include "unit.h"

#include <stdio.h>

/* Routes a target; the status of the refusal, or 0 with *ret_route set. */
static int find(enum method method, const char *target, const struct route **ret_route, char *allow, size_t size)
{
	struct head head = {.method = method, .target = target};
	struct request request = {.head = &head};
	struct response response = {0};
	int status = 0;
	if (route_decode(target, strcspn(target, "?"), false, &request.path) < 0)
		status = 400;
	else if (strncmp(request.path, ROUTE_PREFIX "/", strlen(ROUTE_PREFIX) + 1) != 0)
		status = 404;
	else if (route_find(&request, &response) < 0)
		status = response.status;
	if (ret_route)
		*ret_route = request.route;
	if (allow)
		snprintf(allow, size, "%s", buf_text(&response.headers));
	request_clear(&request);
	response_clear(&response);
	return status;
}

static void test_every_row_finds_itself(void **state)
{
	(void)state;
	for (size_t i = 0; i < routes_count; i++) {
		struct buf target = buf_make(1000);
		buf_add_text(&target, ROUTE_PREFIX);
		for (const char *p = routes[i].path; *p; p++) {
			if (*p != '{') {
				buf_add_char(&target, *p);
				continue;
			}
			size_t n = strcspn(p, "}");
			const struct path_param *param = path_param_find(p + 1, n - 1);
			assert_non_null(param);
			buf_add_text(&target,
				     !strcmp(param->name, "token") ? "0123456789abcdef0123456789abcdef"
					     : param->prefix       ? "e12"
					     : param->number       ? "12"
								   : "name.txt");
			p += n;
		}
		for (size_t q = 0; q < REQUEST_QUERY_VALUES && routes[i].query[q]; q++)
			if (routes[i].query[q]->required)
				buf_addf(&target, "?%s=0", routes[i].query[q]->name);
		const struct route *found = NULL;
		assert_int_equal(find(routes[i].method, buf_text(&target), &found, NULL, 0), 0);
		assert_ptr_equal(found, &routes[i]);
		buf_free(&target);
	}
}

static void test_wrong_method_gets_405_with_allow(void **state)
{
	(void)state;
	char allow[200];
	assert_int_equal(find(METHOD_PUT, "/api/v1/experiments", NULL, allow, sizeof(allow)), 405);
	assert_string_equal(allow, "Allow: GET, HEAD, POST\r\n");
	assert_int_equal(find(METHOD_PATCH, "/api/v1/experiments/e1", NULL, allow, sizeof(allow)), 405);
	assert_string_equal(allow, "Allow: GET, HEAD, DELETE\r\n");
	assert_int_equal(find(METHOD_GET, "/api/v1/check", NULL, allow, sizeof(allow)), 405);
	assert_int_equal(find(METHOD_HEAD, "/api/v1/health", NULL, NULL, 0), 0);
}

static void test_clever_addresses_lead_nowhere(void **state)
{
	(void)state;
	static const char *const targets[] = {
		"/api/v1/experiments/../../etc/passwd",
		"/api/v1/experiments/%2e%2e/e1",
		"/api/v1/experiments/e1%2fscript",
		"/api/v1/experiments/e1%2Fscript",
		"/api/v1/experiments/e1%252fscript",
		"/api/v1/experiments/e1;/script",
		"/api/v1/experiments/e1;a=b/script",
		"/api/v1/experiments//e1",
		"/api/v1/experiments/e1/",
		"/api/v1//experiments/e1",
		"/api/v1/experiments/e01",
		"/api/v1/experiments/E1",
		"/api/v1/experiments/e0",
		"/api/v1/experiments/e-1",
		"/api/v1/experiments/e+1",
		"/api/v1/experiments/e1%00",
		"/api/v1/experiments/e1%0a",
		"/api/v1/experiments/e99999999999999999999",
		"/api/v1/experiments/e1/tasks/0",
		"/api/v1/experiments/e1/tasks/1.0",
		"/api/v1/experiments/%",
		"/api/v1/experiments/%4",
		"/api/v1/experiments/%zz",
		"/api/v1/experiments/%ff",
		"/api/v1/experiments/{id}",
		"/api/v1",
		"/api/v1/",
		"/api/v2/experiments",
		"/API/v1/experiments",
	};
	for (size_t i = 0; i < COUNT_OF(targets); i++) {
		int status = find(METHOD_GET, targets[i], NULL, NULL, 0);
		if (status != 404 && status != 400)
			fail_msg("%s: %d", targets[i], status);
	}
	static const char *const uploads[] = {
		"/api/v1/uploads/..",        "/api/v1/uploads/.hidden", "/api/v1/uploads/a%2fb",
		"/api/v1/uploads/%2e%2e%2f", "/api/v1/uploads/a%5cb",   "/api/v1/uploads/",
		"/api/v1/uploads/a b",
	};
	for (size_t i = 0; i < COUNT_OF(uploads); i++) {
		int status = find(METHOD_PUT, uploads[i], NULL, NULL, 0);
		if (status != 404 && status != 400)
			fail_msg("%s: %d", uploads[i], status);
	}
}

static void test_query_is_checked_by_the_table(void **state)
{
	(void)state;
	static const struct {
		const char *target;
		int status;
	} cases[] = {
		{"/api/v1/experiments?limit=1", 0},
		{"/api/v1/experiments?limit=1000", 0},
		{"/api/v1/experiments?limit=0", 400},
		{"/api/v1/experiments?limit=1001", 400},
		{"/api/v1/experiments?limit=1x", 400},
		{"/api/v1/experiments?limit=99999999999999999999", 400},
		{"/api/v1/experiments?limit=", 0},
		{"/api/v1/experiments?", 0},
		{"/api/v1/experiments?&", 0},
		{"/api/v1/experiments?state=running", 0},
		{"/api/v1/experiments?state=runn", 400},
		{"/api/v1/experiments?state=running|error", 400},
		{"/api/v1/experiments?colour=red", 400},
		{"/api/v1/experiments?limit=1&limit=2", 400},
		{"/api/v1/experiments?cursor=%zz", 400},
		{"/api/v1/experiments?cursor=%00", 400},
		{"/api/v1/experiments/e1/tasks/1/log?offset=-4096&stream=stderr", 0},
		{"/api/v1/experiments/e1/tasks/1/log?stream=../../etc/passwd", 400},
		{"/api/v1/experiments/e1/tasks/1/log?attempt=-1", 400},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		int status = find(METHOD_GET, cases[i].target, NULL, NULL, 0);
		if (status != cases[i].status)
			fail_msg("%s: %d", cases[i].target, status);
	}
	assert_int_equal(find(METHOD_PUT, "/api/v1/attempts/0123456789abcdef0123456789abcdef/0/journal", NULL, NULL, 0),
			 404);
}

static void check_references(const struct node *node, const struct node *components, size_t *count)
{
	const char *reference = node && node->type == NODE_MAP ? node_get_string(node, "$ref") : NULL;
	if (reference) {
		char kind[32], name[64];
		assert_int_equal(sscanf(reference, "#/components/%31[a-z]/%63s", kind, name), 2);
		if (!node_get(node_get(components, kind), name))
			fail_msg("%s is referred to but not there", reference);
		++*count;
	}
	for (size_t i = 0; node && i < node->count; i++)
		check_references(node->items[i], components, count);
}

static void test_openapi_is_whole(void **state)
{
	(void)state;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct node *root;
	struct error err = {0};
	size_t references = 0, operations = 0;
	openapi_write(&text);
	if (node_parse_json(buf_text(&text), text.len, &root, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(node_get_string(root, "openapi"), "3.1.0");
	const struct node *paths = node_get(root, "paths");
	for (size_t i = 0; i < paths->count; i++)
		operations += paths->items[i]->count;
	assert_int_equal(operations, routes_count);
	check_references(root, node_get(root, "components"), &references);
	assert_true(references > routes_count);
	for (size_t i = 0; i < routes_count; i++)
		for (size_t n = 0; n < i; n++)
			assert_string_not_equal(routes[i].operation, routes[n].operation);
	node_free(root);
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_row_finds_itself),
		cmocka_unit_test(test_wrong_method_gets_405_with_allow),
		cmocka_unit_test(test_clever_addresses_lead_nowhere),
		cmocka_unit_test(test_query_is_checked_by_the_table),
		cmocka_unit_test(test_openapi_is_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
