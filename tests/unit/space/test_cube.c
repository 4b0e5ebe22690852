/* The unit cube, counting and walking: properties over thousands of random spaces, and the examples
 * that were counted by hand. */
#include "random_space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>

#define SPACES 3000

static struct space *from_yaml(const char *yaml)
{
	struct node *node;
	struct error err;
	struct problems problems = {0};
	struct space *space = NULL;
	assert_int_equal(node_parse_yaml(yaml, strlen(yaml), &node, &err), 0);
	assert_int_equal(space_parse(node_get(node, "parameters"), node_get(node, "constraints"), &problems, &space),
			 0);
	node_free(node);
	return space;
}

static void check_value(const struct space *s, size_t i, const struct space_value *values)
{
	const struct space_param *p = &s->params[i];
	const struct space_value *v = &values[i];
	assert_int_equal(v->kind != SPACE_VALUE_NONE, space_applies(s, i, values));
	if (v->kind == SPACE_VALUE_NONE)
		return;
	if (p->kind == SPACE_REAL || p->kind == SPACE_INT) {
		assert_true(v->real >= p->min && v->real <= p->max);
		assert_int_equal(v->kind, p->kind == SPACE_INT ? SPACE_VALUE_INT : SPACE_VALUE_REAL);
		if (p->kind == SPACE_INT)
			assert_true((double)v->integer == v->real);
		if (p->step > 0) {
			double k = (v->real - p->min) / p->step;
			assert_true(fabs(k - round(k)) < 1e-6);
		}
		return;
	}
	size_t k = 0;
	while (k < p->choice_count && p->choices[k].text != v->text)
		k++;
	if (v->kind == SPACE_VALUE_TEXT)
		assert_true(k < p->choice_count);
}

static void every_point_decodes_to_values_of_the_space_and_back(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 1);
	for (int n = 0; n < SPACES; n++) {
		struct space *s = random_space(&rng, false, 8);
		struct space_value a[8], b[8];
		double unit[8], again[8];
		for (int k = 0; k < 20; k++) {
			for (size_t d = 0; d < s->dim_count; d++)
				unit[d] = k == 0 ? 0 : k == 1 ? 1 : k == 2 ? NAN : rng_unit(&rng);
			space_decode(s, unit, a);
			for (size_t i = 0; i < s->count; i++)
				check_value(s, i, a);
			space_encode(s, a, again);
			for (size_t d = 0; d < s->dim_count; d++) {
				assert_true(again[d] >= 0 && again[d] <= 1);
				if (a[s->dims[d]].kind == SPACE_VALUE_NONE)
					assert_true(again[d] == 0.5);
			}
			space_decode(s, again, b);
			for (size_t i = 0; i < s->count; i++) {
				if (s->params[i].cardinality || a[i].kind == SPACE_VALUE_NONE)
					continue;
				assert_true(fabs(a[i].real - b[i].real) <= 1e-9 * (1 + fabs(a[i].real)));
				b[i] = a[i];
			}
			assert_true(space_equal(s, a, b));
			assert_true(space_hash(s, a) == space_hash(s, b));
		}
		space_free(s);
	}
}

static void values_survive_json(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 2);
	for (int n = 0; n < SPACES; n++) {
		struct space *s = random_space(&rng, false, 8);
		struct space_value a[8], b[8];
		double unit[8];
		for (size_t d = 0; d < s->dim_count; d++)
			unit[d] = rng_unit(&rng);
		space_decode(s, unit, a);
		struct buf buf = buf_make(BUF_UNLIMITED);
		struct json w = json_to(&buf);
		struct node *map;
		struct error err;
		struct problems problems = {0};
		space_write_values(s, a, &w);
		assert_int_equal(node_parse_json(buf.data, buf.len, &map, &err), 0);
		assert_int_equal(space_read_values(s, map, b, &problems), 0);
		assert_true(space_equal(s, a, b));
		node_free(map);
		buf_free(&buf);
		space_free(s);
	}
}

/* The count, the walk, and a brute force over the cells of the cube agree. */
static void counting_walking_and_brute_force_agree(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 3);
	for (int n = 0; n < SPACES; n++) {
		struct space *s = random_space(&rng, true, 5);
		struct space_value values[5];
		uint64_t cursor = 0, walked = 0, product = 1;
		VEC(uint64_t) seen = {0};
		while (space_next(s, &cursor, values)) {
			assert_true(space_allows(s, values));
			for (size_t i = 0; i < s->count; i++)
				check_value(s, i, values);
			vec_push(&seen, space_hash(s, values));
			walked++;
		}
		assert_int_equal(cursor, walked);
		assert_int_equal(space_count(s, 1000000), walked);
		if (walked)
			assert_true(space_count(s, walked - 1) == UINT64_MAX);
		for (size_t i = 0; i < seen.len; i++)
			for (size_t k = 0; k < i; k++)
				assert_true(seen.at[i] != seen.at[k]);
		for (size_t d = 0; d < s->dim_count; d++)
			product *= s->params[s->dims[d]].cardinality;
		for (uint64_t k = 0; k < product && product < 20000; k++) {
			double unit[5];
			uint64_t rest = k;
			for (size_t d = 0; d < s->dim_count; d++) {
				uint64_t c = s->params[s->dims[d]].cardinality;
				unit[d] = ((double)(rest % c) + 0.5) / (double)c;
				rest /= c;
			}
			/* Cells of a logarithmic step axis are not equally wide: only membership counts. */
			space_decode(s, unit, values);
			if (!space_allows(s, values))
				continue;
			uint64_t hash = space_hash(s, values);
			size_t at = 0;
			while (at < seen.len && seen.at[at] != hash)
				at++;
			assert_true(at < seen.len);
		}
		free(seen.at);
		space_free(s);
	}
}

static void a_grid_comes_in_the_order_of_the_file(void **state)
{
	(void)state;
	struct space *s = from_yaml("parameters:\n  a: [2, 1]\n  b: {min: 0, max: 4, step: 2}\n");
	struct space_value v[2];
	uint64_t cursor = 0;
	static const int want[][2] = {{2, 0}, {2, 2}, {2, 4}, {1, 0}, {1, 2}, {1, 4}};
	for (size_t i = 0; i < 6; i++) {
		assert_true(space_next(s, &cursor, v));
		assert_int_equal(v[0].integer, want[i][0]);
		assert_int_equal(v[1].integer, want[i][1]);
	}
	assert_false(space_next(s, &cursor, v));
	space_free(s);
}

static void inactive_parameters_do_not_multiply(void **state)
{
	(void)state;
	/* adam 1, sgd 3 momenta, of which nesterov doubles two: 1 + 1 + 2 + 2 = 6; times 2 rates. */
	struct space *s = from_yaml("parameters:\n  nesterov: {values: [true, false], when: {m: [0.5, 0.9]}}\n"
				    "  opt: [adam, sgd]\n  m: {values: [0, 0.5, 0.9], when: {opt: sgd}}\n"
				    "  lr: [1, 2]\n");
	assert_int_equal(space_count(s, 1000), 12);
	space_free(s);
}

static void a_product_beyond_64_bits_counts_as_too_many(void **state)
{
	(void)state;
	struct buf b = buf_make(BUF_UNLIMITED);
	buf_add_text(&b, "parameters:\n  kind: [0, 1, 2]\n");
	for (int i = 0; i < 30; i++)
		buf_addf(&b, "  p%d: {min: 1, max: 100000}\n", i);
	struct space *s = from_yaml(buf_text(&b));
	assert_true(space_count(s, UINT64_MAX) == UINT64_MAX);
	space_free(s);
	/* 60 exclusive children of one parent: the product is 4^60, the space has 240 points. */
	buf_clear(&b);
	buf_add_text(&b, "parameters:\n  kind: {min: 1, max: 60}\n");
	for (int i = 1; i <= 60; i++)
		buf_addf(&b, "  p%d: {min: 1, max: 4, when: {kind: %d}}\n", i, i);
	s = from_yaml(buf_text(&b));
	assert_int_equal(space_count(s, 1000), 240);
	struct space_value *v = mem_array(s->count, sizeof(*v));
	uint64_t cursor = 0;
	while (space_next(s, &cursor, v))
		;
	assert_int_equal(cursor, 240);
	free(v);
	space_free(s);
	buf_free(&b);
}

static void a_space_without_parameters_has_one_configuration(void **state)
{
	(void)state;
	struct problems problems = {0};
	struct space *s = NULL;
	assert_int_equal(space_parse(NULL, NULL, &problems, &s), 0);
	assert_int_equal(space_count(s, 10), 1);
	struct space_value v[1];
	uint64_t cursor = 0;
	assert_true(space_next(s, &cursor, v));
	assert_false(space_next(s, &cursor, v));
	space_free(s);
}

static void steps_print_as_people_write_them(void **state)
{
	(void)state;
	struct space *s = from_yaml("parameters:\n  a: {min: 0.1, max: 1.0, step: 0.1}\n");
	static const char *const want[] = {"0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"};
	struct space_value v[1];
	uint64_t cursor = 0;
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		struct buf b = buf_make(100);
		assert_true(space_next(s, &cursor, v));
		space_format_value(&v[0], &b);
		assert_string_equal(buf_text(&b), want[i]);
		buf_free(&b);
	}
	assert_false(space_next(s, &cursor, v));
	space_free(s);
}

static void a_logarithmic_axis_is_even_in_the_logarithm(void **state)
{
	(void)state;
	struct space *s = from_yaml("parameters:\n  lr: {min: 1e-5, max: 1e-1, scale: log}\n  n: [4, 1, 2]\n");
	struct space_value v[2];
	space_decode(s, (double[]){0.5, 0.0}, v);
	assert_true(fabs(v[0].real - 1e-3) < 1e-15);
	assert_int_equal(v[1].integer, 1); /* numbers lie on the axis by size, whatever their order */
	space_decode(s, (double[]){0.25, 0.5}, v);
	assert_true(fabs(v[0].real - 1e-4) < 1e-16);
	assert_int_equal(v[1].integer, 2);
	space_decode(s, (double[]){1, 1}, v);
	assert_true(v[0].real == 1e-1);
	assert_int_equal(v[1].integer, 4);
	space_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_point_decodes_to_values_of_the_space_and_back),
		cmocka_unit_test(values_survive_json),
		cmocka_unit_test(counting_walking_and_brute_force_agree),
		cmocka_unit_test(a_grid_comes_in_the_order_of_the_file),
		cmocka_unit_test(inactive_parameters_do_not_multiply),
		cmocka_unit_test(a_product_beyond_64_bits_counts_as_too_many),
		cmocka_unit_test(a_space_without_parameters_has_one_configuration),
		cmocka_unit_test(steps_print_as_people_write_them),
		cmocka_unit_test(a_logarithmic_axis_is_even_in_the_logarithm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
