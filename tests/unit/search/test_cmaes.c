/* CMA-ES: its constants, its linear algebra, and that it converges. */
#include "drive.h"
#include "search/cma.h"
#include "search/matrix.h"

/* Values computed once with the cmaes package 0.13 (Nomura and Shibata), to all its digits. */
static void constants_are_the_published_ones(void **state)
{
	(void)state;
	static const struct {
		size_t n, lambda;
		double mu_eff, c1, c_mu, c_sigma, d_sigma, c_c, chi, first, last;
	} want[] = {
		{2, 6, 2.02861146461006, 0.154815399896414, 0.0578590850719163, 0.446204987378317, 1.44620498737832,
		 0.624554539026826, 1.254272742819, 0.637042571241217, -1.15598177815892},
		{5, 8, 2.60017882611318, 0.0472923041594009, 0.0381691607038578, 0.365088376093485, 1.36508837609349,
		 0.450199557992808, 2.1285237557248, 0.529930184478779, -0.913498095511717},
		{10, 10, 3.1672992814107, 0.0152838245247517, 0.0201542827612084, 0.284428587946367, 1.28442858794637,
		 0.294990383035622, 3.08472656516901, 0.456272646903406, -0.586221828778835},
		{40, 15, 4.54091520907596, 0.00116943272526184, 0.00312250071099741, 0.132030568702083,
		 1.13203056870208, 0.0930092166342492, 6.28521508039776, 0.344796198592021, -0.315504621796035},
	};
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		struct cma_constants k = cma_constants_make(want[i].n, cma_default_lambda(want[i].n));
		assert_int_equal(k.lambda, want[i].lambda);
		assert_float_equal(k.mu_eff, want[i].mu_eff, 1e-12);
		assert_float_equal(k.c1, want[i].c1, 1e-12);
		assert_float_equal(k.c_mu, want[i].c_mu, 1e-12);
		assert_float_equal(k.c_sigma, want[i].c_sigma, 1e-12);
		assert_float_equal(k.d_sigma, want[i].d_sigma, 1e-12);
		assert_float_equal(k.c_c, want[i].c_c, 1e-12);
		assert_float_equal(k.chi, want[i].chi, 1e-12);
		assert_float_equal(k.weights[0], want[i].first, 1e-12);
		assert_float_equal(k.weights[k.lambda - 1], want[i].last, 1e-12);
		double sum = 0;
		for (size_t w = 0; w < k.mu; w++)
			sum += k.weights[w];
		assert_float_equal(sum, 1, 1e-12);
		cma_constants_free(&k);
	}
}

static void eigenvectors_rebuild_the_matrix(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 1);
	for (size_t n = 1; n <= 30; n++) {
		double a[900], values[30], vectors[900];
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j <= i; j++)
				a[i * n + j] = a[j * n + i] = rng_below(&rng, 4) ? rng_normal(&rng) : 0;
		matrix_eigen(a, n, values, vectors);
		for (size_t i = 0; i < n; i++) {
			for (size_t j = 0; j < n; j++) {
				double same = 0, dot = 0;
				for (size_t k = 0; k < n; k++) {
					same += vectors[i * n + k] * values[k] * vectors[j * n + k];
					dot += vectors[k * n + i] * vectors[k * n + j];
				}
				assert_float_equal(same, a[i * n + j], 1e-10);
				assert_float_equal(dot, i == j, 1e-10);
			}
		}
	}
}

static void the_cholesky_factor_times_itself_is_the_matrix(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 4);
	double a[121], l[121];
	for (size_t n = 1; n <= 11; n++) {
		for (size_t i = 0; i < n; i++) /* symmetric, and definite by its diagonal */
			for (size_t j = 0; j <= i; j++)
				a[i * n + j] = a[j * n + i] = i == j ? 12 : rng_unit(&rng);
		memcpy(l, a, sizeof(a));
		assert_true(matrix_cholesky(l, n));
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j <= i; j++)
				assert_float_equal(matrix_dot(l + i * n, l + j * n, j + 1), a[i * n + j], 1e-12);
	}
	double not_definite[4] = {1, 2, 2, 1};
	assert_false(matrix_cholesky(not_definite, 2));
	assert_float_equal(matrix_normal_tail(0.025), 1.959963984540054, 1e-9);
	assert_float_equal(matrix_normal_tail(0.9), -1.2815515655446004, 1e-9);
}

static double sphere(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += x[i] * x[i];
	return sum;
}

static double rosenbrock(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i + 1 < n; i++)
		sum += 100 * pow(x[i + 1] - x[i] * x[i], 2) + pow(1 - x[i], 2);
	return sum;
}

static double ellipsoid(const double *x, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += pow(1e6, (double)i / (double)(n - 1)) * x[i] * x[i];
	return sum;
}

/* Evaluations until the value is below 1e-9, or 0. */
static size_t evaluations(double (*f)(const double *, size_t), size_t n, uint64_t seed, size_t most)
{
	double start[20], points[20][20], scores[20];
	const double *rows[20];
	bool foreign[20] = {0};
	size_t count = 0, lambda = cma_default_lambda(n);
	struct rng rng;
	rng_seed(&rng, seed);
	for (size_t i = 0; i < n; i++)
		start[i] = 0.5;
	struct cma *c = cma_new(n, lambda, start, 0.5, NULL);
	double best = INFINITY;
	while (count < most && best > 1e-9) {
		for (size_t i = 0; i < lambda; i++) {
			cma_sample(c, &rng, points[i]);
			rows[i] = points[i];
			scores[i] = f(points[i], n);
			best = fmin(best, scores[i]);
		}
		count += lambda;
		cma_update(c, rows, scores, foreign);
	}
	cma_free(c);
	return best <= 1e-9 ? count : 0;
}

/* Hansen's tutorial and code need about these many; twice that means that something is wrong. */
static void it_converges_in_the_known_number_of_evaluations(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		double (*f)(const double *, size_t);
		size_t n, most;
	} cases[] = {{"sphere", sphere, 5, 900},
		     {"sphere", sphere, 10, 1800},
		     {"ellipsoid", ellipsoid, 10, 9000},
		     {"rosenbrock", rosenbrock, 5, 6000}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		size_t solved = 0, sum = 0;
		for (uint64_t seed = 1; seed <= 5; seed++) {
			size_t count = evaluations(cases[i].f, cases[i].n, seed, cases[i].most);
			solved += count > 0;
			sum += count;
		}
		print_message("# %s %zu: %zu of 5, %zu evaluations\n", cases[i].name, cases[i].n, solved,
			      solved ? sum / solved : 0);
		assert_true(solved >= 4); /* Rosenbrock has a local minimum */
	}
}

/* As a strategy: bounds, the optimum in a corner, whole numbers, `parallel` at once. */
static double best_of(const char *space_text, const char *search, size_t tasks, size_t parallel)
{
	struct space *space = drive_space(space_text);
	struct search_spec *spec = drive_spec(search, NULL, space, 1);
	struct drive d;
	drive_begin(&d, spec, space, 1, false);
	double *values = mem_array(tasks, sizeof(*values)), best = INFINITY;
	for (size_t i = 0; i < tasks + parallel; i++) {
		if (i < tasks) {
			drive_ask(&d, (int64_t)i);
			assert_int_equal(d.last, SEARCH_PROPOSED);
			values[i] = drive_objective(space, d.values);
			best = fmin(best, values[i]);
		}
		if (i >= parallel)
			search_tell(d.search, (int64_t)(i - parallel), SEARCH_FINISHED, &values[i - parallel]);
	}
	free(values);
	print_message("# %s: %g\n", search, best);
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
	return best;
}

static void the_strategy_converges_on_numbers_of_all_kinds(void **state)
{
	(void)state;
	static const char reals[] = "a: {min: -5.0, max: 5.0}\nb: {min: -5.0, max: 5.0}\nc: {min: 0.3, max: 9.0}\n";
	static const char mixed[] = "a: {min: -5.0, max: 5.0}\nb: {min: -5.0, max: 5.0}\nc: {min: -20, max: 20}\n"
				    "d: {min: -200, max: 3000}\n";
	assert_true(best_of(reals, "{strategy: cmaes, tasks: 500, seed: 1}", 500, 1) < 1e-6);
	assert_true(best_of(reals, "{strategy: cmaes, tasks: 500, seed: 2}", 500, 8) < 1e-3);
	assert_true(best_of(reals, "{strategy: cmaes, tasks: 500, seed: 3, warm: true}", 500, 1) < 1e-6);
	/* (0 - 0.3)^2 twice is what remains */
	assert_true(best_of(mixed, "{strategy: cmaes, tasks: 800, seed: 1, duplicates: true}", 800, 1) < 0.18 + 1e-3);
	assert_true(best_of(mixed, "{strategy: cmaes, tasks: 800, seed: 2, duplicates: true}", 800, 4) < 0.18 + 1e-2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_are_the_published_ones),
		cmocka_unit_test(eigenvectors_rebuild_the_matrix),
		cmocka_unit_test(the_cholesky_factor_times_itself_is_the_matrix),
		cmocka_unit_test(it_converges_in_the_known_number_of_evaluations),
		cmocka_unit_test(the_strategy_converges_on_numbers_of_all_kinds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
