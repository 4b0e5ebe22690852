/* Ask and tell: what all strategies share. A proposal depends on nothing but the specification, the
 * space and the sequence of asks and tells, so that replaying the sequence gives it again. */
#include "search/search_internal.h"

#include "base/num.h"

#include <math.h>

/* Candidates of the strategy that may be refused before the core draws by itself, and its own draws
 * before a finite space is walked for something new. */
#define SEARCH_REDRAWS 64
#define SEARCH_OWN_DRAWS 1000
/* Steps of that walk: a fraction of a second. */
#define SEARCH_WALK_MOST 2000000
/* Of a number, so that it survives the way to the cube and back (13 digits would do for most ranges). */
#define TIDY_DIGITS 12
/* The score of a trial beyond a limit is this much and up to twice as much. */
#define SEARCH_BEYOND 1e100

int search_open(const struct search_spec *spec, const struct space *space, struct search **ret, struct error *err)
{
	struct search *s = mem_alloc(sizeof(*s));
	s->spec = spec;
	s->space = space;
	s->dims = space->dim_count;
	s->objectives = spec->objective_count;
	rng_seed(&s->rng, spec->seed);
	s->known = mem_array(space->dim_count, sizeof(*s->known));
	s->values = mem_array(space->count, sizeof(*s->values));
	s->walk_values = mem_array(space->count, sizeof(*s->walk_values));
	int rc = spec->strategy->ops->open ? spec->strategy->ops->open(s, err) : 0;
	if (rc < 0) {
		search_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void search_free(struct search *s)
{
	if (!s)
		return;
	if (s->spec->strategy->ops->free)
		s->spec->strategy->ops->free(s);
	for (size_t i = 0; i < s->trials.len; i++) {
		free(s->trials.at[i]->lacks);
		free(s->trials.at[i]->proposed);
		free(s->trials.at[i]);
	}
	free(s->trials.at);
	free(s->tasks.at);
	seen_free(&s->seen);
	free(s->known);
	free(s->values);
	free(s->walk_values);
	free(s);
}

void search_random_point(struct search *s, double *unit)
{
	for (size_t d = 0; d < s->dims; d++)
		unit[d] = rng_unit(&s->rng);
}

/* The number without its last digits, which the way to the cube and back changes: what was tidied, encoded and decoded
 * is the same number when it is tidied again. */
static double search_tidy(const struct space_param *p, double real)
{
	int digits = TIDY_DIGITS;
	if (!p->log && real != 0)
		digits -= (int)floor(log10(fmax(fabs(p->min), fabs(p->max)))) - (int)floor(log10(fabs(real)));
	return fmin(fmax(digits > 0 ? num_round(real, digits) : 0, p->min), p->max);
}

/* The place of a task in the order of the asks; NULL. */
static struct search_task *search_find_task(const struct search *s, int64_t id)
{
	size_t low = 0, high = s->tasks.len;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->tasks.at[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->tasks.len && s->tasks.at[low].id == id ? &s->tasks.at[low] : NULL;
}

/* What it ran without, it does without when it goes on; so do the parameters that depend on that. */
static void search_leave_out(const struct search *s, const struct search_trial *trial, struct space_value *values)
{
	const struct search_task *from = trial->continues >= 0 ? search_find_task(s, trial->continues) : NULL;
	const bool *lacks = trial->lacks ? trial->lacks : from ? from->trial->lacks : NULL;
	for (size_t i = 0; lacks && i < s->space->count; i++) {
		size_t at = s->space->order[i];
		if (lacks[at] || !space_applies(s->space, at, values))
			values[at] = (struct space_value){0};
	}
}

/* The configuration at a point, with the fidelity filled in where there is one. The same point is always the same
 * configuration, to the last bit: of a repeat, and of what is recalled. */
static void search_decode(const struct search *s, const struct search_trial *trial, struct space_value *values)
{
	long at = s->spec->fidelity_param;
	space_decode(s->space, trial->unit, values);
	for (size_t d = 0; d < s->dims && s->spec->strategy->ops->recalls; d++) {
		const struct space_param *p = &s->space->params[s->space->dims[d]];
		struct space_value *value = &values[s->space->dims[d]];
		if (value->kind == SPACE_VALUE_REAL && !p->cardinality)
			value->real = search_tidy(p, value->real);
	}
	search_leave_out(s, trial, values);
	if (at < 0 || isnan(trial->fidelity) || values[at].kind == SPACE_VALUE_NONE)
		return;
	bool whole = s->space->params[at].kind == SPACE_INT || values[at].kind == SPACE_VALUE_INT;
	double f = whole ? round(trial->fidelity) : trial->fidelity;
	values[at] = (struct space_value){
		.kind = whole ? SPACE_VALUE_INT : SPACE_VALUE_REAL, .integer = whole ? (int64_t)f : 0, .real = f};
}

/* Names a configuration; the fidelity is no part of it. Never 0. */
static uint64_t search_identity(const struct search *s, const struct search_trial *trial, struct space_value *values)
{
	struct space_value kept = {0};
	long at = isnan(trial->fidelity) ? -1 : s->spec->fidelity_param;
	if (at >= 0) {
		kept = values[at];
		values[at] = (struct space_value){0};
	}
	uint64_t hash = space_hash(s->space, values);
	if (at >= 0)
		values[at] = kept;
	return hash ? hash : 1;
}

/* The point that a configuration stands for. The fidelity is no part of it. */
static void search_encode(const struct search *s, const struct space_value *values, double *unit)
{
	space_encode(s->space, values, unit);
	for (size_t d = 0; d < s->dims; d++)
		if ((long)s->space->dims[d] == s->spec->fidelity_param)
			unit[d] = 0.5;
}

/* May a configuration come again now? In an open search only when there is no new one. */
static bool search_repeats(const struct search *s)
{
	return s->spec->duplicates && (!s->spec->open || s->used_up);
}

static bool search_is_acceptable(const struct search *s, struct search_trial *trial, struct space_value *values)
{
	search_decode(s, trial, values);
	if (s->spec->strategy->ops->recalls)
		search_encode(s, values, trial->unit);
	if (trial->continues >= 0)
		return true; /* it was accepted when it began */
	if (!space_allows(s->space, values))
		return false;
	return search_repeats(s) || !seen_has(&s->seen, search_identity(s, trial, values));
}

/* The middle of everything, with the user's defaults put in: the first thing tried where there are
 * any. */
static bool search_default_point(const struct search *s, double *unit)
{
	bool any = false;
	for (size_t d = 0; d < s->dims; d++)
		unit[d] = 0.5;
	space_decode(s->space, unit, s->values);
	for (size_t i = 0; i < s->space->count; i++) {
		if (s->space->params[i].has_default && s->space->params[i].cardinality != 1) {
			s->values[i] = s->space->params[i].fallback;
			any = true;
		}
	}
	if (any)
		space_encode(s->space, s->values, unit);
	return any;
}

/* The best result of earlier experiments: what it is worth in this one is known first. */
static bool search_earlier_point(const struct search *s, double *unit)
{
	const struct search_trial *best = NULL;
	for (size_t i = 0; i < s->trials.len && s->objectives == 1; i++) {
		const struct search_trial *t = s->trials.at[i];
		if (t->earlier && search_has_score(t) && (!best || t->score[0] < best->score[0]))
			best = t;
	}
	if (best)
		memcpy(unit, best->unit, s->dims * sizeof(double));
	return best;
}

/* What is tried first, before the strategy has its say. */
static bool search_first_point(const struct search *s, double *unit)
{
	return search_default_point(s, unit) || search_earlier_point(s, unit);
}

/* Something new when the strategy has no more ideas: draws, then a walk through a finite space. */
static bool search_find_new(struct search *s, struct search_trial *trial, struct space_value *values)
{
	struct rng rng;
	rng_seed(&rng, rng_derive(rng_derive(s->spec->seed, 0x73706172), trial->index));
	for (int i = 0; i < SEARCH_OWN_DRAWS; i++) {
		for (size_t d = 0; d < s->dims; d++)
			trial->unit[d] = rng_unit(&rng);
		if (search_is_acceptable(s, trial, values))
			return true;
	}
	/* What the walk has passed was tried, so that it goes on where it stood. */
	while (s->walk_cursor < SEARCH_WALK_MOST) {
		if (!s->walk_stands && !space_next(s->space, &s->walk_cursor, s->walk_values))
			return false;
		s->walk_stands = true;
		space_encode(s->space, s->walk_values, trial->unit);
		if (search_is_acceptable(s, trial, values))
			return true;
		s->walk_stands = false;
	}
	return false;
}

static struct search_trial *search_trial_new(struct search *s)
{
	size_t doubles = s->dims + 3 * s->objectives + s->spec->limit_count;
	struct search_trial *trial = mem_alloc(sizeof(*trial) + doubles * sizeof(double));
	trial->unit = (double *)(trial + 1);
	trial->score = trial->unit + s->dims;
	trial->sums = trial->score + s->objectives;
	trial->measured = trial->sums + s->objectives;
	trial->excess = trial->measured + s->objectives;
	for (size_t i = 0; i < s->spec->limit_count; i++)
		trial->excess[i] = -INFINITY;
	trial->index = s->trials.len;
	trial->fidelity = NAN;
	trial->continues = -1;
	trial->tag = -1;
	trial->all_pruned = true;
	return trial;
}

static bool search_was_tried(struct search *s, const struct search_trial *trial)
{
	search_decode(s, trial, s->values);
	return !s->spec->duplicates && seen_has(&s->seen, search_identity(s, trial, s->values));
}

/* In an open search, where everything was tried: what the strategy likes best, once more. */
static bool search_ask_again(struct search *s, struct search_trial *trial, struct space_value *values)
{
	s->used_up = s->spec->open && s->spec->duplicates;
	bool good = false;
	for (trial->redraw = 0; s->used_up && !good && trial->redraw <= SEARCH_REDRAWS; trial->redraw++)
		good = s->spec->strategy->ops->ask(s, trial) == SEARCH_PROPOSED &&
			search_is_acceptable(s, trial, values);
	s->used_up = false;
	return good;
}

/* Asks the strategy until it proposes something that may be tried. */
static enum search_answer search_ask_for_new(struct search *s, struct search_trial *trial, struct space_value *values,
					     bool *ret_exhausted)
{
	const struct strategy_ops *ops = s->spec->strategy->ops;
	bool exhaustive = s->spec->strategy->capabilities & SEARCH_FINITE_ONLY;
	for (trial->redraw = 0; trial->redraw <= SEARCH_REDRAWS; trial->redraw++) {
		trial->fidelity = NAN;
		trial->continues = -1;
		trial->taken = false;
		enum search_answer answer = ops->ask(s, trial);
		if (answer == SEARCH_DONE && exhaustive && s->given_back)
			break; /* it goes through the space once */
		if (answer == SEARCH_DONE || (answer == SEARCH_WAIT && s->pending))
			return answer;
		if (answer == SEARCH_WAIT)
			break; /* would wait for ever */
		if (trial->taken && ops->exhausted && search_was_tried(s, trial)) {
			*ret_exhausted = true; /* it was then: this one went on from before */
			return SEARCH_WAIT;
		}
		if (trial->taken)
			return SEARCH_PROPOSED; /* it was accepted then */
		if (trial->index == s->earlier && trial->redraw == 0 && !exhaustive) {
			double *kept = mem_array(s->dims, sizeof(*kept));
			memcpy(kept, trial->unit, s->dims * sizeof(*kept));
			bool ours = search_first_point(s, trial->unit) && search_is_acceptable(s, trial, values);
			if (!ours)
				memcpy(trial->unit, kept, s->dims * sizeof(*kept));
			free(kept);
			if (ours)
				return SEARCH_PROPOSED;
		}
		if (search_is_acceptable(s, trial, values))
			return SEARCH_PROPOSED;
		if (!s->dims && !s->spec->duplicates)
			return SEARCH_DONE; /* there is only one */
	}
	if (search_find_new(s, trial, values))
		return SEARCH_PROPOSED;
	if (search_ask_again(s, trial, values))
		return SEARCH_PROPOSED;
	*ret_exhausted = true;
	/* Nothing is new, but what runs may still be promoted. */
	bool promotes = s->spec->strategy->capabilities & SEARCH_MULTI_FIDELITY;
	return promotes && s->pending ? SEARCH_WAIT : SEARCH_DONE;
}

/* The draws in vain leave no trace: a replay comes here at another time. */
static enum search_answer search_ask_strategy(struct search *s, struct search_trial *trial, struct space_value *values)
{
	const struct strategy_ops *ops = s->spec->strategy->ops;
	struct rng rng = s->rng;
	bool exhausted = false;
	enum search_answer answer = search_ask_for_new(s, trial, values, &exhausted);
	if (!exhausted || !ops->exhausted || !ops->exhausted(s))
		return answer;
	s->rng = rng;
	return search_ask_for_new(s, trial, values, &exhausted);
}

static void search_propose(struct search *s, int64_t id, struct search_trial *trial, struct search_proposal *ret)
{
	/* A repeat goes on from the same repeat: they were asked for one after the other. */
	const struct search_task *from = trial->continues >= 0 ? search_find_task(s, trial->continues) : NULL;
	ret->continues = from ? from[trial->asked].id : -1;
	vec_push(&s->tasks, ((struct search_task){.id = id, .trial = trial}));
	ret->repeat = ++trial->asked;
	ret->fidelity = trial->fidelity;
}

/* A trial that goes on may itself be gone on from. */
static void search_inherit(const struct search *s, struct search_trial *trial)
{
	const struct search_task *from = trial->continues >= 0 ? search_find_task(s, trial->continues) : NULL;
	if (!from || !from->trial->lacks)
		return;
	trial->lacks = mem_array(s->space->count, sizeof(*trial->lacks));
	memcpy(trial->lacks, from->trial->lacks, s->space->count * sizeof(*trial->lacks));
}

enum search_answer search_ask(struct search *s, int64_t id, struct search_proposal *ret)
{
	struct search_trial *last = s->trials.len ? s->trials.at[s->trials.len - 1] : NULL;
	if (last && !last->foreign && last->asked < s->spec->repeats) {
		search_decode(s, last, ret->values);
		search_propose(s, id, last, ret);
		return SEARCH_PROPOSED;
	}
	if (s->spec->tasks && !s->spec->open && s->trials.len + s->lost - s->unspent >= s->spec->tasks)
		return SEARCH_DONE;
	struct rng rng = s->rng;
	struct search_trial *trial = search_trial_new(s);
	if (s->spec->strategy->ops->recalls)
		rng_seed(&s->rng, rng_derive(rng_derive(s->spec->seed, 0x61736b), trial->index));
	enum search_answer answer = search_ask_strategy(s, trial, ret->values);
	if (answer != SEARCH_PROPOSED) {
		s->rng = rng;
		free(trial);
		return answer;
	}
	trial->id = id;
	vec_push(&s->trials, trial);
	s->pending++;
	search_inherit(s, trial);
	if (!search_repeats(s) && trial->continues < 0)
		seen_add(&s->seen, trial->identity = search_identity(s, trial, ret->values));
	if (s->spec->strategy->ops->accepted)
		s->spec->strategy->ops->accepted(s, trial);
	search_propose(s, id, trial, ret);
	return SEARCH_PROPOSED;
}

enum search_answer search_recall(struct search *s, int64_t id, struct search_proposal *proposal)
{
	search_encode(s, proposal->values, s->known);
	s->known_fidelity = proposal->fidelity;
	s->recalling = true;
	enum search_answer answer = search_ask(s, id, proposal);
	s->recalling = false;
	return answer;
}

bool search_take_known(const struct search *s, struct search_trial *trial)
{
	trial->taken = s->recalling;
	if (trial->taken)
		memcpy(trial->unit, s->known, s->dims * sizeof(double));
	return trial->taken;
}

static struct search_trial *search_foreign_new(struct search *s, int64_t id, const struct space_value *values)
{
	struct search_trial *trial = search_trial_new(s);
	trial->id = id;
	trial->foreign = true;
	trial->asked = 1;
	space_encode(s->space, values, trial->unit);
	return trial;
}

void search_learn(struct search *s, int64_t id, const struct space_value *values)
{
	struct search_trial *trial = search_foreign_new(s, id, values);
	trial->earlier = true;
	vec_push(&s->trials, trial);
	vec_push(&s->tasks, ((struct search_task){.id = id, .trial = trial}));
	s->pending++;
	s->unspent++;
	s->earlier++;
	if (s->spec->strategy->ops->added)
		s->spec->strategy->ops->added(s, trial);
}

void search_add(struct search *s, int64_t id, const struct space_value *values, double fidelity, bool spent)
{
	struct search_trial *trial = search_foreign_new(s, id, values);
	trial->fidelity = fidelity;
	/* The repeats of a configuration stand one behind the other, and count as one. */
	const struct search_trial *last = s->trials.len ? s->trials.at[s->trials.len - 1] : NULL;
	bool repeat = s->spec->repeats > 1 && last && last->foreign && !last->earlier &&
		memcmp(last->unit, trial->unit, s->dims * sizeof(double)) == 0;
	vec_push(&s->trials, trial);
	vec_push(&s->tasks, ((struct search_task){.id = id, .trial = trial}));
	s->pending++;
	s->unspent += !spent || repeat;
	memcpy(s->values, values, s->space->count * sizeof(*values));
	if (!search_repeats(s))
		seen_add(&s->seen, trial->identity = search_identity(s, trial, s->values));
	if (s->spec->strategy->ops->added)
		s->spec->strategy->ops->added(s, trial);
}

/* A value that says something: all objectives are finite. */
static bool search_has_values(const struct search *s, enum search_outcome outcome, const double *values)
{
	if ((outcome != SEARCH_FINISHED && outcome != SEARCH_PRUNED) || !values)
		return false;
	for (size_t i = 0; i < s->objectives; i++)
		if (!isfinite(values[i]))
			return false;
	/* A pruned task may not have come so far that its limits are known. */
	for (size_t i = 0; i < s->spec->limit_count && outcome == SEARCH_FINISHED; i++)
		if (isnan(values[s->objectives + i]))
			return false;
	return true;
}

/* How far a repeat is beyond the limits. Of several repeats the worst counts: luck is no way to keep a limit. */
static void search_note_excess(const struct search *s, struct search_trial *trial, const double *values)
{
	for (size_t i = 0; i < s->spec->limit_count; i++) {
		const struct search_limit *limit = &s->spec->limits[i];
		double off = values[s->objectives + i] - limit->bound;
		if (!isnan(off))
			trial->excess[i] = fmax(trial->excess[i], limit->at_least ? -off : off);
	}
}

/* 0 within all limits; else between 0 and 1, and the larger the farther it is beyond them. */
static double search_violation(const struct search *s, const struct search_trial *trial)
{
	double sum = 0;
	for (size_t i = 0; i < s->spec->limit_count; i++)
		if (trial->excess[i] > 0)
			sum += trial->excess[i] / fmax(fabs(s->spec->limits[i].bound), 1e-9);
	return isfinite(sum) ? sum / (1 + sum) : 1;
}

/* Means over the repeats that have values, made smaller-is-better. */
static void search_settle(const struct search *s, struct search_trial *trial)
{
	trial->state = !trial->good ? SEARCH_TRIAL_FAILED
		: trial->all_pruned ? SEARCH_TRIAL_PRUNED
				    : SEARCH_TRIAL_FINISHED;
	for (size_t i = 0; i < s->objectives; i++) {
		double mean = trial->sums[i] / (double)trial->good;
		trial->measured[i] = trial->good ? (s->spec->maximise[i] ? -mean : mean) : INFINITY;
		trial->score[i] = trial->measured[i];
	}
	double violation = search_violation(s, trial);
	trial->beyond = trial->good && violation > 0;
	for (size_t i = 0; i < s->objectives && trial->beyond; i++)
		trial->score[i] = SEARCH_BEYOND * (1 + violation);
}

/* Did it run as it was proposed, but for optional parameters that were left out? Its worker would leave them out again. */
static bool search_ran_as_proposed(const struct search *s, const struct search_trial *trial,
				   const struct space_value *ran)
{
	struct space_value *filled = mem_array(s->space->count, sizeof(*filled));
	struct search_trial as = *trial;
	as.unit = trial->proposed;
	as.lacks = NULL;
	search_decode(s, &as, s->values);
	for (size_t i = 0; i < s->space->count; i++)
		filled[i] = ran[i].kind == SPACE_VALUE_NONE ? s->values[i] : ran[i];
	bool same = space_equal(s->space, filled, s->values);
	free(filled);
	return same;
}

/* What ran is not proposed again. What was proposed in its place, and did not run, is. */
static void search_replace_seen(struct search *s, struct search_trial *trial, const struct space_value *values)
{
	struct space_value *ran = mem_array(s->space->count, sizeof(*ran));
	memcpy(ran, values, s->space->count * sizeof(*ran));
	uint64_t identity = search_identity(s, trial, ran);
	if (trial->ran)
		seen_drop(&s->seen, trial->ran); /* it was told before, and otherwise */
	trial->ran = identity == trial->identity ? 0 : identity;
	if (trial->ran)
		seen_add(&s->seen, trial->ran);
	bool may_come = false;
	if (trial->ran && trial->identity && !search_ran_as_proposed(s, trial, ran) &&
	    seen_give_back(&s->seen, trial->identity, &may_come))
		trial->identity = 0;
	if (may_come) {
		s->given_back = true;
		s->walk_cursor = 0;
		s->walk_stands = false;
	}
	free(ran);
}

void search_correct(struct search *s, int64_t id, const struct space_value *values)
{
	struct search_task *task = search_find_task(s, id);
	if (!task)
		return;
	struct search_trial *trial = task->trial;
	if (!trial->proposed) {
		trial->proposed = mem_array(s->dims, sizeof(double));
		memcpy(trial->proposed, trial->unit, s->dims * sizeof(double));
	}
	if (!search_repeats(s))
		search_replace_seen(s, trial, values);
	search_encode(s, values, trial->unit);
	if (!trial->lacks)
		trial->lacks = mem_array(s->space->count, sizeof(*trial->lacks));
	for (size_t i = 0; i < s->space->count; i++)
		trial->lacks[i] = s->space->params[i].optional && values[i].kind == SPACE_VALUE_NONE;
	if (s->spec->strategy->ops->corrected)
		s->spec->strategy->ops->corrected(s, trial);
}

void search_spend(struct search *s)
{
	s->lost++;
}

void search_tell(struct search *s, int64_t id, enum search_outcome outcome, const double *values)
{
	struct search_task *task = search_find_task(s, id);
	if (!task)
		return;
	struct search_trial *trial = task->trial;
	bool good = search_has_values(s, outcome, values), again = task->told;
	if (again && (!task->failed || !good))
		return;
	task->failed = !good;
	if (good) {
		for (size_t i = 0; i < s->objectives; i++)
			trial->sums[i] += values[i];
		search_note_excess(s, trial, values);
		trial->good++;
		trial->all_pruned = trial->all_pruned && outcome == SEARCH_PRUNED;
	}
	if (!again) {
		task->told = true;
		trial->told++;
	}
	if (!trial->foreign && trial->told < s->spec->repeats)
		return;
	search_settle(s, trial);
	s->pending -= !again;
	bool places = s->spec->strategy->capabilities & SEARCH_MULTI_FIDELITY;
	const struct strategy_ops *ops = s->spec->strategy->ops;
	void (*hear)(struct search *, struct search_trial *) = again ? ops->retold : ops->tell;
	if (hear && !(trial->foreign && places))
		hear(s, trial);
}

void search_write_state(const struct search *s, struct json *out)
{
	json_map(out);
	json_key_string(out, "strategy", s->spec->strategy->name);
	json_key_int(out, "asked", (int64_t)s->trials.len);
	json_key_int(out, "pending", (int64_t)s->pending);
	if (s->spec->strategy->ops->write_state)
		s->spec->strategy->ops->write_state(s, out);
	json_end(out);
}
