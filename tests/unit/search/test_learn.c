/* A search that starts from results of earlier experiments. */
#include "../space/random_space.h"
#include "drive.h"

#define EARLIER 30

struct earlier {
	struct space_value *values;
	double score;
};

/* Random configurations of the space that its constraints allow, and what they gave. */
static size_t make_earlier(const struct space *space, struct rng *rng, struct earlier *ret, size_t most)
{
	size_t count = 0;
	double *unit = mem_array(space->dim_count + 1, sizeof(*unit));
	for (int i = 0; i < 200 && count < most; i++) {
		struct space_value *values = mem_array(space->count, sizeof(*values));
		for (size_t d = 0; d < space->dim_count; d++)
			unit[d] = rng_unit(rng);
		space_decode(space, unit, values);
		if (space_allows(space, values))
			ret[count++] = (struct earlier){values, drive_objective(space, values)};
		else
			free(values);
	}
	free(unit);
	return count;
}

static void learn(struct drive *d, const struct earlier *earlier, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		search_learn(d->search, d->next_id, earlier[i].values);
		search_tell(d->search, d->next_id++, SEARCH_FINISHED, &earlier[i].score);
	}
}

static struct search_spec *spec_of(const struct strategy *strategy, const struct space *space, unsigned seed)
{
	char text[120];
	snprintf(text, sizeof(text), "{strategy: %s, tasks: 12, seed: %u}", strategy->name, seed);
	return drive_spec(text, NULL, space, 1);
}

/* The same but for the last digits, which the way to the cube and back may change. */
static bool is_same(const struct space *space, const struct space_value *a, const struct space_value *b)
{
	double *units = mem_array(2 * space->dim_count + 1, sizeof(*units)), *other = units + space->dim_count;
	bool same = true;
	space_encode(space, a, units);
	space_encode(space, b, other);
	for (size_t d = 0; d < space->dim_count; d++)
		same = same && fabs(units[d] - other[d]) < 1e-9;
	free(units);
	return same;
}

static void the_best_of_before_is_tried_first_and_costs_no_budget(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 5);
	for (const struct strategy *s = search_strategies; s->name; s++) {
		for (unsigned round = 0; round < 8 && (s->capabilities & SEARCH_LEARNS); round++) {
			struct space *space = random_space(&rng, false, 6);
			struct search_spec *spec = spec_of(s, space, round);
			struct earlier earlier[EARLIER];
			size_t count = make_earlier(space, &rng, earlier, 1 + rng_below(&rng, EARLIER)), best = 0;
			struct drive d;
			for (size_t i = 1; i < count; i++)
				best = earlier[i].score < earlier[best].score ? i : best;
			drive_begin(&d, spec, space, round, true);
			learn(&d, earlier, count);
			int64_t first = d.next_id;
			size_t asked = 0;
			while (drive_step(&d, 1 + round % 5)) {
				const struct drive_event *e = &d.events.at[d.events.len - 1];
				if (e->ask && e->id == first && count)
					assert_true(is_same(space, e->proposed, earlier[best].values));
				asked += e->ask;
			}
			assert_true(asked == search_planned(spec, space) || space_count(space, 12) != UINT64_MAX);
			for (size_t i = 0; i < count; i++)
				free(earlier[i].values);
			drive_end(&d);
			search_spec_free(spec);
			space_free(space);
		}
	}
}

/* The sequence decides, results of before included: a replay that asks again, and one that recalls. */
static void a_replay_with_what_was_learnt_proposes_the_same(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 6);
	for (const struct strategy *s = search_strategies; s->name; s++) {
		for (unsigned round = 0; round < 6 && (s->capabilities & SEARCH_LEARNS); round++) {
			struct space *space = random_space(&rng, false, 6);
			struct search_spec *spec = spec_of(s, space, round);
			struct earlier earlier[EARLIER];
			size_t count = make_earlier(space, &rng, earlier, EARLIER);
			struct drive d, again, recalled;
			drive_begin(&d, spec, space, round, true);
			drive_begin(&again, spec, space, round, true);
			drive_begin(&recalled, spec, space, round, true);
			learn(&d, earlier, count);
			learn(&again, earlier, count);
			learn(&recalled, earlier, count);
			while (drive_step(&d, 4))
				;
			for (size_t i = 0; i < d.events.len; i++) {
				const struct drive_event *e = &d.events.at[i];
				if (e->ask) {
					assert_true(drive_ask(&again, e->id).hash == e->hash);
					assert_true(drive_recall(&recalled, e).hash == e->hash);
				} else {
					drive_tell_event(&again, e);
					drive_tell_event(&recalled, e);
				}
			}
			for (size_t i = 0; i < count; i++)
				free(earlier[i].values);
			drive_end(&d);
			drive_end(&again);
			drive_end(&recalled);
			search_spec_free(spec);
			space_free(space);
		}
	}
}

static void the_users_defaults_come_before_the_best_of_before(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: 0.0, max: 1.0, default: 0.25}\nb: {min: 0.0, max: 1.0}\n");
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 9}", NULL, space, 1);
	struct rng rng;
	struct earlier earlier[EARLIER];
	struct drive d;
	rng_seed(&rng, 7);
	size_t count = make_earlier(space, &rng, earlier, EARLIER);
	drive_begin(&d, spec, space, 1, false);
	learn(&d, earlier, count);
	drive_ask(&d, d.next_id);
	assert_true(d.values[0].real == 0.25);
	for (size_t i = 0; i < count; i++)
		free(earlier[i].values);
	drive_end(&d);
	search_spec_free(spec);
	space_free(space);
}

static double bowl(const struct space_value *v)
{
	return pow(v[0].real - 0.31, 2) + pow(v[1].real - 0.77, 2) + pow(v[2].real - 0.5, 2);
}

/* The best of eight tasks, over ten seeds. */
static double mean_best(const struct search_spec *spec, const struct space *space, struct earlier *earlier,
			size_t count)
{
	double sum = 0;
	for (unsigned round = 0; round < 10; round++) {
		struct drive d;
		double best = INFINITY;
		drive_begin(&d, spec, space, round, false);
		learn(&d, earlier, count);
		for (int i = 0; i < 8; i++) {
			drive_ask(&d, d.next_id);
			double score = bowl(d.values);
			best = fmin(best, score);
			search_tell(d.search, d.next_id++, SEARCH_FINISHED, &score);
		}
		sum += best / 10;
		drive_end(&d);
	}
	return sum;
}

static void with_results_of_before_few_tasks_find_more(void **state)
{
	(void)state;
	struct space *space = drive_space(
		"a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\nc: {min: 0.0, max: 1.0}\n");
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 8}", NULL, space, 1);
	struct rng rng;
	struct earlier earlier[EARLIER];
	rng_seed(&rng, 8);
	size_t count = make_earlier(space, &rng, earlier, EARLIER);
	for (size_t i = 0; i < count; i++)
		earlier[i].score = bowl(earlier[i].values);
	double without = mean_best(spec, space, earlier, 0), with = mean_best(spec, space, earlier, count);
	print_message("# without %g, with %g\n", without, with);
	assert_true(with < without / 10);
	for (size_t i = 0; i < count; i++)
		free(earlier[i].values);
	search_spec_free(spec);
	space_free(space);
}

/* The objective was changed: what was learnt has no values any more. That is no failure. */
static void results_that_lost_their_value_are_not_taken_for_failures(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\n");
	struct search_spec *spec = drive_spec("{strategy: gp, tasks: 40}", NULL, space, 1);
	struct rng rng;
	struct earlier earlier[EARLIER];
	struct drive with;
	rng_seed(&rng, 9);
	size_t count = make_earlier(space, &rng, earlier, EARLIER);
	drive_begin(&with, spec, space, 1, false);
	for (size_t i = 0; i < count; i++)
		earlier[i].score = NAN;
	learn(&with, earlier, count);
	for (int i = 0; i < 12; i++) {
		drive_ask(&with, with.next_id);
		double score = with.values[0].real;
		search_tell(with.search, with.next_id++, SEARCH_FINISHED, &score);
	}
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	search_write_state(with.search, &w);
	assert_non_null(strstr(buf_text(&text), "\"results\":12,\"failures\":0"));
	buf_free(&text);
	for (size_t i = 0; i < count; i++)
		free(earlier[i].values);
	drive_end(&with);
	search_spec_free(spec);
	space_free(space);
}

/* 30 tasks of an open search, most of which ran with something else than what was proposed. known: what another one has
 * proposed, which is recalled; else it is filled. */
static void run_corrected(const struct search_spec *spec, const struct space *space, bool recalls,
			  struct space_value (*known)[3])
{
	struct search *search = drive_open(spec, space);
	for (int64_t id = 1; id <= 30; id++) {
		struct space_value values[3], ran[3];
		struct search_proposal p = {.values = values, .repeat = 1, .fidelity = NAN, .continues = -1};
		memcpy(values, known[id - 1], sizeof(values));
		enum search_answer answer = recalls ? search_recall(search, id, &p) : search_ask(search, id, &p);
		assert_int_equal(answer, SEARCH_PROPOSED);
		if (recalls)
			assert_true(space_equal(space, values, known[id - 1]));
		memcpy(known[id - 1], values, sizeof(values));
		memcpy(ran, values, sizeof(ran));
		if (id % 2)
			ran[2] = (struct space_value){0};
		if (id % 3)
			ran[0].real = 1 - ran[0].real;
		search_correct(search, id, ran);
		double score = ran[0].real + (ran[2].kind == SPACE_VALUE_NONE ? 0.5 : ran[2].real);
		search_tell(search, id, SEARCH_FINISHED, &score);
		double unit = search->trials.at[id - 1]->unit[0];
		assert_true(fabs(unit - ran[0].real) < 1e-9);
	}
	search_correct(search, 99, known[0]); /* unknown: ignored */
	search_free(search);
}

static void what_a_task_really_ran_with_is_what_the_history_has(void **state)
{
	(void)state;
	struct space *space = drive_space("a: {min: 0.0, max: 1.0}\nb: {values: [x, y], optional: true}\n"
					  "c: {min: 0.0, max: 1.0, optional: true}\n");
	for (const struct strategy *s = search_strategies; s->name; s++) {
		char text[120];
		struct space_value known[30][3] = {0};
		if (s->capabilities & (SEARCH_FINITE_ONLY | SEARCH_MULTI_FIDELITY | SEARCH_GENERATIONAL))
			continue;
		snprintf(text, sizeof(text), "{strategy: %s, tasks: 9, seed: 3, open: true, duplicates: true}",
			 s->name);
		struct search_spec *spec = drive_spec(text, NULL, space, 1);
		run_corrected(spec, space, false, known);
		run_corrected(spec, space, true, known);
		search_spec_free(spec);
	}
	space_free(space);
}

/* 40 tasks ran somewhere else than proposed; what is proposed then follows from where they ran. */
static void a_search_learns_from_where_tasks_ran_and_not_from_where_they_were_proposed(void **state)
{
	static const struct {
		const char *text;
		bool fidelity;
	} cases[] = {
		{"{strategy: tpe, tasks: 60, seed: 3, open: true}", false},
		{"{strategy: gp, tasks: 60, seed: 3, open: true}", false},
		{"{strategy: asha, tasks: 60, seed: 3, open: true, sampler: tpe}", true},
		{"{strategy: hyperband, tasks: 60, seed: 3, open: true, sampler: tpe}", true},
		{"{strategy: cmaes, tasks: 400, seed: 3, open: true, warm: true}", false},
		{"{strategy: cmaes, tasks: 60, seed: 3, open: true}", false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		size_t close = 0, asked = 0;
		struct space *space = drive_space(cases[i].fidelity ? "a: {min: 0.0, max: 1.0}\ne: 9\n"
								    : "a: {min: 0.0, max: 1.0}\n");
		struct search_spec *spec = drive_spec(
			cases[i].text, cases[i].fidelity ? "{parameter: e, min: 1, max: 9}" : NULL, space, 1);
		struct search *search = drive_open(spec, space);
		for (int64_t id = 1; id <= 60; id++) {
			struct space_value values[2] = {0};
			struct search_proposal p = {.values = values, .repeat = 1, .fidelity = NAN, .continues = -1};
			assert_int_equal(search_ask(search, id, &p), SEARCH_PROPOSED);
			if (p.continues < 0 && id <= 40)
				values[0].real = fmod((double)id * 0.618, 1);
			else if (p.continues < 0) {
				close += fabs(values[0].real - 0.9) < 0.1;
				asked++;
			}
			search_correct(search, id, values);
			double score = (values[0].real - 0.9) * (values[0].real - 0.9);
			search_tell(search, id, SEARCH_FINISHED, &score);
		}
		print_message("# %s: %zu of %zu\n", cases[i].text, close, asked);
		assert_true(2 * close > asked);
		search_free(search);
		search_spec_free(spec);
		space_free(space);
	}
}

/* Asks for tasks of an open search over eight configurations until nothing is left. Where `replaces` says so, another one
 * is told; its optional parameter is left out where `x` stays. Counts how often each was proposed; returns the asks. */
static size_t run_replaced(const struct search_spec *spec, const struct space *space, bool always, bool leaves_out,
			   size_t (*proposed)[2], struct space_value (*first)[2])
{
	struct search *search = drive_open(spec, space);
	int64_t id = 1;
	for (; id <= 40; id++) {
		struct space_value values[2], ran[2];
		struct search_proposal p = {.values = values, .repeat = 1, .fidelity = NAN, .continues = -1};
		if (search_ask(search, id, &p) != SEARCH_PROPOSED)
			break;
		proposed[values[0].integer - 1][values[1].text[0] - 'a']++;
		if (id == 1)
			memcpy(*first, values, sizeof(values));
		memcpy(ran, values, sizeof(ran));
		bool it = values[0].integer == (*first)[0].integer && values[1].text == (*first)[1].text;
		if (it && (id == 1 || always)) {
			long other = (*first)[0].integer % 4 + 1;
			if (!leaves_out)
				ran[0] = (struct space_value){
					.kind = SPACE_VALUE_INT, .integer = other, .real = (double)other};
			ran[1] = (struct space_value){0};
		}
		search_correct(search, id, ran);
		double score = ran[0].real;
		search_tell(search, id, SEARCH_FINISHED, &score);
	}
	search_free(search);
	return (size_t)id - 1;
}

static void a_proposal_that_was_replaced_comes_again_once(void **state)
{
	static const char *const strategies[] = {"random", "grid", "tpe", "gp", "sobol", "lshade"};
	(void)state;
	struct space *space = drive_space("x: {values: [1, 2, 3, 4]}\no: {values: [a, b], optional: true}\n");
	for (size_t i = 0; i < 3 * COUNT_OF(strategies); i++) {
		char text[120];
		size_t proposed[4][2] = {0};
		struct space_value first[2];
		bool always = i % 3 == 1, leaves_out = i % 3 == 2;
		snprintf(text, sizeof(text), "{strategy: %s, tasks: 60, seed: 1, open: true}", strategies[i / 3]);
		struct search_spec *spec = drive_spec(text, NULL, space, 1);
		/* One that a worker replaces whenever it gets it does not come for ever. */
		size_t asks = run_replaced(spec, space, always, leaves_out, proposed, &first);
		for (size_t x = 0; x < 4; x++)
			for (size_t o = 0; o < 2; o++)
				assert_int_equal(proposed[x][o],
						 !leaves_out && first[0].integer == (long)x + 1 &&
								 first[1].text[0] == "ab"[o]
							 ? 2
							 : 1);
		assert_int_equal(asks, leaves_out ? 8 : 9);
		search_spec_free(spec);
	}
	space_free(space);
}

/* What another task ran does not come again, however often the worker corrects what it replaced. */
static void a_replaced_proposal_that_another_task_ran_never_comes_again(void **state)
{
	static const char *const strategies[] = {"random", "grid", "tpe"};
	(void)state;
	struct space *space = drive_space("x: {values: [1, 2, 3, 4]}\n");
	for (size_t i = 0; i < COUNT_OF(strategies); i++) {
		char text[120];
		struct space_value first = {0}, value;
		struct search_proposal p = {.values = &value, .repeat = 1, .fidelity = NAN, .continues = -1};
		snprintf(text, sizeof(text), "{strategy: %s, tasks: 60, seed: 1, open: true}", strategies[i]);
		struct search_spec *spec = drive_spec(text, NULL, space, 1);
		struct search *search = drive_open(spec, space);
		assert_int_equal(search_ask(search, 1, &p), SEARCH_PROPOSED);
		first = value;
		search_add(search, 2, &first, NAN, false);
		for (long by = 1; by <= 2; by++) {
			long other = (first.integer + by - 1) % 4 + 1;
			search_correct(search, 1,
				       &(struct space_value){
					       .kind = SPACE_VALUE_INT, .integer = other, .real = (double)other});
		}
		int64_t id = 3;
		for (; id < 10 && search_ask(search, id, &p) == SEARCH_PROPOSED; id++)
			assert_int_not_equal(value.integer, first.integer);
		assert_int_equal(id, 5); /* two of the four */
		search_free(search);
		search_spec_free(spec);
	}
	space_free(space);
}

/* A search whose first proposals were replaced, and the same from the record. */
static void a_replay_with_replaced_proposals_proposes_the_same(void **state)
{
	static const char *const strategies[] = {"random", "grid", "tpe", "gp", "lshade"};
	(void)state;
	struct space *space = drive_space("x: {values: [1, 2, 3, 4]}\no: {values: [a, b], optional: true}\n");
	for (size_t i = 0; i < COUNT_OF(strategies); i++) {
		char text[120];
		struct space_value known[12][2] = {0};
		snprintf(text, sizeof(text), "{strategy: %s, tasks: 60, seed: 1, open: true}", strategies[i]);
		struct search_spec *spec = drive_spec(text, NULL, space, 1);
		for (int replay = 0; replay < 2; replay++) {
			struct search *search = drive_open(spec, space);
			for (int64_t id = 1; id <= 10; id++) {
				struct space_value values[2], ran[2];
				struct search_proposal p = {
					.values = values, .repeat = 1, .fidelity = NAN, .continues = -1};
				memcpy(values, known[id - 1], sizeof(values));
				enum search_answer answer = replay && id < 9 ? search_recall(search, id, &p)
									     : search_ask(search, id, &p);
				assert_int_equal(answer, SEARCH_PROPOSED);
				assert_true(!replay || space_equal(space, values, known[id - 1]));
				memcpy(known[id - 1], values, sizeof(values));
				memcpy(ran, values, sizeof(ran));
				if (id < 4) {
					ran[0] = (struct space_value){
						.kind = SPACE_VALUE_INT, .integer = id, .real = (double)id};
					ran[1] = (struct space_value){0};
				}
				search_correct(search, id, ran);
				double score = ran[0].real;
				search_tell(search, id, SEARCH_FINISHED, &score);
			}
			search_free(search);
		}
		search_spec_free(spec);
	}
	space_free(space);
}

/* 30 tasks, of which those with `a` above 0.5 fail. They are run again where `again` says so. Returns how many of what
 * comes after that lies close to the best. */
static size_t run_failed(const struct search_spec *spec, const struct space *space, bool again)
{
	struct search *search = drive_open(spec, space);
	double failed[31];
	size_t close = 0;
	for (int64_t id = 1; id <= 55; id++) {
		struct space_value values[3];
		struct search_proposal p = {.values = values, .repeat = 1, .fidelity = NAN, .continues = -1};
		assert_int_equal(search_ask(search, id, &p), SEARCH_PROPOSED);
		double score = fabs(values[0].real - 0.9);
		bool fails = id <= 30 && values[0].real > 0.5;
		if (id <= 30)
			failed[id] = fails ? score : NAN;
		else
			close += score < 0.15;
		search_tell(search, id, fails ? SEARCH_FAILED : SEARCH_FINISHED, &score);
		for (int64_t k = 1; again && id == 30 && k <= 30; k++)
			if (!isnan(failed[k]))
				search_tell(search, k, SEARCH_FINISHED, &failed[k]);
	}
	search_free(search);
	return close;
}

static void a_task_that_failed_and_was_run_again_moves_what_is_proposed(void **state)
{
	static const struct {
		const char *text;
		bool fidelity;
	} cases[] = {
		{"{strategy: tpe, tasks: 60, seed: 3, open: true}", false},
		{"{strategy: asha, tasks: 60, seed: 3, open: true, sampler: tpe}", true},
		{"{strategy: hyperband, tasks: 60, seed: 3, open: true, sampler: tpe}", true},
		{"{strategy: cmaes, tasks: 240, seed: 3, open: true, warm: true}", false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct space *space = drive_space(cases[i].fidelity
							  ? "a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\ne: 9\n"
							  : "a: {min: 0.0, max: 1.0}\nb: {min: 0.0, max: 1.0}\n");
		struct search_spec *spec = drive_spec(
			cases[i].text, cases[i].fidelity ? "{parameter: e, min: 1, max: 9}" : NULL, space, 1);
		size_t with = run_failed(spec, space, true), without = run_failed(spec, space, false);
		print_message("# %s: with %zu, without %zu\n", cases[i].text, with, without);
		assert_true(with > without);
		search_spec_free(spec);
		space_free(space);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_learns_from_where_tasks_ran_and_not_from_where_they_were_proposed),
		cmocka_unit_test(a_proposal_that_was_replaced_comes_again_once),
		cmocka_unit_test(a_replaced_proposal_that_another_task_ran_never_comes_again),
		cmocka_unit_test(a_replay_with_replaced_proposals_proposes_the_same),
		cmocka_unit_test(a_task_that_failed_and_was_run_again_moves_what_is_proposed),
		cmocka_unit_test(the_best_of_before_is_tried_first_and_costs_no_budget),
		cmocka_unit_test(a_replay_with_what_was_learnt_proposes_the_same),
		cmocka_unit_test(the_users_defaults_come_before_the_best_of_before),
		cmocka_unit_test(with_results_of_before_few_tasks_find_more),
		cmocka_unit_test(results_that_lost_their_value_are_not_taken_for_failures),
		cmocka_unit_test(what_a_task_really_ran_with_is_what_the_history_has),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
