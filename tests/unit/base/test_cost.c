/* The table of figures is whole, and a figure is known only where a possible value was given. */
#include "base/cost.h"

#include "base/json.h"

#include "../unit.h"

#include <math.h>

static void every_figure_has_names_that_are_its_own(void **state)
{
	(void)state;
	for (enum figure f = 0; f < FIGURE_COUNT; f++) {
		const struct cost_figure *row = &cost_figures[f];
		if (!row->key || !row->stored || !row->unit || !row->label || !row->source || !(row->per > 0))
			fail_msg("figure %d is not whole", (int)f);
		for (const char *p = row->key; *p; p++) /* it goes into SQL and JSON paths as it is */
			assert_true((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '_');
		assert_string_not_equal(row->key, "energy_source");
		for (enum figure other = 0; other < f; other++) {
			assert_string_not_equal(row->key, cost_figures[other].key);
			assert_string_not_equal(row->stored, cost_figures[other].stored);
			assert_string_not_equal(row->label, cost_figures[other].label);
		}
	}
}

static void a_zeroed_cost_knows_nothing(void **state)
{
	(void)state;
	struct cost cost = {0};
	for (enum figure f = 0; f < FIGURE_COUNT; f++) {
		assert_false(cost_has(&cost, f));
		assert_true(isnan(cost_get(&cost, f)));
	}
	cost_set(&cost, FIGURE_WALL, 0);
	assert_true(cost_has(&cost, FIGURE_WALL) && cost_get(&cost, FIGURE_WALL) == 0);
	assert_false(cost_has(&cost, FIGURE_CPU));
}

static void a_value_that_cannot_be_is_not_known(void **state)
{
	(void)state;
	static const double bad[] = {-1, NAN, INFINITY, -INFINITY, 1e16, 1e300};
	struct cost cost = {0};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		cost_set(&cost, FIGURE_ENERGY, 2.5);
		cost_raise(&cost, FIGURE_ENERGY, bad[i]);
		assert_true(cost_get(&cost, FIGURE_ENERGY) == 2.5);
		cost_set(&cost, FIGURE_ENERGY, bad[i]);
		assert_false(cost_has(&cost, FIGURE_ENERGY));
		cost_raise(&cost, FIGURE_ENERGY, bad[i]);
		assert_false(cost_has(&cost, FIGURE_ENERGY));
	}
	assert_true(cost.known == 0);
}

static void raising_keeps_the_larger(void **state)
{
	(void)state;
	struct cost cost = {0};
	cost_raise(&cost, FIGURE_MEMORY, 0);
	assert_true(cost_has(&cost, FIGURE_MEMORY));
	cost_raise(&cost, FIGURE_MEMORY, 7);
	cost_raise(&cost, FIGURE_MEMORY, 5);
	assert_true(cost_get(&cost, FIGURE_MEMORY) == 7);
}

static void what_is_known_is_written_as_it_is_stored(void **state)
{
	(void)state;
	struct cost cost = {.source = "NVML"};
	struct buf text = buf_make(1024);
	struct json out = json_to(&text);
	cost_set(&cost, FIGURE_WALL, 1500);
	cost_set(&cost, FIGURE_MEMORY, COST_MOST);
	cost_set(&cost, FIGURE_ENERGY, 2.5);
	json_map(&out);
	cost_write(&cost, &out);
	json_end(&out);
	assert_string_equal(buf_text(&text),
			    "{\"wall_ms\":1500,\"max_rss_bytes\":9007199254740992,\"energy_j\":2.5,"
			    "\"energy_source\":\"NVML\"}");
	buf_free(&text);
}

static void the_table_is_written_for_other_programs(void **state)
{
	(void)state;
	struct buf text = buf_make(65536);
	struct json out = json_to(&text);
	cost_write_figures(&out);
	assert_non_null(strstr(buf_text(&text), "{\"key\":\"wall_s\",\"label\":\"time used\",\"unit\":\"s\","));
	assert_non_null(
		strstr(buf_text(&text), "{\"key\":\"max_rss_bytes\",\"label\":\"most memory\",\"unit\":\"B\","));
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_figure_has_names_that_are_its_own),
		cmocka_unit_test(a_zeroed_cost_knows_nothing),
		cmocka_unit_test(a_value_that_cannot_be_is_not_known),
		cmocka_unit_test(raising_keeps_the_larger),
		cmocka_unit_test(what_is_known_is_written_as_it_is_stored),
		cmocka_unit_test(the_table_is_written_for_other_programs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
