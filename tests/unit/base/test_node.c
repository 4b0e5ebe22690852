/* The tree itself: building, comparing, writing, and the values people type. */
#include "base/json.h"
#include "base/node.h"

#include "../unit.h"

#include <errno.h>
#include <math.h>

static char *as_json(const struct node *node)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&out);
	node_write_json(node, &w);
	return buf_take(&out);
}

static void assert_values(const char *text, const char *expected)
{
	struct node *node;
	struct error err;
	if (node_parse_values(text, &node, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
	char *json = as_json(node);
	assert_string_equal(json, expected);
	free(json);
	node_free(node);
}

static void values_as_people_type_them(void **state)
{
	(void)state;
	assert_values("64,32,16", "[64,32,16]");
	assert_values(" 64 , 32 ", "[64,32]");
	assert_values("64", "64");
	assert_values("adam", "\"adam\"");
	assert_values("adam,sgd", "[\"adam\",\"sgd\"]");
	assert_values("1e-5..1e-1:log", "{\"min\":1e-05,\"max\":0.1,\"scale\":\"log\"}");
	assert_values("16..512:step=16", "{\"min\":16,\"max\":512,\"step\":16}");
	assert_values("-1..1", "{\"min\":-1,\"max\":1}");
	assert_values(".5..1.5:linear", "{\"min\":0.5,\"max\":1.5,\"scale\":\"linear\"}");
	assert_values("\"a,b\",c", "[\"a,b\",\"c\"]");
	assert_values("\"1..2\"", "\"1..2\"");
	assert_values("\"64\"", "\"64\"");
	assert_values("../data", "\"../data\"");
	assert_values("a..b", "\"a..b\"");
	assert_values("true,false", "[true,false]");
	assert_values("[64,32],[128]", "[\"[64,32]\",\"[128]\"]");
	assert_values("(64,(3,2)),8", "[\"(64,(3,2))\",8]");
	assert_values("{a: 1, b: [2,3]}", "\"{a: 1, b: [2,3]}\"");
	assert_values("[1,2][3,4],5", "[\"[1,2][3,4]\",5]");
	assert_values("[64,32", "[\"[64\",32]");
	assert_values("a],b", "[\"a]\",\"b\"]");
	assert_values("[1],\"a,b\"", "[\"[1]\",\"a,b\"]");
	assert_values("", "null");
	assert_values("007,08,-01,0,10", "[\"007\",\"08\",\"-01\",0,10]");
	assert_values("9223372036854775807,9223372036854775808,-9223372036854775808,12345678901234567890",
		      "[9223372036854775807,\"9223372036854775808\",-9223372036854775808,\"12345678901234567890\"]");
	assert_values("1e400,-1e400,1e-400,1e20,0e5,0.0,.inf,5e-324",
		      "[\"1e400\",\"-1e400\",\"1e-400\",1e+20,0.0,0.0,\"Infinity\",4.94065645841247e-324]");
}

static void values_that_make_no_sense_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"1,,2",  ",1",  "1,",         ",",    "\"open",   "1..x",  "1..2:cube",
					  "1..2:", "1..", "1..2:step=", "\xff", "0..1e400", "007..9"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct node *node = NULL;
		struct error err = {0};
		if (node_parse_values(bad[i], &node, &err) != -EINVAL)
			fail_msg("'%s' was accepted", bad[i]);
		assert_true(err.text[0]);
		assert_null(node);
	}
}

static struct node *sample(void)
{
	struct node *map = node_new(NODE_MAP);
	node_add(map, "name", node_new_string("x"));
	node_add(map, "list", node_new(NODE_LIST));
	node_add(node_get(map, "list"), NULL, node_new_int(1));
	node_add(node_get(map, "list"), NULL, node_new_real(0.5));
	node_add(node_get(map, "list"), NULL, node_new_bool(true));
	return map;
}

static void building_and_reading(void **state)
{
	(void)state;
	struct node *map = sample();
	node_add(map, "name", node_new_string("y")); /* replaces */
	char *json = as_json(map);
	assert_string_equal(json, "{\"name\":\"y\",\"list\":[1,0.5,true]}");
	free(json);
	assert_null(node_get(map, "nothing"));
	assert_null(node_get(NULL, "x"));
	assert_null(node_get_string(map, "list"));
	assert_int_equal(node_get_int(map, "name", 7), 7);
	assert_true(node_get_real(node_get(map, "list"), "x", 1.5) == 1.5);
	assert_true(node_get_bool(map, "name", true));
	assert_string_equal(node_type_name(NULL), "nothing");
	assert_true(node_is_number(node_get(map, "list")->items[1]));
	node_free(map);
	node_free(NULL);
}

static void equality_and_clone(void **state)
{
	(void)state;
	struct node *a = sample(), *b = node_clone(a), *i = node_new_int(3), *r = node_new_real(3);
	assert_true(node_equal(a, b));
	assert_ptr_equal(node_get(b, "list")->parent, b);
	node_get(b, "list")->items[0]->integer = 2;
	assert_false(node_equal(a, b));
	assert_true(node_equal(i, r)); /* 3 and 3.0 are one value */
	assert_false(node_equal(a, NULL));
	assert_true(node_equal(NULL, NULL));
	node_free(a);
	node_free(b);
	node_free(i);
	node_free(r);
}

/* Everything a text could be mistaken for. */
static void written_yaml_reads_back(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",           "plain",       "two words", " lead",       "trail ",    "no",     "null",
		"~",          "true",        "12",        "1e3",         ".inf",      "-",      "- a",
		"a: b",       "a #b",        "#x",        "&a",          "*a",        "!a",     "|",
		">",          "'",           "\"",        "%x",          "@x",        "`x",     "{",
		"[",          "a,b",         "a]",        "line\nbreak", "tab\there", "\r",     "\x01",
		"\x7f",       "back\\slash", "...",       "... x",       "---",       "<<",     "?",
		"? a",        "\xc2\x85",    "\u2028",    "\u2029",      "\ufeffbom", "\uffff", "gr\u00fc\u00df",
		"\U0001f600", "\u00a0",      "0x1f",      "007",         "key:",      ":",      "http://host/#login=x",
	};
	struct node *map = node_new(NODE_MAP), *list = node_new(NODE_LIST), *again;
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		node_add(map, texts[i], node_new_string(texts[i]));
		node_add(list, NULL, node_new_string(texts[i]));
	}
	static const double reals[] = {0.1, -0.0, 1e300, 5e-324, 1e15, 123456789.125};
	for (size_t i = 0; i < COUNT_OF(reals); i++)
		node_add(list, NULL, node_new_real(reals[i]));
	node_add(list, NULL, node_clone(map));
	node_add(list, NULL, node_new(NODE_LIST));
	node_add(list, NULL, node_new(NODE_MAP));
	node_add(list, NULL, node_new(NODE_NULL));
	node_add(map, "list", list);

	struct buf out = buf_make(BUF_UNLIMITED);
	struct error err = {0};
	node_write_yaml(map, &out);
	if (node_parse_yaml(buf_text(&out), out.len, &again, &err) < 0)
		fail_msg("%s at %d:%d in\n%s", err.text, err.line, err.column, buf_text(&out));
	assert_true(node_equal(map, again));
	node_free(again);
	buf_free(&out);
	for (size_t i = 0; i < COUNT_OF(texts); i++) { /* alone in a document */
		struct node *text = node_new_string(texts[i]);
		out = buf_make(1000);
		node_write_yaml(text, &out);
		if (node_parse_yaml(buf_text(&out), out.len, &again, &err) < 0)
			fail_msg("%s in %s", err.text, buf_text(&out));
		assert_true(node_equal(text, again));
		node_free(again);
		node_free(text);
		buf_free(&out);
	}
	node_free(map);
}

static void infinities_survive_yaml(void **state)
{
	(void)state;
	struct node *list = node_new(NODE_LIST), *again;
	struct error err;
	node_add(list, NULL, node_new_real(INFINITY));
	node_add(list, NULL, node_new_real(-INFINITY));
	node_add(list, NULL, node_new_real(NAN));
	struct buf out = buf_make(1000);
	node_write_yaml(list, &out);
	assert_int_equal(node_parse_yaml(buf_text(&out), out.len, &again, &err), 0);
	assert_true(again->items[0]->real == INFINITY && again->items[1]->real == -INFINITY);
	assert_true(again->items[2]->type == NODE_REAL && isnan(again->items[2]->real));
	buf_free(&out);
	node_free(again);
	node_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_as_people_type_them), cmocka_unit_test(values_that_make_no_sense_are_refused),
		cmocka_unit_test(building_and_reading),       cmocka_unit_test(equality_and_clone),
		cmocka_unit_test(written_yaml_reads_back),    cmocka_unit_test(infinities_survive_yaml),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
