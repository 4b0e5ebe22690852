/* What one attempt asks the backend for. Usually this is what the experiment file says. If the file allows it, a task
 * that ran out of memory or time asks for more with every retry (`retry: {memory: {times: 2, factor: 2}}`), and one that
 * failed on a GPU beside others asks for a GPU of its own. */
#ifndef ENGINE_ASKED_H
#define ENGINE_ASKED_H

#include "base/cause.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct backend_resources;
struct engine_experiment;

struct asked {
	int64_t memory_bytes, time_ms; /* 0: not asked for */
	int64_t gpu_share; /* thousandths of one GPU; 0: whole GPUs */
	bool memory_cut, time_cut; /* reduced to the most that the backend offers */
};

/* What the next attempt of a task asks for. retries: the retries so far, as JSON. */
void engine_ask_for(const struct engine_experiment *experiment, const char *retries, struct asked *ret);
/* True if both ask for the same, so that they can be in one batch. */
bool asked_is_same(const struct asked *a, const struct asked *b);
/* The experiment's resources, with memory and time of this attempt. The experiment still owns the texts and lists. */
struct backend_resources engine_asked_resources(const struct engine_experiment *experiment, const struct asked *asked);
/* The "asked" member of an attempt: one JSON map. The caller frees it. */
char *engine_asked_json(const struct engine_experiment *experiment, const struct asked *asked);
/* Reads that map back; NULL: what the experiment asks for. */
void engine_asked_read(const struct engine_experiment *experiment, const char *json, struct asked *ret);
/* True if an attempt that ended for this reason asked for less than an attempt after the same retries asks for now.
 * Then the experiment was changed in between, and the next attempt does not need to ask for more than that. */
bool engine_asked_is_outdated(const struct engine_experiment *experiment, enum retry policy, const struct asked *had,
			      const char *retries);
/* What the next attempt asks for after one that ended for this reason, in words that follow "retry 1 of 2": " with 32
 * GB of memory". The caller frees it. *ret_more is false if the next attempt asks for no more than the last one. */
char *engine_asked_words(const struct engine_experiment *experiment, enum retry policy, const struct asked *had,
			 const char *retries, bool *ret_more);

#endif
