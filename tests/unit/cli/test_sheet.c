/* CSV files as people and sluice itself write them. */
#include "cli/sheet.h"

#include "../unit.h"

#include <errno.h>

static struct sheet parse(const char *text)
{
	struct sheet sheet;
	struct error err;
	assert_int_equal(sheet_parse(text, strlen(text), &sheet, &err), 0);
	return sheet;
}

static void quotes_separators_and_line_ends_are_read(void **state)
{
	(void)state;
	struct sheet sheet = parse("\xef\xbb\xbfx, kind ,loss\r\n0.5,\"a, \"\"b\"\"\n c\",1\r\n\r\n2,d\n");
	assert_int_equal(sheet.header.len, 3);
	assert_string_equal(sheet.header.at[0], "x");
	assert_string_equal(sheet.header.at[1], "kind");
	assert_int_equal(sheet.rows, 2); /* the empty line is none */
	assert_string_equal(sheet_cell(&sheet, 0, 1), "a, \"b\"\n c");
	assert_string_equal(sheet_cell(&sheet, 0, 2), "1");
	assert_string_equal(sheet_cell(&sheet, 1, 0), "2");
	assert_string_equal(sheet_cell(&sheet, 1, 2), ""); /* missing */
	sheet_free(&sheet);
	sheet = parse("a;b\n1,5;2");
	assert_int_equal(sheet.header.len, 2);
	assert_string_equal(sheet_cell(&sheet, 0, 0), "1,5");
	sheet_free(&sheet);
}

static void what_is_wrong_names_the_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} bad[] = {{"", "it is empty"},
		   {"a,b\n1,2\n1,2,3\n", "line 3 has more fields"},
		   {"a,b\n1,\"2\n", "a quote is not closed"}};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct sheet sheet;
		struct error err;
		assert_int_equal(sheet_parse(bad[i].text, strlen(bad[i].text), &sheet, &err), -EINVAL);
		assert_non_null(strstr(err.text, bad[i].says));
		sheet_free(&sheet);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes_separators_and_line_ends_are_read),
		cmocka_unit_test(what_is_wrong_names_the_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
