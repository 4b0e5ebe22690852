/* Taking up what was going on: from the store into memory. */
#ifndef ENGINE_LOAD_H
#define ENGINE_LOAD_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct engine_experiment;
struct engine_live;
struct node;
struct space_value;
struct spec;
struct store_attempt;

int engine_load(struct engine *engine, struct error *err) MUST_USE;
void engine_unload(struct engine *engine);
/* The experiment in memory, read from the store where it is not there yet. -ENOENT. */
int engine_load_experiment(struct engine *engine, int64_t id, struct engine_experiment **ret,
			   struct error *err) MUST_USE;
/* The experiment that a request is about, as engine_load_experiment, once memory is what the store says. -ENOENT also for
 * one that is being removed. Asks for a turn, which frees what was loaded and is not needed. */
int engine_open_experiment(struct engine *engine, int64_t id, struct engine_experiment **ret,
			   struct error *err) MUST_USE;
void engine_forget_experiment(struct engine *engine, struct engine_experiment *experiment);
/* The specification alone, from the store; the caller frees it. -ENOENT. */
int engine_read_spec(struct engine *engine, int64_t id, struct spec **ret) MUST_USE;
/* A recorded configuration in today's space. The fidelity is what the strategy set it to, whatever the space says.
 * false: it has no place there any more. */
bool engine_read_values(const struct spec *spec, const struct node *parameters, struct space_value *ret);
/* An attempt that is alive, with its task from the store. */
int engine_add_live(struct engine *engine, struct engine_experiment *experiment, const struct store_attempt *row,
		    struct engine_live **ret) MUST_USE;
/* Finds out where an attempt from before the start of the daemon writes. A negative errno with err: its descriptor cannot
 * be read now. It is `unplaced` then: nothing that is seen of it counts until this works. */
int engine_place(struct engine *engine, struct engine_live *live, struct error *err) MUST_USE;
void engine_free_live(struct engine_live *live);

#endif
