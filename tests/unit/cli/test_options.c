/* Option parsing: every spelling of an option, and the words for what is wrong. */
#include "cli/options.h"

#include "../unit.h"

#include <errno.h>

static const struct verb_option table[] = {
	{"detach", NULL, "a switch"},
	{"f,follow", NULL, "a switch with a letter"},
	{"n,limit", "N", "a value with a letter"},
	{"parallel", "N", "a value"},
	{"env", "NAME=VALUE...", "may be repeated"},
	{"x", NULL, "only a letter"},
	{0},
};

#define PARSE(options, err, ...)                                                                                       \
	options_parse(table, (int)COUNT_OF(((char *[]){(char *)"verb", __VA_ARGS__})),                                 \
		      (char *[]){(char *)"verb", __VA_ARGS__}, options, err)
#define A(text) ((char *)(text))

static void every_spelling_of_an_option_is_read(void **state)
{
	(void)state;
	struct options options;
	struct error err;
	assert_int_equal(PARSE(&options, &err, A("--parallel"), A("8"), A("a"), A("--limit=5"), A("-fx"),
			       A("--env=A=b"), A("--env"), A("C=d")),
			 0);
	assert_string_equal(options_get(&options, "parallel"), "8");
	assert_string_equal(options_get(&options, "limit"), "5");
	assert_true(options_has(&options, "follow"));
	assert_true(options_has(&options, "x"));
	assert_false(options_has(&options, "detach"));
	assert_string_equal(options_get(&options, "env"), "C=d");
	assert_int_equal(options.given.len, 6);
	assert_int_equal(options.args.len, 1);
	options_free(&options);

	assert_int_equal(PARSE(&options, &err, A("-n5")), 0);
	assert_string_equal(options_get(&options, "limit"), "5");
	options_free(&options);
	assert_int_equal(PARSE(&options, &err, A("-fn"), A("7")), 0);
	assert_string_equal(options_get(&options, "limit"), "7");
	options_free(&options);
}

static void two_dashes_end_the_options(void **state)
{
	(void)state;
	struct options options;
	struct error err;
	assert_int_equal(PARSE(&options, &err, A("-"), A("--"), A("--detach"), A("-q")), 0);
	assert_int_equal(options.args.len, 3);
	assert_string_equal(options.args.at[0], "-");
	assert_string_equal(options.args.at[1], "--detach");
	assert_string_equal(options.args.at[2], "-q");
	assert_int_equal(options.given.len, 0);
	options_free(&options);
}

static void a_value_may_look_like_an_option(void **state)
{
	(void)state;
	struct options options;
	struct error err;
	assert_int_equal(PARSE(&options, &err, A("--parallel"), A("--detach")), 0);
	assert_string_equal(options_get(&options, "parallel"), "--detach");
	options_free(&options);
}

static void what_is_wrong_is_said_with_the_nearest(void **state)
{
	(void)state;
	struct options options;
	struct error err;
	assert_int_equal(PARSE(&options, &err, A("--paralel=3")), -EINVAL);
	assert_string_equal(err.text, "no option --paralel; did you mean --parallel?");
	assert_int_equal(PARSE(&options, &err, A("--par")), -EINVAL);
	assert_non_null(strstr(err.text, "--parallel"));
	assert_int_equal(PARSE(&options, &err, A("--zzzzzz")), -EINVAL);
	assert_string_equal(err.text, "no option --zzzzzz");
	assert_int_equal(PARSE(&options, &err, A("-q")), -EINVAL);
	assert_string_equal(err.text, "no option -q");
	assert_int_equal(PARSE(&options, &err, A("--detach=yes")), -EINVAL);
	assert_string_equal(err.text, "--detach takes no value");
	assert_int_equal(PARSE(&options, &err, A("--limit")), -EINVAL);
	assert_string_equal(err.text, "--limit needs a value: --limit N");
	assert_int_equal(PARSE(&options, &err, A("-n")), -EINVAL);
	assert_string_equal(err.text, "-n needs a value: -n N");
}

static void a_second_value_that_differs_is_refused(void **state)
{
	(void)state;
	struct options options;
	struct error err;
	assert_int_equal(PARSE(&options, &err, A("--limit=1"), A("-n2")), -EINVAL);
	assert_string_equal(err.text, "--limit is given twice, as '1' and '2'");
	assert_int_equal(PARSE(&options, &err, A("--limit=1"), A("-n1")), 0);
	options_free(&options);
}

static void numbers_are_bounded(void **state)
{
	(void)state;
	struct options options;
	struct error err;
	int64_t value = 0;
	assert_int_equal(PARSE(&options, &err, A("--limit=12x")), 0);
	assert_int_equal(options_int(&options, "limit", 1, 100, 7, &value, &err), -EINVAL);
	assert_string_equal(err.text, "--limit: expected a whole number from 1 to 100, got '12x'");
	assert_int_equal(options_int(&options, "parallel", 1, 100, 7, &value, &err), 0);
	assert_int_equal(value, 7);
	options_free(&options);
	assert_int_equal(PARSE(&options, &err, A("--limit=101")), 0);
	assert_int_equal(options_int(&options, "limit", 1, 100, 7, &value, &err), -EINVAL);
	options_free(&options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_of_an_option_is_read),
		cmocka_unit_test(two_dashes_end_the_options),
		cmocka_unit_test(a_value_may_look_like_an_option),
		cmocka_unit_test(what_is_wrong_is_said_with_the_nearest),
		cmocka_unit_test(a_second_value_that_differs_is_refused),
		cmocka_unit_test(numbers_are_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
