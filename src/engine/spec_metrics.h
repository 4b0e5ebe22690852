/* The key metrics of the experiment file: where the script's metrics are to be read. */
#ifndef ENGINE_SPEC_METRICS_H
#define ENGINE_SPEC_METRICS_H

#include "engine/spec.h"

/* Sets spec->metrics, which the runner gets: see metrics/place.h. */
void spec_metrics_read(struct spec *spec, const struct node *node, struct problems *problems);

#endif
