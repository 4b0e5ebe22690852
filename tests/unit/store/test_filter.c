/* Filters: what each form keeps, and what is said about a wrong one. */
#include "store/filter.h"

#include "base/buf.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char *state_at(size_t i)
{
	static const char *const names[] = {"running", "finished", "error", NULL};
	return names[i];
}

static const struct filter_column columns[] = {{"lr", FILTER_PLAIN, NULL},       {"optimizer", FILTER_PLAIN, NULL},
					       {"time", FILTER_DURATION, NULL},  {"best", FILTER_PLAIN, NULL},
					       {"energy", FILTER_ENERGY, NULL},  {"memory", FILTER_BYTES, NULL},
					       {"val loss", FILTER_PLAIN, NULL}, {"state", FILTER_PLAIN, state_at}};

/* lr 0.01, adam, 90 s, NaN, no energy, 2 GB, 3, error */
static struct filter_value value_of(void *ctx, size_t column)
{
	(void)ctx;
	static const struct filter_value values[] = {
		{.kind = FILTER_NUMBER, .number = 0.01},
		{.kind = FILTER_TEXT, .text = "Adam"},
		{.kind = FILTER_NUMBER, .number = 90},
		{.kind = FILTER_NUMBER, .number = NAN},
		{.kind = FILTER_NONE},
		{.kind = FILTER_NUMBER, .number = 2.0 * (1 << 30)},
		{.kind = FILTER_NUMBER, .number = 3},
		{.kind = FILTER_TEXT, .text = "error"},
	};
	return values[column];
}

static bool has_word(void *ctx, const char *word)
{
	(void)ctx;
	return !strcmp(word, "node7");
}

static void each_form_keeps_what_it_says(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool holds;
	} table[] = {
		{"", true},
		{"  ", true},
		{"lr = 1e-2", true},
		{"lr == 0.01", true},
		{"lr < 0.01", false},
		{"lr <= 0.01", true},
		{"lr != 0.01", false},
		{"lr = adam", false},
		{"lr != adam", true},
		{"optimizer = adam", true},
		{"opt = adam", true},
		{"optimizer ~ da", true},
		{"optimizer != adam", false},
		{"optimizer = \"Adam\"", true},
		{"'val loss' > 2", true},
		{"time > 1m", true},
		{"time > 2m", false},
		{"memory >= 2G", true},
		{"energy > 1kJ", false},
		{"energy < 1kJ", false},
		{"energy = none", true},
		{"energy != none", false},
		{"lr = none", false},
		{"best = nan", true},
		{"best < 1", false},
		{"not best < 1", true},
		{"!(best < 1)", true},
		{"lr > 1 or node7", true},
		{"lr > 1 || lr < 1 and node8", false},
		{"(lr > 1 || lr < 1) and node7", true},
		{"lr < 1, node7", true},
		{"lr < 1 node7,", true},
		{"lr < 1 and ", true},
		{"node7 and node8", false},
		{"android", false},
		{"state = Error", true},
		{"state = running", false},
		{"state != none", true},
		{"state ~ err", true},
	};
	struct filter_row row = {value_of, has_word, NULL};
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		struct filter *filter = NULL;
		struct error err = {0};
		if (filter_parse(table[i].text, columns, COUNT_OF(columns), &filter, &err) < 0)
			fail_msg("%s: %s", table[i].text, err.text);
		if (filter_holds(filter, &row) != table[i].holds)
			fail_msg("%s: must be %d", table[i].text, table[i].holds);
		filter_free(filter);
	}
}

static void a_wrong_filter_says_what_is_wrong(void **state)
{
	(void)state;
	static const struct {
		const char *text, *word;
	} table[] = {
		{"optimzer = adam", "did you mean 'optimizer'"},
		{"whatever > 1", "there is no column 'whatever'"},
		{"lrate < 1", "did you mean 'lr'"}, /* not state, two letters away */
		{"loss > 1", "did you mean 'val loss'"},
		{"stata = error", "did you mean 'state'"},
		{"runtime > 1h", "did you mean 'time'"},
		{"lr <", "ends too early"},
		{"< 3", "missing before '<'"},
		{"lr < fast", "not a number: 'fast'"},
		{"(lr < 1", "')' is missing"},
		{"lr < 1)", "does not belong here"},
		{"lr < 1 or", "ends too early"},
		{"lr < 1 or or", "missing before 'or'"},
		{"optimizer = 'adam", "quote is not closed"},
		{"state = errr", "there is no state 'errr'; did you mean 'error'?"},
		{"state != over", "there is no state 'over'; it is one of running, finished, error"},
	};
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		struct filter *filter = NULL;
		struct error err = {0};
		assert_int_equal(filter_parse(table[i].text, columns, COUNT_OF(columns), &filter, &err), -EINVAL);
		if (!strstr(err.text, table[i].word))
			fail_msg("%s: %s", table[i].text, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_keeps_what_it_says),
		cmocka_unit_test(a_wrong_filter_says_what_is_wrong),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
