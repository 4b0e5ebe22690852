/* Makes new configurations for the multi-fidelity strategies: from a scrambled Sobol sequence, or with a model over all
 * configurations. The Gaussian process has the fidelity as an axis, and looks for an improvement of the full run. TPE
 * ranks configurations by the fidelity that they reached, then by their result there. (A model per fidelity, as in BOHB,
 * sees only promoted configurations, and treats regions without any as promising.) With TPE, every third configuration
 * still comes from the sequence. */
#ifndef SEARCH_SAMPLER_H
#define SEARCH_SAMPLER_H

#include "search/search_internal.h"

struct sampler;

#define SAMPLER_OPTION(words)                                                                                          \
	{                                                                                                              \
		"sampler", SEARCH_OPTION_WORD, 0, 0, 2, words, "where new configurations come from"                    \
	}

/* The notes of a trial that it keeps for itself. */
#define SAMPLER_NOTE_MODEL 2
#define SAMPLER_NOTE_NUMBER 3

enum sampler_kind { SAMPLER_SOBOL, SAMPLER_TPE, SAMPLER_GP };

struct sampler *sampler_new(const struct search *s, size_t levels, enum sampler_kind kind);
void sampler_free(struct sampler *sampler);
/* Fills trial->unit of a configuration that is to be new. */
void sampler_propose(struct sampler *sampler, struct search *s, struct search_trial *trial);
/* Does the sampler know what the full run of other configurations than the one just proposed promises? The Gaussian
 * process does, where it found something to propose (or, in a replay, had). */
bool sampler_weighs(const struct sampler *sampler, const struct search_trial *trial);
/* If so: the logarithm of the improvement that the full run of the proposal promises, or of another configuration. */
double sampler_promise_of_new(const struct sampler *sampler);
double sampler_promise(const struct sampler *sampler, const struct search *s, const struct search_trial *trial);
/* A trial was accepted. It is new (from is NULL) or continues another one. */
void sampler_accepted(struct sampler *sampler, struct search_trial *trial, const struct search_trial *from);
/* It runs at another point than was proposed. */
void sampler_correct(struct sampler *sampler, const struct search_trial *trial);
/* It was told at a level. */
void sampler_tell(struct sampler *sampler, const struct search *s, const struct search_trial *trial, size_t level);
/* It was told before, and has another score now. */
void sampler_retell(struct sampler *sampler, const struct search_trial *trial, size_t level);

#endif
