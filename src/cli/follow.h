/* Follows an experiment until it ends: with a live view on a terminal, else with plain lines. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "cli/client.h"
#include "cli/term.h"

#define FOLLOW_DETACHED 130 /* the user pressed Ctrl-C: the status that a shell uses for it */

/* Returns the exit status: 0 when the experiment finished, 1 when it ended in another state, FOLLOW_DETACHED. Waits for
 * a daemon that is restarted in the meantime. quiet: prints nothing. fresh: the experiment was just created, so
 * everything about it is new. */
int follow_experiment(struct client *client, const char *id, const struct term *term, bool quiet, bool fresh);

#endif
