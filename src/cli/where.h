/* Tells the user where an experiment runs. */
#ifndef CLI_WHERE_H
#define CLI_WHERE_H

#include "base/node.h"
#include "cli/client.h"

/* If the tasks would run on this machine and it looks like a login node, asks the user once whether that is intended,
 * and remembers a yes in the state folder. True also if there is nothing to ask, or no terminal. */
bool where_is_meant(const struct client *client, const struct node *experiment);
/* Waits until the daemon knows its cluster, WHERE_KNOWN_MS at most. A daemon that was just started does not know it
 * yet, and would accept what it refuses a moment later. */
void where_await(struct client *client);
/* Adds " on slurm, partition gpu" for a created experiment. */
void where_add(const struct node *experiment, struct buf *out);
/* Says once per state folder that a search that learns, on a cluster, needs a daemon that stays alive. */
void where_hint_install(const struct client *client, const struct node *experiment);
/* Warns when the tasks run on this machine because the daemon does not see the Slurm that this shell sees. */
void where_warn(struct client *client, const struct node *experiment);

#endif
