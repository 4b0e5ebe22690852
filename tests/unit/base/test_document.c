/* Reading YAML and JSON: types, places, and documents that mean harm. */
#include "base/limits.h"
#include "base/node.h"

#include "../unit.h"

#include <errno.h>
#include <math.h>

static struct node *yaml(const char *text)
{
	struct node *node = NULL;
	struct error err = {0};
	if (node_parse_yaml(text, strlen(text), &node, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
	return node;
}

static struct node *json(const char *text)
{
	struct node *node = NULL;
	struct error err = {0};
	if (node_parse_json(text, strlen(text), &node, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
	return node;
}

static void assert_place(const struct node *node, int line, int column)
{
	assert_non_null(node);
	assert_int_equal(node->line, line);
	assert_int_equal(node->column, column);
}

static void scalars_follow_the_core_schema(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum node_type type;
	} cases[] = {
		{"no", NODE_STRING},
		{"yes", NODE_STRING},
		{"on", NODE_STRING},
		{"null", NODE_NULL},
		{"~", NODE_NULL},
		{"true", NODE_BOOL},
		{"False", NODE_BOOL},
		{"12", NODE_INT},
		{"-7", NODE_INT},
		{"1e-3", NODE_REAL},
		{"1.", NODE_REAL},
		{".5", NODE_REAL},
		{".inf", NODE_REAL},
		{"-.inf", NODE_REAL},
		{".nan", NODE_REAL},
		{"inf", NODE_STRING},
		{"-inf", NODE_STRING},
		{"+nan", NODE_STRING},
		{"nan", NODE_STRING},
		{"infinity", NODE_STRING},
		{"1_000", NODE_STRING},
		{"12:30:45", NODE_STRING},
		{"2026-01-01", NODE_STRING},
		{"\"12\"", NODE_STRING},
		{"'true'", NODE_STRING},
		{"1e", NODE_STRING},
		{"-x", NODE_STRING},
		{"1e20", NODE_REAL},
		{"'99999999999999999999'", NODE_STRING},
		{"9223372036854775807", NODE_INT},
		{"9223372036854775808", NODE_STRING},
		{"-9223372036854775809", NODE_STRING},
		{"007", NODE_STRING},
		{"1e400", NODE_STRING},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char *text = mem_printf("x: %s\n", cases[i].text);
		struct node *doc = yaml(text);
		if (node_get(doc, "x")->type != cases[i].type)
			fail_msg("%s is %s", cases[i].text, node_type_name(node_get(doc, "x")));
		node_free(doc);
		free(text);
	}
	struct node *doc = yaml("a: no\nb: '12'\nc: \"true\"\nd:\ne: 007\nf: -.inf\ng: 1e-05\n");
	assert_string_equal(node_get_string(doc, "a"), "no");
	assert_string_equal(node_get_string(doc, "b"), "12");
	assert_string_equal(node_get_string(doc, "c"), "true");
	assert_int_equal(node_get(doc, "d")->type, NODE_NULL);
	assert_string_equal(node_get_string(doc, "e"), "007");
	assert_true(isinf(node_get_real(doc, "f", 0)) && node_get_real(doc, "f", 0) < 0);
	assert_string_equal(node_get(doc, "g")->string, "1e-05");
	node_free(doc);
}

static void every_value_knows_its_place(void **state)
{
	(void)state;
	struct node *doc = yaml("name: x\nparameters:\n  lr: {min: 1,\n       max: 2}\n  units:\n    - 16\n    - 32\n");
	assert_place(node_get(doc, "name"), 1, 1);
	const struct node *lr = node_get(node_get(doc, "parameters"), "lr");
	assert_place(lr, 3, 3);
	assert_place(node_get(lr, "max"), 4, 8);
	const struct node *units = node_get(node_get(doc, "parameters"), "units");
	assert_place(units->items[1], 7, 7);
	char *pointer = node_pointer(units->items[1], NULL);
	assert_string_equal(pointer, "/parameters/units/1");
	free(pointer);
	node_free(doc);

	doc = json("{\n \"n\\\"a\": \"gr\u00fc\u00df, }\", \"b\": [1,\n  {\"c/d\": -2.5e3}, true]}");
	assert_place(node_get(doc, "n\"a"), 2, 2);
	assert_place(node_get(doc, "b"), 2, 21);
	const struct node *b = node_get(doc, "b");
	assert_place(b->items[0], 2, 27);
	assert_place(node_get(b->items[1], "c/d"), 3, 4);
	assert_true(node_get_real(b->items[1], "c/d", 0) == -2500);
	pointer = node_pointer(b->items[1]->items[0], "x~y");
	assert_string_equal(pointer, "/b/1/c~1d/x~0y");
	free(pointer);
	assert_true(b->items[2]->boolean);
	node_free(doc);
}

/* Refused, with a text; line and column where they are given. */
static void assert_refused(bool is_json, const char *text, size_t len, const char *says, int line, int column)
{
	struct node *node = NULL;
	struct error err = {0};
	int rc = is_json ? node_parse_json(text, len, &node, &err) : node_parse_yaml(text, len, &node, &err);
	if (rc >= 0)
		fail_msg("accepted: %.60s", text);
	assert_null(node);
	if (!strstr(err.text, says))
		fail_msg("'%.60s' says: %s", text, err.text);
	if (line && (err.line != line || err.column != column))
		fail_msg("'%.60s' is at %d:%d: %s", text, err.line, err.column, err.text);
}

static void hostile_yaml_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
		int line, column;
	} cases[] = {
		{"", "empty", 1, 1},
		{"# only a comment\n", "empty", 1, 1},
		{"a: 1\nb: 2\na: 3\n", "twice", 3, 1},
		{"a: &x 1\n", "anchors", 1, 4},
		{"a: &x [1]\nb: *x\n", "anchors", 1, 4},
		{"a: *x\n", "anchors", 1, 4},
		{"a: !!int \"3\"\n", "tags", 1, 4},
		{"a: !python/object:os.system x\n", "tags", 1, 4},
		{"!!str a: 1\n", "key", 1, 1},
		{"<<: {a: 1}\n", "not allowed", 1, 1},
		{"a: 1\n---\nb: 2\n", "second document", 2, 1},
		{"? [a]\n: 1\n", "key", 1, 3},
		{"a: [1, 2\n", "not valid YAML", 0, 0},
		{"a: \"x\n", "not valid YAML", 0, 0},
		{"a:\n\tb: 1\n", "not valid YAML", 2, 1},
		{"a: b: c\n", "not valid YAML", 1, 5},
		{"a: \"\\0\"\n", "NUL", 1, 4},
		{"\"a\\0b\": 1\n", "not allowed", 1, 1},
		{"a: \xff\n", "UTF-8", 1, 4},
		{"\n\na: \xc3(\n", "UTF-8", 3, 4},
		{"a: \x01\n", "not valid YAML", 0, 0},
		{"%YAML 9.9\n---\na: 1\n", "not valid YAML", 0, 0},
		{"@a: 1\n", "not valid YAML", 1, 1},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_refused(false, cases[i].text, strlen(cases[i].text), cases[i].says, cases[i].line,
			       cases[i].column);
	assert_refused(false, "a: x\0y\n", 7, "NUL", 1, 5);
}

static void hostile_json_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "not valid JSON"},
		{"{", "not valid JSON"},
		{"{\"a\":1,}", "not valid JSON"},
		{"{\"a\":1,\"a\":2}", "duplicate"},
		{"{'a':1}", "not valid JSON"},
		{"[1] x", "not valid JSON"},
		{"[1e400]", "not valid JSON"},
		{"[123456789012345678901234567890]", "not valid JSON"},
		{"[NaN]", "not valid JSON"},
		{"[\"\\u0000\"]", "not valid JSON"},
		{"[\"\\ud800\"]", "not valid JSON"},
		{"[\"\xff\"]", "not valid JSON"},
		{"[\"a\nb\"]", "not valid JSON"},
		{"[01]", "not valid JSON"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_refused(true, cases[i].text, strlen(cases[i].text), cases[i].says, 0, 0);
	assert_refused(true, "[1,\0 2]", 7, "not valid JSON", 0, 0);
	assert_refused(true, "{\"a\": tru}", 10, "not valid JSON", 1, 9);
}

static char *repeat(const char *text, size_t times, size_t *ret_len)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	for (size_t i = 0; i < times; i++)
		buf_add_text(&out, text);
	*ret_len = out.len;
	return buf_take(&out);
}

static void size_depth_and_number_are_limited(void **state)
{
	(void)state;
	size_t len;
	char *text = repeat("[", 100000, &len);
	assert_refused(false, text, len, "deep", 0, 0);
	assert_refused(true, text, len, "not valid JSON", 0, 0);
	free(text);
	text = repeat("[", LIMIT_DOCUMENT_BYTES + 1, &len);
	assert_refused(false, text, len, "bytes", 0, 0);
	free(text);
	text = repeat("[", LIMIT_BODY_BYTES + 1, &len);
	assert_refused(true, text, len, "bytes", 0, 0);
	free(text);

	struct buf nested = buf_make(BUF_UNLIMITED);
	for (int i = 0; i < LIMIT_DOCUMENT_DEPTH + 1; i++)
		buf_add_char(&nested, '[');
	for (int i = 0; i < LIMIT_DOCUMENT_DEPTH + 1; i++)
		buf_add_char(&nested, ']');
	struct node *node;
	struct error err;
	assert_int_equal(node_parse_json(buf_text(&nested), nested.len, &node, &err), 0);
	node_free(node);
	assert_int_equal(node_parse_yaml(buf_text(&nested), nested.len, &node, &err), 0);
	node_free(node);
	char *deeper = mem_printf("[%s]", buf_text(&nested));
	assert_refused(true, deeper, strlen(deeper), "deep", 0, 0);
	assert_refused(false, deeper, strlen(deeper), "deep", 0, 0);
	free(deeper);
	buf_free(&nested);

	text = repeat("0,", LIMIT_DOCUMENT_NODES, &len);
	char *list = mem_printf("[%s0]", text);
	assert_refused(true, list, strlen(list), "more than", 0, 0);
	assert_refused(false, list, strlen(list), "too many", 0, 0);
	free(list);
	free(text);

	struct buf keys = buf_make(BUF_UNLIMITED);
	for (int i = 0; i <= LIMIT_DOCUMENT_KEYS; i++)
		buf_addf(&keys, "%s\"k%d\": 1", i ? ", " : "{", i);
	buf_add_char(&keys, '}');
	assert_refused(true, buf_text(&keys), keys.len, "keys", 0, 0);
	assert_refused(false, buf_text(&keys), keys.len, "keys", 0, 0);
	buf_free(&keys);

	text = repeat("k", LIMIT_DOCUMENT_KEY_BYTES + 1, &len);
	char *key = mem_printf("{\"%s\": 1}", text);
	assert_refused(true, key, strlen(key), "key", 1, 2);
	assert_refused(false, key, strlen(key), "key", 1, 2);
	free(key);
	free(text);
}

static void language_is_told_by_name_then_by_text(void **state)
{
	(void)state;
	struct node *node;
	struct error err;
	assert_int_equal(node_parse("x.json", "{\"a\": no}", 9, &node, &err), -EINVAL);
	assert_int_equal(node_parse("x.yaml", "{\"a\": no}", 9, &node, &err), 0);
	node_free(node);
	assert_int_equal(node_parse("x.txt", " \n{\"a\": no}", 11, &node, &err), -EINVAL);
	assert_int_equal(node_parse(NULL, "a: no", 5, &node, &err), 0);
	node_free(node);
	assert_int_equal(node_parse("x.yml",
				    "\xef\xbb\xbf"
				    "a: 1\nb: 2\n",
				    13, &node, &err),
			 0);
	assert_int_equal(node_get_int(node, "b", 0), 2);
	assert_place(node_get(node, "a"), 1, 1);
	node_free(node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars_follow_the_core_schema),
		cmocka_unit_test(every_value_knows_its_place),
		cmocka_unit_test(hostile_yaml_is_refused),
		cmocka_unit_test(hostile_json_is_refused),
		cmocka_unit_test(size_depth_and_number_are_limited),
		cmocka_unit_test(language_is_told_by_name_then_by_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
