/* What the strategy makes of the Gaussian process: where it looks, and what it learns from. */
#include "drive.h"
#include "search/gp_internal.h"

/* A half of the square fails. */
static struct feasible *half_that_fails(const bool *unordered)
{
	double x[80], labels[40];
	for (int i = 0; i < 40; i++) {
		x[2 * i] = fmod(i * 0.618034, 1);
		x[2 * i + 1] = fmod(i * 0.754878, 1);
		labels[i] = x[2 * i] < 0.5 ? 1 : -1;
	}
	struct feasible *f = feasible_new(2, unordered, FEASIBLE_FAILURES);
	feasible_fit(f, x, labels, 40);
	feasible_set(f, x, labels, 40);
	return f;
}

static void a_region_that_fails_is_learnt(void **state)
{
	(void)state;
	bool unordered[2] = {false, false};
	struct feasible *f = half_that_fails(unordered);
	assert_true(feasible_log_weight(f, (double[]){0.2, 0.5}) > 2 * log(0.95));
	assert_true(feasible_log_weight(f, (double[]){0.8, 0.5}) < 2 * log(0.05));
	for (double at = 0.05; at < 1; at += 0.1) {
		double slopes[2] = {0, 0}, point[2] = {at, 0.3}, h = 1e-5;
		assert_true(feasible_add_slopes(f, point, slopes) == feasible_log_weight(f, point));
		for (int d = 0; d < 2; d++) {
			double up[2] = {point[0] + h * !d, point[1] + h * d};
			double down[2] = {point[0] - h * !d, point[1] - h * d};
			double want = (feasible_log_weight(f, up) - feasible_log_weight(f, down)) / (2 * h);
			assert_float_equal(slopes[d], want, 1e-4 * (1 + fabs(want)));
		}
	}
	feasible_free(f);
}

static void where_nothing_failed_every_weight_is_one(void **state)
{
	(void)state;
	bool unordered[2] = {false, false};
	struct feasible *f = half_that_fails(unordered);
	double x[4] = {0.1, 0.2, 0.8, 0.9}, labels[2] = {1, 1}, slopes[2] = {3, 4};
	feasible_set(f, x, labels, 2);
	assert_true(feasible_log_weight(f, x) == 0 && feasible_add_slopes(f, x, slopes) == 0 && slopes[0] == 3);
	feasible_free(f);
}

/* The best lies in the middle of what does not fail, a tenth of the space. How many of the last tasks fail? */
static void it_learns_to_stay_where_tasks_finish(void **state)
{
	(void)state;
	struct space *space = drive_space(
		"a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nc: {min: 0.0, max: 1.0}\n");
	int failed = 0;
	for (int seed = 0; seed < 3; seed++) {
		char text[100];
		snprintf(text, sizeof(text), "{strategy: gp, tasks: 40, seed: %d}", seed);
		struct search_spec *spec = drive_spec(text, NULL, space, 1);
		struct drive d;
		drive_begin(&d, spec, space, 1, false);
		for (int i = 1; i <= 40; i++) {
			drive_ask(&d, i);
			double a = d.values[0].real, b = d.values[1].real, c = d.values[2].real;
			double value = (a - 0.2) * (a - 0.2) + (b - 0.3) * (b - 0.3) + fabs(c - 0.4);
			bool fails = a + b > 0.8 || c > 0.6 || c < 0.2;
			failed += fails && i > 20;
			search_tell(d.search, i, fails ? SEARCH_FAILED : SEARCH_FINISHED, &value);
		}
		drive_end(&d);
		search_spec_free(spec);
	}
	print_message("# %d of 60 failed\n", failed);
	assert_true(failed <= 15); /* 87 % of the space fails */
	space_free(space);
}

/* Failures are no values, but they end the start, or it would take most of the budget. */
static void failures_count_towards_the_start(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\n");
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 100, seed: 1}", NULL, space, 1);
	struct drive d;
	drive_begin(&d, spec, space, 1, false);
	for (int i = 1; i <= 10; i++) {
		struct buf b = buf_make(BUF_UNLIMITED);
		struct json out = json_to(&b);
		drive_ask(&d, i);
		assert_true(i > 1 || (d.values[0].real == 0.5 && d.values[1].real == 0.5));
		double value = d.values[0].real;
		search_tell(d.search, i, i % 4 ? SEARCH_FAILED : SEARCH_FINISHED, &value);
		search_write_state(d.search, &out);
		assert_true(!strstr(buf_text(&b), i < 10 ? "\"model\"" : "\"Sobol\""));
		buf_free(&b);
	}
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

/* A tenth of the tasks, at least 3 and at most 10; the user's own defaults come first. */
static void the_start_is_short_where_tasks_are_few(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: 0.0, max: 1.0, default: 0.25}\nb: {min: 0.0, max: 1.0}\n");
	static const unsigned cases[][2] = {{8, 3}, {30, 3}, {70, 7}, {100, 10}, {5000, 10}};
	for (size_t k = 0; k < COUNT_OF(cases); k++) {
		char text[100];
		snprintf(text, sizeof(text), "{strategy: gp, tasks: %u, seed: 1}", cases[k][0]);
		struct search_spec *spec = drive_spec(text, NULL, space, 1);
		struct drive d;
		drive_begin(&d, spec, space, 1, false);
		unsigned told = 0;
		for (bool starts = true; starts;) {
			struct buf b = buf_make(BUF_UNLIMITED);
			struct json out = json_to(&b);
			drive_ask(&d, ++told);
			assert_true(told > 1 || d.values[0].real == 0.25);
			double value = d.values[0].real;
			search_tell(d.search, told, SEARCH_FINISHED, &value);
			search_write_state(d.search, &out);
			starts = strstr(buf_text(&b), "\"Sobol\"");
			buf_free(&b);
		}
		assert_int_equal(told, cases[k][1]);
		drive_end(&d);
		search_spec_free(spec);
	}
	space_free(space);
}

/* Whether it says so about itself after 30 results at even points, whose values span decades or do not. */
static bool bends(bool decades)
{
	struct space *space = drive_space("a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\n");
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 30, seed: 1}", NULL, space, 1);
	struct drive d;
	drive_begin(&d, spec, space, 1, false);
	for (int i = 1; i <= 30; i++) {
		space_decode(space, (double[]){fmod(i * 0.618034, 1), fmod(i * 0.754878, 1)}, d.values);
		double value = d.values[0].real + d.values[1].real;
		value = decades ? exp(5 * value) : value;
		search_add(d.search, i, d.values, NAN, false);
		search_tell(d.search, i, SEARCH_FINISHED, &value);
	}
	drive_ask(&d, 31);
	struct buf b = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&b);
	search_write_state(d.search, &out);
	bool bent = strstr(buf_text(&b), "\"bent\"");
	buf_free(&b);
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
	return bent;
}

static void values_are_bent_where_that_explains_them(void **state)
{
	(void)state;
	assert_true(bends(true));
	assert_false(bends(false));
}

/* With noise even a point that was tried may promise an improvement. When that was the best of all, it was refused
 * again and again, and chance chose in the end. */
static void what_was_tried_is_not_proposed_again(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: 0, max: 9}\nb: {min: 0, max: 9}\n");
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 90, seed: 3}", NULL, space, 1);
	struct drive d;
	drive_begin(&d, spec, space, 1, false);
	for (int i = 1; i <= 90; i++) {
		drive_ask(&d, i);
		double a = (double)d.values[0].integer - 3, b = (double)d.values[1].integer - 7;
		double value = a * a + b * b + (i % 2 ? 3 : -3);
		assert_true(i <= 10 || d.search->trials.at[i - 1]->redraw == 0);
		search_tell(d.search, i, SEARCH_FINISHED, &value);
	}
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

/* A table looked up at the nearest cell: 2 x 100 cells over two real parameters.
 * How many cells are tried with 80 tasks? */
static void where_values_repeat_it_goes_elsewhere(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nk: [ca, cb]\n");
	size_t tried = 0;
	for (int seed = 0; seed < 3; seed++) {
		char text[100];
		bool cells[2][10][10] = {0};
		snprintf(text, sizeof(text), "{strategy: gp, tasks: 80, startup: 10, seed: %d}", seed);
		struct search_spec *spec = drive_spec(text, NULL, space, 1);
		struct drive d;
		drive_begin(&d, spec, space, 1, false);
		for (int i = 1; i <= 80; i++) {
			drive_ask(&d, i);
			size_t a = (size_t)fmin(d.values[0].real * 10, 9), b = (size_t)fmin(d.values[1].real * 10, 9);
			double value = fabs((double)a - 6) + fabs((double)b - 3) +
				2 * (double)(d.search->trials.at[i - 1]->unit[2] > 0.5);
			cells[d.search->trials.at[i - 1]->unit[2] > 0.5][a][b] = true;
			search_tell(d.search, i, SEARCH_FINISHED, &value);
		}
		for (size_t i = 0; i < 200; i++)
			tried += cells[i / 100][i / 10 % 10][i % 10];
		drive_end(&d);
		search_spec_free(spec);
	}
	print_message("# %zu cells with 240 tasks\n", tried);
	assert_true(tried >= 120); /* 102 with a model that does not know of steps */
	space_free(space);
}

/* Results that somebody else found. */
static void add_result(struct drive *d, int id, double at, double score)
{
	struct space_value value = {.kind = SPACE_VALUE_REAL, .real = at};
	search_add(d->search, id, &value, NAN, false);
	search_tell(d->search, id, SEARCH_FINISHED, &score);
}

/* With more results than it looks at, it knew the best of them and none of the newest, and went where they are. */
static void the_newest_results_are_seen_too(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: 0.0, max: 1.0}\n");
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 1000, seed: 1}", NULL, space, 1);
	struct drive d;
	drive_begin(&d, spec, space, 1, false);
	for (int i = 1; i <= 320; i++) {
		double at = fmod(i * 0.618034, 0.5);
		add_result(&d, i, at, 1 + at * sin(40 * at));
	}
	for (int i = 321; i <= 420; i++)
		add_result(&d, i, 0.5 + fmod(i * 0.618034, 0.5), 3);
	for (int i = 421; i <= 424; i++) {
		drive_ask(&d, i);
		assert_true(d.values[0].real < 0.5);
	}
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

/* Beyond the results that the parameters are found from at first: a replay finds only the last ones. */
static void a_replay_of_many_results_proposes_the_same(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: 0.0, max: 1.0}\n");
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 1000, seed: 1}", NULL, space, 1);
	struct drive d, r;
	drive_begin(&d, spec, space, 1, false);
	drive_begin(&r, spec, space, 1, false);
	for (int i = 1; i <= 116; i++) {
		double at = fmod(i * 0.618034, 1), score = sin(7 * at) + sin(31 * at);
		add_result(&d, i, at, score);
		add_result(&r, i, at, score);
	}
	for (int i = 117; i <= 140; i++) {
		struct drive_event e = drive_ask(&d, i);
		double score = sin(7 * d.values[0].real) + sin(31 * d.values[0].real);
		if (i <= 136) {
			e.proposed = d.values;
			drive_recall(&r, &e);
		} else {
			assert_true(drive_ask(&r, i).hash == e.hash);
		}
		search_tell(d.search, i, SEARCH_FINISHED, &score);
		search_tell(r.search, i, SEARCH_FINISHED, &score);
	}
	drive_end(&d);
	drive_end(&r);
	search_spec_free(spec);
	space_free(space);
}

/* Up to 300 results every proposal is the model's; then a half, a third, a quarter, ... */
static void the_model_is_asked_less_often_the_more_is_known(void **state)
{
	(void)state;
	static const struct {
		size_t results, models;
		bool fidelity;
	} cases[] = {{0, 660, false},   {300, 660, false}, {301, 330, false}, {599, 330, false},
		     {600, 220, false}, {2999, 66, false}, {3000, 60, false}, {3000, 660, true}};
	for (size_t k = 0; k < COUNT_OF(cases); k++) {
		struct gp g = {.results = cases[k].results, .fidelity = cases[k].fidelity};
		size_t models = 0;
		for (size_t i = 0; i < 660; i++)
			models += !gp_varies(&g, &(struct search_trial){.index = i});
		assert_int_equal(models, cases[k].models);
	}
}

#define MIXED_SPACE                                                                                                    \
	"a: {min: 0.0, max: 1.0}\nb: {min: 1e-4, max: 1.0, scale: log}\nn: {min: 0, max: 99}\nk: [ca, cb, cc]\n"       \
	"m: {min: 0.0, max: 0.9, when: {k: cb}}\n"

static double mixed_value(const struct space_value *v)
{
	double away = v[0].real - 0.3, rate = log10(v[1].real) + 2;
	return away * away + rate * rate + 1e-3 * fabs((double)v[2].integer - 40) + (v[3].text[1] != 'b') +
		(v[4].kind == SPACE_VALUE_REAL ? 0.1 * v[4].real : 0);
}

/* Results of random configurations; where there is a second objective, it is the first parameter. */
static void add_random_results(struct drive *d, int count)
{
	double *unit = mem_array(d->space->dim_count + 1, sizeof(double));
	struct rng rng;
	rng_seed(&rng, 9);
	for (int i = 1; i <= count; i++) {
		for (size_t k = 0; k < d->space->dim_count; k++)
			unit[k] = rng_unit(&rng);
		space_decode(d->space, unit, d->values);
		double values[2] = {mixed_value(d->values), d->values[0].real};
		search_add(d->search, i, d->values, NAN, false);
		search_tell(d->search, i, SEARCH_FINISHED, values);
	}
	free(unit);
}

/* With one and with two objectives, categories and a condition, and many more results than the model sees: what is
 * proposed is allowed and new, and a replay that takes most proposals from their record makes the same of the rest. */
static void beyond_what_the_model_sees_proposals_are_allowed_and_replayed(void **state)
{
	(void)state;
	struct space *space = drive_space(MIXED_SPACE);
	for (size_t objectives = 1; objectives <= 2; objectives++) {
		struct search_spec *spec = drive_spec("{strategy: gp, tasks: 100000, parallel: 4, seed: 5}", NULL,
						      space, objectives);
		struct drive d, r;
		uint64_t seen[60];
		int varied = 0;
		drive_begin(&d, spec, space, 1, false);
		drive_begin(&r, spec, space, 1, false);
		add_random_results(&d, 3400);
		add_random_results(&r, 3400);
		for (int i = 0; i < 60; i++) {
			struct drive_event e = drive_ask(&d, 3401 + i);
			const struct search_trial *t = d.search->trials.at[3400 + i];
			assert_true(space_allows(space, d.values));
			for (size_t k = 0; k < space->dim_count; k++)
				assert_true(t->unit[k] >= 0 && t->unit[k] <= 1);
			for (int k = 0; k < i; k++)
				assert_true(seen[k] != e.hash);
			seen[i] = e.hash;
			varied += t->index % 12 != 0;
			double values[2] = {mixed_value(d.values), d.values[0].real};
			if (i < 50) {
				e.proposed = d.values;
				drive_recall(&r, &e);
			} else {
				assert_true(drive_ask(&r, 3401 + i).hash == e.hash);
			}
			search_tell(d.search, 3401 + i, i % 7 ? SEARCH_FINISHED : SEARCH_FAILED, values);
			search_tell(r.search, 3401 + i, i % 7 ? SEARCH_FINISHED : SEARCH_FAILED, values);
		}
		assert_true(varied >= 54);
		drive_end(&d);
		drive_end(&r);
		search_spec_free(spec);
	}
	space_free(space);
}

/* What the budget is does not matter for what is proposed at a point: 3,000 results are no edge. */
static void a_larger_budget_proposes_the_same(void **state)
{
	(void)state;
	struct space *space = drive_space(MIXED_SPACE);
	uint64_t hashes[2][14];
	for (int k = 0; k < 2; k++) {
		struct search_spec *spec = drive_spec(k ? "{tasks: 100000, parallel: 4, seed: 5}"
							: "{tasks: 3000, parallel: 4, seed: 5}",
						      NULL, space, 1);
		struct drive d;
		drive_begin(&d, spec, space, 1, false);
		add_random_results(&d, 320);
		for (int i = 0; i < 14; i++) {
			hashes[k][i] = drive_ask(&d, 321 + i).hash;
			double value = mixed_value(d.values);
			search_tell(d.search, 321 + i, SEARCH_FINISHED, &value);
		}
		drive_end(&d);
		search_spec_free(spec);
	}
	assert_memory_equal(hashes[0], hashes[1], sizeof(hashes[0]));
	space_free(space);
}

/* A narrow curved valley, after 3,400 even points. The model alone reaches 6e-6. */
static void good_results_are_refined_to_many_digits(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: -2.0, max: 2.0}\nb: {min: -1.0, max: 3.0}\n");
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 100000, seed: 5}", NULL, space, 1);
	struct drive d;
	double best = INFINITY;
	drive_begin(&d, spec, space, 1, false);
	for (int i = 1; i <= 3800; i++) {
		if (i > 3400) {
			drive_ask(&d, i);
		} else {
			space_decode(space, (double[]){fmod(i * 0.618034, 1), fmod(i * 0.754878, 1)}, d.values);
			search_add(d.search, i, d.values, NAN, false);
		}
		double a = d.values[0].real, b = d.values[1].real;
		double value = 100 * (b - a * a) * (b - a * a) + (1 - a) * (1 - a);
		best = fmin(best, value);
		search_tell(d.search, i, SEARCH_FINISHED, &value);
	}
	print_message("# best %g\n", best);
	assert_true(best < 1e-9);
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

static void it_needs_few_tasks_on_a_smooth_function(void **state)
{
	(void)state;
	struct space *space = drive_space(
		"a: {min: -5.0, max: 5.0}\nb: {min: 1e-3, max: 10.0, scale: log}\nk: [ca, cb, cc]\n"
		"n: {min: 0, max: 9}\n");
	int solved = 0;
	for (int seed = 0; seed < 4; seed++) {
		char text[100];
		snprintf(text, sizeof(text), "{strategy: gp, tasks: 45, seed: %d}", seed);
		struct search_spec *spec = drive_spec(text, NULL, space, 1);
		struct drive d;
		drive_begin(&d, spec, space, 1, false);
		double best = INFINITY;
		for (int i = 1; i <= 45; i++) {
			drive_ask(&d, i);
			double value = drive_objective(space, d.values);
			best = fmin(best, value);
			search_tell(d.search, i, i % 13 ? SEARCH_FINISHED : SEARCH_FAILED, &value);
		}
		print_message("# best %g\n", best);
		solved += best < 0.3; /* 0.09 is the least; 45 random draws give about 3 */
		drive_end(&d);
		search_spec_free(spec);
	}
	assert_true(solved >= 3);
	space_free(space);
}

/* Two bowls, a and its distance from 0 against 1: all of the line between is best for somebody. Where do 40 tasks
 * go, after the start? */
static void several_objectives_are_weighed_in_turn(void **state)
{
	(void)state;
	struct space *space = drive_space(
		"a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nc: {min: 0.0, max: 1.0}\n");
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 40, seed: 1}", NULL, space, 2);
	struct drive d;
	drive_begin(&d, spec, space, 1, false);
	int near = 0, thirds[3] = {0};
	for (int i = 1; i <= 40; i++) {
		drive_ask(&d, i);
		double a = d.values[0].real, away = fabs(d.values[1].real - 0.7) + fabs(d.values[2].real - 0.2);
		double values[2] = {a * a + away, (1 - a) * (1 - a) + away};
		search_tell(d.search, i, SEARCH_FINISHED, values);
		if (i > 15 && away < 0.1) {
			near++;
			thirds[(int)fmin(a * 3, 2)]++;
		}
	}
	print_message("# %d near the front: %d, %d, %d\n", near, thirds[0], thirds[1], thirds[2]);
	assert_true(near >= 13 && thirds[0] >= 2 && thirds[1] >= 2 && thirds[2] >= 2);
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

/* What an ask after so many results fits with. */
static void assert_priors(const struct gp *g, bool choices, bool cells)
{
	for (size_t k = 0; k < COUNT_OF(g->models); k++) {
		assert_int_equal(g->models[k]->alike, choices || cells);
		assert_int_equal(g->models[k]->wide, choices);
		assert_int_equal(g->models[k]->brief, cells);
	}
	assert_true(g->sums->brief == cells && g->sums->alike == cells && g->wide->alike == cells);
}

/* Lists of numbers are ordered unless the user says that they are labels. Parameters with one value do not count. */
static void where_parameters_are_all_of_a_sort_one_scale_is_learnt_first(void **state)
{
	(void)state;
	static const struct {
		const char *space;
		size_t objectives;
		bool choices, cells;
	} cases[] = {
		{"a: [x, y]\nb: [true, false]\nc: [p, q, r, s]\n", 1, true, false},
		{"a: [x, y]\nb: [p, q, r]\nc: [true, false]\nd: {min: 0.0, max: 1.0}\n", 1, false, false},
		{"a: [x, y, z, u]\nb: [p, q, r, s]\nd: {value: 0.5}\n", 1, true, false},
		{"a: [1, 2, 4, 8]\nb: [16, 32, 64, 128]\n", 1, false, true},
		{"a: {min: 1, max: 9}\nb: {min: 0.0, max: 1.0, step: 0.1}\nc: {value: x}\n", 1, false, true},
		{"a: {min: 1, max: 9}\nb: [x, y]\n", 1, false, false},
		{"a: {min: 1, max: 9}\nb: [16, 32, 64]\n", 2, false, false},
		{"a: {values: [1, 2, 4, 8], categorical: true}\nb: {values: [5, 6, 7, 8, 9], categorical: true}\n", 1,
		 true, false},
		{"a: [x, y]\nb: [true, false]\nc: [p, q, r, s]\n", 2, false, false},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct space *space = drive_space(cases[i].space);
		struct search_spec *spec = drive_spec("{strategy: gp, tasks: 30}", NULL, space, cases[i].objectives);
		struct drive d;
		drive_begin(&d, spec, space, 1, false);
		const struct gp *g = d.search->state;
		assert_int_equal(g->choices, cases[i].choices);
		assert_int_equal(g->cells, cases[i].cells);
		/* Six at once: a prior for numbers with steps is for when there are as many results as tasks that run. */
		for (int id = 1; id <= 14; id++) {
			double values[2] = {sin(id), cos(id)};
			drive_ask(&d, id);
			assert_int_equal(d.last, SEARCH_PROPOSED);
			assert_priors(g, cases[i].choices, cases[i].cells && id > 10);
			if (id > 5)
				search_tell(d.search, id - 5, SEARCH_FINISHED, values);
		}
		drive_end(&d);
		search_spec_free(spec);
		space_free(space);
	}
}

/* Numbers with steps, or choices: two to six of them, each with two to nine values. */
static struct space *space_of_a_sort(struct rng *rng, bool choices)
{
	struct buf b = buf_make(BUF_UNLIMITED);
	size_t count = 2 + rng_below(rng, 5);
	for (size_t d = 0; d < count; d++) {
		int most = 1 + (int)rng_below(rng, 8);
		if (!choices && rng_below(rng, 2)) {
			buf_addf(&b, "p%zu: {min: 0, max: %d}\n", d, most);
			continue;
		}
		buf_addf(&b, "p%zu: [", d);
		for (int k = 0; k <= most; k++)
			buf_addf(&b, choices ? "%sv%d" : "%s%d", k ? ", " : "", choices ? k : k * k);
		buf_addf(&b, "]\n");
	}
	char *text = buf_take(&b);
	struct space *space = drive_space(text);
	free(text);
	return space;
}

static double value_of_a_sort(const struct space *space, const struct space_value *values, double noise)
{
	double sum = noise;
	for (size_t d = 0; d < space->count; d++)
		sum += values[d].text ? values[d].text[1] % 5 : values[d].real * (double)(d % 3);
	return sum;
}

/* Four at once, with noise and failures. The second search takes most proposals from their record, as a replay does. */
static void check_a_sort(struct rng *rng, bool choices)
{
	struct space *space = space_of_a_sort(rng, choices);
	uint64_t all = space_count(space, 1000), seen[40];
	int tasks = all < 40 ? (int)all : 40;
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 40, parallel: 4, seed: 3}", NULL, space, 1);
	struct drive d, r;
	drive_begin(&d, spec, space, 1, false);
	drive_begin(&r, spec, space, 1, false);
	double values[41];
	for (int i = 1; i <= tasks; i++) {
		struct drive_event e = drive_ask(&d, i);
		assert_int_equal(d.last, SEARCH_PROPOSED);
		assert_true(space_allows(space, d.values));
		for (int k = 0; k < i - 1; k++)
			assert_true(seen[k] != e.hash);
		seen[i - 1] = e.hash;
		values[i] = value_of_a_sort(space, d.values, rng_normal(rng));
		if (i % 5) {
			e.proposed = d.values;
			drive_recall(&r, &e);
		} else {
			assert_true(drive_ask(&r, i).hash == e.hash);
		}
		if (i < 4)
			continue;
		enum search_outcome outcome = i % 7 ? SEARCH_FINISHED : SEARCH_FAILED;
		search_tell(d.search, i - 3, outcome, &values[i - 3]);
		search_tell(r.search, i - 3, outcome, &values[i - 3]);
	}
	drive_end(&d);
	drive_end(&r);
	search_spec_free(spec);
	space_free(space);
}

static void spaces_of_a_sort_are_searched_and_replayed(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 9);
	for (int i = 0; i < 12; i++)
		check_a_sort(&rng, i % 2);
}

/* Choices are sought that promise more than a little below the best; with numbers, anything below it is a gain. */
static void choices_are_sought_well_below_the_best(void **state)
{
	(void)state;
	static const char *const spaces[] = {"a: [v0, v1, v2]\nb: [v0, v1, v2]\nc: [v0, v1, v2]\n",
					     "a: [0, 1, 2]\nb: [0, 1, 2]\nc: [0, 1, 2]\n"};
	for (size_t k = 0; k < COUNT_OF(spaces); k++) {
		struct space *space = drive_space(spaces[k]);
		struct search_spec *spec = drive_spec("{strategy: gp, tasks: 20, seed: 1}", NULL, space, 1);
		struct drive d;
		drive_begin(&d, spec, space, 1, false);
		for (int i = 1; i <= 12; i++) {
			drive_ask(&d, i);
			double value = value_of_a_sort(space, d.values, 0.1 * i);
			if (i < 12)
				search_tell(d.search, i, SEARCH_FINISHED, &value);
		}
		const struct gp *g = d.search->state;
		double least = INFINITY;
		for (size_t i = 0; i < g->model->count; i++) {
			double mean, variance;
			gaussian_predict(g->model, g->model->x + i * g->dims, &mean, &variance);
			least = fmin(least, mean);
		}
		assert_float_equal(least - g->best, k ? 0 : 0.1, 1e-6);
		drive_end(&d);
		search_spec_free(spec);
		space_free(space);
	}
}

/* What the state says after 60 results of a function of three numbers. */
static void assert_kernel(double (*function)(const struct space_value *), const char *kernel)
{
	struct space *space = drive_space(
		"a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nc: {min: 0.0, max: 1.0}\n");
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 100, seed: 1}", NULL, space, 1);
	struct buf b = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&b);
	struct drive d;
	drive_begin(&d, spec, space, 1, false);
	for (int i = 1; i <= 61; i++) {
		drive_ask(&d, i);
		double value = function(d.values);
		search_tell(d.search, i, SEARCH_FINISHED, &value);
	}
	search_write_state(d.search, &out);
	assert_non_null(strstr(buf_text(&b), kernel));
	buf_free(&b);
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

static double sum_of_waves(const struct space_value *v)
{
	return sin(15 * v[0].real) + cos(11 * v[1].real) + sin(13 * v[2].real + 1);
}

static double wave_across(const struct space_value *v)
{
	return sin(5 * (v[0].real + v[1].real - v[2].real));
}

static void a_sum_over_the_axes_is_taken_where_it_is_more_likely(void **state)
{
	(void)state;
	assert_kernel(sum_of_waves, "mostly a sum");
	assert_kernel(wave_across, "product");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_region_that_fails_is_learnt),
		cmocka_unit_test(where_nothing_failed_every_weight_is_one),
		cmocka_unit_test(it_learns_to_stay_where_tasks_finish),
		cmocka_unit_test(failures_count_towards_the_start),
		cmocka_unit_test(the_start_is_short_where_tasks_are_few),
		cmocka_unit_test(values_are_bent_where_that_explains_them),
		cmocka_unit_test(what_was_tried_is_not_proposed_again),
		cmocka_unit_test(where_values_repeat_it_goes_elsewhere),
		cmocka_unit_test(the_newest_results_are_seen_too),
		cmocka_unit_test(a_replay_of_many_results_proposes_the_same),
		cmocka_unit_test(the_model_is_asked_less_often_the_more_is_known),
		cmocka_unit_test(beyond_what_the_model_sees_proposals_are_allowed_and_replayed),
		cmocka_unit_test(a_larger_budget_proposes_the_same),
		cmocka_unit_test(good_results_are_refined_to_many_digits),
		cmocka_unit_test(several_objectives_are_weighed_in_turn),
		cmocka_unit_test(where_parameters_are_all_of_a_sort_one_scale_is_learnt_first),
		cmocka_unit_test(spaces_of_a_sort_are_searched_and_replayed),
		cmocka_unit_test(choices_are_sought_well_below_the_best),
		cmocka_unit_test(a_sum_over_the_axes_is_taken_where_it_is_more_likely),
		cmocka_unit_test(it_needs_few_tasks_on_a_smooth_function),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
