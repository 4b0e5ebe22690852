/* The caller: the environment of the shell that submitted an experiment. The command line sends it with the experiment,
 * the daemon keeps it beside the experiment file, and the runner gives the script the same environment. */
#ifndef SPOOL_CALLER_H
#define SPOOL_CALLER_H

#include "base/error.h"
#include "base/node.h"

struct spool_caller {
	struct node *tree; /* owns what is below */
	const char *python; /* the folder of the active virtual or conda environment; NULL: none was active */
	const struct node *modules; /* texts: the loaded environment modules; NULL: not known */
	const struct node *variables; /* texts by name: what the script gets of the shell's variables; NULL */
	const struct node *git; /* {commit, dirty}; NULL: no git work tree */
	const char *host, *folder; /* where it was; NULL */
};

/* Adds everything that is wrong with what a client sent (NULL: it sent none). */
void spool_caller_check(const struct node *node, struct problems *problems);
/* Reads a document, which must stay valid. Members of the wrong type are left out. Nothing to free. */
struct spool_caller spool_caller_of(const struct node *node);
/* Returns an empty one if the file is missing or not valid. */
struct spool_caller spool_caller_read(const char *path);
void spool_caller_free(struct spool_caller *caller);

#endif
