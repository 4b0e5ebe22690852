/* The descriptor of an attempt, for its runner. */
#ifndef ENGINE_DESCRIPTOR_H
#define ENGINE_DESCRIPTOR_H

#include "base/error.h"

#include <stdint.h>

struct engine;
struct engine_live;
struct node;
struct spec;

/* Writes BATCH_DIR/INDEX.json for one attempt. */
int engine_write_descriptor(struct engine *engine, const struct engine_live *live, struct error *err) MUST_USE;
/* The program and arguments of a task with these parameters and this seed. The caller frees it. */
struct node *engine_make_argv(const struct spec *spec, int64_t experiment, int64_t task, int64_t seed,
			      const struct node *params);

#endif
