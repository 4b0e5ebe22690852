/* What one attempt asks the backend for. Most of it is what the experiment says. A task that ran out of memory or time
 * asks for more with every retry where the experiment says so (`retry: {memory: {times: 2, factor: 2}}`). */
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
	bool memory_cut, time_cut; /* cut down to the most that the backend offers */
};

/* What the next attempt of a task asks for, after the retries (JSON) that it had. */
void engine_ask_for(const struct engine_experiment *experiment, const char *retries, struct asked *ret);
/* Would both go into one batch? */
bool asked_is_same(const struct asked *a, const struct asked *b);
/* The resources of the experiment, with those of this attempt. Texts and lists stay the experiment's. */
struct backend_resources engine_asked_resources(const struct engine_experiment *experiment, const struct asked *asked);
/* The "asked" member of an attempt: one JSON map. The caller frees it. */
char *engine_asked_json(const struct engine_experiment *experiment, const struct asked *asked);
/* Reads that map back; NULL: what the experiment asks for. */
void engine_asked_read(const struct engine_experiment *experiment, const char *json, struct asked *ret);
/* Did an attempt that ended for this reason ask for less than one after these retries would ask for now? Then the
 * experiment was changed since, and the next one need not grow. */
bool engine_asked_is_outdated(const struct engine_experiment *experiment, enum retry policy, const struct asked *had,
			      const char *retries);
/* What the next attempt asks for after one that ended for this reason, in words that follow "retry 1 of 2":
 * " with 32 GB of memory". The caller frees it. *ret_more is false when that is no more than the last one had. */
char *engine_asked_words(const struct engine_experiment *experiment, enum retry policy, const struct asked *had,
			 const char *retries, bool *ret_more);

#endif
