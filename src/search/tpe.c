/* TPE: Bergstra et al. 2011, multivariate (Falkner et al. 2018), grouped by the parameters that apply
 * together, constant liar for what runs; several objectives by rank and hypervolume (Ozaki et al. 2022).
 * Constants as in Optuna: Watanabe, Tree-structured Parzen estimator: understanding its algorithm
 * components, 2023. */
#include "search/tpe.h"

#include "base/limits.h"
#include "search/pareto.h"
#include "search/parzen.h"
#include "search/search_internal.h"

#include <math.h>

#define GOOD_MOST 25
#define GOOD_PORTION 0.1

/* Parameters that apply under the same conditions, or (not multivariate) each parameter by itself: one density each for the
 * good and the others. */
struct group {
	size_t *dims; /* axes of the cube */
	size_t count;
	struct parzen *good, *other;
	/* The draws of the last proposal, best first. */
	double *points;
	size_t *ranking;
};

struct trial {
	size_t *slots; /* in `other` of each group; SIZE_MAX where it does not apply */
	double *point; /* the coordinates, group after group */
	bool good, has_result;
	unsigned rank; /* of its result */
};

struct tpe {
	const struct space *space;
	size_t objectives, startup, candidates;
	bool multivariate;
	struct parzen_axis *axes; /* of the cube */
	struct group *groups;
	size_t group_count;
	VEC(struct trial) trials;
	/* The results: one objective keeps the best few, several keep what may be among them by rank. */
	size_t results;
	struct result {
		unsigned rank; /* comes before the score */
		double score;
		size_t trial;
	} best[GOOD_MOST];
	size_t best_count;
	struct pareto_front front; /* by trial */
	VEC(size_t) good;
	bool stale; /* `good` is to be found again */
	struct space_value *values;
};

static bool tpe_same_conditions(const struct space_param *a, const struct space_param *b)
{
	if (a->condition_count != b->condition_count)
		return false;
	for (size_t i = 0; i < a->condition_count; i++) {
		const struct space_condition *x = &a->conditions[i], *y = &b->conditions[i];
		if (x->parent != y->parent || x->count != y->count)
			return false;
		for (size_t k = 0; k < x->count; k++)
			if (x->values[k].kind != y->values[k].kind || x->values[k].boolean != y->values[k].boolean ||
			    x->values[k].integer != y->values[k].integer || x->values[k].real != y->values[k].real ||
			    (x->values[k].text && strcmp(x->values[k].text, y->values[k].text) != 0))
				return false;
	}
	return true;
}

static void tpe_make_groups(struct tpe *t)
{
	const struct space *space = t->space;
	t->groups = mem_array(space->dim_count + 1, sizeof(*t->groups));
	for (size_t d = 0; d < space->dim_count; d++) {
		const struct space_param *p = &space->params[space->dims[d]];
		size_t g = 0;
		while (g < t->group_count &&
		       !(t->multivariate && tpe_same_conditions(p, &space->params[space->dims[t->groups[g].dims[0]]])))
			g++;
		struct group *group = &t->groups[g];
		if (g == t->group_count) {
			group->dims = mem_resize(NULL, space->dim_count, sizeof(size_t));
			t->group_count++;
		}
		group->dims[group->count++] = d;
	}
	struct parzen_axis *axes = mem_resize(NULL, space->dim_count + 1, sizeof(*axes));
	for (size_t g = 0; g < t->group_count; g++) {
		struct group *group = &t->groups[g];
		for (size_t i = 0; i < group->count; i++)
			axes[i] = t->axes[group->dims[i]];
		group->good = parzen_new(axes, group->count);
		group->other = parzen_new(axes, group->count);
		group->points = mem_resize(NULL, t->candidates * group->count, sizeof(double));
		group->ranking = mem_resize(NULL, t->candidates, sizeof(size_t));
	}
	free(axes);
}

struct tpe *tpe_new(const struct space *space, size_t objectives, size_t startup, size_t candidates, bool multivariate)
{
	struct tpe *t = mem_alloc(sizeof(*t));
	t->space = space;
	t->objectives = objectives;
	t->startup = startup;
	t->candidates = candidates;
	t->multivariate = multivariate;
	t->front.objectives = objectives;
	t->front.depth = GOOD_MOST;
	t->values = mem_array(space->count, sizeof(*t->values));
	t->axes = mem_array(space->dim_count + 1, sizeof(*t->axes));
	for (size_t d = 0; d < space->dim_count; d++)
		t->axes[d] = parzen_axis_of(&space->params[space->dims[d]]);
	tpe_make_groups(t);
	return t;
}

void tpe_free(struct tpe *t)
{
	if (!t)
		return;
	for (size_t g = 0; g < t->group_count; g++) {
		parzen_free(t->groups[g].good);
		parzen_free(t->groups[g].other);
		free(t->groups[g].dims);
		free(t->groups[g].points);
		free(t->groups[g].ranking);
	}
	for (size_t i = 0; i < t->trials.len; i++) {
		free(t->trials.at[i].slots);
		free(t->trials.at[i].point);
	}
	pareto_clear(&t->front);
	free(t->groups);
	free(t->trials.at);
	free(t->good.at);
	free(t->values);
	free(t->axes);
	free(t);
}

static void tpe_place(struct tpe *t, struct trial *trial, const double *unit)
{
	double *point = trial->point;
	space_decode(t->space, unit, t->values);
	for (size_t g = 0; g < t->group_count; g++) {
		struct group *group = &t->groups[g];
		trial->slots[g] = SIZE_MAX;
		if (t->values[t->space->dims[group->dims[0]]].kind == SPACE_VALUE_NONE)
			continue;
		for (size_t i = 0; i < group->count; i++)
			point[i] = parzen_coordinate(&t->axes[group->dims[i]], unit[group->dims[i]]);
		trial->slots[g] = parzen_add(group->other, point);
		point += group->count;
	}
}

size_t tpe_add(struct tpe *t, const double *unit)
{
	struct trial trial = {.slots = mem_resize(NULL, t->group_count + 1, sizeof(size_t)),
			      .point = mem_resize(NULL, t->space->dim_count + 1, sizeof(double))};
	tpe_place(t, &trial, unit);
	vec_push(&t->trials, trial);
	return t->trials.len - 1;
}

void tpe_correct(struct tpe *t, size_t number, const double *unit)
{
	struct trial *trial = &t->trials.at[number];
	if (trial->has_result)
		return;
	for (size_t g = 0; g < t->group_count; g++)
		if (trial->slots[g] != SIZE_MAX)
			parzen_set(t->groups[g].other, trial->slots[g], false);
	tpe_place(t, trial, unit);
}

static bool tpe_is_better(const struct result *a, const struct result *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return a->score < b->score || (a->score == b->score && a->trial < b->trial);
}

static void tpe_keep_best(struct tpe *t, struct result result)
{
	size_t at = t->best_count;
	while (at > 0 && tpe_is_better(&result, &t->best[at - 1]))
		at--;
	if (at == GOOD_MOST)
		return;
	size_t tail = (t->best_count < GOOD_MOST ? t->best_count : GOOD_MOST - 1) - at;
	memmove(t->best + at + 1, t->best + at, tail * sizeof(result));
	t->best[at] = result;
	t->best_count += t->best_count < GOOD_MOST;
}

/* The ones that fell out of the best few stay out. They do so rightly, because ranks rise; only the mean of repeats may
 * fall, when a repeat that had failed is run again. */
void tpe_tell_rank(struct tpe *t, size_t trial, double score, unsigned rank)
{
	struct trial *its = &t->trials.at[trial];
	if (its->has_result && rank > its->rank)
		return; /* it has been told for longer runs */
	its->rank = rank;
	size_t kept = 0;
	for (size_t i = 0; i < t->best_count; i++)
		if (t->best[i].trial != trial)
			t->best[kept++] = t->best[i];
	t->best_count = kept;
	t->results += !its->has_result;
	its->has_result = true;
	t->stale = true;
	tpe_keep_best(t, (struct result){rank, score, trial});
}

void tpe_tell(struct tpe *t, size_t trial, const double *score, bool pruned)
{
	if (!score)
		return; /* it goes on counting as bad */
	if (t->objectives == 1) {
		tpe_tell_rank(t, trial, *score, pruned);
		return;
	}
	if (t->trials.at[trial].has_result)
		return; /* the front keeps the mean of the repeats that it got first */
	t->trials.at[trial].has_result = true;
	t->results++;
	/* What a pruned one reached early says nothing about the front. */
	bool joins = !pruned && pareto_add(&t->front, score, trial);
	t->stale = t->stale || joins || t->results <= GOOD_MOST / GOOD_PORTION;
}

size_t tpe_results(const struct tpe *t)
{
	return t->results;
}

/* The group it proposes from. */
static size_t tpe_good(const struct tpe *t)
{
	double portion = ceil(GOOD_PORTION * (double)t->results);
	return portion < GOOD_MOST ? (size_t)portion : GOOD_MOST;
}

/* The good ones by several objectives: as many of the front, or by rank where the front is too small. */
static void tpe_find_front(const struct tpe *t, size_t want, size_t *ret)
{
	const struct pareto_front *f = &t->front;
	size_t *members = mem_resize(NULL, f->ids.len + 1, sizeof(*members)), count = 0;
	for (size_t i = 0; i < f->ids.len; i++)
		if (!f->above.at[i])
			members[count++] = i;
	if (count >= want)
		pareto_greedy(f->scores.at, t->objectives, members, count, want, ret);
	else
		pareto_select(f->scores.at, f->ids.len, t->objectives, want, ret);
	for (size_t i = 0; i < want; i++)
		ret[i] = f->ids.at[ret[i]];
	free(members);
}

/* Which trials are good now, in ascending order. */
static void tpe_find_good(struct tpe *t, size_t *ret, size_t *ret_count)
{
	size_t want = tpe_good(t), known = t->objectives == 1 ? t->best_count : t->front.ids.len;
	*ret_count = want = want < known ? want : known;
	if (t->objectives > 1)
		tpe_find_front(t, want, ret);
	for (size_t i = 0; i < want && t->objectives == 1; i++)
		ret[i] = t->best[i].trial;
	for (size_t i = 1; i < want; i++) {
		size_t one = ret[i], at = i;
		for (; at > 0 && ret[at - 1] > one; at--)
			ret[at] = ret[at - 1];
		ret[at] = one;
	}
}

static void tpe_move(struct tpe *t, size_t trial, bool good)
{
	for (size_t g = 0; g < t->group_count; g++)
		if (t->trials.at[trial].slots[g] != SIZE_MAX)
			parzen_set(t->groups[g].other, t->trials.at[trial].slots[g], !good);
	t->trials.at[trial].good = good;
}

/* The good of each group anew. */
static void tpe_gather_good(struct tpe *t)
{
	for (size_t g = 0; g < t->group_count; g++)
		parzen_clear(t->groups[g].good);
	for (size_t i = 0; i < t->good.len; i++) {
		const struct trial *trial = &t->trials.at[t->good.at[i]];
		const double *point = trial->point;
		for (size_t g = 0; g < t->group_count; g++) {
			if (trial->slots[g] == SIZE_MAX)
				continue;
			parzen_add(t->groups[g].good, point);
			point += t->groups[g].count;
		}
	}
}

/* Brings the densities up to date: what changed sides since the last time moves. */
static void tpe_split(struct tpe *t)
{
	size_t good[GOOD_MOST], count;
	t->stale = false;
	tpe_find_good(t, good, &count);
	if (count == t->good.len && memcmp(good, t->good.at, count * sizeof(*good)) == 0)
		return;
	for (size_t i = 0; i < t->good.len; i++) {
		bool stays = false;
		for (size_t k = 0; k < count; k++)
			stays = stays || good[k] == t->good.at[i];
		if (!stays)
			tpe_move(t, t->good.at[i], false);
	}
	t->good.len = 0;
	for (size_t i = 0; i < count; i++) {
		if (!t->trials.at[good[i]].good)
			tpe_move(t, good[i], true);
		vec_push(&t->good, good[i]);
	}
	tpe_gather_good(t);
}

/* Draws candidates where the good are dense and ranks them by the ratio of the densities. */
static void tpe_draw_candidates(struct tpe *t, struct group *group, struct rng *rng)
{
	size_t n = t->candidates;
	double *good = mem_resize(NULL, 2 * n, sizeof(*good)), *other = good + n;
	parzen_sample(group->good, true, rng, group->points, n);
	parzen_log_density(group->good, true, group->points, n, good);
	parzen_log_density(group->other, true, group->points, n, other);
	for (size_t i = 0; i < n; i++) {
		size_t at = i;
		for (; at > 0; at--) {
			size_t before = group->ranking[at - 1];
			if (good[before] - other[before] >= good[i] - other[i])
				break;
			group->ranking[at] = before;
		}
		group->ranking[at] = i;
	}
	free(good);
}

void tpe_propose(struct tpe *t, struct rng *rng, unsigned redraw, double *ret_unit)
{
	if (t->results < t->startup || redraw >= t->candidates) {
		for (size_t d = 0; d < t->space->dim_count; d++)
			ret_unit[d] = rng_unit(rng);
		return;
	}
	if (t->stale)
		tpe_split(t);
	for (size_t g = 0; g < t->group_count; g++) {
		struct group *group = &t->groups[g];
		if (redraw == 0)
			tpe_draw_candidates(t, group, rng);
		const double *point = group->points + group->ranking[redraw] * group->count;
		for (size_t i = 0; i < group->count; i++)
			ret_unit[group->dims[i]] = parzen_unit(&t->axes[group->dims[i]], point[i]);
	}
}

/* The strategy. */

#define TPE_OPTIONS(multivariate)                                                                                      \
	{"startup", SEARCH_OPTION_INT, 10, 1, LIMIT_TASKS, NULL, "results of random draws before the model is used"},  \
		{"candidates",                                                                                         \
		 SEARCH_OPTION_INT,                                                                                    \
		 24,                                                                                                   \
		 1,                                                                                                    \
		 1000,                                                                                                 \
		 NULL,                                                                                                 \
		 "draws per proposal, of which the most promising is taken"},                                          \
		{"multivariate",                                                                                       \
		 SEARCH_OPTION_BOOL,                                                                                   \
		 multivariate,                                                                                         \
		 0,                                                                                                    \
		 1,                                                                                                    \
		 NULL,                                                                                                 \
		 "one density for all parameters that apply together; else one for each parameter"},                   \
	{                                                                                                              \
		0                                                                                                      \
	}

const struct search_option tpe_options[] = {TPE_OPTIONS(true)};
/* With several objectives one density for each parameter was better (docs/studies/search-quality.md). */
const struct search_option motpe_options[] = {TPE_OPTIONS(false)};

static int tpe_open(struct search *s, struct error *err)
{
	(void)err;
	s->state = tpe_new(s->space, s->objectives, (size_t)search_option(s->spec, "startup"),
			   (size_t)search_option(s->spec, "candidates"), search_option(s->spec, "multivariate") != 0);
	return 0;
}

static void tpe_close(struct search *s)
{
	tpe_free(s->state);
}

static enum search_answer tpe_ask(struct search *s, struct search_trial *trial)
{
	if (!search_take_known(s, trial))
		tpe_propose(s->state, &s->rng, trial->redraw, trial->unit);
	return SEARCH_PROPOSED;
}

static void tpe_accepted(struct search *s, struct search_trial *trial)
{
	tpe_add(s->state, trial->unit);
}

static void tpe_corrected(struct search *s, struct search_trial *trial)
{
	tpe_correct(s->state, trial->index, trial->unit);
}

static void tpe_hear(struct search *s, struct search_trial *trial)
{
	tpe_tell(s->state, trial->index, search_has_score(trial) ? trial->score : NULL,
		 trial->state == SEARCH_TRIAL_PRUNED);
}

static void tpe_write_state(const struct search *s, struct json *out)
{
	const struct tpe *t = s->state;
	json_key_string(out, "phase", t->results < t->startup ? "random" : "model");
	json_key_int(out, "results", (int64_t)t->results);
	json_key_int(out, "good", (int64_t)tpe_good(t));
	json_key_int(out, "groups", (int64_t)t->group_count);
}

const struct strategy_ops tpe_ops = {
	.open = tpe_open,
	.free = tpe_close,
	.ask = tpe_ask,
	.accepted = tpe_accepted,
	.added = tpe_accepted,
	.corrected = tpe_corrected,
	.tell = tpe_hear,
	.retold = tpe_hear,
	.write_state = tpe_write_state,
	.recalls = true,
};
