/* What reaches a terminal: no control character of somebody else's text, widths, tables. */
#include "cli/term.h"

#include "../unit.h"

static const struct term narrow = {.tty = true, .utf8 = true, .width = 30, .height = 10};
static const struct term plain = {.width = 80, .height = 24};

static void assert_safe(const char *text, const char *expected)
{
	struct buf out = buf_make(4096);
	term_add_safe(&out, text);
	assert_string_equal(buf_text(&out), expected);
	buf_free(&out);
}

static void nothing_that_moves_the_cursor_passes(void **state)
{
	(void)state;
	assert_safe("plain", "plain");
	assert_safe("a\nb\tc", "a b c");
	assert_safe("\033[2J\033]0;title\a", "^[[2J^[]0;title^G");
	assert_safe("\r\b\177", "^M^H\xef\xbf\xbd");
	assert_safe("\xc2\x9b"
		    "31m",
		    "\xef\xbf\xbd"
		    "31m"); /* the one-byte CSI */
	assert_safe("a\xe2\x80\xae"
		    "b",
		    "a\xef\xbf\xbd"
		    "b"); /* right-to-left override */
	assert_safe("\xff\xfe x \xc3", "\xef\xbf\xbd\xef\xbf\xbd x \xef\xbf\xbd"); /* not UTF-8 */
	assert_safe("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* a surrogate */
	assert_safe("日本 é 😀", "日本 é 😀");
	assert_safe(NULL, "");
}

static void output_of_programs_keeps_its_lines_and_loses_its_escapes(void **state)
{
	(void)state;
	static const char text[] = "a\033[1;31mred\033[0m\r\n\tb\033]0;title\ac\b\033(B!\033[";
	struct buf out = buf_make(4096);
	term_add_safe_output(&out, text, sizeof(text) - 1);
	assert_string_equal(buf_text(&out), "ared\r\n\tbcB!");
	buf_free(&out);
}

static void widths_count_columns_not_bytes(void **state)
{
	(void)state;
	assert_int_equal(term_width(""), 0);
	assert_int_equal(term_width("abc"), 3);
	assert_int_equal(term_width("é"), 1);
	assert_int_equal(term_width("e\xcc\x81"), 1); /* e and a combining acute */
	assert_int_equal(term_width("日本"), 4);
	assert_int_equal(term_width("😀"), 2);
}

static void text_is_cut_at_a_character(void **state)
{
	(void)state;
	struct buf out = buf_make(4096);
	term_add_cut(&out, "日本語", 4, &narrow);
	assert_string_equal(buf_text(&out), "日…");
	buf_clear(&out);
	term_add_cut(&out, "abcdef", 4, &plain);
	assert_string_equal(buf_text(&out), "abc~");
	buf_clear(&out);
	term_add_cut(&out, "abcd", 4, &plain);
	assert_string_equal(buf_text(&out), "abcd");
	buf_free(&out);
}

static void tables_are_aligned_and_fit_the_terminal(void **state)
{
	(void)state;
	static const struct term_column columns[] = {{"ID", false, false}, {"NAME", false, true}, {"N", true, false}};
	struct term_table table = {.columns = columns, .column_count = 3};
	struct buf out = buf_make(4096);
	term_table_add(&table, TERM_PLAIN, "e1");
	term_table_add(&table, TERM_RED, "日本 a rather long name for it");
	term_table_add(&table, TERM_PLAIN, "7");
	term_table_add(&table, TERM_PLAIN, "e10");
	term_table_add(&table, TERM_PLAIN, "x\033[2J");
	term_table_addf(&table, TERM_PLAIN, "%d", 1234);
	term_table_write(&table, &narrow, &out);
	assert_string_equal(buf_text(&out),
			    "ID   NAME                    N\n"
			    "e1   日本 a rather long…     7\n"
			    "e10  x^[[2J               1234\n");
	for (const char *line = buf_text(&out); *line; line = strchr(line, '\n') + 1) {
		char *one = mem_copy(line, strcspn(line, "\n"));
		assert_true(term_width(one) <= narrow.width);
		free(one);
	}
	/* A heading may be the name of somebody's metric. */
	static const struct term_column raw[] = {
		{"ID", false, false}, {"x\033]0;y\a", false, false}, {"N", false, false}};
	table.columns = raw;
	buf_clear(&out);
	term_table_write(&table, &narrow, &out);
	assert_null(strpbrk(buf_text(&out), "\033\a"));
	table.columns = columns;
	buf_clear(&out);
	term_table_write(&table, &plain, &out); /* into a file nothing is cut */
	assert_non_null(strstr(buf_text(&out), "日本 a rather long name for it"));
	buf_free(&out);
	term_table_free(&table);
}

static void colours_are_only_for_terminals_that_take_them(void **state)
{
	(void)state;
	struct buf out = buf_make(4096);
	struct term colour = narrow;
	term_add_coloured(&out, TERM_RED, "x", &narrow);
	assert_string_equal(buf_text(&out), "x");
	buf_clear(&out);
	colour.colour = true;
	term_add_coloured(&out, TERM_RED, "x", &colour);
	assert_string_equal(buf_text(&out), "\033[31mx\033[0m");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_that_moves_the_cursor_passes),
		cmocka_unit_test(output_of_programs_keeps_its_lines_and_loses_its_escapes),
		cmocka_unit_test(widths_count_columns_not_bytes),
		cmocka_unit_test(text_is_cut_at_a_character),
		cmocka_unit_test(tables_are_aligned_and_fit_the_terminal),
		cmocka_unit_test(colours_are_only_for_terminals_that_take_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
