/* PED-ANOVA against Optuna's and on a space where one parameter matters; the best so far. */
#include "drive.h"
#include "search/importance.h"

static struct space_value real(double x)
{
	return (struct space_value){.kind = SPACE_VALUE_REAL, .real = x};
}

static struct space_value whole(double x)
{
	return (struct space_value){.kind = SPACE_VALUE_INT, .integer = (int64_t)x, .real = floor(x)};
}

/* What Optuna 5.0's PedAnovaImportanceEvaluator says about the same 120 runs. */
static void scores_are_those_of_optuna(void **state)
{
	(void)state;
	static const double want[] = {0.00694875251924,  0.00471352673004, 0.000161143330109,
				      0.000454045362402, 0.00238019280751, 0.00854992652101};
	struct space *space = drive_space(
		"x: {min: 0.0, max: 1.0}\nlr: {min: 1e-5, max: 1e-1, scale: log}\nn: {min: 1, max: 9}\n"
		"u: {min: 1, max: 300, scale: log, type: int}\nk: [a, b, c]\n"
		"m: {min: 0.0, max: 1.0, when: {k: a}}\n");
	struct importance_run runs[120];
	struct space_value values[120][6];
	double scores[120], got[6];
	for (int i = 0; i < 120; i++) {
		double f[6] = {0.6180339887498949, 0.7548776662466927, 0.5698402909980532,
			       0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
		for (int d = 0; d < 6; d++)
			f[d] = fmod((i + 1) * f[d], 1);
		double lr = exp(log(1e-5) + f[1] * (log(1e-1) - log(1e-5)));
		int k = (int)(3 * f[4]);
		values[i][0] = real(f[0]);
		values[i][1] = real(lr);
		values[i][2] = whole(1 + floor(9 * f[2]));
		values[i][3] = whole(1 + floor(300 * f[3]));
		values[i][4] = space->params[4].choices[k];
		values[i][5] = k == 0 ? real(f[5]) : (struct space_value){0};
		scores[i] = pow(f[0] - 0.3, 2) + 0.05 * pow(log10(lr) + 3, 2) + 0.01 * values[i][2].real +
			0.2 * (k == 1) + (k == 0 ? 0.3 * f[5] : 0);
		runs[i] = (struct importance_run){i, values[i], &scores[i]};
	}
	assert_int_equal(importance_scores(space, runs, 120, 1, (bool[]){false}, got), 120);
	for (int i = 0; i < 6; i++)
		assert_float_equal(got[i], want[i], 1e-9 + 1e-6 * want[i]);
	/* The same the other way round: maximise the negative. */
	for (int i = 0; i < 120; i++)
		scores[i] = -scores[i];
	importance_scores(space, runs, 120, 1, (bool[]){true}, got);
	for (int i = 0; i < 6; i++)
		assert_float_equal(got[i], want[i], 1e-9 + 1e-6 * want[i]);
	space_free(space);
}

static void the_parameter_that_matters_comes_first(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nc: [p, q, r]\nd: 7\n");
	struct rng rng;
	rng_seed(&rng, 1);
	enum { N = 200 };
	struct importance_run runs[N];
	struct space_value values[N][4];
	double scores[N][2], unit[3];
	for (int i = 0; i < N; i++) {
		for (int d = 0; d < 3; d++)
			unit[d] = rng_unit(&rng);
		space_decode(space, unit, values[i]);
		scores[i][0] = i % 20 == 7 ? NAN : fabs(values[i][1].real - 0.7) + 0.001 * values[i][0].real;
		scores[i][1] = fabs(values[i][1].real - 0.6);
		runs[i] = (struct importance_run){i + 1, values[i], i % 20 == 8 ? NULL : scores[i]};
	}
	for (size_t objectives = 1; objectives <= 2; objectives++) {
		struct buf b = buf_make(BUF_UNLIMITED);
		struct json w = json_to(&b);
		struct node *list;
		importance_write(space, runs, N, objectives, (bool[]){false, false}, -1, &w);
		assert_int_equal(node_parse_json(b.data, b.len, &list, NULL), 0);
		assert_int_equal(list->count, 3); /* d does not vary */
		assert_string_equal(node_get_string(list->items[0], "parameter"), "b");
		assert_true(node_get_real(list->items[0], "importance", 0) > 0.8);
		assert_int_equal(node_get_int(list->items[0], "runs", 0), 180);
		double sum = 0;
		for (size_t i = 0; i < 3; i++)
			sum += node_get_real(list->items[i], "importance", 0);
		assert_float_equal(sum, 1, 1e-9);
		node_free(list);
		buf_free(&b);
	}
	/* Without the first by far the shares of the others sum to 1. */
	struct buf rest = buf_make(BUF_UNLIMITED);
	struct json others = json_to(&rest);
	struct node *two;
	importance_write(space, runs, N, 1, (bool[]){false}, 1, &others);
	assert_int_equal(node_parse_json(rest.data, rest.len, &two, NULL), 0);
	assert_int_equal(two->count, 2);
	assert_float_equal(
		node_get_real(two->items[0], "importance", 0) + node_get_real(two->items[1], "importance", 0), 1, 1e-9);
	assert_null(strstr(buf_text(&rest), "\"b\""));
	node_free(two);
	buf_free(&rest);
	/* 22 runs with a result of 24; one less than is needed; one. */
	for (size_t i = 0; i < 3; i++) {
		struct buf b = buf_make(BUF_UNLIMITED);
		struct json w = json_to(&b);
		importance_write(space, runs, (size_t[]){22, 21, 1}[i], 1, (bool[]){false}, -1, &w);
		assert_int_equal(strcmp(buf_text(&b), "[]") == 0, i > 0);
		buf_free(&b);
	}
	space_free(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scores_are_those_of_optuna),
		cmocka_unit_test(the_parameter_that_matters_comes_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
