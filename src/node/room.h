/* Waits until a problem passes that keeps a runner from starting: a full disk, an unavailable file system, a folder
 * that this node does not see yet. The task did not cause it, so the runner does not give up at once. */
#ifndef NODE_ROOM_H
#define NODE_ROOM_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct room {
	int status; /* why it waits (spool/status.h); 0: it does not */
	int64_t since_ms; /* monotonic */
	int signal; /* the signal that asked us to end while we waited; 0: none */
};

/* Call it after a step failed with rc and err. Waits a moment and returns true: try again. Returns false at once if
 * waiting does not help, if it has waited long enough (room->status says why), or if a signal asked us to end
 * (room->signal). The caller must have blocked SIGTERM, SIGINT and SIGHUP. The first failure of each kind is logged. */
bool room_wait(struct room *room, int rc, const struct error *err);
/* The exit status of a runner that gave up waiting after rc. */
int room_status(const struct room *room, int rc);

#endif
