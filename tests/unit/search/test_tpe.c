/* The densities of TPE are densities, follow the rules of their papers, and find what is good. */
#include "drive.h"
#include "search/parzen.h"
#include "search/tpe.h"

#define ALL_KINDS                                                                                                      \
	"a: {min: 0.0, max: 1.0}\n"                                                                                    \
	"b: {min: 1, max: 7}\n"                                                                                        \
	"c: {min: 1, max: 40, scale: log, type: int}\n"                                                                \
	"d: [x, y, z]\n"                                                                                               \
	"e: [8, 64, 16]\n"                                                                                             \
	"f: {min: 1e-5, max: 0.1, scale: log}\n"                                                                       \
	"g: {min: 1, max: 5000}\n"                                                                                     \
	"h: {min: 1, max: 20000, scale: log, type: int}\n"

static struct parzen_axis axis_of(const struct space *space, const char *name)
{
	return parzen_axis_of(&space->params[space_find(space, name)]);
}

/* Over all cells, or by the midpoint rule. */
static double integral(struct parzen *p, const struct parzen_axis *axis)
{
	size_t n = axis->kind == PARZEN_REAL ? 20000 : (size_t)axis->cells;
	double *points = mem_resize(NULL, n, sizeof(double)), *density = mem_resize(NULL, n, sizeof(double)), sum = 0;
	for (size_t i = 0; i < n; i++)
		points[i] = axis->kind == PARZEN_REAL ? ((double)i + 0.5) / (double)n : (double)i;
	parzen_log_density(p, true, points, n, density);
	for (size_t i = 0; i < n; i++)
		sum += exp(density[i]) / (axis->kind == PARZEN_REAL ? (double)n : 1);
	free(points);
	free(density);
	return sum;
}

static void densities_integrate_to_one(void **state)
{
	(void)state;
	struct space *space = drive_space(ALL_KINDS);
	struct rng rng;
	rng_seed(&rng, 1);
	for (size_t i = 0; i < space->count; i++) {
		struct parzen_axis axis = parzen_axis_of(&space->params[i]);
		struct parzen *p = parzen_new(&axis, 1);
		for (size_t n = 0; n < 300; n++) {
			if (n < 4 || n % 67 == 0)
				assert_float_equal(integral(p, &axis), 1, axis.dense || axis.uneven ? 1e-3 : 1e-6);
			/* Uneven: half of them in one corner. */
			double unit = n % 2 ? rng_unit(&rng) : 0.1 * rng_unit(&rng);
			double x = parzen_coordinate(&axis, unit);
			parzen_add(p, &x);
			if (n % 5 == 4)
				parzen_set(p, n - 2, false);
		}
		parzen_free(p);
	}
	space_free(space);
}

/* Two axes: the density of a product kernel mixture, summed over cells and integrated. */
static void joint_densities_integrate_to_one(void **state)
{
	(void)state;
	struct space *space = drive_space(ALL_KINDS);
	struct parzen_axis axes[3] = {axis_of(space, "d"), axis_of(space, "b"), axis_of(space, "a")};
	struct parzen *p = parzen_new(axes, 3);
	struct rng rng;
	rng_seed(&rng, 2);
	for (int i = 0; i < 30; i++)
		parzen_add(p, (double[]){(double)rng_below(&rng, 3), (double)rng_below(&rng, 7), rng_unit(&rng)});
	double sum = 0;
	for (int d = 0; d < 3; d++)
		for (int b = 0; b < 7; b++)
			for (int a = 0; a < 2000; a++) {
				double density;
				parzen_log_density(p, true, (double[]){d, b, (a + 0.5) / 2000}, 1, &density);
				sum += exp(density) / 2000;
			}
	assert_float_equal(sum, 1, 1e-6);
	parzen_free(p);
	space_free(space);
}

/* By hand: 0.6 alone has the width 0.6 (its larger way to a bound); 0.3 and 0.6 have 0.3, the gap between
 * them, within [1/4, 1]; the prior is N(0.5, 1); all are truncated and weigh 1. */
static double kernel(double x, double mu, double sigma)
{
	double z = (x - mu) / sigma;
	double whole = 0.5 * (erf((1 - mu) / sigma * M_SQRT1_2) + erf(mu / sigma * M_SQRT1_2));
	return exp(-z * z / 2) / (sigma * sqrt(2 * M_PI) * whole);
}

static void widths_and_weights_are_those_of_the_paper(void **state)
{
	(void)state;
	struct space *space = drive_space(ALL_KINDS);
	struct parzen_axis axis = axis_of(space, "a"), choice = axis_of(space, "d");
	struct parzen *p = parzen_new(&axis, 1);
	double got, x = 0.4;
	parzen_add(p, (double[]){0.6});
	parzen_log_density(p, true, &x, 1, &got);
	assert_float_equal(exp(got), (kernel(x, 0.6, 0.6) + kernel(x, 0.5, 1)) / 2, 1e-12);
	parzen_add(p, (double[]){0.3});
	parzen_log_density(p, true, &x, 1, &got);
	double want = (kernel(x, 0.3, 0.3) + kernel(x, 0.6, 0.3) + kernel(x, 0.5, 1)) / 3;
	assert_float_equal(exp(got), want, 1e-12);
	/* A third one next to 0.3 is narrow, but not below 1/(2 + n). */
	parzen_add(p, (double[]){0.29});
	parzen_log_density(p, true, &x, 1, &got);
	want = (kernel(x, 0.3, 0.3) + kernel(x, 0.6, 0.3) + kernel(x, 0.29, 0.2) + kernel(x, 0.5, 1)) / 4;
	assert_float_equal(exp(got), want, 1e-12);
	/* And when it does not count it is as if it had never come. */
	parzen_set(p, 2, false);
	parzen_log_density(p, true, &x, 1, &got);
	want = (kernel(x, 0.3, 0.3) + kernel(x, 0.6, 0.3) + kernel(x, 0.5, 1)) / 3;
	assert_float_equal(exp(got), want, 1e-12);
	parzen_free(p);
	/* 40 observations of one choice and then 10 of another: weights 1/50 .. 1 for 25, then 25 ones. */
	p = parzen_new(&choice, 1);
	for (int i = 0; i < 50; i++)
		parzen_add(p, (double[]){i < 40 ? 0 : 1});
	double weights = 1, first = 1.0 / 3;
	for (int i = 0; i < 50; i++) {
		double w = i < 25 ? 1.0 / 50 + (1 - 1.0 / 50) * i / 24 : 1;
		double rest = 1.0 / 51, whole = 1 + 3.0 / 51;
		weights += w;
		first += w * (i < 40 ? (1 + rest) / whole : rest / whole);
	}
	x = 0;
	parzen_log_density(p, true, &x, 1, &got);
	assert_float_equal(exp(got), first / weights, 1e-12);
	parzen_free(p);
	space_free(space);
}

/* The same set of points, however it came about, is the same density. */
static void taking_points_out_leaves_no_trace(void **state)
{
	(void)state;
	struct space *space = drive_space(ALL_KINDS);
	struct parzen_axis axes[8];
	struct rng rng;
	rng_seed(&rng, 3);
	for (size_t i = 0; i < 8; i++)
		axes[i] = parzen_axis_of(&space->params[i]);
	for (int round = 0; round < 20; round++) {
		struct parzen *a = parzen_new(axes, 8), *b = parzen_new(axes, 8);
		double points[200][8], x[8], got, want;
		bool counts[200];
		size_t n = 1 + rng_below(&rng, 200);
		for (size_t i = 0; i < n; i++) {
			for (size_t d = 0; d < 8; d++)
				points[i][d] = parzen_coordinate(&axes[d], rng_unit(&rng));
			parzen_add(a, points[i]);
			counts[i] = true;
			size_t other = rng_below(&rng, i + 1);
			counts[other] = !counts[other];
			parzen_set(a, other, counts[other]);
		}
		for (size_t i = 0; i < n; i++)
			if (counts[i])
				parzen_add(b, points[i]);
		for (size_t d = 0; d < 8; d++)
			x[d] = parzen_coordinate(&axes[d], rng_unit(&rng));
		assert_int_equal(parzen_count(a), parzen_count(b));
		parzen_log_density(a, true, x, 1, &got);
		parzen_log_density(b, true, x, 1, &want);
		assert_float_equal(got, want, 1e-9);
		parzen_free(a);
		parzen_free(b);
	}
	space_free(space);
}

/* Beyond 4,096 points the older ones are represented by a sample: still a density, still the same shape, and
 * hiding a point and showing it again changes nothing. */
static void many_points_have_a_bounded_number_of_kernels(void **state)
{
	(void)state;
	struct space *space = drive_space(ALL_KINDS);
	for (size_t i = 0; i < space->count; i++) {
		struct parzen_axis axis = parzen_axis_of(&space->params[i]);
		struct parzen *p = parzen_new(&axis, 1);
		struct rng rng;
		rng_seed(&rng, 7);
		double *where = mem_array(30000, sizeof(*where)), x = parzen_coordinate(&axis, 0.4), before, after;
		for (size_t n = 0; n < 30000; n++) {
			where[n] = parzen_coordinate(&axis, rng_unit(&rng) * rng_unit(&rng));
			parzen_add(p, &where[n]);
			assert_true(parzen_kernels(p) <= n + 1 && parzen_kernels(p) < 4096 + 300);
			if (n == 4095)
				assert_int_equal(parzen_kernels(p), 4096);
		}
		assert_int_equal(parzen_count(p), 30000);
		assert_true(parzen_kernels(p) > 2048 + 700);
		assert_float_equal(integral(p, &axis), 1, axis.dense || axis.uneven ? 1e-3 : 1e-6);
		/* All weigh the same: what is drawn has the mean of what was added. */
		double mean = 0, drawn = 0;
		for (size_t n = 0; n < 30000; n++) {
			double sample;
			mean += where[n] / 30000;
			if (n % 10 == 0) {
				parzen_sample(p, false, &rng, &sample, 1);
				drawn += sample / 3000;
			}
		}
		assert_float_equal(drawn, mean, 0.06 * (axis.kind == PARZEN_REAL ? 1 : axis.cells));
		parzen_log_density(p, true, &x, 1, &before);
		for (size_t n = 0; n < 30000; n += 500)
			parzen_set(p, n, false);
		parzen_log_density(p, true, &x, 1, &after);
		assert_int_equal(parzen_count(p), 30000 - 60);
		for (size_t n = 0; n < 30000; n += 500)
			parzen_set(p, n, true);
		parzen_log_density(p, true, &x, 1, &after);
		assert_float_equal(after, before, 1e-12);
		free(where);
		parzen_free(p);
	}
	space_free(space);
}

/* What is drawn has the density that is computed. */
static void samples_follow_the_density(void **state)
{
	(void)state;
	struct space *space = drive_space(ALL_KINDS);
	struct rng rng;
	rng_seed(&rng, 4);
	const char *names[] = {"b", "d", "e"};
	for (int i = 0; i < 3; i++) {
		struct parzen_axis axis = axis_of(space, names[i]);
		struct parzen *p = parzen_new(&axis, 1);
		parzen_add(p, (double[]){1});
		parzen_add(p, (double[]){1});
		parzen_add(p, (double[]){2});
		int seen[7] = {0}, draws = 200000;
		for (int k = 0; k < draws; k++) {
			double x;
			parzen_sample(p, true, &rng, &x, 1);
			assert_true(x >= 0 && x < axis.cells);
			seen[(int)x]++;
		}
		for (double x = 0; x < axis.cells; x++) {
			double density;
			parzen_log_density(p, true, &x, 1, &density);
			assert_float_equal((double)seen[(int)x] / draws, exp(density), 0.006);
		}
		parzen_free(p);
	}
	space_free(space);
}

static double best_after(const char *strategy, const char *space_text, int tasks, uint64_t seed)
{
	struct space *space = drive_space(space_text);
	char text[100];
	snprintf(text, sizeof(text), "{strategy: %s, tasks: %d, seed: %d}", strategy, tasks, (int)seed);
	struct search_spec *spec = drive_spec(text, NULL, space, 1);
	struct drive d;
	drive_begin(&d, spec, space, 1, false);
	double best = INFINITY;
	for (int i = 1; i <= tasks; i++) {
		drive_ask(&d, i);
		assert_int_equal(d.last, SEARCH_PROPOSED);
		double value = drive_objective(space, d.values);
		best = fmin(best, value);
		search_tell(d.search, i, SEARCH_FINISHED, &value);
	}
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
	return best;
}

/* Long enough that older points are thinned out: a search whose proposals were recalled goes on as the one that made
 * them. */
static void a_long_search_that_was_recalled_goes_on_the_same(void **state)
{
	(void)state;
	struct space *space = drive_space(
		"a: {min: 0.0, max: 1.0}\nb: {min: -1.0, max: 1.0}\nc: {min: 1e-5, max: 0.1, scale: log}\n"
		"k: [xa, xb, xc]\ne: {min: 1, max: 64, when: {k: xa}}\n");
	for (size_t objectives = 1; objectives <= 2; objectives++) {
		struct search_spec *spec = drive_spec("{strategy: tpe, tasks: 4600, startup: 4300, seed: 1}", NULL,
						      space, objectives);
		struct drive d, c;
		drive_begin(&d, spec, space, 1, false);
		drive_begin(&c, spec, space, 1, false);
		while (d.events.len < 9000 && drive_step(&d, 16))
			;
		for (size_t i = 0; i < d.events.len; i++)
			if (d.events.at[i].ask)
				drive_recall(&c, &d.events.at[i]);
			else
				drive_tell_event(&c, &d.events.at[i]);
		for (int i = 0; i < 8; i++)
			assert_true(drive_ask(&d, d.next_id + i).hash == drive_ask(&c, d.next_id + i).hash);
		drive_end(&d);
		drive_end(&c);
		search_spec_free(spec);
	}
	space_free(space);
}

static void it_finds_more_than_random_search(void **state)
{
	(void)state;
	static const char space[] = "a: {min: -2.0, max: 2.0}\nb: {min: -2.0, max: 2.0}\nc: {min: -3, max: 3}\n"
				    "k: [ca, cb]\nm: {min: -2.0, max: 2.0, when: {k: cb}}\n";
	int wins = 0;
	for (uint64_t seed = 0; seed < 20; seed++)
		wins += best_after("tpe", space, 80, seed) < best_after("random", space, 80, seed);
	assert_true(wins >= 16);
}

/* Ten at once: what runs counts as bad, so that they do not all go to one place. */
static void what_runs_keeps_others_away(void **state)
{
	(void)state;
	struct space *space = drive_space("k: [a, b, c, d, e, f, g, h]\nx: {min: 0.0, max: 1.0}\n");
	struct tpe *t = tpe_new(space, 1, 10, 24, true);
	struct rng rng;
	rng_seed(&rng, 5);
	for (int i = 0; i < 16; i++) {
		double unit[2] = {(i % 8 + 0.5) / 8, rng_unit(&rng)}, score = i % 8 == 3 ? 0 : 1 + i % 8;
		tpe_tell(t, tpe_add(t, unit), &score, false);
	}
	int alone = 0, crowded = 0;
	for (int i = 0; i < 20; i++) {
		double unit[2];
		tpe_propose(t, &rng, 0, unit);
		alone += (int)(unit[0] * 8) == 3;
	}
	for (int i = 0; i < 20; i++)
		tpe_add(t, (double[]){3.5 / 8, rng_unit(&rng)});
	for (int i = 0; i < 20; i++) {
		double unit[2];
		tpe_propose(t, &rng, 0, unit);
		crowded += (int)(unit[0] * 8) == 3;
	}
	assert_true(alone >= 15);
	assert_true(crowded < alone / 2);
	tpe_free(t);
	space_free(space);
}

/* Two objectives with the front x in [0.3, 0.7], y = 0.5: most later proposals are near it. */
static void several_objectives_lead_to_the_front(void **state)
{
	(void)state;
	struct space *space = drive_space("x: {min: 0.0, max: 1.0}\ny: {min: 0.0, max: 1.0}\n");
	struct search_spec *spec = drive_spec("{strategy: tpe, tasks: 150, seed: 3}", NULL, space, 2);
	struct drive d;
	int near = 0;
	drive_begin(&d, spec, space, 1, false);
	for (int i = 1; i <= 150; i++) {
		drive_ask(&d, i);
		double x = d.values[0].real, y = d.values[1].real;
		double off = (y - 0.5) * (y - 0.5);
		search_tell(d.search, i, SEARCH_FINISHED,
			    (double[]){(x - 0.3) * (x - 0.3) + off, (x - 0.7) * (x - 0.7) + off});
		near += i > 100 && fabs(y - 0.5) < 0.15 && x > 0.2 && x < 0.8;
	}
	assert_true(near >= 30);
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(densities_integrate_to_one),
		cmocka_unit_test(joint_densities_integrate_to_one),
		cmocka_unit_test(widths_and_weights_are_those_of_the_paper),
		cmocka_unit_test(taking_points_out_leaves_no_trace),
		cmocka_unit_test(many_points_have_a_bounded_number_of_kernels),
		cmocka_unit_test(samples_follow_the_density),
		cmocka_unit_test(a_long_search_that_was_recalled_goes_on_the_same),
		cmocka_unit_test(it_finds_more_than_random_search),
		cmocka_unit_test(what_runs_keeps_others_away),
		cmocka_unit_test(several_objectives_lead_to_the_front),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
