/* The JSON writer: commas, escapes, numbers, times. */
#include "base/json.h"

#include "../unit.h"

#include <math.h>

static void commas_and_colons_look_after_themselves(void **state)
{
	(void)state;
	struct buf out = buf_make(1000);
	struct json w = json_to(&out);
	json_map(&w);
	json_key_int(&w, "a", 1);
	json_key(&w, "b");
	json_list(&w);
	json_put_int(&w, 1);
	json_map(&w);
	json_end(&w);
	json_list(&w);
	json_end(&w);
	json_put_bool(&w, false);
	json_end(&w);
	json_key_null(&w, "c");
	json_key_raw(&w, "d", "[1,2]");
	json_key_raw(&w, "e", "");
	json_key_string(&w, "f", NULL);
	json_key_bool(&w, "g", true);
	json_members(&w, "{}");
	json_members(&w, "{\"h\":1,\"i\":[2]}");
	json_key_int(&w, "j", 3);
	json_end(&w);
	assert_string_equal(buf_text(&out),
			    "{\"a\":1,\"b\":[1,{},[],false],\"c\":null,\"d\":[1,2],\"e\":null,"
			    "\"f\":null,\"g\":true,\"h\":1,\"i\":[2],\"j\":3}");
	buf_free(&out);
}

static void assert_written(const char *text, size_t len, const char *expected)
{
	struct buf out = buf_make(1000);
	struct json w = json_to(&out);
	json_put_string_n(&w, text, len);
	assert_string_equal(buf_text(&out), expected);
	buf_free(&out);
}

static void strings_are_escaped(void **state)
{
	(void)state;
	assert_written("a\"b\\c\n\t\r\b", 9, "\"a\\\"b\\\\c\\n\\t\\r\\u0008\"");
	assert_written("\0\x1f\x7f", 3, "\"\\u0000\\u001f\\u007f\"");
	assert_written("</script>", 9, "\"</script>\"");
	assert_written("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80", 11, "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\"");
	assert_written("", 0, "\"\"");
}

static void invalid_utf8_becomes_the_replacement_character(void **state)
{
	(void)state;
	assert_written("a\xff"
		       "b",
		       3,
		       "\"a\xef\xbf\xbd"
		       "b\"");
	assert_written("\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""); /* overlong / */
	assert_written("\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* surrogate */
	assert_written("x\xe2\x82", 3, "\"x\xef\xbf\xbd\xef\xbf\xbd\""); /* cut short */
}

static void numbers_and_times(void **state)
{
	(void)state;
	struct buf out = buf_make(1000);
	struct json w = json_to(&out);
	json_list(&w);
	json_put_int(&w, INT64_MIN);
	json_put_real(&w, 0.1);
	json_put_real(&w, 1e300);
	json_put_real(&w, NAN);
	json_put_real(&w, INFINITY);
	json_put_real(&w, -INFINITY);
	json_put_time(&w, 0);
	json_put_time(&w, 1794752597123);
	json_end(&w);
	assert_string_equal(buf_text(&out),
			    "[-9223372036854775808,0.1,1e+300,\"NaN\",\"Infinity\",\"-Infinity\",null,"
			    "\"2026-11-15T14:23:17.123Z\"]");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_and_colons_look_after_themselves),
		cmocka_unit_test(strings_are_escaped),
		cmocka_unit_test(invalid_utf8_becomes_the_replacement_character),
		cmocka_unit_test(numbers_and_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
