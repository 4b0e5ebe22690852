/* Fits an experiment to the script that it runs: how each parameter is passed, and whether a range has only whole
 * numbers. The choices are written into the document before it is checked and stored. So a stored experiment is
 * complete, and its meaning does not change with later versions. */
#ifndef ENGINE_FIT_H
#define ENGINE_FIT_H

#include "base/error.h"

struct node;
struct script;
struct script_argument;
struct spec;

/* What fit_document did, for fit_check. Initialise with {0}; free with fit_free. */
struct fit {
	struct node *said; /* the `arguments` that the author wrote; NULL */
	VEC(char *) chosen;
};

/* Call it before the document is checked. script: the result of reading the script; all zero if there is none. */
void fit_document(struct node *document, const struct script *script, struct fit *fit, struct problems *problems);
/* Call it after the document is checked. It reports what the script would refuse: as a problem if that is certain, else
 * in spec->cautions. It adds what was chosen to spec->chosen. */
void fit_check(struct spec *spec, const struct node *document, const struct script *script, struct fit *fit,
	       struct problems *problems);
void fit_free(struct fit *fit);

/* For the files fit*.c. Keeps the words. */
void fit_choose(struct fit *fit, char *give);
void fit_objective(struct node *document, const struct script *script, struct fit *fit);
/* The form of call.h for an argument of the script. The caller frees it. */
char *fit_how(const struct script_argument *argument, const char *name);
/* How the script gets the seed of a task; NULL: not as an argument. The caller frees it. */
char *fit_seed(const struct node *document, const struct script *script, const struct script_argument **ret);
/* Is it what scripts call the argument for a seed? */
bool fit_is_seed(const char *name);
/* A caution where nothing tells repeats apart. */
void fit_check_seed(struct spec *spec, const struct script *script);

#endif
