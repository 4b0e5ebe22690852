/* Describes the engine and its backends to users. The public functions for this are in engine.h. */
#ifndef ENGINE_ABOUT_H
#define ENGINE_ABOUT_H

#include "backend/backend.h"

struct engine;

/* Adds the findings of one finished examination (copies them) and counts that examination as done. */
void engine_add_findings(struct engine *engine, const struct backend_finding *list, size_t count);

#endif
