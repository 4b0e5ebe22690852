/* Processes that a script leaves behind when it ends: in its process group, and those that left that group (setsid). */
#ifndef NODE_LEFTOVER_H
#define NODE_LEFTOVER_H

#include <stdbool.h>
#include <sys/types.h>

/* Sends a signal (0: none) to the group of the script and to every child of this process but `helper` (0: none). The runner is a subreaper, so
 * orphans of the script become its children; their children follow when they end. True if there was any process. */
bool leftover_signal(pid_t group, pid_t helper, int signal);

#endif
