/* The check of the database for engine_examine. */
#ifndef ENGINE_CHECK_H
#define ENGINE_CHECK_H

struct engine;

/* The answer comes through engine_add_findings. */
void engine_begin_check(struct engine *engine);
/* Harmless when none goes on. */
void engine_end_check(struct engine *engine);

#endif
