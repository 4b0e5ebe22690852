/* New configurations for the multi-fidelity strategies: see sampler.h. */
#include "search/sampler.h"

#include "search/tpe.h"

#include <math.h>

#define SAMPLER_STARTUP 10 /* TPE's own defaults */
#define SAMPLER_CANDIDATES 24
#define SAMPLER_PLAIN (1.0 / 3) /* rho of BOHB (Falkner et al., ICML 2018): the model may be wrong */

struct sampler {
	uint64_t scramble;
	uint32_t next; /* of the sequence */
	struct tpe *model; /* NULL: the sequence only */
	size_t levels;
};

struct sampler *sampler_new(const struct search *s, size_t levels, bool model)
{
	struct sampler *sampler = mem_alloc(sizeof(*sampler));
	sampler->scramble = rng_derive(s->spec->seed, 2) | 1;
	sampler->levels = levels;
	if (model)
		sampler->model = tpe_new(s->space, 1, SAMPLER_STARTUP, SAMPLER_CANDIDATES);
	return sampler;
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	tpe_free(sampler->model);
	free(sampler);
}

void sampler_propose(struct sampler *sampler, struct search *s, struct search_trial *trial)
{
	struct tpe *model = sampler->model;
	if (trial->redraw == 0)
		trial->notes[SAMPLER_NOTE_MODEL] = model && tpe_results(model) >= SAMPLER_STARTUP &&
			rng_unit(&s->rng) >= SAMPLER_PLAIN;
	if (trial->notes[SAMPLER_NOTE_MODEL] != 0) {
		if (!search_take_known(s, trial))
			tpe_propose(model, &s->rng, trial->redraw, trial->unit);
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
	if (!from && sampler->model)
		trial->notes[SAMPLER_NOTE_NUMBER] = (double)tpe_add(sampler->model, trial->unit);
}

void sampler_tell(struct sampler *sampler, const struct search_trial *trial, size_t level)
{
	if (sampler->model && search_has_score(trial))
		tpe_tell_rank(sampler->model, (size_t)trial->notes[SAMPLER_NOTE_NUMBER], trial->score[0],
			      (unsigned)(sampler->levels - 1 - level));
}
