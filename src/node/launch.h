/* Starting the script: in a process group of its own, with its outputs in files, unable to outlive the
 * runner. */
#ifndef NODE_LAUNCH_H
#define NODE_LAUNCH_H

#include "node/environment.h"
#include "spool/descriptor.h"

#include <sys/types.h>

/* A child that waits for launch_go before it becomes the script, so that the journal says who it is
 * before it does anything. */
struct launch {
	pid_t pid; /* also its process group */
	int channel;
};

/* Looks for what can be seen to be missing before anything is started. 0, or a negative errno and what to
 * do. */
int launch_check(const struct spool_descriptor *descriptor, struct error *err) MUST_USE;
/* gpus: what it may see, "0,1"; NULL: not assigned by us. */
int launch_prepare(const struct spool_descriptor *descriptor, const struct environment *environment, const char *gpus,
		   struct launch *ret, struct error *err) MUST_USE;
/* 0 when the program runs, or was killed before it did: its status says so. On failure the child is gone and
 * reaped. */
int launch_go(const struct spool_descriptor *descriptor, struct launch *launch, struct error *err) MUST_USE;

#endif
