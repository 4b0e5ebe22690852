/* Records what ran: the script's digest, the git commit, Python and its packages, modules, the machine, and the
 * environment with its secrets masked. Attempts that ran the same share one file in the experiment's folder. Its name
 * is the digest of its content, and the journal has that digest. See docs/internals/node.md. */
#ifndef NODE_RAN_H
#define NODE_RAN_H

#include "node/environment.h"
#include "node/recorder.h"
#include "spool/descriptor.h"
#include "spool/ran.h"

/* Call it once the script runs. Writes the file if it does not exist, and appends its digest to the journal. A failure
 * becomes a note of the attempt. True: nothing is recorded yet, because the setup lines still change the environment;
 * then call ran_is_pending until it returns false. */
bool ran_begin(const struct spool_descriptor *descriptor, const struct environment *environment, const char *gpus,
	       struct recorder *recorder);
/* Records what ran, once the setup lines have ended. True: they have not ended yet. */
bool ran_is_pending(const struct spool_descriptor *descriptor, const struct environment *environment,
		    struct recorder *recorder);

#endif
