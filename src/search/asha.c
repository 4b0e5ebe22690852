/* ASHA: L. Li et al., A system for massively parallel hyperparameter tuning, MLSys 2020. Whenever a
 * worker is free, something that is among the best of its rung goes on for longer; if there is nothing,
 * something new begins. No task waits for another. New configurations come from a model once it has results. The
 * Gaussian process sees short and full runs, and once it knows a few full ones, it decides: what goes on is what
 * promises the most of its full run, unless something new promises more (freeze-thaw, Swersky et al. 2014). */
#include "search/rungs.h"
#include "search/sampler.h"

#include <math.h>

const struct search_option asha_options[] = {
	RUNGS_OPTION_ETA,
	SAMPLER_OPTION("gp|tpe|sobol"),
	{0},
};

#define ASHA_FULL_RUNS 3 /* with a value, from which on the model decides */
/* By how much (its logarithm) something new must promise more than what would go on by its rank alone. */
#define ASHA_NEW_BETTER 1.0
#define ASHA_LOOK 30 /* of each rung, the best: what others promise is not computed */

/* Told here, with a value, best first: those that may go on, and those that did. */
struct rung {
	struct ranked {
		struct search_trial **at;
		size_t len, cap;
	} waiting, gone;
	uint64_t told; /* failed ones too */
};

struct asha {
	double levels[RUNGS_MOST];
	size_t count;
	unsigned eta;
	struct rung rungs[RUNGS_MOST];
	struct sampler *sampler;
	size_t begun; /* new configurations since something went on */
};

#define NOTE_RUNG 0

static int asha_open(struct search *s, struct error *err)
{
	(void)err;
	struct asha *a = s->state = mem_alloc(sizeof(*a));
	a->eta = (unsigned)search_option(s->spec, "eta");
	a->count = rungs_levels(s->spec->fidelity_min, s->spec->fidelity_max, a->eta, a->levels);
	static const enum sampler_kind kinds[] = {SAMPLER_GP, SAMPLER_TPE, SAMPLER_SOBOL};
	a->sampler = sampler_new(s, a->count, kinds[(size_t)search_option(s->spec, "sampler")]);
	return 0;
}

static void asha_free(struct search *s)
{
	struct asha *a = s->state;
	if (!a)
		return;
	for (size_t i = 0; i < RUNGS_MOST; i++) {
		free(a->rungs[i].waiting.at);
		free(a->rungs[i].gone.at);
	}
	sampler_free(a->sampler);
	free(a);
}

/* How many of them are at least as good. */
static size_t asha_rank_of(const struct ranked *r, double score)
{
	size_t low = 0, high = r->len;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (r->at[middle]->score[0] <= score)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void asha_rank_add(struct ranked *r, struct search_trial *trial)
{
	size_t at = asha_rank_of(r, trial->score[0]);
	vec_push(r, trial);
	memmove(r->at + at + 1, r->at + at, (r->len - at - 1) * sizeof(*r->at));
	r->at[at] = trial;
}

static bool asha_rank_remove(struct ranked *r, const struct search_trial *trial)
{
	size_t at = 0;
	while (at < r->len && r->at[at] != trial)
		at++;
	if (at == r->len)
		return false;
	r->len--;
	memmove(r->at + at, r->at + at + 1, (r->len - at) * sizeof(*r->at));
	return true;
}

/* From the top down: one of the best 1/eta of a rung that has not gone on yet. */
static struct search_trial *asha_find_promotion(const struct asha *a, size_t *ret_rung)
{
	for (size_t k = a->count - 1; k-- > 0;) {
		const struct rung *rung = &a->rungs[k];
		if (rung->waiting.len &&
		    asha_rank_of(&rung->gone, rung->waiting.at[0]->score[0]) < rung->told / a->eta) {
			*ret_rung = k + 1;
			return rung->waiting.at[0];
		}
	}
	return NULL;
}

/* Of what waits, what promises the most of its full run, by the epochs that are left to pay for; NULL: something new
 * promises more. */
static struct search_trial *asha_find_hopeful(const struct asha *a, const struct search *s, size_t *ret_rung)
{
	struct search_trial *best = NULL;
	double most = sampler_promise_of_new(a->sampler), full = a->levels[a->count - 1];
	for (size_t k = a->count - 1; k-- > 0;) {
		const struct ranked *waiting = &a->rungs[k].waiting;
		for (size_t i = 0; i < waiting->len && i < ASHA_LOOK; i++) {
			double promise = sampler_promise(a->sampler, s, waiting->at[i]) +
				log(full / (full - a->levels[k]));
			if (promise > most) {
				most = promise;
				best = waiting->at[i];
				*ret_rung = k + 1;
			}
		}
	}
	return best;
}

/* Replay: what the proposal on record went on from; NULL: it was new. */
static struct search_trial *asha_find_known(const struct asha *a, const struct search *s,
					    const struct search_trial *trial, size_t *ret_rung)
{
	for (size_t k = 1; k < a->count; k++) {
		const struct ranked *waiting = &a->rungs[k - 1].waiting;
		for (size_t i = 0; fabs(s->known_fidelity / a->levels[k] - 1) < 1e-9 && i < waiting->len; i++)
			if (memcmp(waiting->at[i]->unit, trial->unit, s->dims * sizeof(double)) == 0) {
				*ret_rung = k;
				return waiting->at[i];
			}
	}
	return NULL;
}

/* What goes on, and to which rung. NULL: trial->unit is a new configuration. */
static struct search_trial *asha_choose(const struct asha *a, struct search *s, struct search_trial *trial,
					size_t *ret_rung)
{
	struct search_trial *by_rank = asha_find_promotion(a, ret_rung);
	bool decides = a->rungs[a->count - 1].waiting.len >= ASHA_FULL_RUNS && trial->redraw == 0;
	if (by_rank && !decides)
		return by_rank;
	sampler_propose(a->sampler, s, trial);
	if (!decides || !sampler_weighs(a->sampler, trial))
		return by_rank;
	size_t rung = 0;
	struct search_trial *hopeful = trial->taken ? asha_find_known(a, s, trial, &rung)
						    : asha_find_hopeful(a, s, &rung);
	/* The model may be wrong for long: so many new ones, and then the ranks have their way. */
	bool by_rule = by_rank && !hopeful && !trial->taken &&
		(a->begun >= (size_t)a->eta * a->eta ||
		 sampler_promise(a->sampler, s, by_rank) >= sampler_promise_of_new(a->sampler) - ASHA_NEW_BETTER);
	if (by_rule)
		return by_rank;
	*ret_rung = rung;
	return hopeful;
}

static enum search_answer asha_ask(struct search *s, struct search_trial *trial)
{
	struct asha *a = s->state;
	size_t rung = 0;
	const struct search_trial *from = asha_choose(a, s, trial, &rung);
	trial->notes[NOTE_RUNG] = (double)rung;
	trial->fidelity = a->levels[rung];
	trial->tag = from ? (int64_t)from->index : -1;
	if (from) {
		memcpy(trial->unit, from->unit, s->dims * sizeof(double));
		trial->continues = from->id;
	}
	return SEARCH_PROPOSED;
}

static void asha_accepted(struct search *s, struct search_trial *trial)
{
	struct asha *a = s->state;
	size_t rung = (size_t)trial->notes[NOTE_RUNG];
	sampler_accepted(a->sampler, trial, trial->tag < 0 ? NULL : s->trials.at[trial->tag]);
	a->begun = trial->tag < 0 ? a->begun + 1 : 0;
	if (trial->tag < 0)
		return;
	struct rung *below = &a->rungs[rung - 1];
	struct search_trial *from = s->trials.at[trial->tag];
	(void)asha_rank_remove(&below->waiting, from);
	asha_rank_add(&below->gone, from);
}

static void asha_tell(struct search *s, struct search_trial *trial)
{
	struct asha *a = s->state;
	struct rung *rung = &a->rungs[(size_t)trial->notes[NOTE_RUNG]];
	rung->told++;
	sampler_tell(a->sampler, s, trial, (size_t)trial->notes[NOTE_RUNG]);
	if (search_has_score(trial))
		asha_rank_add(&rung->waiting, trial);
}

static void asha_corrected(struct search *s, struct search_trial *trial)
{
	struct asha *a = s->state;
	sampler_correct(a->sampler, trial);
}

/* It takes the place in its rung that its new score has. One that went on has gone on. */
static void asha_retold(struct search *s, struct search_trial *trial)
{
	struct asha *a = s->state;
	struct rung *rung = &a->rungs[(size_t)trial->notes[NOTE_RUNG]];
	sampler_retell(a->sampler, trial, (size_t)trial->notes[NOTE_RUNG]);
	bool gone = asha_rank_remove(&rung->gone, trial);
	if (!gone)
		(void)asha_rank_remove(&rung->waiting, trial); /* it is not there if it had failed */
	asha_rank_add(gone ? &rung->gone : &rung->waiting, trial);
}

static void asha_write_state(const struct search *s, struct json *out)
{
	const struct asha *a = s->state;
	json_key(out, "rungs");
	json_list(out);
	for (size_t i = 0; i < a->count; i++) {
		json_map(out);
		json_key_real(out, "fidelity", a->levels[i]);
		json_key_int(out, "told", (int64_t)a->rungs[i].told);
		json_key_int(out, "promoted", (int64_t)a->rungs[i].gone.len);
		json_end(out);
	}
	json_end(out);
}

const struct strategy_ops asha_ops = {.open = asha_open,
				      .free = asha_free,
				      .ask = asha_ask,
				      .accepted = asha_accepted,
				      .corrected = asha_corrected,
				      .tell = asha_tell,
				      .retold = asha_retold,
				      .write_state = asha_write_state,
				      .recalls = true};
