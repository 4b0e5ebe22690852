/* The check of the database for engine_examine. */
#ifndef ENGINE_CHECK_H
#define ENGINE_CHECK_H

struct engine;

/* Starts the check. It reports its result with engine_add_findings. */
void engine_begin_check(struct engine *engine);
/* Ends a check that is running; does nothing if there is none. */
void engine_end_check(struct engine *engine);

#endif
