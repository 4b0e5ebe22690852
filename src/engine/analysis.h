/* The parts of GET …/analysis: for the engine's own files only. */
#ifndef ENGINE_ANALYSIS_H
#define ENGINE_ANALYSIS_H

#include "engine/spec.h"
#include "engine/state.h"

/* Dots of a picture; where there are more tasks, every second or third is shown. */
#define ANALYSIS_POINTS 1000

/* A finished task. */
struct analysis_run {
	int64_t id, number;
	struct space_value *values; /* NULL: its configuration is not in today's space */
	char *parameters; /* JSON, as it was run */
	double *scores; /* one per objective, as reported; NAN */
	double time_s; /* NAN: not known */
};

/* One of "fronts": {"axes","runs","hypervolume","reference","points"} of several objectives, and of the first one
 * against time. false: there is none of that index. */
bool analysis_write_front(const struct spec *spec, const struct analysis_run *runs, size_t count, size_t which,
			  struct json *out);
/* "agreement":[{"from","to","tasks","correlation"}]: do the cheap fidelities order the configurations as the
 * dearer ones do? Empty for a search with one fidelity. */
int analysis_write_agreement(struct engine *engine, int64_t experiment, const struct spec *spec,
			     struct json *out) MUST_USE;
/* "curves":{"earned","tasks","cuts","running"}: whether extrapolated curves order the tasks better than their best so
 * far, and only then where the running ones are going. */
struct analysis_curves;
/* The spec and the runs must outlive it. */
struct analysis_curves *analysis_curves_new(struct engine *engine, int64_t experiment, const struct spec *spec,
					    const struct analysis_run *runs, size_t count);
/* Reads some curves, or writes the member: 1 when there is more to do, 0 when it is written, or a negative errno. */
int analysis_write_curves(struct analysis_curves *curves, struct json *out) MUST_USE;
void analysis_curves_free(struct analysis_curves *curves);

#endif
