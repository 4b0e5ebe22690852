/* Workers of the user's own: any program, in any language, or a person, that takes configurations with `sluice
 * ask` and gives results with `sluice tell`. */
#ifndef BACKEND_EXTERNAL_H
#define BACKEND_EXTERNAL_H

#include "backend/backend.h"

extern const struct backend_ops backend_external;

#endif
