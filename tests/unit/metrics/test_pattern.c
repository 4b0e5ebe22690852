/* The user's own pattern over what is printed. */
#include "../unit.h"

#include "base/buf.h"
#include "base/num.h"
#include "metrics/metrics.h"

#include <inttypes.h>

static void write_row(void *ctx, const struct metrics_row *row)
{
	struct buf *rows = ctx;
	buf_addf(rows, "%s%s %" PRId64, rows->len ? "; " : "", row->step_name, row->step);
	for (size_t i = 0; i < row->count; i++) {
		char value[NUM_REAL_CHARS];
		num_format_real(row->metrics[i].value, value);
		buf_addf(rows, ", %s=%s", row->metrics[i].name, value);
	}
}

static void test_lines_that_match_give_their_named_groups(void **state)
{
	static const struct {
		const char *pattern, *text, *wanted;
	} cases[] = {
		{"val_loss is (?P<val_loss>[0-9.]+)", "x\nval_loss is 0.5\nval_loss was 3\nnow val_loss is 0.25!\n",
		 "row 1, val_loss=0.5; row 2, val_loss=0.25"},
		{"^E(?<epoch>\\d+): (?P<a>\\S+)/(?P<b>-?[\\d.e-]+)", "E3: 1/-2e-3\nE4: nan/5\n",
		 "epoch 3, a=1, b=-0.002; epoch 4, a=nan, b=5"},
		{"(?:loss|err)\\s*=\\s*(?P<loss>\\w+)", "err = 7\nloss=word\n", "row 1, loss=7"},
		{"(a)?(b)?x(?P<x>[0-9]{1,3})", "bx123\nx12345\n", "row 1, x=123; row 2, x=123"},
		{"l=(?P<l>.*)$", "l=1\rl=2\rl=3\n", "row 1, l=3"},
		{"\\[(?P<n>[^]]+)\\]", "[5] [6]\n", "row 1, n=5"},
		{"(?P<a>[0-9]+)( (?P<b>[0-9]+))?", "1 2\n3\n", "row 1, a=1, b=2; row 2, a=3"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf rows = buf_make(BUF_UNLIMITED);
		struct metrics_reader *reader;
		struct error err;
		assert_int_equal(metrics_open_pattern(cases[i].pattern, write_row, &rows, &reader, &err), 0);
		for (const char *p = cases[i].text; *p; p++)
			metrics_feed(reader, p, 1);
		metrics_finish(reader);
		assert_string_equal(buf_text(&rows), cases[i].wanted);
		metrics_free(reader);
		buf_free(&rows);
	}
}

static void test_patterns_that_could_run_away_are_refused(void **state)
{
	static const char *const cases[][2] = {
		{"loss 0.5", "names no metric"},
		{"(?P<x>a)\\1", "an escape"},
		{"(?P<x>a*?)", "lazy"},
		{"(?=a)(?P<x>b)", "a special group"},
		{"(?P<x>((a{2}){3}){4})", "more than one repetition"},
		{"(?P<x>a{1000})", "more than 64"},
		{"(?P<>a)", "without a name"},
		{"(?P<x", "without a name"},
		{"(?P<x>a", "cannot be read"},
		{"(?P<x>[a)", "cannot be read"},
		{"(?P<x>a)\\", "an escape"},
		{"(?P<x>[\\]])", "an escape"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct error err;
		assert_int_not_equal(metrics_check_pattern(cases[i][0], &err), 0);
		if (!strstr(err.text, cases[i][1]))
			fail_msg("%s: %s", cases[i][0], err.text);
	}
}

static void test_a_group_that_is_no_number_is_noted(void **state)
{
	struct buf rows = buf_make(BUF_UNLIMITED);
	struct metrics_reader *reader;
	(void)state;
	assert_int_equal(metrics_open_pattern("l=(?P<l>.*)", write_row, &rows, &reader, NULL), 0);
	metrics_feed(reader, "l=1\nl=soon\n", 11);
	assert_string_equal(metrics_complaint(reader),
			    "line 2: 'soon', which the pattern takes for l, is not a number");
	assert_string_equal(buf_text(&rows), "row 1, l=1");
	metrics_free(reader);
	buf_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_that_match_give_their_named_groups),
		cmocka_unit_test(test_patterns_that_could_run_away_are_refused),
		cmocka_unit_test(test_a_group_that_is_no_number_is_noted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
