/* Waiting for a reason to pass that keeps a runner from beginning: a full disk, a file system that is away, a folder that
 * this node does not see yet. The task has no part in it, so a runner does not give it up at once. */
#ifndef NODE_ROOM_H
#define NODE_ROOM_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct room {
	int status; /* why it waits (spool/status.h); 0: it does not */
	int64_t since_ms; /* monotonic */
	int signal; /* that asked us to end meanwhile; 0: none did */
};

/* After a step failed with rc and err. True after a moment: try it again. False at once: waiting does not help, has taken
 * long enough (room->status says why), or a signal asks us to end (room->signal). The caller has SIGTERM, SIGINT and SIGHUP
 * blocked. The first failure of each kind is logged. */
bool room_wait(struct room *room, int rc, const struct error *err);
/* The exit status of a runner that gave up waiting after rc. */
int room_status(const struct room *room, int rc);

#endif
