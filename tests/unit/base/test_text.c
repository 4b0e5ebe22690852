/* Durations, sizes and energies as people write them; UTF-8; names. */
#include "base/text.h"

#include "../unit.h"

#include <errno.h>
#include <math.h>

static void durations(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ms;
	} good[] = {
		{"90s", 90000},
		{"2h", 7200000},
		{"1h30m", 5400000},
		{"500ms", 500},
		{"1d", 86400000},
		{"02:30:00", 9000000},
		{"1-12:00:00", 129600000},
		{"90", 90000},
		{"1.5h", 5400000},
		{"1 h 30 m", 5400000},
		{"10:30", 630000},
		{"2-0", 172800000},
		{"1w", 604800000},
		{"0", 0},
		{"10 min", 600000},
		{"0.5s", 500},
	};
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		int64_t ms = -1;
		assert_int_equal(text_parse_duration(good[i].text, &ms), 0);
		assert_int_equal(ms, good[i].ms);
	}
	static const char *const bad[] = {"",      "h",    "2x",   "-5",   "5-",    "1:2:3:4:5",
					  "1:",    ":1",   "2h-1", "1e3s", "2 h x", "99999999999999999999d",
					  "1..5h", "0x10", "nan",  "inf",  "1h30",  "1:2:3:4"};
	int64_t ms = 77;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		if (text_parse_duration(bad[i], &ms) != -EINVAL)
			fail_msg("'%s' was read as %ld ms", bad[i], (long)ms);
	assert_int_equal(ms, 77);
}

static void sizes(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t bytes;
	} good[] = {
		{"16G", 17179869184},  {"512M", 536870912}, {"1.5T", 1649267441664},
		{"4096K", 4194304},    {"100B", 100},       {"0", 0},
		{"1 GiB", 1073741824}, {"2KB", 2048},
	};
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		int64_t bytes = -1;
		assert_int_equal(text_parse_bytes(good[i].text, &bytes), 0);
		assert_int_equal(bytes, good[i].bytes);
	}
	static const char *const bad[] = {"", "G", "16X", "-1G", "1G1M", "16 G B", "9999999999T", "1,5G"};
	int64_t bytes = 77;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_int_equal(text_parse_bytes(bad[i], &bytes), -EINVAL);
	assert_int_equal(bytes, 77);
}

static void energies(void **state)
{
	(void)state;
	double j;
	assert_int_equal(text_parse_energy("20MJ", &j), 0);
	assert_true(j == 20e6);
	assert_int_equal(text_parse_energy("1.2kWh", &j), 0);
	assert_true(fabs(j - 4.32e6) < 1e-6);
	assert_int_equal(text_parse_energy("300 Wh", &j), 0);
	assert_true(j == 1.08e6);
	assert_int_equal(text_parse_energy("3J", &j), 0);
	assert_int_equal(text_parse_energy("20mj", &j), -EINVAL); /* milli? mega? */
	assert_int_equal(text_parse_energy("", &j), -EINVAL);
	assert_int_equal(text_parse_energy("1J2J", &j), -EINVAL);
}

static void formats_for_people(void **state)
{
	(void)state;
	static const struct {
		int64_t ms;
		const char *text;
	} spans[] = {
		{350, "350 ms"},       {4200, "4.2 s"},
		{3851, "3.9 s"},       {9949, "9.9 s"},
		{9999, "10 s"},        {59499, "59 s"},
		{59999, "1 m 00 s"},   {63000, "1 m 03 s"},
		{7500000, "2 h 05 m"}, {3 * 86400000ll, "3 d 00 h"},
	};
	char text[64];
	for (size_t i = 0; i < COUNT_OF(spans); i++) {
		text_format_duration(spans[i].ms, text, sizeof(text));
		assert_string_equal(text, spans[i].text);
	}
	char other[32];
	text_format_two_bytes(16ll << 30, 16000ll << 20, text, other, sizeof(other));
	assert_string_equal(text, "16384 MB");
	assert_string_equal(other, "16000 MB");
	text_format_two_bytes(16ll << 30, 8ll << 30, text, other, sizeof(other));
	assert_string_equal(text, "16 GB");
	assert_string_equal(other, "8.0 GB");
	text_format_two_bytes((16ll << 30) + 1, 16ll << 30, text, other, sizeof(other));
	assert_string_equal(text, "17179869185 B");
	text_format_bytes(1610612736, text, sizeof(text));
	assert_string_equal(text, "1.5 GB");
	text_format_bytes(100, text, sizeof(text));
	assert_string_equal(text, "100 B");
	text_format_bytes(1048575, text, sizeof(text));
	assert_string_equal(text, "1.0 MB");
	text_format_bytes(INT64_MAX, text, sizeof(text));
	assert_string_equal(text, "8192 PB");
}

static void utf8_is_checked_strictly(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t good;
	} cases[] = {
		{"plain", 5},        {"\xc3\xbc", 2},         {"\xf0\x9f\x98\x80", 4}, {"\xf4\x8f\xbf\xbf", 4},
		{"a\x80", 1},        {"\xc0\x80", 0},         {"\xe0\x80\x80", 0},     {"\xf0\x80\x80\x80", 0},
		{"\xed\xa0\x80", 0}, {"\xf4\x90\x80\x80", 0}, {"\xf5\x80\x80\x80", 0}, {"ab\xe2\x82", 2},
		{"\xfe", 0},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_int_equal(text_utf8_check(cases[i].text, strlen(cases[i].text)), cases[i].good);
	struct buf out = buf_make(100);
	text_utf8_clean("a\xff\xfe"
			"b\xc3\xbc",
			6, &out);
	assert_string_equal(buf_text(&out),
			    "a\xef\xbf\xbd\xef\xbf\xbd"
			    "b\xc3\xbc");
	buf_free(&out);
}

static void names_and_words(void **state)
{
	(void)state;
	assert_true(text_is_identifier("batch_size", 64));
	assert_true(text_is_identifier("_x.y-z9", 64));
	assert_false(text_is_identifier("", 64));
	assert_false(text_is_identifier("9x", 64));
	assert_false(text_is_identifier("a b", 64));
	assert_false(text_is_identifier("a\nb", 64));
	assert_false(text_is_identifier("toolong", 6));
	assert_false(text_is_identifier("gr\xc3\xbc", 64));
	assert_true(text_starts("script.py", "script"));
	assert_false(text_starts("scr", "script"));
	assert_true(text_ends("script.py", ".py"));
	assert_false(text_ends("y", ".py"));
	assert_int_equal(text_distance("paralel", "parallel"), 1);
	assert_int_equal(text_distance("Metric", "metric"), 0);
	assert_int_equal(text_distance("abc", ""), 3);
	assert_int_equal(text_distance("kitten", "sitting"), 3);
	assert_int_equal(text_distance("x", "0123456789012345678901234567890123456789012345678901234567890123456789"),
			 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations),
		cmocka_unit_test(sizes),
		cmocka_unit_test(energies),
		cmocka_unit_test(formats_for_people),
		cmocka_unit_test(utf8_is_checked_strictly),
		cmocka_unit_test(names_and_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
