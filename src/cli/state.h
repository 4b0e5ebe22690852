/* Finds the daemon of this user: the state folder, its socket, and how to start it. */
#ifndef CLI_STATE_H
#define CLI_STATE_H

#include "base/error.h"

#include <sys/types.h>

/* The state folder: $SLUICE_STATE, else ~/.local/state/sluice. The caller frees it. -ENOENT where
 * neither $SLUICE_STATE nor $HOME is set. */
int state_folder(char **ret, struct error *err) MUST_USE;
/* Connects to the socket of the daemon in `folder` and checks that it belongs to this user. Returns a descriptor;
 * -ENOENT or -ECONNREFUSED if no daemon listens; -EPERM if it belongs to another user. ret_pid (may be NULL) is the
 * daemon's process id. */
int state_connect(const char *folder, pid_t *ret_pid, struct error *err) MUST_USE;
/* Starts a daemon and waits until it listens. If several callers do this at once, one starts it and the others wait.
 * Prints on stderr what it did. */
int state_start_daemon(const char *folder, struct error *err) MUST_USE;

#endif
