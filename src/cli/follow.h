/* Following an experiment until it ends: a live view on a terminal, plain lines elsewhere. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "cli/client.h"
#include "cli/term.h"

#define FOLLOW_DETACHED 130 /* the person pressed Ctrl-C: what a shell calls it */

/* Returns the exit status: 0 when the experiment finished, 1 when it ended in another state, FOLLOW_DETACHED. A
 * daemon that is restarted meanwhile is waited for. quiet: prints nothing. fresh: the
 * experiment was just made, so that everything about it is news. */
int follow_experiment(struct client *client, const char *id, const struct term *term, bool quiet, bool fresh);

#endif
