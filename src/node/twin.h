/* A file that has the same bytes as another one: MMEngine writes its scalars twice, side by side. */
#ifndef NODE_TWIN_H
#define NODE_TWIN_H

#include <stdbool.h>
#include <stdint.h>

/* Are the files the same as far as both go? *io_same is how much of them was compared before, and then is how much is the
 * same. False: they differ, or one of them has less than was compared. */
bool twin_is_same(const char *path, const char *other, int64_t *io_same);

#endif
