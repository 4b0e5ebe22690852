/* New configurations for the multi-fidelity strategies: see sampler.h. */
#include "search/sampler.h"

#include "search/gp.h"
#include "search/tpe.h"

#include <math.h>

#define SAMPLER_STARTUP 10 /* TPE's own defaults */
#define SAMPLER_CANDIDATES 24
#define SAMPLER_GP_STARTUP 6
#define SAMPLER_PLAIN (1.0 / 3) /* rho of BOHB (Falkner et al., ICML 2018): the model may be wrong */

struct sampler {
	uint64_t scramble;
	uint32_t next; /* of the sequence */
	struct tpe *tpe; /* at most one of these two */
	struct gp *gp;
	size_t levels;
};

struct sampler *sampler_new(const struct search *s, size_t levels, enum sampler_kind kind)
{
	struct sampler *sampler = mem_alloc(sizeof(*sampler));
	sampler->scramble = rng_derive(s->spec->seed, 2) | 1;
	sampler->levels = levels;
	if (kind == SAMPLER_TPE)
		sampler->tpe = tpe_new(s->space, 1, SAMPLER_STARTUP, SAMPLER_CANDIDATES, true);
	else if (kind == SAMPLER_GP)
		sampler->gp = gp_new(s, SAMPLER_GP_STARTUP);
	return sampler;
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	tpe_free(sampler->tpe);
	gp_free(sampler->gp);
	free(sampler);
}

/* Does the model propose this one? */
static bool sampler_models(const struct sampler *sampler, struct search *s)
{
	if (sampler->gp)
		return gp_is_ready(sampler->gp);
	return sampler->tpe && tpe_results(sampler->tpe) >= SAMPLER_STARTUP && rng_unit(&s->rng) >= SAMPLER_PLAIN;
}

bool sampler_weighs(const struct sampler *sampler, const struct search_trial *trial)
{
	return sampler->gp && trial->notes[SAMPLER_NOTE_MODEL] != 0 &&
		(trial->taken || gp_promise_of_new(sampler->gp) > -INFINITY);
}

double sampler_promise_of_new(const struct sampler *sampler)
{
	return gp_promise_of_new(sampler->gp);
}

double sampler_promise(const struct sampler *sampler, const struct search *s, const struct search_trial *trial)
{
	return gp_promise(sampler->gp, s, trial->unit);
}

void sampler_propose(struct sampler *sampler, struct search *s, struct search_trial *trial)
{
	if (trial->redraw == 0)
		trial->notes[SAMPLER_NOTE_MODEL] = sampler_models(sampler, s);
	if (trial->notes[SAMPLER_NOTE_MODEL] != 0) {
		if (search_take_known(s, trial))
			return;
		if (sampler->gp)
			gp_propose(sampler->gp, s, trial);
		else
			tpe_propose(sampler->tpe, &s->rng, trial->redraw, trial->unit);
		return;
	}
	search_random_point(s, trial->unit); /* the dimensions past the table */
	sobol_point(sampler->next + trial->redraw, sampler->scramble, s->dims, trial->unit);
}

void sampler_accepted(struct sampler *sampler, struct search_trial *trial, const struct search_trial *from)
{
	if (from)
		trial->notes[SAMPLER_NOTE_NUMBER] = from->notes[SAMPLER_NOTE_NUMBER];
	else if (trial->notes[SAMPLER_NOTE_MODEL] == 0)
		sampler->next += trial->redraw + 1;
	if (!from && sampler->tpe)
		trial->notes[SAMPLER_NOTE_NUMBER] = (double)tpe_add(sampler->tpe, trial->unit);
}

void sampler_correct(struct sampler *sampler, const struct search_trial *trial)
{
	if (sampler->tpe)
		tpe_correct(sampler->tpe, (size_t)trial->notes[SAMPLER_NOTE_NUMBER], trial->unit);
}

static void sampler_tell_tpe(struct sampler *sampler, const struct search_trial *trial, size_t level)
{
	if (sampler->tpe && search_has_score(trial))
		tpe_tell_rank(sampler->tpe, (size_t)trial->notes[SAMPLER_NOTE_NUMBER], trial->score[0],
			      (unsigned)(sampler->levels - 1 - level));
}

void sampler_tell(struct sampler *sampler, const struct search *s, const struct search_trial *trial, size_t level)
{
	if (sampler->gp)
		gp_tell(sampler->gp, s, trial);
	sampler_tell_tpe(sampler, trial, level);
}

void sampler_retell(struct sampler *sampler, const struct search_trial *trial, size_t level)
{
	sampler_tell_tpe(sampler, trial, level);
}
