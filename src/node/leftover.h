/* What a script leaves behind when it ends: its process group, and what left that group (setsid). */
#ifndef NODE_LEFTOVER_H
#define NODE_LEFTOVER_H

#include <stdbool.h>
#include <sys/types.h>

/* Sends a signal (0: none) to the group of the script and to every child of this process. The runner is a subreaper, so
 * orphans of the script are its children; what they started comes to it when they are gone. True when there was any. */
bool leftover_signal(pid_t group, int signal);

#endif
