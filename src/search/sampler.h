/* Where the new configurations of the multi-fidelity strategies come from: a scrambled Sobol sequence, or
 * TPE over the results of the highest fidelity that has enough of them (as in BOHB: S. Falkner, A. Klein
 * and F. Hutter, ICML 2018), with every third one from the sequence all the same. */
#ifndef SEARCH_SAMPLER_H
#define SEARCH_SAMPLER_H

#include "search/search_internal.h"

struct sampler;

#define SAMPLER_OPTION(words)                                                                      \
	{"sampler", SEARCH_OPTION_WORD, 0, 0, 1, words, "where new configurations come from"}

/* The notes of a trial that it keeps for itself. */
#define SAMPLER_NOTE_MODEL 2
#define SAMPLER_NOTE_NUMBER 3

struct sampler *sampler_new(const struct search *s, size_t levels, bool model);
void sampler_free(struct sampler *sampler);
/* Fills trial->unit of a configuration that is to be new. */
void sampler_propose(struct sampler *sampler, struct search *s, struct search_trial *trial);
/* Any trial of any level was accepted, or has been told. */
void sampler_accepted(struct sampler *sampler, struct search_trial *trial, size_t level);
void sampler_tell(struct sampler *sampler, const struct search_trial *trial, size_t level);

#endif
