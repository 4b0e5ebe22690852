/* The user's own workers: any program in any language, or a person, that gets configurations with `sluice ask` and
 * reports results with `sluice tell`. */
#ifndef BACKEND_EXTERNAL_H
#define BACKEND_EXTERNAL_H

#include "backend/backend.h"

extern const struct backend_ops backend_external;

#endif
