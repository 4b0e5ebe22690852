/* The memory of a task: a limit on this machine, by a control group of its own or by looking every second, and whether the
 * kernel ended the script for lack of memory. */
#ifndef NODE_MEMORY_H
#define NODE_MEMORY_H

#include "node/usage.h"
#include "spool/cage.h"

struct memory {
	int64_t limit_bytes; /* 0: none is kept here */
	struct cage cage;
	int64_t job_kills; /* of the group of a cluster's job, before the script; -1: unknown */
};

/* Before the script is started. */
void memory_open(struct memory *memory);
/* Gives the child that waits its limit (0: none). A script that a keeper forks is not that child: it is watched. */
void memory_limit(struct memory *memory, int64_t bytes, pid_t pid, bool is_script);
/* How the limit is kept, for the timeline; NULL: there is none. */
const char *memory_words(const struct memory *memory);
/* Does the script use more than its limit, where no group keeps it? Then ret_used says how much. */
bool memory_is_over(const struct memory *memory, const struct usage *usage, double *ret_used);
/* Has the kernel ended a process of the script since memory_open? */
bool memory_was_out(const struct memory *memory);
void memory_close(struct memory *memory);

#endif
