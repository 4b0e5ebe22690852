/* The parts of GET …/analysis: for the engine's own files only. */
#ifndef ENGINE_ANALYSIS_H
#define ENGINE_ANALYSIS_H

#include "engine/internal.h"

/* Dots of a picture; where there are more tasks, every second or third is shown. */
#define ANALYSIS_POINTS 1000

/* A finished task. */
struct analysis_run {
	int64_t id, number;
	struct space_value *values; /* NULL: its configuration is not in today's space */
	double *scores;		    /* one per objective, as reported; NAN */
	double time_s;		    /* NAN: not known */
};

/* "fronts":[{"axes","runs","hypervolume","reference","points"}]: of several objectives, and of the first one
 * against time. */
void analysis_write_fronts(const struct spec *spec, const struct analysis_run *runs, size_t count,
			   struct json *out);
/* "agreement":[{"from","to","tasks","correlation"}]: do the cheap fidelities order the configurations as the
 * dearer ones do? Empty for a search with one fidelity. */
int analysis_write_agreement(struct engine *engine, int64_t experiment, const struct spec *spec,
			     struct json *out) MUST_USE;
/* "curves":{"earned","tasks","cuts","running"}: whether extrapolated curves order the tasks better than their best so
 * far, and only then where the running ones are going. */
int analysis_write_curves(struct engine *engine, int64_t experiment, const struct spec *spec,
			  const struct analysis_run *runs, size_t count, struct json *out) MUST_USE;

#endif
