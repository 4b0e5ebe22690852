/* Loads everything that is in progress from the store into memory. */
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
struct store_experiment;
struct store_task;

int engine_load(struct engine *engine, struct error *err) MUST_USE;
void engine_unload(struct engine *engine);
/* The experiment in memory. Reads it from the store if it is not loaded yet. -ENOENT. */
int engine_load_experiment(struct engine *engine, int64_t id, struct engine_experiment **ret,
			   struct error *err) MUST_USE;
/* Adds an experiment whose row was just stored; nothing is read. *spec, which the row was made from, is taken and set to
 * NULL. */
int engine_add_created(struct engine *engine, const struct store_experiment *row, struct spec **spec,
		       struct engine_experiment **ret, struct error *err) MUST_USE;
/* As engine_load_experiment, for an experiment that is over and that the turn in progress forgets again. Its search is
 * opened without a replay: it can be told, and must not be asked. */
int engine_load_for_a_turn(struct engine *engine, int64_t id, struct engine_experiment **ret) MUST_USE;
/* As engine_load_experiment, for a request about an experiment. First reads memory again from the store if that is
 * necessary. -ENOENT also if it is being removed. Asks for a turn, which frees the experiment if it is not needed any
 * more. */
int engine_open_experiment(struct engine *engine, int64_t id, struct engine_experiment **ret,
			   struct error *err) MUST_USE;
void engine_forget_experiment(struct engine *engine, struct engine_experiment *experiment);
/* The specification alone, from the store; the caller frees it. -ENOENT. */
int engine_read_spec(struct engine *engine, int64_t id, struct spec **ret) MUST_USE;
/* Converts a recorded configuration to the current space. The fidelity is the one that the strategy set, whatever the
 * space says. False: the configuration is not in the space any more. */
bool engine_read_values(const struct spec *spec, const struct node *parameters, struct space_value *ret);
/* Reads a configuration that is run at this fidelity, whatever it says about that. Only where there is a fidelity. */
int engine_read_fidelity(const struct spec *spec, const struct node *parameters, double value, struct space_value *ret,
			 struct problems *problems) MUST_USE;
/* Adds a live attempt. `task` is the row of its task, whose texts are copied. */
struct engine_live *engine_add_live(struct engine *engine, struct engine_experiment *experiment,
				    const struct store_attempt *row, const struct store_task *task);
/* Finds the folder of an attempt that an earlier daemon started. A negative errno with err: its descriptor cannot be
 * read now. Then the attempt is `unplaced`, and observations of it are ignored until this works. */
int engine_place(struct engine *engine, struct engine_live *live, struct error *err) MUST_USE;
void engine_free_live(struct engine_live *live);

#endif
