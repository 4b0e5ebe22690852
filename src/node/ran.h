/* What ran: the script's digest, the git commit, Python and its packages, modules, the machine, and the environment with its secrets
 * masked. Attempts that ran the same share one file in the experiment's folder, named by the digest of what it says; the journal
 * has the digest. docs/internals/node.md */
#ifndef NODE_RAN_H
#define NODE_RAN_H

#include "node/environment.h"
#include "node/recorder.h"
#include "spool/descriptor.h"
#include "spool/ran.h"

/* Records what ran, once the script runs: writes the file, unless it is there, and appends its digest to the journal. A failure
 * becomes a note of the attempt. True: nothing is recorded yet, because the setup lines decide what the script gets; call
 * ran_is_pending until it says false. */
bool ran_begin(const struct spool_descriptor *descriptor, const struct environment *environment, const char *gpus,
	       struct recorder *recorder);
/* Records what ran once the setup lines have ended. True: they have not. */
bool ran_is_pending(const struct spool_descriptor *descriptor, const struct environment *environment,
		    struct recorder *recorder);

/* The text itself, into an empty buffer. */
void ran_write(const struct spool_descriptor *descriptor, const struct spool_caller *caller, char *const *variables,
	       struct buf *out);

#endif
