/* The environment of the script: the runner's own, the variables and the Python environment of the shell that submitted
 * it, and the variables that sluice sets. See docs/internals/node.md. */
#ifndef NODE_ENVIRONMENT_H
#define NODE_ENVIRONMENT_H

#include "base/buf.h"
#include "spool/caller.h"
#include "spool/descriptor.h"
#include "spool/python.h"

struct environment {
	struct spool_caller caller;
	struct spool_python python;
	struct node *setup; /* of the descriptor, with the modules in front; NULL where there are none */
	struct node *argv; /* of the descriptor, run by what the script's first line or environment.python says */
};

/* Makes the environment, once the work folder exists. It also puts its argv and setup into the descriptor, so it must
 * live as long as the descriptor. A negative errno with err if the chosen Python is not on this machine. */
int environment_open(struct spool_descriptor *descriptor, struct buf *notes, struct environment *ret,
		     struct error *err) MUST_USE;
void environment_free(struct environment *environment);

/* NAME=value for execve(2), NULL-terminated. environment_free_made() frees it. */
char **environment_make(const struct environment *environment, const struct spool_descriptor *descriptor,
			const char *gpus);
void environment_free_made(char **variables);

#endif
