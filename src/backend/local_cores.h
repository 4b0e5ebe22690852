/* Which cores a task gets: those that no other task of this daemon has, and of these the ones that other programs of the machine
 * have used least. Two daemons on one machine do not know of each other, but each sees the load of the other. */
#ifndef BACKEND_LOCAL_CORES_H
#define BACKEND_LOCAL_CORES_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

struct local_cores {
	cpu_set_t own; /* that this daemon may use; empty: not known */
	uint64_t total[CPU_SETSIZE]; /* time in use since the start of the machine, when it was looked at */
	uint64_t lately[CPU_SETSIZE]; /* between the last two looks */
	int64_t looked_ms;
};

/* The daemon's own mask. */
void local_cores_open(struct local_cores *cores);
/* Takes in a text of /proc/stat. */
void local_cores_read(struct local_cores *cores, const char *stat);
/* The list of `count` cores out of the own ones that are not taken; "" where there are too few, or the list does not fit. */
void local_cores_choose(const struct local_cores *cores, const cpu_set_t *taken, int64_t count, char *list,
			size_t size);
/* Looks at /proc/stat, if the last look is some time ago. */
void local_cores_look(struct local_cores *cores);

#endif
