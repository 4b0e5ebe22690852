/* Ask and tell: the budget, repeats, duplicates, defaults, late and useless results, replay. The
 * properties run over every strategy of the table, so that a new row is tested by being there. */
#include "../space/random_space.h"
#include "drive.h"

#define FIDELITY "{parameter: epochs, min: 1, max: 9}"

/* A random space for a strategy, with epochs where it needs a fidelity. NULL where it does not fit. */
static struct space *space_for(const struct strategy *strategy, struct rng *rng)
{
	if (strategy->capabilities & SEARCH_MULTI_FIDELITY)
		return drive_space(rng_below(rng, 2) ? "epochs: 9\nx: {min: 0.0, max: 1.0}\nk: [a1, b2, c3]\n"
						     : "epochs: 9\nx: {min: 0.0, max: 1.0}\ny: {min: 1, max: 30}\n"
						       "k: {values: [1, 2, 3], when: {y: [1, 2, 3, 4, 5]}}\n");
	return random_space(rng, strategy->capabilities & SEARCH_FINITE_ONLY, 6);
}

static struct search_spec *spec_for(const struct strategy *strategy, const struct space *space, struct rng *rng,
				    unsigned tasks)
{
	char text[200];
	snprintf(text, sizeof(text), "{strategy: %s, tasks: %u, seed: %u}", strategy->name, tasks,
		 (unsigned)rng_below(rng, 1000));
	bool fidelity = strategy->capabilities & SEARCH_MULTI_FIDELITY;
	size_t objectives = (strategy->capabilities & SEARCH_MULTI_OBJECTIVE) && rng_below(rng, 2) ? 2 : 1;
	struct search_spec *spec = drive_spec(text, fidelity ? FIDELITY : NULL, space, objectives);
	/* Other options of the table at random: a mode or a flag must not break the rules either. */
	for (size_t i = 0; strategy->options[i].name; i++)
		if (strategy->options[i].type == SEARCH_OPTION_WORD || strategy->options[i].type == SEARCH_OPTION_BOOL)
			spec->option_values[i] = (double)rng_below(rng, (uint64_t)strategy->options[i].max + 1);
	return spec;
}

static unsigned rounds_for(const struct strategy *strategy)
{
	if (strategy->capabilities & SEARCH_SLOW)
		return 10; /* looks at thousands of points for every proposal */
	return strategy->capabilities & SEARCH_ADAPTIVE ? 150 : 400;
}

static void proposals_stay_in_the_space_and_never_repeat(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 11);
	for (const struct strategy *strategy = search_strategies; strategy->name; strategy++) {
		for (unsigned round = 0; round < rounds_for(strategy); round++) {
			struct space *space = space_for(strategy, &rng);
			unsigned tasks = 1 + (unsigned)rng_below(&rng, 60);
			struct search_spec *spec = spec_for(strategy, space, &rng, tasks);
			uint64_t planned = search_planned(spec, space);
			struct drive d;
			drive_begin(&d, spec, space, round, true);
			size_t asked = 0;
			while (drive_step(&d, 1 + round % 9)) {
				struct drive_event *e = &d.events.at[d.events.len - 1];
				if (!e->ask)
					continue;
				asked++;
				assert_true(e->continues >= 0 || space_allows(space, d.values));
				for (size_t i = 0; i < space->count; i++) {
					const struct space_param *p = &space->params[i];
					assert_int_equal(d.values[i].kind != SPACE_VALUE_NONE,
							 space_applies(space, i, d.values));
					if (p->cardinality != 1 && (p->kind == SPACE_REAL || p->kind == SPACE_INT) &&
					    d.values[i].kind != SPACE_VALUE_NONE)
						assert_true(d.values[i].real >= p->min && d.values[i].real <= p->max);
				}
				for (size_t i = 0; i + 1 < d.events.len && e->continues < 0; i++)
					if (d.events.at[i].ask && d.events.at[i].continues < 0 &&
					    (isnan(e->fidelity) || d.events.at[i].fidelity == e->fidelity))
						assert_true(d.events.at[i].hash != e->hash);
			}
			assert_true(asked <= tasks);
			if (!(strategy->capabilities & SEARCH_MULTI_FIDELITY))
				assert_true(asked == planned || space_count(space, 100000) == UINT64_MAX);
			drive_end(&d);
			search_spec_free(spec);
			space_free(space);
		}
	}
}

/* Replaying any prefix gives the same search: the same proposals follow. */
static void replay_of_any_prefix_gives_the_same_proposals(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 12);
	for (const struct strategy *strategy = search_strategies; strategy->name; strategy++) {
		for (unsigned round = 0; round < rounds_for(strategy) / 2; round++) {
			struct space *space = space_for(strategy, &rng);
			struct search_spec *spec = spec_for(strategy, space, &rng, 50);
			struct drive d, r, c;
			drive_begin(&d, spec, space, round, true);
			drive_begin(&r, spec, space, round, true);
			drive_begin(&c, spec, space, round, true); /* asks are recalled, not made again */
			size_t steps = rng_below(&rng, 90);
			for (size_t i = 0; i < steps && drive_step(&d, 1 + round % 7); i++)
				;
			for (size_t i = 0; i < d.events.len; i++) {
				const struct drive_event *e = &d.events.at[i];
				if (!e->ask) {
					drive_tell_event(&r, e);
					drive_tell_event(&c, e);
					continue;
				}
				struct drive_event again = drive_ask(&r, e->id), recalled = drive_recall(&c, e);
				assert_int_equal(r.last, SEARCH_PROPOSED);
				assert_true(again.hash == e->hash && again.repeat == e->repeat);
				assert_int_equal(again.continues, e->continues);
				assert_int_equal(c.last, SEARCH_PROPOSED);
				assert_true(recalled.hash == e->hash && recalled.repeat == e->repeat);
				assert_int_equal(recalled.continues, e->continues);
				if (round % 3 == 0) { /* a question without an answer leaves no trace */
					struct buf b = buf_make(BUF_UNLIMITED);
					struct json w = json_to(&b);
					search_write_state(r.search, &w);
					struct node *json;
					assert_int_equal(node_parse_json(b.data, b.len, &json, NULL), 0);
					node_free(json);
					buf_free(&b);
				}
			}
			for (int i = 0; i < 8; i++) {
				struct drive_event a = drive_ask(&d, d.next_id + i);
				struct drive_event b = drive_ask(&r, d.next_id + i);
				struct drive_event k = drive_ask(&c, d.next_id + i);
				assert_int_equal(d.last, r.last);
				assert_int_equal(d.last, c.last);
				assert_true(a.hash == b.hash && a.hash == k.hash);
			}
			drive_end(&d);
			drive_end(&r);
			drive_end(&c);
			search_spec_free(spec);
			space_free(space);
		}
	}
}

static void another_seed_gives_other_proposals(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nepochs: 9\n");
	for (const struct strategy *strategy = search_strategies; strategy->name; strategy++) {
		if (strategy->capabilities & SEARCH_FINITE_ONLY)
			continue;
		uint64_t hash[2];
		for (int i = 0; i < 2; i++) {
			char text[100];
			snprintf(text, sizeof(text), "{strategy: %s, tasks: 20, seed: %d}", strategy->name, i);
			struct search_spec *spec = drive_spec(
				text, strategy->capabilities & SEARCH_MULTI_FIDELITY ? FIDELITY : NULL, space, 1);
			struct drive d;
			drive_begin(&d, spec, space, 1, false);
			drive_ask(&d, 1); /* the middle, where it is gp */
			hash[i] = drive_ask(&d, 2).hash;
			drive_end(&d);
			search_spec_free(spec);
		}
		assert_true(hash[0] != hash[1]);
	}
	space_free(space);
}

static void repeats_come_together_and_are_averaged(void **state)
{
	(void)state;
	struct space *space = drive_space("a: [1, 2, 3]\n");
	struct node *node;
	struct problems problems = {0};
	struct search_spec *spec;
	assert_int_equal(node_parse_yaml("{strategy: grid}", 16, &node, NULL), 0);
	assert_int_equal(search_spec_parse(node, NULL, space, 3, 1, &problems, &spec), 0);
	node_free(node);
	assert_int_equal(search_planned(spec, space), 9);
	search_set_goal(spec, 0, true);
	struct drive d;
	drive_begin(&d, spec, space, 1, false);
	for (int64_t id = 1; id <= 9; id++) {
		struct drive_event e = drive_ask(&d, id);
		assert_int_equal(d.last, SEARCH_PROPOSED);
		assert_int_equal(e.repeat, (id - 1) % 3 + 1);
		assert_int_equal(d.values[0].integer, (id - 1) / 3 + 1);
	}
	drive_ask(&d, 10);
	assert_int_equal(d.last, SEARCH_DONE);
	/* 4 and 8 count, NaN does not; the goal is max, so that the score is -6. */
	search_tell(d.search, 3, SEARCH_FINISHED, (double[]){8});
	search_tell(d.search, 1, SEARCH_FINISHED, (double[]){4});
	assert_int_equal(d.search->trials.at[0]->state, SEARCH_TRIAL_PENDING);
	search_tell(d.search, 2, SEARCH_FINISHED, (double[]){NAN});
	assert_int_equal(d.search->trials.at[0]->state, SEARCH_TRIAL_FINISHED);
	assert_true(d.search->trials.at[0]->score[0] == -6);
	for (int64_t id = 4; id <= 6; id++)
		search_tell(d.search, id, SEARCH_FAILED, NULL);
	assert_int_equal(d.search->trials.at[1]->state, SEARCH_TRIAL_FAILED);
	assert_true(d.search->trials.at[1]->score[0] == INFINITY);
	/* A restarted task that finishes after all is remembered. */
	search_tell(d.search, 5, SEARCH_FINISHED, (double[]){7});
	assert_int_equal(d.search->trials.at[1]->state, SEARCH_TRIAL_FINISHED);
	assert_true(d.search->trials.at[1]->score[0] == -7);
	search_tell(d.search, 5, SEARCH_FINISHED, (double[]){70});
	assert_true(d.search->trials.at[1]->score[0] == -7);
	assert_int_equal(d.search->pending, 1);
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

/* Of every strategy, when they are asked for and when they are recalled: another double would be another configuration. */
static void repeats_have_exactly_the_same_values(void **state)
{
	(void)state;
	struct space *space = drive_space("lr: {min: 0.001, max: 0.3, scale: log}\nx: {min: -3.0, max: 7.0}\n"
					  "tiny: {min: 1.0e-30, max: 0.7, scale: log}\nepochs: 9\n");
	for (const struct strategy *strategy = search_strategies; strategy->name; strategy++) {
		if (strategy->capabilities & SEARCH_FINITE_ONLY)
			continue;
		char text[100];
		snprintf(text, sizeof(text), "{strategy: %s, tasks: 30, seed: 1}", strategy->name);
		struct search_spec *spec = drive_spec(
			text, strategy->capabilities & SEARCH_MULTI_FIDELITY ? FIDELITY : NULL, space, 1);
		spec->repeats = 3;
		struct drive d, c;
		struct space_value first[2][4];
		drive_begin(&d, spec, space, 1, false);
		drive_begin(&c, spec, space, 1, false); /* asks are recalled */
		for (size_t done = 0; drive_step(&d, 3); done++) {
			const struct drive_event *e = &d.events.at[done];
			if (!e->ask) {
				drive_tell_event(&c, e);
				continue;
			}
			drive_recall(&c, e);
			assert_int_equal(c.last, SEARCH_PROPOSED);
			assert_int_equal(space->count, 4);
			if (e->repeat == 1) {
				memcpy(first[0], d.values, sizeof(first[0]));
				memcpy(first[1], c.values, sizeof(first[1]));
			}
			assert_true(space_equal(space, d.values, first[0]));
			assert_true(space_equal(space, c.values, first[1]));
			assert_true(space_equal(space, first[0], first[1]));
		}
		drive_end(&d);
		drive_end(&c);
		search_spec_free(spec);
	}
	space_free(space);
}

static void the_users_defaults_come_first(void **state)
{
	(void)state;
	struct space *space = drive_space(
		"lr: {min: 0.0, max: 1.0, default: 0.125}\nk: {values: [a1, b1, c1], default: c1}\n"
		"n: {min: 1, max: 9}\nepochs: 9\n");
	for (const struct strategy *strategy = search_strategies; strategy->name; strategy++) {
		if (strategy->capabilities & SEARCH_FINITE_ONLY)
			continue;
		char text[100];
		snprintf(text, sizeof(text), "{strategy: %s, tasks: 20}", strategy->name);
		struct search_spec *spec = drive_spec(
			text, strategy->capabilities & SEARCH_MULTI_FIDELITY ? FIDELITY : NULL, space, 1);
		struct drive d;
		drive_begin(&d, spec, space, 1, false);
		drive_ask(&d, 1);
		assert_true(d.values[0].real == 0.125);
		assert_string_equal(d.values[1].text, "c1");
		assert_int_equal(d.values[2].integer, 5);
		drive_end(&d);
		search_spec_free(spec);
	}
	space_free(space);
}

/* Joe and Kuo's program prints these for three dimensions. */
static void sobol_gives_the_published_points(void **state)
{
	(void)state;
	static const double want[][3] = {
		{0, 0, 0},
		{0.5, 0.5, 0.5},
		{0.75, 0.25, 0.25},
		{0.25, 0.75, 0.75},
		{0.375, 0.375, 0.625},
		{0.875, 0.875, 0.125},
		{0.625, 0.125, 0.875},
		{0.125, 0.625, 0.375},
		{0.1875, 0.3125, 0.9375},
		{0.6875, 0.8125, 0.4375},
	};
	for (uint32_t i = 0; i < COUNT_OF(want); i++) {
		double unit[3];
		sobol_point(i, 0, 3, unit);
		for (int d = 0; d < 3; d++)
			assert_true(unit[d] == want[i][d]);
	}
}

static void sobol_points_at_once_are_the_same(void **state)
{
	(void)state;
	double many[70 * 9], one[9];
	for (uint64_t scramble = 0; scramble < 3; scramble++) {
		sobol_points(70, scramble, 9, many);
		for (uint32_t i = 0; i < 70; i++) {
			sobol_point(i, scramble, 9, one);
			assert_memory_equal(one, many + 9 * i, sizeof(one));
		}
	}
}

static void what_others_chose_is_history_and_not_proposed_again(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 23);
	for (const struct strategy *strategy = search_strategies; strategy->name; strategy++) {
		for (unsigned round = 0; round < 20; round++) {
			struct space *space = space_for(strategy, &rng);
			struct search_spec *spec = spec_for(strategy, space, &rng, 30);
			struct drive d;
			uint64_t theirs[10];
			drive_begin(&d, spec, space, round, true);
			double *unit = mem_array(space->dim_count, sizeof(*unit));
			for (int i = 0; i < 10; i++) {
				double values[2] = {rng_unit(&rng), rng_unit(&rng)};
				for (size_t k = 0; k < space->dim_count; k++)
					unit[k] = rng_unit(&rng);
				space_decode(space, unit, d.values);
				theirs[i] = space_hash(space, d.values);
				search_add(d.search, d.next_id++, d.values, NAN, false);
				if (i % 3) /* the others stay pending, some for ever */
					search_tell(d.search, d.next_id - 1, i % 5 ? SEARCH_FINISHED : SEARCH_FAILED,
						    values);
			}
			size_t asked = 0;
			while (drive_step(&d, 4)) {
				struct drive_event *e = &d.events.at[d.events.len - 1];
				asked += e->ask;
				for (int i = 0; e->ask && !spec->duplicates && isnan(e->fidelity) && i < 10; i++)
					assert_true(e->hash != theirs[i]);
			}
			assert_true(asked <= spec->tasks * spec->repeats); /* the budget is the search's own */
			free(unit);
			drive_end(&d);
			search_spec_free(spec);
			space_free(space);
		}
	}
}

/* Every 2^k points, scrambled or not, have one in each of 2^k equal cells of every axis. */
static void sobol_fills_every_cell_of_every_axis(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 5; seed++) {
		for (uint32_t start = 0; start < 1024; start += 256) {
			static bool hit[SOBOL_DIMS][256];
			memset(hit, 0, sizeof(hit));
			for (uint32_t i = 0; i < 256; i++) {
				double unit[SOBOL_DIMS];
				sobol_point(start + i, seed, SOBOL_DIMS, unit);
				for (int d = 0; d < SOBOL_DIMS; d++) {
					assert_true(unit[d] >= 0 && unit[d] < 1);
					bool *cell = &hit[d][(int)(unit[d] * 256)];
					assert_false(*cell);
					*cell = true;
				}
			}
		}
	}
}

static void grid_is_in_order_unless_shuffled(void **state)
{
	(void)state;
	struct space *space = drive_space("a: [1, 2, 3]\nb: [1, 2, 3, 4]\n");
	for (int shuffled = 0; shuffled < 2; shuffled++) {
		struct search_spec *spec = drive_spec(shuffled ? "{strategy: grid, shuffle: true}" : "{strategy: grid}",
						      NULL, space, 1);
		struct drive d;
		drive_begin(&d, spec, space, 1, false);
		int in_order = 0, seen = 0;
		for (int i = 0; i < 12; i++) {
			drive_ask(&d, i + 1);
			int at = (int)((d.values[0].integer - 1) * 4 + d.values[1].integer - 1);
			in_order += at == i;
			seen |= 1 << at;
		}
		assert_int_equal(seen, 0xfff);
		assert_int_equal(in_order == 12, !shuffled);
		drive_ask(&d, 13);
		assert_int_equal(d.last, SEARCH_DONE);
		drive_end(&d);
		search_spec_free(spec);
	}
	space_free(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(proposals_stay_in_the_space_and_never_repeat),
		cmocka_unit_test(replay_of_any_prefix_gives_the_same_proposals),
		cmocka_unit_test(another_seed_gives_other_proposals),
		cmocka_unit_test(repeats_come_together_and_are_averaged),
		cmocka_unit_test(repeats_have_exactly_the_same_values),
		cmocka_unit_test(the_users_defaults_come_first),
		cmocka_unit_test(what_others_chose_is_history_and_not_proposed_again),
		cmocka_unit_test(sobol_gives_the_published_points),
		cmocka_unit_test(sobol_points_at_once_are_the_same),
		cmocka_unit_test(sobol_fills_every_cell_of_every_axis),
		cmocka_unit_test(grid_is_in_order_unless_shuffled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
