/* The evolutionary strategies: what can be computed by hand, and that they find what random search does
 * not. How well they reproduce published results is for bench/search-verify. */
#include "drive.h"
#include "search/evolve.h"
#include "search/front.h"

static void near(double a, double b)
{
	if (!(fabs(a - b) <= 1e-12 * (1 + fabs(b))))
		print_message("# %.17g is not %.17g\n", a, b);
	assert_true(fabs(a - b) <= 1e-12 * (1 + fabs(b)));
}

/* F .5 and .8, CR .2 and .6, gains 1 and 3: weights 1/4 and 3/4. */
static void succeed(struct evolve_memory *m)
{
	evolve_memory_add(m, 0.5, 0.2, 1);
	evolve_memory_add(m, 0.8, 0.6, 3);
	evolve_memory_update(m);
}

static void memories_are_weighted_means_of_the_successes(void **state)
{
	(void)state;
	struct evolve_memory m = {0};
	evolve_memory_open(&m, 2, 0.5, 0.5);
	succeed(&m);
	near(m.F[0], 0.5425 / 0.725); /* Lehmer */
	near(m.CR[0], 0.5); /* arithmetic, in SHADE */
	near(m.F[1], 0.5);
	assert_int_equal(m.next, 1);
	m.lehmer_CR = true; /* L-SHADE */
	succeed(&m);
	near(m.CR[1], 0.28 / 0.5);
	assert_int_equal(m.next, 0);
	evolve_memory_update(&m); /* no success: nothing moves */
	assert_int_equal(m.next, 0);
	near(m.F[0], 0.5425 / 0.725);
	evolve_memory_free(&m);
}

static void jso_takes_the_middle_of_old_and_new(void **state)
{
	(void)state;
	struct evolve_memory m = {.lehmer_CR = true, .terminal = true, .halve = true};
	evolve_memory_open(&m, 5, 0.3, 0.8);
	succeed(&m);
	near(m.F[0], (0.3 + 0.5425 / 0.725) / 2);
	near(m.CR[0], (0.8 + 0.56) / 2);
	evolve_memory_free(&m);
}

static void a_terminal_crossover_rate_stays(void **state)
{
	(void)state;
	struct evolve_memory m = {.lehmer_CR = true, .terminal = true};
	evolve_memory_open(&m, 1, 0.5, 0.5);
	evolve_memory_add(&m, 0.5, 0, 1);
	evolve_memory_update(&m);
	assert_true(m.CR[0] == -1);
	succeed(&m);
	assert_true(m.CR[0] == -1);
	near(m.F[0], 0.5425 / 0.725);
	evolve_memory_free(&m);
}

static void gains_of_nothing_and_of_infinity_do_no_harm(void **state)
{
	(void)state;
	struct evolve_memory m = {0};
	evolve_memory_open(&m, 1, 0.5, 0.5);
	evolve_memory_add(&m, 0.4, 0.2, 0);
	evolve_memory_add(&m, 0.4, 0.6, 0);
	evolve_memory_update(&m);
	near(m.F[0], 0.4);
	near(m.CR[0], 0.4);
	evolve_memory_add(&m, 0.5, 0.2, INFINITY); /* its parent had failed: as much as the largest */
	evolve_memory_add(&m, 0.5, 0.6, 3);
	evolve_memory_update(&m);
	near(m.CR[0], 0.4);
	evolve_memory_free(&m);
}

static void the_population_shrinks_as_published(void **state)
{
	(void)state;
	/* D = 10: 180 down to 4 over 100,000. */
	assert_int_equal(evolve_linear_size(180, 4, 0, 100000), 180);
	assert_int_equal(evolve_linear_size(180, 4, 180, 100000), 180); /* 179.68 */
	assert_int_equal(evolve_linear_size(180, 4, 285, 100000), 179); /* 179.498 */
	assert_int_equal(evolve_linear_size(180, 4, 25000, 100000), 136); /* exact */
	assert_int_equal(evolve_linear_size(180, 4, 50000, 100000), 92);
	assert_int_equal(evolve_linear_size(180, 4, 99999, 100000), 4);
	assert_int_equal(evolve_linear_size(180, 4, 100000, 100000), 4);
	assert_int_equal(evolve_linear_size(180, 4, 100500, 100000), 4);
}

#define CUBE5                                                                                                          \
	"a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nc: {min: 0.0, max: 1.0}\n"                                  \
	"d: {min: 0.0, max: 1.0}\ne: {min: 0.0, max: 1.0}\nepochs: 9\n"

static struct evolve *drive_evolve(struct drive *d, struct search_spec **spec, struct space **space, const char *yaml)
{
	*space = drive_space(CUBE5);
	*spec = drive_spec(yaml, NULL, *space, 1);
	drive_begin(d, *spec, *space, 1, false);
	return d->search->state;
}

static void populations_are_those_of_the_papers(void **state)
{
	(void)state;
	static const struct {
		const char *yaml;
		size_t n;
	} table[] = {
		{"{strategy: jde, tasks: 100000}", 100},
		{"{strategy: jde, tasks: 50000, mode: generational}", 100},
		{"{strategy: shade, tasks: 100000}", 100},
		{"{strategy: shade, tasks: 1000, mode: generational}", 50}, /* B / 20 */
		{"{strategy: shade, tasks: 50000, mode: generational}", 100},
		{"{strategy: lshade, tasks: 100000}", 90}, /* 18 D */
		{"{strategy: lshade, tasks: 400, mode: generational}", 20},
		{"{strategy: lshade, tasks: 40, mode: generational}", 8},
		{"{strategy: jso, tasks: 50000}", 90}, /* 25 ln 5 sqrt 5 = 89.97 */
		{"{strategy: jso, tasks: 1000, mode: generational}", 50}, /* B / 20 */
		{"{strategy: dish, tasks: 50000}", 90},
		{"{strategy: spsrdemms, tasks: 50000}", 100},
		{"{strategy: de, tasks: 400}", 20}, /* B / 20 */
		{"{strategy: jso, tasks: 40}", 8}, /* never fewer */
		{"{strategy: shade, tasks: 1000}", 10}, /* a hundredth of 100,000: a tenth of both */
		{"{strategy: jde, tasks: 1000}", 10},
		{"{strategy: lshade, tasks: 1000}", 18},
		{"{strategy: jso, tasks: 1000}", 18}, /* 25 ln 10 sqrt 10 = 182.03 */
		{"{strategy: dish, tasks: 1000}", 18},
		{"{strategy: shade, tasks: 40}", 6}, /* never fewer */
		{"{strategy: jde, tasks: 40}", 8},
		{"{strategy: lshade, tasks: 40}", 8},
		{"{strategy: shade, tasks: 40, population: 30}", 30},
	};
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		struct drive d;
		struct search_spec *spec;
		struct space *space;
		assert_int_equal(drive_evolve(&d, &spec, &space, table[i].yaml)->n, table[i].n);
		drive_end(&d);
		search_spec_free(spec);
		space_free(space);
	}
}

static void generational_waits_for_all_and_selects_in_order(void **state)
{
	(void)state;
	struct drive d;
	struct search_spec *spec;
	struct space *space;
	struct evolve *e = drive_evolve(&d, &spec, &space,
					"{strategy: jde, tasks: 100, population: 5, mode: generational}");
	for (int64_t id = 1; id <= 5; id++)
		drive_ask(&d, id);
	drive_ask(&d, 6);
	assert_int_equal(d.last, SEARCH_WAIT);
	for (int64_t id = 5; id >= 2; id--)
		search_tell(d.search, id, SEARCH_FINISHED, (double[]){(double)id});
	drive_ask(&d, 6);
	assert_int_equal(d.last, SEARCH_WAIT);
	search_tell(d.search, 1, SEARCH_FINISHED, (double[]){1});
	for (size_t i = 0; i < 5; i++)
		assert_true(e->at[i].f == (double)i + 1);
	/* Of the second generation only the second and the last win. */
	double F = e->at[0].F, CR = e->at[0].CR;
	for (int64_t id = 6; id <= 10; id++) {
		drive_ask(&d, id);
		assert_int_equal(d.last, SEARCH_PROPOSED);
	}
	for (int64_t id = 10; id >= 6; id--)
		search_tell(d.search, id, SEARCH_FINISHED, (double[]){id == 7 || id == 10 ? 0.5 : 100});
	assert_true(e->at[0].f == 1 && e->at[1].f == 0.5 && e->at[2].f == 3 && e->at[4].f == 0.5);
	assert_true(e->at[0].F == F && e->at[0].CR == CR);
	assert_true(e->at[1].F == d.search->trials.at[6]->notes[EVOLVE_F]); /* what won survives */
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

static void steady_selects_at_once_and_never_waits(void **state)
{
	(void)state;
	struct drive d;
	struct search_spec *spec;
	struct space *space;
	struct evolve *e = drive_evolve(&d, &spec, &space, "{strategy: shade, tasks: 100, population: 5}");
	for (int64_t id = 1; id <= 40; id++) { /* many more at once than there are individuals */
		drive_ask(&d, id);
		assert_int_equal(d.last, SEARCH_PROPOSED);
	}
	for (int64_t id = 40; id >= 1; id--)
		search_tell(d.search, id, SEARCH_FINISHED, (double[]){(double)id});
	for (size_t i = 0; i < 5; i++)
		assert_true(e->at[i].f == (double)i + 1);
	int64_t target = -1;
	for (int64_t id = 41; target < 0; id++) {
		drive_ask(&d, id);
		if (d.search->trials.at[id - 1]->tag == 3) {
			search_tell(d.search, id, SEARCH_FINISHED, (double[]){0.25});
			target = id;
		}
	}
	assert_true(e->at[3].f == 0.25);
	assert_int_equal(e->archive_count > 0, true); /* the parent that lost */
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

static void shade_archives_the_parent_not_the_child(void **state)
{
	(void)state;
	struct drive d;
	struct search_spec *spec;
	struct space *space;
	struct evolve *e = drive_evolve(&d, &spec, &space, "{strategy: shade, tasks: 100, population: 5}");
	for (int64_t id = 1; id <= 5; id++) {
		drive_ask(&d, id);
		search_tell(d.search, id, SEARCH_FINISHED, (double[]){10});
	}
	double parent[5];
	drive_ask(&d, 6);
	size_t at = (size_t)d.search->trials.at[5]->tag;
	memcpy(parent, e->at[at].x, sizeof(parent));
	search_tell(d.search, 6, SEARCH_FINISHED, (double[]){10}); /* as good: replaces, no success */
	assert_int_equal(e->archive_count, 0);
	drive_ask(&d, 7);
	at = (size_t)d.search->trials.at[6]->tag;
	memcpy(parent, e->at[at].x, sizeof(parent));
	search_tell(d.search, 7, SEARCH_FINISHED, (double[]){9});
	assert_int_equal(e->archive_count, 1);
	assert_memory_equal(e->archive[0], parent, sizeof(parent));
	assert_memory_equal(e->at[at].x, d.search->trials.at[6]->unit, sizeof(parent));
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

/* Serially, without trouble; the best value found. */
static double best_found(const char *strategy, int seed, unsigned tasks, const struct space *space)
{
	char text[120];
	snprintf(text, sizeof(text), "{strategy: %s, tasks: %u, seed: %d}", strategy, tasks, seed);
	struct search_spec *spec = drive_spec(text, NULL, space, 1);
	struct drive d;
	double best = INFINITY;
	drive_begin(&d, spec, space, 1, false);
	for (int64_t id = 1;; id++) {
		drive_ask(&d, id);
		if (d.last != SEARCH_PROPOSED)
			break;
		double f = drive_objective(space, d.values);
		best = f < best ? f : best;
		search_tell(d.search, id, SEARCH_FINISHED, &f);
	}
	drive_end(&d);
	search_spec_free(spec);
	return best;
}

static void evolution_finds_what_random_search_does_not(void **state)
{
	(void)state;
	static const char *const names[] = {"de",   "jde",       "shade",     "lshade", "jso",
					    "dish", "spsrdemms", "evolution", "nsga2",  "gde3"};
	struct space *space = drive_space("a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nc: {min: 0.0, max: 1.0}\n"
					  "d: {min: 0.0, max: 1.0}\ne: {min: 0.0, max: 1.0}\n");
	double random = 0;
	for (int seed = 0; seed < 11; seed++)
		random += best_found("random", seed, 400, space);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		double sum = 0;
		for (int seed = 0; seed < 11; seed++)
			sum += best_found(names[i], seed, 400, space);
		if (!(sum < random / 3))
			print_message("# %s: %g, random %g\n", names[i], sum / 11, random / 11);
		assert_true(sum < random / 3);
	}
	space_free(space);
}

static void ranks_agree_with_brute_force(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 5);
	for (int round = 0; round < 500; round++) {
		size_t n = 1 + rng_below(&rng, 40), m = 1 + rng_below(&rng, 3);
		struct search_trial trials[40], *at[40];
		double scores[40][3];
		size_t rank[40];
		for (size_t i = 0; i < n; i++) {
			for (size_t k = 0; k < m; k++)
				scores[i][k] = (double)rng_below(&rng, 8);
			trials[i] = (struct search_trial){.index = i, .score = scores[i]};
			at[i] = &trials[i];
		}
		front_rank(at, n, m, rank);
		for (size_t i = 0; i < n; i++) { /* rank = longest chain of dominators */
			size_t want = 0;
			for (size_t j = 0; j < n; j++) {
				bool worse = false, less = true;
				for (size_t k = 0; k < m; k++) {
					less = less && scores[j][k] <= scores[i][k];
					worse = worse || scores[j][k] < scores[i][k];
				}
				assert_int_equal(front_dominates(scores[j], scores[i], m), less && worse);
				if (less && worse && rank[j] + 1 > want)
					want = rank[j] + 1;
			}
			assert_int_equal(rank[i], want);
		}
		size_t most = 1 + rng_below(&rng, n), best = 0;
		for (size_t i = 0; i < n; i++)
			best += rank[i] == 0;
		size_t kept = front_cut(at, n, m, most), fronts = 0;
		assert_int_equal(kept, most);
		for (size_t i = 0; i < kept; i++)
			fronts += rank[at[i]->index] == 0;
		assert_int_equal(fronts, best < most ? best : most);
	}
}

static void crowding_is_the_way_between_the_neighbours(void **state)
{
	(void)state;
	double scores[4][2] = {{0, 10}, {1, 6}, {4, 4}, {10, 0}};
	struct search_trial trials[4], *at[4];
	size_t rank[4] = {0};
	double crowding[4];
	for (size_t i = 0; i < 4; i++) {
		trials[i] = (struct search_trial){.index = i, .score = scores[i]};
		at[i] = &trials[i];
	}
	front_crowding(at, 4, 2, rank, crowding);
	assert_true(isinf(crowding[0]) && isinf(crowding[3]));
	near(crowding[1], 0.4 + 0.6); /* (4 - 0) / 10 + (10 - 4) / 10 */
	near(crowding[2], 0.9 + 0.6);
	assert_int_equal(front_cut(at, 4, 2, 3), 3);
	assert_int_equal(at[1]->index, 2); /* the crowded one went */
}

/* The area between the found front and (1.1, 1.1), f1 = x, f2 = (1 + 9 mean) (1 - sqrt(f1 / g)): ZDT1. */
static double area_found(const char *strategy, int seed)
{
	struct space *space = drive_space("a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nc: {min: 0.0, max: 1.0}\n"
					  "d: {min: 0.0, max: 1.0}\n");
	char text[120];
	snprintf(text, sizeof(text), "{strategy: %s, tasks: 500, seed: %d}", strategy, seed);
	struct search_spec *spec = drive_spec(text, NULL, space, 2);
	search_set_goal(spec, 1, true);
	struct drive d;
	double area = 0, points[500][2];
	drive_begin(&d, spec, space, 1, false);
	for (int64_t id = 1; id <= 500; id++) {
		drive_ask(&d, id);
		const struct space_value *v = d.values;
		double g = 1 + 9 * (v[1].real + v[2].real + v[3].real) / 3;
		points[id - 1][0] = v[0].real;
		points[id - 1][1] = g * (1 - sqrt(v[0].real / g));
		search_tell(d.search, id, SEARCH_FINISHED, (double[]){points[id - 1][0], -points[id - 1][1]});
	}
	for (int x = 0; x < 110; x++) { /* columns of the area */
		double low = 1.1;
		for (int i = 0; i < 500; i++)
			if (points[i][0] <= (x + 0.5) / 100 && points[i][1] < low)
				low = points[i][1];
		area += (1.1 - low) / 100;
	}
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
	return area;
}

static void fronts_are_found_that_random_search_does_not_find(void **state)
{
	(void)state;
	double random = area_found("random", 1), nsga2 = area_found("nsga2", 1), gde3 = area_found("gde3", 1);
	assert_true(nsga2 > 0.5 && nsga2 > 2 * random);
	assert_true(gde3 > 0.5 && gde3 > 2 * random);
}

static void ageing_evolution_changes_one_gene_of_a_living_parent(void **state)
{
	(void)state;
	struct space *space = drive_space("a: [p, q, r, s]\nb: [p, q, r, s]\nc: [p, q, r, s]\nd: [p, q, r, s]\n"
					  "e: [p, q, r, s]\nf: {values: [p, q, r, s], when: {a: p}}\n");
	struct search_spec *spec = drive_spec("{strategy: evolution, tasks: 200, population: 10}", NULL, space, 1);
	struct drive d;
	struct space_value all[200][6];
	drive_begin(&d, spec, space, 1, false);
	for (int id = 1; id <= 200; id++) {
		drive_ask(&d, id);
		memcpy(all[id - 1], d.values, sizeof(all[0]));
		search_tell(d.search, id, SEARCH_FINISHED,
			    (double[]){fabs(100.0 - id)}); /* the best is the hundredth */
		if (id <= 10 || d.search->trials.at[id - 1]->redraw > 64)
			continue;
		size_t least = 9;
		for (int k = id - 11; k < id - 1; k++) { /* the ten that are alive */
			size_t apart = 0;
			for (size_t i = 0; i < 6; i++) {
				bool both = all[k][i].text && all[id - 1][i].text;
				apart += both && strcmp(all[k][i].text, all[id - 1][i].text) != 0;
			}
			least = apart < least ? apart : least;
		}
		assert_int_equal(least <= 1, true);
	}
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memories_are_weighted_means_of_the_successes),
		cmocka_unit_test(jso_takes_the_middle_of_old_and_new),
		cmocka_unit_test(a_terminal_crossover_rate_stays),
		cmocka_unit_test(gains_of_nothing_and_of_infinity_do_no_harm),
		cmocka_unit_test(the_population_shrinks_as_published),
		cmocka_unit_test(populations_are_those_of_the_papers),
		cmocka_unit_test(generational_waits_for_all_and_selects_in_order),
		cmocka_unit_test(steady_selects_at_once_and_never_waits),
		cmocka_unit_test(shade_archives_the_parent_not_the_child),
		cmocka_unit_test(evolution_finds_what_random_search_does_not),
		cmocka_unit_test(ranks_agree_with_brute_force),
		cmocka_unit_test(crowding_is_the_way_between_the_neighbours),
		cmocka_unit_test(fronts_are_found_that_random_search_does_not_find),
		cmocka_unit_test(ageing_evolution_changes_one_gene_of_a_living_parent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
