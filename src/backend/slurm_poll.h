/* One poll of all attempts. slurm_poll.c asks Slurm; slurm_tell.c reports the answers. */
#ifndef BACKEND_SLURM_POLL_H
#define BACKEND_SLURM_POLL_H

#include "backend/slurm_private.h"

/* One attempt asked about, and what was found. */
struct slurm_seen {
	struct slurm_key key;
	uint64_t job; /* as confirmed; 0: not */
	int64_t experiment, submitted_ms;
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
	bool boot_asked; /* since the queue was read, the controller has said when it was started */
	char why[256];
	backend_observation_f observe;
	backend_polled_f done;
	void *ctx;
};

/* True if it neither waits nor runs according to the queue. */
bool slurm_row_over(const struct slurm_seen *seen);
/* True if it ended in the queue and was never on a node. Then the accounting has nothing to add. */
bool slurm_never_started(const struct slurm_seen *seen);

/* Did it leave the queue without a trace, while the rest of its array waits there? */
bool slurm_has_vanished(const struct slurm_poll_call *poll, const struct slurm_seen *seen);

/* Reports what was found. If the answer is complete, also reports attempts that were not found. */
void slurm_tell_all(struct slurm_poll_call *poll, bool complete);

#endif
