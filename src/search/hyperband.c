/* Hyperband: L. Li et al., JMLR 18 (2018). Brackets of successive halving, from many short runs to few
 * long ones. While a bracket waits for a rung to be complete the next bracket begins: the draws of one
 * do not depend on another, so that nothing is lost and no worker idles. With `sampler: tpe` it is BOHB. */
#include "search/rungs.h"
#include "search/sampler.h"

#include <math.h>

const struct search_option hyperband_options[] = {
	RUNGS_OPTION_ETA,
	SAMPLER_OPTION("sobol|tpe|gp"),
	{0},
};

struct hyperband {
	struct brackets brackets;
	struct sampler *sampler;
};

#define NOTE_LEVEL 0

static int hyperband_open(struct search *s, struct error *err)
{
	(void)err;
	struct hyperband *h = s->state = mem_alloc(sizeof(*h));
	brackets_open(&h->brackets, s, rungs_hyperband);
	static const enum sampler_kind kinds[] = {SAMPLER_SOBOL, SAMPLER_TPE, SAMPLER_GP};
	h->sampler = sampler_new(s, h->brackets.s_max + 1, kinds[(size_t)search_option(s->spec, "sampler")]);
	return 0;
}

static void hyperband_free(struct search *s)
{
	struct hyperband *h = s->state;
	if (!h)
		return;
	brackets_free(&h->brackets);
	sampler_free(h->sampler);
	free(h);
}

static enum search_answer hyperband_ask(struct search *s, struct search_trial *trial)
{
	struct hyperband *h = s->state;
	const struct bracket *b;
	size_t level;
	enum search_answer answer = brackets_ask(&h->brackets, s, trial, &b, &level);
	if (answer != SEARCH_PROPOSED)
		return answer;
	trial->notes[NOTE_LEVEL] = (double)level;
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
	struct bracket *in = brackets_accept(&h->brackets, trial);
	sampler_accepted(h->sampler, trial, in->rung ? in->chosen.at[in->asked] : NULL);
	in->asked++;
}

static void hyperband_tell(struct search *s, struct search_trial *trial)
{
	struct hyperband *h = s->state;
	sampler_tell(h->sampler, s, trial, (size_t)trial->notes[NOTE_LEVEL]);
	brackets_tell(&h->brackets, trial);
}

static void hyperband_corrected(struct search *s, struct search_trial *trial)
{
	struct hyperband *h = s->state;
	sampler_correct(h->sampler, trial);
}

/* A rung that is not complete takes the score from the trial; one that is has been decided. */
static void hyperband_retold(struct search *s, struct search_trial *trial)
{
	struct hyperband *h = s->state;
	sampler_retell(h->sampler, trial, (size_t)trial->notes[NOTE_LEVEL]);
}

static bool hyperband_exhausted(struct search *s)
{
	struct hyperband *h = s->state;
	return brackets_cut(&h->brackets);
}

static uint64_t hyperband_planned(const struct search_spec *spec, const struct space *space)
{
	(void)space;
	return brackets_planned(spec, rungs_hyperband);
}

static void hyperband_write_state(const struct search *s, struct json *out)
{
	const struct hyperband *h = s->state;
	brackets_write(&h->brackets, out);
}

const struct strategy_ops hyperband_ops = {.open = hyperband_open,
					   .free = hyperband_free,
					   .ask = hyperband_ask,
					   .accepted = hyperband_accepted,
					   .corrected = hyperband_corrected,
					   .tell = hyperband_tell,
					   .retold = hyperband_retold,
					   .exhausted = hyperband_exhausted,
					   .write_state = hyperband_write_state,
					   .recalls = true,
					   .planned = hyperband_planned};
