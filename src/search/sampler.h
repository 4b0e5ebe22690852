/* Where the new configurations of the multi-fidelity strategies come from: a scrambled Sobol sequence, or
 * TPE over all configurations, those that got further before those that did not, then by their result
 * there. (A model per fidelity, as in BOHB, sees only what was promoted: it takes the places where nothing
 * was for promising.) Every third one comes from the sequence all the same. */
#ifndef SEARCH_SAMPLER_H
#define SEARCH_SAMPLER_H

#include "search/search_internal.h"

struct sampler;

#define SAMPLER_OPTION(words)                                                                                          \
	{                                                                                                              \
		"sampler", SEARCH_OPTION_WORD, 0, 0, 1, words, "where new configurations come from"                    \
	}

/* The notes of a trial that it keeps for itself. */
#define SAMPLER_NOTE_MODEL 2
#define SAMPLER_NOTE_NUMBER 3

struct sampler *sampler_new(const struct search *s, size_t levels, bool model);
void sampler_free(struct sampler *sampler);
/* Fills trial->unit of a configuration that is to be new. */
void sampler_propose(struct sampler *sampler, struct search *s, struct search_trial *trial);
/* A trial was accepted that is new (from is NULL) or goes on from another. */
void sampler_accepted(struct sampler *sampler, struct search_trial *trial, const struct search_trial *from);
/* It was told at a level. */
void sampler_tell(struct sampler *sampler, const struct search_trial *trial, size_t level);

#endif
