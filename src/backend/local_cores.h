/* Chooses the cores of a task: cores that no other task of this daemon has, and of these the ones that other programs
 * on the machine have used least. Two daemons on one machine do not know each other, but each sees the load of the
 * other. */
#ifndef BACKEND_LOCAL_CORES_H
#define BACKEND_LOCAL_CORES_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

struct local_cores {
	cpu_set_t own; /* cores that this daemon may use; empty: not known */
	uint64_t total[CPU_SETSIZE]; /* time in use since the start of the machine, when it was looked at */
	uint64_t lately[CPU_SETSIZE]; /* time in use between the last two looks */
	int64_t looked_ms;
};

/* Reads which cores this daemon may use. */
void local_cores_open(struct local_cores *cores);
/* Takes in a text of /proc/stat. */
void local_cores_read(struct local_cores *cores, const char *stat);
/* Writes a list of `count` cores of this daemon that are not taken; "" if there are too few, or if the list does not
 * fit. */
void local_cores_choose(const struct local_cores *cores, const cpu_set_t *taken, int64_t count, char *list,
			size_t size);
/* Reads /proc/stat, unless it was read a short time ago. */
void local_cores_look(struct local_cores *cores);

#endif
