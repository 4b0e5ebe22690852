/* A control group of a task's own that limits its memory, where one can be made: as root, in a container, or below a unit
 * of systemd that delegates. Where none can be made the runner watches the memory instead. */
#ifndef SPOOL_CAGE_H
#define SPOOL_CAGE_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cage {
	char *folder; /* NULL: there is none */
	bool v2;
};

/* Can one be made here? */
bool cage_is_available(void);
/* Makes one with this limit. False, and an empty one: it cannot be made. */
bool cage_make(int64_t bytes, struct cage *ret);
/* Moves a process there that has not begun yet. */
int cage_enter(const struct cage *cage, pid_t pid) MUST_USE;
/* How often the kernel ended a process in it for lack of memory. */
int64_t cage_kills(const struct cage *cage);
/* Removes it, when nothing runs in it any more. */
void cage_remove(struct cage *cage);
/* The daemon, in a unit of systemd that was delegated to it: moves to a group below, so that groups for tasks can be made
 * beside it. Does nothing elsewhere. */
void cage_make_room(void);

#endif
