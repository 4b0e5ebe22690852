/* What energy costs: one value, or one for each hour of the day. */
#include "base/tariff.h"

#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HOUR 3600000

static int parse(const char *yaml, struct tariff *ret, struct error *err)
{
	struct node *document = NULL;
	assert_int_equal(node_parse_yaml(yaml, strlen(yaml), &document, NULL), 0);
	int rc = tariff_parse(document, ret, err);
	node_free(document);
	return rc;
}

static void a_value_counts_at_every_hour(void **state)
{
	(void)state;
	struct tariff tariff;
	assert_int_equal(parse("energy: {intensity: 380, currency: EUR}", &tariff, NULL), 0);
	assert_true(tariff.intensity.known && !tariff.intensity.by_hour && !tariff.price.known);
	assert_true(tariff_mean(&tariff.intensity, 5, 50 * HOUR) == 380);
	assert_true(isnan(tariff_mean(&tariff.price, 0, HOUR)));
	assert_string_equal(tariff.currency, "EUR");
	assert_int_equal(parse("other: 1", &tariff, NULL), 0);
	assert_false(tariff.intensity.known);
}

static void a_table_is_weighted_by_the_time_in_each_hour(void **state)
{
	(void)state;
	struct tariff tariff;
	setenv("TZ", "UTC", 1);
	tzset();
	assert_int_equal(
		parse("energy: {price: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, "
		      "21, 22, 23]}",
		      &tariff, NULL),
		0);
	assert_true(tariff.price.by_hour);
	assert_true(tariff_mean(&tariff.price, 3 * HOUR, 4 * HOUR) == 3);
	assert_true(tariff_mean(&tariff.price, 3 * HOUR + HOUR / 2, 5 * HOUR) == (3 * 0.5 + 4) / 1.5);
	assert_true(tariff_mean(&tariff.price, 23 * HOUR, 25 * HOUR) == 11.5);
	assert_true(fabs(tariff_mean(&tariff.price, 7 * HOUR, 7 * HOUR + 100000 * (int64_t)HOUR) - 11.5) < 1e-9);
	assert_true(tariff_mean(&tariff.price, 5 * HOUR, 5 * HOUR) == 5);
}

static void what_is_no_tariff_is_refused_by_name(void **state)
{
	(void)state;
	static const char *const bad[] = {"energy: 5",
					  "energy: {intensity: [1, 2]}",
					  "energy: {price: -1}",
					  "energy: {price: cheap}",
					  "energy: {intensity: .nan}",
					  "energy: {intensty: 380}"};
	struct tariff tariff;
	struct error err;
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		assert_true(parse(bad[i], &tariff, &err) < 0);
		assert_non_null(strstr(err.text, "energy"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_counts_at_every_hour),
		cmocka_unit_test(a_table_is_weighted_by_the_time_in_each_hour),
		cmocka_unit_test(what_is_no_tariff_is_refused_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
