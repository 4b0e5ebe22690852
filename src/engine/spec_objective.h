/* The key objective of the experiment file: what to improve, one metric or several. */
#ifndef ENGINE_SPEC_OBJECTIVE_H
#define ENGINE_SPEC_OBJECTIVE_H

#include "engine/spec.h"

void spec_objective_read(struct spec *spec, const struct node *node, struct problems *problems);
/* Higher is better for a metric of this name (accuracy, auc, …)? */
bool spec_objective_guess(const char *metric);
/* Does the name say so, or that lower is better (loss, error, …)? Where it does not, lower is taken. */
bool spec_objective_is_named_for_it(const char *metric);
/* Sets the objective of an experiment whose file names none. */
void spec_objective_choose(struct spec *spec, const char *metric, bool maximise);
/* Is this entry of `objective` a limit only, and nothing to improve? */
bool spec_objective_is_limit(const struct node *node);
/* Tells the search about the limits. */
void spec_objective_limit(struct spec *spec);
/* Is this metric an objective, or is there a limit on it? */
bool spec_objective_uses(const struct spec *spec, const char *metric);
/* The "objective" array of the REST shapes. */
void spec_objective_write(const struct spec *spec, struct json *out);
/* The "limits" array; null without limits. */
void spec_objective_write_limits(const struct spec *spec, struct json *out);

#endif
