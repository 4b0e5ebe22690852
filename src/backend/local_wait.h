/* Explains why a task cannot start on this machine now, and which experiments use what it needs. */
#ifndef BACKEND_LOCAL_WAIT_H
#define BACKEND_LOCAL_WAIT_H

#include "backend/local_machine.h"
#include "spool/slot.h"

/* The resources that each experiment uses, one entry per experiment. Initialise with {0}; the caller frees list.at. */
struct local_holds {
	VEC(struct local_hold {
		int64_t experiment;
		int64_t cpus, memory_bytes, gpus;
	}) list;
};
void local_hold_add(struct local_holds *holds, int64_t experiment, const struct spool_slot *slot);

/* "waits for 2 CPUs: e3 has 2 of 2"; NULL when there is room for it. experiment: whose task it is. Changes the order of
 * holds. The caller frees the text. */
char *local_wait_why(const struct local_machine *machine, bool gpus_known, struct local_holds *holds,
		     const struct backend_resources *wanted, int64_t experiment);

#endif
