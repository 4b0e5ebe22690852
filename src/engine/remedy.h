/* What a user can do about a failure, by its words: the rows are what people run into most. */
#ifndef ENGINE_REMEDY_H
#define ENGINE_REMEDY_H

#include "base/cause.h"

/* The remedy for these words, else that of the cause. */
const char *remedy_of(enum cause cause, const char *text);

#endif
