/* A Slurm cluster through its client programs: sbatch, squeue, sacct, scancel, scontrol, sinfo, sacctmgr.
 * docs/internals/slurm.md says why these and how each is asked. */
#ifndef BACKEND_SLURM_H
#define BACKEND_SLURM_H

#include "backend/backend.h"

extern const struct backend_ops backend_slurm;

/* Looks at the cluster from here and, with a real job of a second, from a compute node: does it see the
 * state folder and the program, can it link files there, is its clock right, does it reach the daemon.
 * partition NULL: the default one. Takes at most two minutes; done is called once, on the loop. */
void slurm_examine(struct backend *backend, const char *partition, backend_findings_f done, void *ctx);

#endif
