/* One look at everything, between asking (slurm_poll.c) and telling (slurm_tell.c). */
#ifndef BACKEND_SLURM_POLL_H
#define BACKEND_SLURM_POLL_H

#include "backend/slurm_private.h"

/* One attempt asked about, and what was found. */
struct slurm_seen {
	struct slurm_key key;
	uint64_t job; /* as confirmed; 0: not */
	int64_t submitted_ms;
	bool queue_only; /* as in struct backend_watch */
	const struct slurm_job *row; /* in the queue; NULL */
	const struct slurm_final *final; /* in the accounting; NULL */
	bool incomplete;
};

struct slurm_poll_call {
	struct slurm *slurm;
	struct slurm_seen *seen; /* sorted by key */
	size_t count;
	struct slurm_queue queue;
	struct slurm_finals by_job, by_name;
	bool accounting_failed;
	bool boot_asked; /* the controller has said since the queue was read when it was started */
	char why[256];
	backend_observation_f observe;
	backend_polled_f done;
	void *ctx;
};

/* Neither waits nor runs, as far as the queue says. */
bool slurm_row_over(const struct slurm_seen *seen);
/* Ended in the queue and was never on a node: the accounting has nothing to add. */
bool slurm_never_started(const struct slurm_seen *seen);

/* Did it leave the queue without a trace, while the rest of its array waits there? */
bool slurm_has_vanished(const struct slurm_poll_call *poll, const struct slurm_seen *seen);

/* Tells what was found, and of what was found nowhere when the answer is complete. */
void slurm_tell_all(struct slurm_poll_call *poll, bool complete);

#endif
