/* Workers that wait for a proposal; what they ask for is in engine.h. */
#ifndef ENGINE_EXTERNAL_H
#define ENGINE_EXTERNAL_H

struct engine;

/* Answers who waits for a proposal, in order, as far as there is one. After the commit. */
void engine_serve_askers(struct engine *engine);
/* Everybody who waits hears this error. */
void engine_refuse_askers(struct engine *engine, int rc, const char *why);

#endif
