/* ASHA: L. Li et al., A system for massively parallel hyperparameter tuning, MLSys 2020. Whenever a
 * worker is free, something that is among the best of its rung goes on for longer; if there is nothing,
 * something new begins. No task waits for another. New configurations come from a model once it has results. */
#include "search/rungs.h"
#include "search/sampler.h"

#include <math.h>

const struct search_option asha_options[] = {
	RUNGS_OPTION_ETA,
	SAMPLER_OPTION("gp|tpe|sobol"),
	{0},
};

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

static enum search_answer asha_ask(struct search *s, struct search_trial *trial)
{
	struct asha *a = s->state;
	size_t rung = 0;
	const struct search_trial *from = asha_find_promotion(a, &rung);
	trial->notes[NOTE_RUNG] = (double)rung;
	trial->fidelity = a->levels[rung];
	trial->tag = from ? (int64_t)from->index : -1;
	if (from) {
		memcpy(trial->unit, from->unit, s->dims * sizeof(double));
		trial->continues = from->id;
	} else {
		sampler_propose(a->sampler, s, trial);
	}
	return SEARCH_PROPOSED;
}

static void asha_accepted(struct search *s, struct search_trial *trial)
{
	struct asha *a = s->state;
	size_t rung = (size_t)trial->notes[NOTE_RUNG];
	sampler_accepted(a->sampler, trial, trial->tag < 0 ? NULL : s->trials.at[trial->tag]);
	if (trial->tag < 0)
		return;
	struct rung *below = &a->rungs[rung - 1];
	asha_rank_add(&below->gone, below->waiting.at[0]);
	below->waiting.len--;
	memmove(below->waiting.at, below->waiting.at + 1, below->waiting.len * sizeof(*below->waiting.at));
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
				      .tell = asha_tell,
				      .write_state = asha_write_state,
				      .recalls = true};
