/* Times: written and read back, and the clock that a test may replace. */
#include "base/clock.h"

#include "../unit.h"

#include <errno.h>

static void format_and_parse_agree(void **state)
{
	(void)state;
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = {
		{0, "1970-01-01T00:00:00.000Z"},
		{1794752597123, "2026-11-15T14:23:17.123Z"},
		{951782400000, "2000-02-29T00:00:00.000Z"},
		{253402300799999, "9999-12-31T23:59:59.999Z"},
		{-1, "1969-12-31T23:59:59.999Z"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[CLOCK_TEXT_CHARS];
		int64_t back;
		clock_format(cases[i].ms, text);
		assert_string_equal(text, cases[i].text);
		assert_int_equal(clock_parse(text, &back), 0);
		assert_int_equal(back, cases[i].ms);
	}
	int64_t ms;
	assert_int_equal(clock_parse("2026-11-15T14:23:17Z", &ms), 0);
	assert_int_equal(ms, 1794752597000);
}

static void format_survives_any_number(void **state)
{
	(void)state;
	static const int64_t odd[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, 253402300800000, -62135596800001};
	for (size_t i = 0; i < COUNT_OF(odd); i++) {
		char text[CLOCK_TEXT_CHARS];
		clock_format(odd[i], text);
		assert_non_null(memchr(text, 0, sizeof(text)));
	}
}

static void parse_refuses_what_is_no_time(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
					  "now",
					  "2026-11-15",
					  "2026-11-15T14:23:17",
					  "2026-11-15T14:23:17+01:00",
					  "2026-13-15T14:23:17Z",
					  "2026-11-15T14:23:17.1Z",
					  "2026-11-15T14:23:17.123Zx",
					  "2026-11-15 14:23:17Z",
					  "2026-11-15T25:23:17Z"};
	int64_t ms = 77;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_int_equal(clock_parse(bad[i], &ms), -EINVAL);
	assert_int_equal(ms, 77);
}

static int64_t fixed(void)
{
	return 1000;
}

static void clock_can_be_replaced_and_put_back(void **state)
{
	(void)state;
	clock_replace(fixed);
	assert_int_equal(clock_now_ms(), 1000);
	assert_int_equal(clock_mono_ms(), 1000);
	clock_replace(NULL);
	assert_true(clock_now_ms() > 1700000000000);
	int64_t before = clock_mono_ms();
	assert_true(clock_mono_ms() >= before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(format_and_parse_agree),
		cmocka_unit_test(format_survives_any_number),
		cmocka_unit_test(parse_refuses_what_is_no_time),
		cmocka_unit_test(clock_can_be_replaced_and_put_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
