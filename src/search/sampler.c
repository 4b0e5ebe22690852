/* New configurations for the multi-fidelity strategies: see sampler.h. */
#include "search/sampler.h"

#include "search/tpe.h"

#include <math.h>

#define SAMPLER_STARTUP 10 /* TPE's own defaults */
#define SAMPLER_CANDIDATES 24
#define SAMPLER_PLAIN (1.0 / 3) /* BOHB's rho: the model may be wrong */

struct sampler {
	uint64_t scramble;
	uint32_t next; /* of the sequence */
	struct tpe **models; /* by level; NULL: the sequence only */
	size_t levels;
};

struct sampler *sampler_new(const struct search *s, size_t levels, bool model)
{
	struct sampler *sampler = mem_alloc(sizeof(*sampler));
	sampler->scramble = rng_derive(s->spec->seed, 2) | 1;
	sampler->levels = levels;
	if (!model)
		return sampler;
	sampler->models = mem_alloc(levels * sizeof(struct tpe *));
	for (size_t i = 0; i < levels; i++)
		sampler->models[i] = tpe_new(s->space, 1, SAMPLER_STARTUP, SAMPLER_CANDIDATES);
	return sampler;
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	for (size_t i = 0; i < sampler->levels && sampler->models; i++)
		tpe_free(sampler->models[i]);
	free(sampler->models);
	free(sampler);
}

/* The highest level that has enough results, or NULL. */
static struct tpe *ready_model(const struct sampler *sampler)
{
	for (size_t i = sampler->models ? sampler->levels : 0; i-- > 0;)
		if (tpe_results(sampler->models[i]) >= SAMPLER_STARTUP)
			return sampler->models[i];
	return NULL;
}

void sampler_propose(struct sampler *sampler, struct search *s, struct search_trial *trial)
{
	struct tpe *model = ready_model(sampler);
	if (trial->redraw == 0)
		trial->notes[SAMPLER_NOTE_MODEL] = model && rng_unit(&s->rng) >= SAMPLER_PLAIN;
	if (trial->notes[SAMPLER_NOTE_MODEL] != 0) {
		tpe_propose(model, &s->rng, trial->redraw, trial->unit);
		return;
	}
	search_random_point(s, trial->unit); /* the dimensions past the table */
	sobol_point(sampler->next + trial->redraw, sampler->scramble, s->dims, trial->unit);
}

void sampler_accepted(struct sampler *sampler, struct search_trial *trial, size_t level)
{
	if (trial->continues < 0 && trial->notes[SAMPLER_NOTE_MODEL] == 0)
		sampler->next += trial->redraw + 1;
	if (sampler->models)
		trial->notes[SAMPLER_NOTE_NUMBER] = (double)tpe_add(sampler->models[level], trial->unit);
}

void sampler_tell(struct sampler *sampler, const struct search_trial *trial, size_t level)
{
	if (sampler->models)
		tpe_tell(sampler->models[level], (size_t)trial->notes[SAMPLER_NOTE_NUMBER],
			 search_has_score(trial) ? trial->score : NULL, trial->state == SEARCH_TRIAL_PRUNED);
}
