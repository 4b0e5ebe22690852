/* The parts of GET …/analysis: for the engine's own files only. */
#ifndef ENGINE_ANALYSIS_H
#define ENGINE_ANALYSIS_H

#include "engine/spec.h"

struct engine;

/* The most points in one plot. With more tasks, only every second or third one is shown. */
#define ANALYSIS_POINTS 1000

/* A finished task. */
struct analysis_run {
	int64_t id, number;
	struct space_value *values; /* NULL: its configuration is not in the current search space */
	char *parameters; /* JSON, as it was run */
	double *scores; /* one per objective, as reported; NAN: no value */
	double time_s; /* NAN: not known */
	bool beyond; /* never on a front: it does not keep a limit, or its repeats have not all ended well */
};

/* One of "fronts": {"axes","runs","hypervolume","reference","points"} Shows several objectives against each other, or
 * the first objective against time. False: there is no front with this index. */
bool analysis_write_front(const struct spec *spec, const struct analysis_run *runs, size_t count, size_t which,
			  struct json *out);
/* "agreement":[{"from","to","tasks","correlation"}]: do cheap fidelities rank the configurations as expensive ones do?
 * Empty for a search with one fidelity. */
int analysis_write_agreement(struct engine *engine, int64_t experiment, const struct spec *spec,
			     struct json *out) MUST_USE;
/* "curves":{"earned","tasks","cuts","running"}: do extrapolated curves rank the tasks better than the best values so
 * far do? Only if so, also the predicted ends of the running tasks. */
struct analysis_curves;
/* The spec and the runs must live longer than the returned object. */
struct analysis_curves *analysis_curves_new(struct engine *engine, int64_t experiment, const struct spec *spec,
					    const struct analysis_run *runs, size_t count);
/* Does one part of the work. Returns 1 while there is more to read, 0 when the member is written, or a negative
 * errno. */
int analysis_write_curves(struct analysis_curves *curves, struct json *out) MUST_USE;
void analysis_curves_free(struct analysis_curves *curves);

#endif
