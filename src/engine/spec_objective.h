/* The key objective of the experiment file: what to improve, one metric or several. */
#ifndef ENGINE_SPEC_OBJECTIVE_H
#define ENGINE_SPEC_OBJECTIVE_H

#include "engine/spec.h"

/* The first words of the warning when the file names no objective. They identify it in the store. */
#define OBJECTIVE_UNSET_WORDS "no objective is set: "

void spec_objective_read(struct spec *spec, const struct node *node, struct problems *problems);
/* Higher is better for a metric of this name (accuracy, auc, …)? */
bool spec_objective_guess(const char *metric);
/* Sets the objective of an experiment whose file names none. */
void spec_objective_choose(struct spec *spec, const char *metric, bool maximise);
/* The "objective" array of the REST shapes. */
void spec_objective_write(const struct spec *spec, struct json *out);

#endif
