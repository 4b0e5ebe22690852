/* Fits an experiment to the script that it runs: how each parameter is passed, and whether a range is of whole numbers.
 * What is chosen is written into the document before it is checked and stored, so that a stored experiment says all of
 * it and means the same for ever. */
#ifndef ENGINE_FIT_H
#define ENGINE_FIT_H

#include "base/error.h"

struct node;
struct script;
struct spec;

/* What fit_document did, for fit_check. {0} to begin with; free with fit_free. */
struct fit {
	struct node *said; /* the `arguments` that the author wrote; NULL */
	VEC(char *) chosen;
};

/* Before the document is checked. script: as it was read; all zero where there is none. */
void fit_document(struct node *document, const struct script *script, struct fit *fit, struct problems *problems);
/* After it: names what the script would refuse. Where the script is sure to refuse, that is a problem; else it becomes one
 * of spec->cautions. What was chosen is in spec->chosen. */
void fit_check(struct spec *spec, const struct node *document, const struct script *script, struct fit *fit,
	       struct problems *problems);
void fit_free(struct fit *fit);

#endif
