/* The row of an experiment in the store, made from its specification. */
#ifndef ENGINE_ROW_H
#define ENGINE_ROW_H

struct spec;
struct store_experiment;

#include <stdint.h>

/* How many tasks it has by its specification; 0 where those who ask decide. */
int64_t engine_planned(const struct spec *spec);
/* Fills the store's columns from a specification; free with engine_free_row. */
void engine_fill_row(const struct spec *spec, struct store_experiment *ret);
void engine_free_row(struct store_experiment *row);

#endif
