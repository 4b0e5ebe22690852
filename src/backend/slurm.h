/* A Slurm cluster through its client programs: sbatch, squeue, sacct, scancel, scontrol, sinfo, sacctmgr.
 * docs/internals/slurm.md says why these and how each is asked. */
#ifndef BACKEND_SLURM_H
#define BACKEND_SLURM_H

#include "backend/backend.h"

extern const struct backend_ops backend_slurm;

/* One thing that `sluice doctor` found. */
struct slurm_finding {
	const char *level; /* "ok", "warning", "error" */
	char *what;
	char *fix; /* NULL: nothing to do */
};
/* The list is valid during the call only. */
typedef void (*slurm_findings_f)(void *ctx, const struct slurm_finding *list, size_t count);

/* Looks at the cluster from here and, with a real job of a second, from a compute node: does it see the
 * state folder and the program, can it link files there, is its clock right, does it reach the daemon.
 * partition NULL: the default one. Takes at most two minutes; done is called once, on the loop. */
void slurm_examine(struct backend *backend, const char *partition, slurm_findings_f done, void *ctx);

#endif
