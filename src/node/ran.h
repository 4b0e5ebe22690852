/* What ran: the script's digest, the git commit, Python and its packages, modules, the machine, and the environment with its secrets
 * masked. Attempts that ran the same share one file in the experiment's folder, named by the digest of what it says; the journal
 * has the digest. docs/internals/node.md */
#ifndef NODE_RAN_H
#define NODE_RAN_H

#include "node/environment.h"
#include "spool/descriptor.h"
#include "spool/ran.h"

/* Makes the file, unless it is there, and gives its digest. `variables` is what the script has: NAME=value, NULL-terminated. */
int ran_record(const struct spool_descriptor *descriptor, const struct environment *environment, char *const *variables,
	       bool sync, char digest[SPOOL_RAN_CHARS], struct error *err) MUST_USE;
/* The same once the setup lines have told what became of the environment. -EAGAIN: not yet. */
int ran_record_after_setup(const struct spool_descriptor *descriptor, const struct environment *environment, bool sync,
			   char digest[SPOOL_RAN_CHARS], struct error *err) MUST_USE;

/* The text itself, into an empty buffer. */
void ran_write(const struct spool_descriptor *descriptor, const struct spool_caller *caller, char *const *variables,
	       struct buf *out);

#endif
