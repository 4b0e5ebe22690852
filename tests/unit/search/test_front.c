/* The strategies for several objectives come near a known front: ZDT1 (Zitzler, Deb and Thiele 2000). */
#include "drive.h"
#include "search/pareto.h"

#define TASKS 1000
#define SPACE                                                                                                          \
	"a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nc: {min: 0.0, max: 1.0}\n"                                  \
	"d: {min: 0.0, max: 1.0}\ne: {min: 0.0, max: 1.0}\nf: {min: 0.0, max: 1.0}\n"

static void zdt1(const struct space_value *values, size_t count, double f[static 2])
{
	double g = 0;
	for (size_t i = 1; i < count; i++)
		g += values[i].real;
	g = 1 + 9 * g / (double)(count - 1);
	f[0] = values[0].real;
	f[1] = g * (1 - sqrt(f[0] / g));
}

/* The volume below (1.1, 1.1); the whole front has 1.1 * 1.1 - 1/3 = 0.877. The second objective is told
 * as one to be maximised. */
static double volume_of(const char *strategy, size_t tasks, uint64_t seed, size_t parallel)
{
	struct space *space = drive_space(SPACE);
	char text[100];
	snprintf(text, sizeof(text), "{strategy: %s, tasks: %zu, seed: %d}", strategy, tasks, (int)seed);
	struct search_spec *spec = drive_spec(text, NULL, space, 2);
	search_set_goal(spec, 1, true);
	struct drive d;
	drive_begin(&d, spec, space, 1, false);
	struct pareto_front front = {.objectives = 2};
	double(*f)[2] = mem_array(tasks, sizeof(*f));
	for (size_t i = 0; i < tasks + parallel; i++) {
		if (i < tasks) {
			drive_ask(&d, (int64_t)i);
			assert_int_equal(d.last, SEARCH_PROPOSED);
			zdt1(d.values, space->count, f[i]);
			pareto_add(&front, f[i], i);
		}
		if (i >= parallel)
			search_tell(d.search, (int64_t)(i - parallel), SEARCH_FINISHED,
				    (double[]){f[i - parallel][0], -f[i - parallel][1]});
	}
	double volume = pareto_hypervolume(front.scores.at, front.ids.len, 2, (double[]){1.1, 1.1});
	pareto_clear(&front);
	free(f);
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
	return volume;
}

static void they_come_near_the_front(void **state)
{
	(void)state;
	static const struct {
		const char *strategy;
		size_t tasks;
		double least;
	} cases[] = {{"random", TASKS, 0}, {"tpe", 400, 0.4}, {"nsga2", TASKS, 0.6}, {"gde3", TASKS, 0.4}};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		double sum = 0;
		for (uint64_t seed = 0; seed < 4; seed++)
			sum += volume_of(cases[i].strategy, cases[i].tasks, seed, seed % 2 ? 8 : 1);
		print_message("# %s: %.3f\n", cases[i].strategy, sum / 4);
		assert_true(sum / 4 >= cases[i].least);
		if (strcmp(cases[i].strategy, "random") == 0)
			assert_true(sum / 4 < 0.4); /* what the others are held against */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(they_come_near_the_front)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
