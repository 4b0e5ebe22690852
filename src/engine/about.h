/* What the engine says about itself and its backends; the rest of it is in engine.h. */
#ifndef ENGINE_ABOUT_H
#define ENGINE_ABOUT_H

#include "backend/backend.h"

struct engine;

/* The answer to an examination: copies the findings. One examination less is waited for. */
void engine_add_findings(struct engine *engine, const struct backend_finding *list, size_t count);

#endif
