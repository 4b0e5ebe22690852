/* The seed of a search that was given none. */
#ifndef ENGINE_SEED_H
#define ENGINE_SEED_H

#include "base/mem.h"

struct engine;
struct node;
struct spec;

/* A search that draws at random would propose the same again when it is submitted a second time. So it gets the next
 * seed behind that of the last experiment with the same script, strategy and parameters, and the reason of the search
 * says so. Does nothing where the document names a seed, or where every configuration is tried. 0, or a negative errno
 * when the store cannot be read. */
int seed_choose(struct engine *engine, const struct node *document, struct spec *spec) MUST_USE;
/* Gives the specification the seed that was chosen for it, unless its document names one. */
void seed_restore(const struct node *document, int64_t seed, struct spec *spec);

#endif
