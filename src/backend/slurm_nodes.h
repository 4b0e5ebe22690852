/* The nodes of a cluster, read from `scontrol -d -o show node`. Equal ones are written as one group, so that a site with
 * thousands of nodes makes a short list. Everything here is pure. */
#ifndef BACKEND_SLURM_NODES_H
#define BACKEND_SLURM_NODES_H

#include "base/json.h"
#include "base/mem.h"

struct slurm_node {
	char *name, *partitions, *gpu_types, *reason; /* "" where there is none */
	const char *state; /* a word for people: slurm_node_word */
	int64_t cpus, cpus_busy, memory_bytes, memory_busy_bytes, gpus;
	int64_t gpus_busy; /* -1: not known */
};

/* Sorted: nodes that may be in one group stand together, by name. */
struct slurm_nodes {
	VEC(struct slurm_node) list;
};

/* Lines that cannot be read are left out. */
void slurm_nodes_parse(const char *text, size_t len, struct slurm_nodes *ret);
void slurm_nodes_free(struct slurm_nodes *nodes);
/* "IDLE+DRAIN", "MIXED*": one of idle, mixed, allocated, reserved, draining, drained, not responding, down, powered down,
 * starting, other. */
const char *slurm_node_word(const char *state);
/* The members "nodes" (how many) and "groups" of the open map. Nodes in `ours` (sorted names) are groups of their own. */
void slurm_nodes_write(const struct slurm_nodes *nodes, const char *const *ours, size_t count, struct json *out);

#endif
