/* The Gaussian process against cases worked out by hand. */
#include "drive.h"
#include "search/gaussian.h"
#include "search/matern.h"

static double matern(double r)
{
	return (1 + sqrt(5) * r + 5 * r * r / 3) * exp(-sqrt(5) * r);
}

/* The own exponential against that of the library, from 0 down to where nothing is left of it. */
static void the_exponential_is_that_of_the_library(void **state)
{
	(void)state;
	struct rng rng;
	double x[101], want[101], slopes[101];
	rng_seed(&rng, 11);
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 101; i++)
			want[i] = x[i] = i == 0 ? 0 : pow(10, rng_unit(&rng) * 11.9 - 7); /* r is cut off at 700 */
		matern_values(x, 101, 3);
		for (int i = 0; i < 101; i++)
			assert_true(fabs(x[i] / (3 * matern(sqrt(want[i]))) - 1) < 1e-15 * (1 + sqrt(5 * want[i])));
	}
	for (int i = 0; i < 101; i++)
		want[i] = x[i] = rng_unit(&rng) * i;
	matern_slopes(x, 101, 3, slopes);
	for (int i = 0; i < 101; i++) {
		double h = 1e-6 * (1 + want[i]), up = matern(sqrt(want[i] + h)),
		       down = matern(sqrt(fmax(want[i] - h, 0)));
		assert_true(fabs(x[i] - 3 * matern(sqrt(want[i]))) < 1e-14);
		if (want[i] > h)
			assert_true(fabs(slopes[i] - 1.5 * (up - down) / h) < 1e-5 * (1 + fabs(slopes[i])));
	}
	matern_values(want, 101, 3);
	for (int i = 0; i < 101; i++)
		assert_true(want[i] == x[i]);
}

/* Two points 0 and 1 with values 1 and -1, unit scale and variance, noise 0.1 (and the least 1e-8): the
 * covariance is [[a, b], [b, a]], whose inverse is known. */
static void the_posterior_of_two_points_is_the_one_by_hand(void **state)
{
	(void)state;
	bool unordered = false;
	struct gaussian *g = gaussian_new(1, &unordered);
	g->theta[0] = g->theta[1] = 0;
	g->theta[2] = log(0.1);
	gaussian_set(g, (double[]){0, 1}, (double[]){1, -1}, 2);
	double a = 1 + 0.1 + 1e-8, b = matern(1), det = a * a - b * b;
	double k0 = matern(0.25), k1 = matern(0.75), mean, variance;
	gaussian_predict(g, (double[]){0.25}, &mean, &variance);
	/* K^-1 (1, -1) = (1, -1) / (a - b) */
	assert_float_equal(mean, (k0 - k1) / (a - b), 1e-12);
	assert_float_equal(variance, 1 - (a * k0 * k0 - 2 * b * k0 * k1 + a * k1 * k1) / det, 1e-12);
	/* What the strategy takes for the best: the mean at a point without asking for it. */
	gaussian_predict(g, (double[]){1}, &mean, &variance);
	assert_float_equal(mean, -1 - g->scales[2] * g->alpha[1], 1e-12);
	assert_true(mean > -0.95);
	assert_float_equal(g->log_likelihood, -(2 / (a - b) + log(det) + 2 * log(2 * M_PI)) / 2, 1e-12);
	gaussian_free(g);
}

/* Between two values the most likely mean is half way, and far from both that is what is expected. */
static void far_away_the_most_likely_mean_is_expected(void **state)
{
	(void)state;
	bool unordered = false;
	struct gaussian *g = gaussian_new(1, &unordered);
	g->theta[0] = 8;
	g->theta[1] = 0;
	g->theta[2] = log(0.1);
	/* Two points in one place and one far from it are two opinions, not three: with c = 1 + noise / 2 the mean is
	 * (1 / c) 5 and (1 / (1 + noise)) -1, weighed. */
	gaussian_set(g, (double[]){0, 0, 50}, (double[]){5, 5, -1}, 3);
	double noise = 0.1 + 1e-8, first = 1 / (1 + noise / 2), second = 1 / (1 + noise), mean, variance;
	gaussian_predict(g, (double[]){25}, &mean, &variance);
	assert_float_equal(mean, (5 * first - second) / (first + second), 1e-9);
	assert_float_equal(variance, 1, 1e-9);
	gaussian_free(g);
}

/* Points that were there before keep their rows; what is found must be what would be found at once. */
static void points_may_come_one_by_one(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 7);
	bool unordered[2] = {false, true};
	double x[80], y[40], mean, variance, same_mean, same_variance, probe[2] = {0.4, 1};
	for (int i = 0; i < 40; i++) {
		x[2 * i] = rng_unit(&rng);
		x[2 * i + 1] = (double)rng_below(&rng, 3);
		y[i] = rng_normal(&rng);
	}
	struct gaussian *kept = gaussian_new(2, unordered);
	for (size_t i = 1; i <= 40; i++) {
		if (i == 20) /* other parameters */
			kept->theta[0] = 2;
		if (i == 30) /* another point in between */
			x[20] = 0.123;
		gaussian_set(kept, x, y, i == 35 ? 15 : i); /* and fewer */
		struct gaussian *fresh = gaussian_new(2, unordered);
		memcpy(fresh->theta, kept->theta, 4 * sizeof(double));
		gaussian_set(fresh, x, y, kept->count);
		gaussian_predict(kept, probe, &mean, &variance);
		gaussian_predict(fresh, probe, &same_mean, &same_variance);
		assert_true(mean == same_mean && variance == same_variance);
		assert_true(kept->log_likelihood == fresh->log_likelihood);
		gaussian_free(fresh);
	}
	gaussian_free(kept);
}

/* With three points and an axis of categories: against elimination by hand in long double. */
static void categories_are_equal_or_one_apart(void **state)
{
	(void)state;
	bool unordered = true;
	struct gaussian *g = gaussian_new(1, &unordered);
	g->theta[0] = log(4);
	g->theta[1] = 0;
	g->theta[2] = -30;
	gaussian_set(g, (double[]){0.1, 0.9}, (double[]){1, -1}, 2);
	double mean, near, variance;
	gaussian_predict(g, (double[]){0.1}, &mean, &variance);
	assert_float_equal(mean, 1, 1e-4);
	gaussian_predict(g, (double[]){0.2}, &near, &variance);
	assert_float_equal(near, 0, 1e-9); /* as far from one as from the other */
	gaussian_free(g);
}

static void check_slope(struct gaussian *g, const double *y, int d)
{
	double at = g->theta[d], h = 1e-5, slope[5], other[5];
	gaussian_gradient(g, y, slope);
	g->theta[d] = at + h;
	double up = gaussian_gradient(g, y, other);
	g->theta[d] = at - h;
	double down = gaussian_gradient(g, y, other);
	g->theta[d] = at;
	assert_float_equal(slope[d], (up - down) / (2 * h), 1e-5 * (1 + fabs(slope[d])));
}

static void the_gradient_is_that_of_the_likelihood(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 1);
	bool unordered[3] = {true, true, false};
	double x[12 * 3], y[12];
	for (int i = 0; i < 12; i++) {
		for (int d = 0; d < 3; d++)
			x[i * 3 + d] = d < 2 ? (double)rng_below(&rng, 3) : rng_unit(&rng);
		y[i] = sin(5 * x[i * 3]) + x[i * 3 + 1] + 0.1 * rng_normal(&rng);
	}
	struct gaussian *g = gaussian_new(3, unordered);
	gaussian_set(g, x, y, 12);
	g->theta[2] = 0.7;
	for (int d = 0; d < 60; d++) {
		unordered[0] = unordered[1] = d < 30;
		unordered[2] = d >= 30;
		g->wide = d % 30 >= 5 && d % 30 < 20;
		g->brief = d % 30 >= 20;
		g->alike = d % 30 >= 10;
		g->share = d % 30 >= 15 && d % 30 < 25 ? 0.7 : 0;
		check_slope(g, y, d % 5);
	}
	gaussian_free(g);
}

/* The right scale is a tenth of the start: from there the slope leads to "all of it is noise". */
static void the_fit_starts_from_several_scales(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 3);
	bool unordered[1] = {false};
	double x[60], y[60], mean, variance;
	for (int i = 0; i < 60; i++) {
		x[i] = rng_unit(&rng);
		y[i] = sin(40 * x[i]);
	}
	struct gaussian *g = gaussian_new(1, unordered);
	gaussian_fit(g, x, y, 60);
	gaussian_fit_more(g, x, y, 60);
	gaussian_predict(g, (double[]){0.33}, &mean, &variance);
	assert_float_equal(mean, sin(40 * 0.33), 0.1);
	gaussian_free(g);
}

/* Where nothing is known of an axis, the wide prior expects it to matter less, and the less the more axes there are. */
static void the_wide_prior_has_longer_scales(void **state)
{
	(void)state;
	bool unordered[20] = {false};
	double x[40] = {0}, y[2] = {0, 0}, before = 0;
	for (int i = 0; i < 20; i++)
		x[20 + i] = 1;
	for (size_t dims = 2; dims <= 20; dims += 9) {
		struct gaussian *usual = gaussian_new(dims, unordered), *wide = gaussian_new(dims, unordered);
		wide->wide = true;
		gaussian_fit(usual, x, y, 2);
		gaussian_fit(wide, x, y, 2);
		assert_true(wide->theta[0] < usual->theta[0] - 2);
		assert_true(wide->theta[0] < before);
		before = wide->theta[0];
		gaussian_free(usual);
		gaussian_free(wide);
	}
}

/* Where nothing is known of an axis, a third of it. */
static void the_brief_prior_has_short_scales(void **state)
{
	(void)state;
	bool unordered[3] = {false, false, true};
	double x[6] = {0, 0, 0, 1, 1, 1}, y[2] = {0, 0};
	struct gaussian *g = gaussian_new(3, unordered);
	g->brief = true;
	gaussian_fit(g, x, y, 2);
	for (int d = 0; d < 3; d++)
		assert_float_equal(exp(-g->theta[d] / 2), 1.0 / 3, 0.02);
	gaussian_free(g);
}

/* With few results, axes differ in what is known of them by chance more than by what they do. The last axis is of the other
 * sort, and has a scale of its own. */
static void check_shared_scale(bool choices)
{
	struct rng rng;
	rng_seed(&rng, 4);
	bool unordered[9];
	for (int d = 0; d < 9; d++)
		unordered[d] = d < 8 ? choices : !choices;
	double x[12 * 9], y[12], spread[2], last[2];
	for (int i = 0; i < 12; i++) {
		for (int d = 0; d < 9; d++)
			x[i * 9 + d] = (double)rng_below(&rng, 2);
		y[i] = x[i * 9] + x[i * 9 + 1] - x[i * 9 + 2];
	}
	for (int k = 0; k < 2; k++) {
		struct gaussian *g = gaussian_new(9, unordered);
		double least = INFINITY, most = -INFINITY;
		g->wide = true;
		g->alike = k;
		gaussian_fit(g, x, y, 12);
		for (int d = 0; d < 8; d++) {
			least = fmin(least, g->theta[d]);
			most = fmax(most, g->theta[d]);
		}
		spread[k] = most - least;
		last[k] = fabs(g->theta[8] - least);
		gaussian_free(g);
	}
	print_message("# spread %g, alike %g; the last axis %g and %g\n", spread[0], spread[1], last[0], last[1]);
	assert_true(spread[1] < spread[0] / 2);
	assert_true(spread[1] > 0.1); /* about one scale, not exactly one */
}

static void axes_of_a_sort_share_what_is_known_of_their_scale(void **state)
{
	(void)state;
	check_shared_scale(true);
	check_shared_scale(false);
}

/* An axis without influence gets a long scale. */
static void the_fit_finds_which_axis_matters(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 2);
	bool unordered[2] = {false, false};
	double x[80], y[40];
	for (int i = 0; i < 40; i++) {
		x[2 * i] = rng_unit(&rng);
		x[2 * i + 1] = rng_unit(&rng);
		y[i] = sin(6 * x[2 * i]);
	}
	struct gaussian *g = gaussian_new(2, unordered);
	gaussian_fit(g, x, y, 40);
	assert_true(g->theta[0] > g->theta[1] + 2);
	double mean, variance;
	gaussian_predict(g, (double[]){0.33, 0.7}, &mean, &variance);
	assert_float_equal(mean, sin(6 * 0.33), 0.05);
	gaussian_free(g);
}

/* Computed values have no noise. A model that believes in a little of it stops improving at that. */
static void the_fit_finds_that_there_is_no_noise(void **state)
{
	(void)state;
	bool unordered = false;
	double x[30], y[30], mean, variance;
	for (int i = 0; i < 30; i++) {
		x[i] = (i + 0.5) / 30;
		y[i] = sin(6 * x[i]);
	}
	struct gaussian *g = gaussian_new(1, &unordered);
	gaussian_fit(g, x, y, 30);
	assert_true(g->scales[2] < 1e-6);
	gaussian_predict(g, (double[]){0.33}, &mean, &variance);
	assert_float_equal(mean, sin(6 * 0.33), 1e-5);
	gaussian_free(g);
}

/* A part of the points leads near, all of them lead the last steps. */
static void refining_goes_on_from_where_it_is(void **state)
{
	(void)state;
	bool unordered = false;
	double x[60], y[60], slope[3];
	for (int i = 0; i < 60; i++) {
		x[i] = fmod(i * 0.618034, 1);
		y[i] = sin(6 * x[i]) + (i % 2 ? 0.1 : -0.1);
	}
	struct gaussian *g = gaussian_new(1, &unordered), *whole = gaussian_new(1, &unordered);
	gaussian_fit(whole, x, y, 60);
	gaussian_fit(g, x, y, 6);
	gaussian_set(g, x, y, 60);
	double before = gaussian_gradient(g, y, slope);
	gaussian_refine(g, x, y, 60, 10);
	double after = gaussian_gradient(g, y, slope), best = gaussian_gradient(whole, y, slope);
	assert_true(before < best - 0.2);
	assert_float_equal(after, best, 0.1);
	gaussian_free(g);
	gaussian_free(whole);
}

/* log EI against its definition where that can be computed, and its known limit far out. */
static void the_improvement_is_stable(void **state)
{
	(void)state;
	for (double z = 4; z > -8; z -= 0.25) {
		long double phi = expl(-(long double)z * z / 2) / sqrtl(2 * M_PIl);
		long double Phi = erfcl(-(long double)z / sqrtl(2)) / 2;
		double want = (double)logl(phi + z * Phi);
		assert_float_equal(gaussian_log_improvement(1 - z, 1, 1), want, 1e-6);
		assert_float_equal(gaussian_log_improvement(2 - 3 * z, 9, 2), want + log(3), 1e-6);
	}
	double before = gaussian_log_improvement(7.9, 1, 0);
	for (double away = 8; away < 1e6; away *= 1.1) {
		double now = gaussian_log_improvement(away, 1, 0);
		assert_true(isfinite(now) && now < before);
		assert_float_equal(now, -away * away / 2 - log(2 * M_PI) / 2 - 2 * log(away),
				   4 / (away * away) + 1e-9 * away * away);
		before = now;
	}
}

/* Twelve points in three axes, one of them of categories. */
static struct gaussian *some_model(const bool *unordered, double share)
{
	struct rng rng;
	rng_seed(&rng, 5);
	double x[36], y[12];
	for (int i = 0; i < 12; i++) {
		x[3 * i] = rng_unit(&rng);
		x[3 * i + 1] = rng_unit(&rng);
		x[3 * i + 2] = (double)rng_below(&rng, 3);
		y[i] = rng_normal(&rng);
	}
	struct gaussian *g = gaussian_new(3, unordered);
	g->share = share;
	g->theta[0] = 1;
	g->theta[1] = 2;
	gaussian_set(g, x, y, 12);
	return g;
}

static void check_slopes_of_prediction(double share)
{
	bool unordered[3] = {false, false, true};
	struct gaussian *g = some_model(unordered, share);
	double x[3] = {0.3, 0.6, 1}, mean, variance, by_mean[3], by_variance[3], h = 1e-5;
	gaussian_predict_slopes(g, x, &mean, &variance, by_mean, by_variance);
	for (int d = 0; d < 2; d++) {
		double up, down, up_variance, down_variance, at = x[d];
		x[d] = at + h;
		gaussian_predict(g, x, &up, &up_variance);
		x[d] = at - h;
		gaussian_predict(g, x, &down, &down_variance);
		x[d] = at;
		assert_float_equal(by_mean[d], (up - down) / (2 * h), 1e-6);
		assert_float_equal(by_variance[d], (up_variance - down_variance) / (2 * h), 1e-6);
	}
	assert_true(by_mean[2] == 0 && by_variance[2] == 0);
	gaussian_free(g);
}

static void the_slopes_are_those_of_the_prediction(void **state)
{
	(void)state;
	check_slopes_of_prediction(0);
	check_slopes_of_prediction(0.8);
}

/* Results along two lines that cross; far from both, a sum of what was seen on each is expected. */
static void a_sum_over_the_axes_holds_far_from_results(void **state)
{
	(void)state;
	bool unordered[2] = {false, false};
	double x[44], y[22], means[2], variance, want = sin(7 * 0.15) + cos(9 * 0.85);
	for (int i = 0; i < 11; i++) {
		double at = i / 10.0;
		memcpy(x + 2 * i, (double[]){at, 0.5}, 2 * sizeof(double));
		memcpy(x + 22 + 2 * i, (double[]){0.5, at}, 2 * sizeof(double));
		y[i] = sin(7 * at) + cos(9 * 0.5);
		y[11 + i] = sin(7 * 0.5) + cos(9 * at);
	}
	for (int k = 0; k < 2; k++) {
		struct gaussian *g = gaussian_new(2, unordered);
		g->theta[0] = g->theta[1] = 3; /* a length of a fifth of the axis */
		g->theta[3] = -8;
		g->share = k;
		gaussian_set(g, x, y, 22);
		gaussian_predict(g, (double[]){0.15, 0.85}, &means[k], &variance);
		gaussian_free(g);
	}
	print_message("# wanted %g, product %g, sum %g\n", want, means[0], means[1]);
	assert_true(fabs(means[1] - want) < 0.15 && fabs(means[0] - want) > 0.5);
}

static void the_slopes_of_the_improvement_hold_far_out(void **state)
{
	(void)state;
	for (double mean = -3; mean < 40; mean += 0.7) {
		double by_mean, by_variance, h = 1e-5;
		gaussian_improvement_slopes(mean, 1.3, 0, &by_mean, &by_variance);
		double want = gaussian_log_improvement(mean + h, 1.3, 0) - gaussian_log_improvement(mean - h, 1.3, 0);
		assert_float_equal(by_mean, want / (2 * h), 2e-3 * fabs(by_mean));
		want = gaussian_log_improvement(mean, 1.3 + h, 0) - gaussian_log_improvement(mean, 1.3 - h, 0);
		assert_float_equal(by_variance, want / (2 * h), 2e-3 * by_variance + 1e-6);
	}
}

static void the_quick_variance_is_never_too_small(void **state)
{
	(void)state;
	bool unordered[3] = {false, false, true};
	struct gaussian *g = some_model(unordered, 0.5);
	struct rng rng;
	rng_seed(&rng, 6);
	for (int i = 0; i < 1000; i++) {
		double x[3] = {rng_unit(&rng), rng_unit(&rng), (double)rng_below(&rng, 4)}, mean, same, variance, most;
		gaussian_predict(g, x, &mean, &variance);
		gaussian_predict_quickly(g, x, &same, &most);
		assert_true(same == mean && most >= variance - 1e-12);
		assert_float_equal(gaussian_variance(g), variance, 1e-15);
	}
	gaussian_free(g);
}

static void a_promise_is_the_improvement_or_not_worth_while(void **state)
{
	(void)state;
	bool unordered[3] = {false, false, true};
	struct gaussian *g = some_model(unordered, 0);
	struct rng rng;
	rng_seed(&rng, 8);
	int spared = 0;
	for (int i = 0; i < 1000; i++) {
		double x[3] = {rng_unit(&rng), rng_unit(&rng), (double)rng_below(&rng, 4)}, mean, variance;
		double least = -4 * rng_unit(&rng);
		gaussian_predict(g, x, &mean, &variance);
		double want = gaussian_log_improvement(mean, variance, -0.5), got = gaussian_promise(g, x, -0.5, least);
		assert_true(gaussian_promise(g, x, -0.5, -INFINITY) == want);
		assert_true(want > least ? got == want : got == -INFINITY);
		spared += got == -INFINITY;
	}
	assert_true(spared > 100 && spared < 900);
	gaussian_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exponential_is_that_of_the_library),
		cmocka_unit_test(the_posterior_of_two_points_is_the_one_by_hand),
		cmocka_unit_test(far_away_the_most_likely_mean_is_expected),
		cmocka_unit_test(points_may_come_one_by_one),
		cmocka_unit_test(categories_are_equal_or_one_apart),
		cmocka_unit_test(the_gradient_is_that_of_the_likelihood),
		cmocka_unit_test(the_fit_finds_which_axis_matters),
		cmocka_unit_test(the_fit_finds_that_there_is_no_noise),
		cmocka_unit_test(the_fit_starts_from_several_scales),
		cmocka_unit_test(the_wide_prior_has_longer_scales),
		cmocka_unit_test(the_brief_prior_has_short_scales),
		cmocka_unit_test(axes_of_a_sort_share_what_is_known_of_their_scale),
		cmocka_unit_test(refining_goes_on_from_where_it_is),
		cmocka_unit_test(the_improvement_is_stable),
		cmocka_unit_test(the_slopes_are_those_of_the_prediction),
		cmocka_unit_test(a_sum_over_the_axes_holds_far_from_results),
		cmocka_unit_test(the_slopes_of_the_improvement_hold_far_out),
		cmocka_unit_test(the_quick_variance_is_never_too_small),
		cmocka_unit_test(a_promise_is_the_improvement_or_not_worth_while),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
