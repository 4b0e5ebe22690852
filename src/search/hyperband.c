/* Hyperband: L. Li et al., JMLR 18 (2018). Brackets of successive halving, from many short runs to few
 * long ones. While a bracket waits for a rung to be complete the next bracket begins: the draws of one
 * do not depend on another, so that nothing is lost and no worker idles. With `sampler: tpe` it is BOHB. */
#include "search/rungs.h"
#include "search/sampler.h"

#include <math.h>

const struct search_option hyperband_options[] = {
	RUNGS_OPTION_ETA,
	SAMPLER_OPTION("sobol|tpe"),
	{0},
};

struct hyperband {
	double levels[RUNGS_MOST];
	size_t s_max;
	unsigned eta;
	VEC(struct bracket) brackets;
	size_t first; /* those before it are over */
	uint64_t left; /* configurations that no bracket has */
	struct sampler *sampler;
};

#define NOTE_LEVEL 0

static int hyperband_open(struct search *s, struct error *err)
{
	(void)err;
	struct hyperband *h = s->state = mem_alloc(sizeof(*h));
	h->eta = (unsigned)search_option(s->spec, "eta");
	h->s_max = rungs_levels(s->spec->fidelity_min, s->spec->fidelity_max, h->eta, h->levels) - 1;
	h->left = rungs_space_size(s);
	h->sampler = sampler_new(s, h->s_max + 1, search_option(s->spec, "sampler") != 0);
	return 0;
}

static void hyperband_free(struct search *s)
{
	struct hyperband *h = s->state;
	if (!h)
		return;
	for (size_t i = 0; i < h->brackets.len; i++)
		bracket_free(&h->brackets.at[i]);
	free(h->brackets.at);
	sampler_free(h->sampler);
	free(h);
}

/* The bracket that has something to ask for; its number is that of a new one when all wait. */
static size_t find_bracket(const struct hyperband *h)
{
	for (size_t i = h->first; i < h->brackets.len; i++)
		if (!h->brackets.at[i].over && h->brackets.at[i].asked < h->brackets.at[i].size)
			return i;
	return h->brackets.len;
}

static enum search_answer hyperband_ask(struct search *s, struct search_trial *trial)
{
	struct hyperband *h = s->state;
	size_t i = find_bracket(h);
	const struct bracket *b = i < h->brackets.len ? &h->brackets.at[i] : NULL;
	if (!b && !h->left)
		return s->pending ? SEARCH_WAIT : SEARCH_DONE;
	size_t level = b ? bracket_level(b, h->s_max) : i % (h->s_max + 1);
	trial->tag = (int64_t)i;
	trial->notes[NOTE_LEVEL] = (double)level;
	trial->fidelity = h->levels[level];
	if (b && b->rung) {
		const struct search_trial *from = b->chosen.at[b->asked];
		memcpy(trial->unit, from->unit, s->dims * sizeof(double));
		trial->continues = from->id;
	} else {
		sampler_propose(h->sampler, s, trial);
	}
	return SEARCH_PROPOSED;
}

static void hyperband_accepted(struct search *s, struct search_trial *trial)
{
	struct hyperband *h = s->state;
	if ((size_t)trial->tag == h->brackets.len) {
		size_t at = h->s_max - h->brackets.len % (h->s_max + 1);
		struct bracket b = {.s = at, .n = rungs_hyperband(h->s_max, at, h->eta)};
		b.n = b.n < h->left ? b.n : h->left;
		b.size = b.n;
		h->left -= h->left == UINT64_MAX ? 0 : b.n;
		vec_push(&h->brackets, b);
	}
	struct bracket *in = &h->brackets.at[trial->tag];
	sampler_accepted(h->sampler, trial, in->rung ? in->chosen.at[in->asked] : NULL);
	in->asked++;
}

static void hyperband_tell(struct search *s, struct search_trial *trial)
{
	struct hyperband *h = s->state;
	sampler_tell(h->sampler, trial, (size_t)trial->notes[NOTE_LEVEL]);
	bracket_tell(&h->brackets.at[trial->tag], trial, h->eta);
	while (h->first < h->brackets.len && h->brackets.at[h->first].over)
		h->first++;
}

static bool hyperband_exhausted(struct search *s)
{
	struct hyperband *h = s->state;
	if (!h->left)
		return false;
	h->left = 0;
	for (size_t i = h->first; i < h->brackets.len; i++)
		bracket_cut(&h->brackets.at[i], h->eta);
	return true;
}

/* Every bracket once. */
static uint64_t hyperband_planned(const struct search_spec *spec, const struct space *space)
{
	double levels[RUNGS_MOST];
	unsigned eta = (unsigned)search_option(spec, "eta");
	size_t s_max = rungs_levels(spec->fidelity_min, spec->fidelity_max, eta, levels) - 1;
	uint64_t sum = 0;
	(void)space;
	for (size_t b = 0; b <= s_max; b++)
		for (size_t i = 0; i <= b; i++)
			sum += rungs_left(rungs_hyperband(s_max, b, eta), eta, i);
	return sum;
}

static void hyperband_write_state(const struct search *s, struct json *out)
{
	const struct hyperband *h = s->state;
	brackets_write(h->brackets.at, h->brackets.len, h->levels, h->s_max, out);
}

const struct strategy_ops hyperband_ops = {.open = hyperband_open,
					   .free = hyperband_free,
					   .ask = hyperband_ask,
					   .accepted = hyperband_accepted,
					   .tell = hyperband_tell,
					   .exhausted = hyperband_exhausted,
					   .write_state = hyperband_write_state,
					   .recalls = true,
					   .planned = hyperband_planned};
