/* What the store knows of earlier runs of a program, made into a model that tells what other values would take. */
#ifndef ENGINE_RUNS_H
#define ENGINE_RUNS_H

#include "base/buf.h"
#include "model/forecast.h"

#include <stdint.h>

struct engine;
struct node;
struct space;
struct space_value;
struct spec;

struct runs {
	VEC(char *) names; /* of all parameters that the runs or the space have; those of the space first */
	struct forecast *time, *energy; /* in milliseconds and joules; NULL: there are no runs */
};

/* Reads at most FORECAST_RUNS_MOST finished tasks of the program of this specification. 0, or a negative errno where the
 * store could not be read. */
int runs_read(struct engine *engine, const struct spec *spec, struct runs *ret) MUST_USE;
void runs_free(struct runs *runs);
/* The time, or the energy, of a run with these values of the space. */
enum forecast_answer runs_at(const struct runs *runs, const struct forecast *forecast, const struct space *space,
			     const struct space_value *values, struct forecast_range *ret);
/* A value of a parameter, as the store has it; NULL where it does not apply. Its label is the node's own text. */
struct forecast_value runs_value(const struct node *value);

#endif
