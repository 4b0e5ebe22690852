/* Bounded number parsers, and doubles that read back the same. */
#include "base/num.h"

#include "../unit.h"

#include "base/rng.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int parse_int(const char *text, int64_t *ret)
{
	return num_parse_int(text, strlen(text), INT64_MIN, INT64_MAX, ret);
}

static void whole_numbers_to_the_edges(void **state)
{
	(void)state;
	int64_t n = 77;
	assert_int_equal(parse_int("-9223372036854775808", &n), 0);
	assert_true(n == INT64_MIN);
	assert_int_equal(parse_int("9223372036854775807", &n), 0);
	assert_true(n == INT64_MAX);
	n = 77;
	assert_int_equal(parse_int("9223372036854775808", &n), -ERANGE);
	assert_int_equal(parse_int("-9223372036854775809", &n), -ERANGE);
	assert_int_equal(parse_int("99999999999999999999999999", &n), -ERANGE);
	assert_int_equal(num_parse_int("11", 2, 0, 10, &n), -ERANGE);
	assert_int_equal(num_parse_int("-1", 2, 0, 10, &n), -ERANGE);
	assert_int_equal(n, 77);
	assert_int_equal(num_parse_int("10xyz", 2, 0, 10, &n), 0);
	assert_int_equal(n, 10);
}

static void what_is_no_whole_number_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "-", "+", "1 ", " 1", "1.0", "0x10", "1e3", "--1", "+-1", "1_000", "a"};
	int64_t n = 77;
	uint64_t u = 77;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		assert_int_equal(parse_int(bad[i], &n), -EINVAL);
		assert_int_equal(num_parse_unsigned(bad[i], strlen(bad[i]), 1000, &u), -EINVAL);
	}
	assert_int_equal(num_parse_unsigned("+1", 2, 10, &u), -EINVAL);
	assert_int_equal(num_parse_unsigned("18446744073709551615", 20, UINT64_MAX, &u), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(num_parse_unsigned("18446744073709551616", 20, UINT64_MAX, &u), -ERANGE);
	assert_int_equal(n, 77);
}

static void reals_as_scripts_write_them(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		double value;
	} good[] = {
		{"0", 0},
		{"-1.5", -1.5},
		{"1e-05", 1e-5},
		{"1E+3", 1000},
		{".5", 0.5},
		{"5.", 5},
		{"+2", 2},
		{"1e999", INFINITY},
		{"inf", INFINITY},
		{"-INF", -INFINITY},
		{"Infinity", INFINITY},
		{"4.9e-324", 4.9e-324},
	};
	double value;
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		assert_int_equal(num_parse_real(good[i].text, strlen(good[i].text), &value), 0);
		assert_true(value == good[i].value);
	}
	assert_int_equal(num_parse_real("NaN", 3, &value), 0);
	assert_true(isnan(value));
	static const char *const bad[] = {"",    ".",  "e5", "1e",      "1e+",    "0x1p3",
					  "1,5", " 1", "1 ", "infinit", "nan(1)", "--1"};
	value = 77;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_int_equal(num_parse_real(bad[i], strlen(bad[i]), &value), -EINVAL);
	assert_true(value == 77);
}

static void every_double_reads_back_the_same(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 1);
	for (int i = 0; i < 200000; i++) {
		union {
			uint64_t bits;
			double value;
		} x = {.bits = rng_next(&rng)};
		char text[NUM_REAL_CHARS];
		double back;
		if (!isfinite(x.value))
			continue;
		num_format_real(x.value, text);
		assert_int_equal(num_parse_real(text, strlen(text), &back), 0);
		assert_memory_equal(&back, &x.value, sizeof(back));
	}
}

/* Numbers with few decimals take a short way through num_format_real. */
static void numbers_with_few_decimals_print_as_printf_does(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 2);
	for (int i = 0; i < 200000; i++) {
		int64_t whole = (int64_t)rng_next(&rng) >> rng_next(&rng) % 64;
		static const double parts[] = {1, 10, 1000, 10000, 1e6, 1e7, 1e9, 1e10};
		double value = (double)whole / parts[i % COUNT_OF(parts)];
		char text[NUM_REAL_CHARS], expected[NUM_REAL_CHARS];
		snprintf(expected, sizeof(expected), "%.15g", value);
		num_format_real(value, text);
		if (value != 0 && strtod(expected, NULL) == value)
			assert_string_equal(text, expected);
		snprintf(expected, sizeof(expected), "%" PRId64, whole);
		assert_int_equal(num_format_int(whole, text), strlen(expected));
		assert_string_equal(text, expected);
	}
}

static void doubles_print_short(void **state)
{
	(void)state;
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{0.1, "0.1"},
		{3, "3"},
		{1e-5, "1e-05"},
		{-0.0, "-0.0"},
		{0, "0"},
		{1.0 / 3, "0.3333333333333333"},
		{1e22, "1e+22"},
		{0.30000000000000004, "0.30000000000000004"},
		{123456789, "123456789"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[NUM_REAL_CHARS];
		num_format_real(cases[i].value, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void rounding_gives_what_people_would_write(void **state)
{
	(void)state;
	assert_true(num_round(0.1 + 0.2, 12) == 0.3);
	assert_true(num_round(-1.0 / 3, 3) == -0.333);
	assert_true(num_round(1e300, 12) == 1e300);
	assert_true(isnan(num_round(NAN, 12)) && isinf(num_round(INFINITY, 12)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_to_the_edges),
		cmocka_unit_test(what_is_no_whole_number_is_refused),
		cmocka_unit_test(reals_as_scripts_write_them),
		cmocka_unit_test(every_double_reads_back_the_same),
		cmocka_unit_test(numbers_with_few_decimals_print_as_printf_does),
		cmocka_unit_test(doubles_print_short),
		cmocka_unit_test(rounding_gives_what_people_would_write),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
