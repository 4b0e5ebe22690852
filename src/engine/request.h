/* Requests to check or make an experiment are in engine.h; this is what other requests need of them. */
#ifndef ENGINE_REQUEST_H
#define ENGINE_REQUEST_H

struct spec;
struct store_experiment;

/* What a specification says in the store's columns; free with engine_free_row. */
void engine_fill_row(const struct spec *spec, struct store_experiment *ret);
void engine_free_row(struct store_experiment *row);

#endif
