/* Workers that wait for a proposal. The functions that they call are in engine.h. */
#ifndef ENGINE_EXTERNAL_H
#define ENGINE_EXTERNAL_H

struct engine;

/* Gives proposals to the waiting workers, in the order in which they asked, until none is left. After the commit. */
void engine_serve_askers(struct engine *engine);
/* Answers every worker that waits with this error. */
void engine_refuse_askers(struct engine *engine, int rc, const char *why);

#endif
