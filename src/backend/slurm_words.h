/* Translates Slurm's words for users: job states, why a job waits, how it ended and what to do about it, why sbatch
 * refused. These are tables: a new word of a new version needs one line. */
#ifndef BACKEND_SLURM_WORDS_H
#define BACKEND_SLURM_WORDS_H

#include "base/buf.h"
#include "base/cause.h"

#include <stdbool.h>
#include <stdint.h>

enum slurm_state_kind {
	SLURM_STATE_WAITING,
	SLURM_STATE_RUNNING,
	SLURM_STATE_ENDED,
	SLURM_STATE_UNKNOWN, /* an unknown word: the job exists, and nothing more is known */
};
enum slurm_state_kind slurm_state_kind(const char *state);
/* What to say about a job in this state when Slurm gives no reason; NULL: nothing. */
const char *slurm_state_words(const char *state);

/* Adds why a job waits; nothing for "None" and "". */
void slurm_reason_words(const char *reason, struct buf *out);

/* How an attempt ended. Texts are static or in `text`. */
struct slurm_cause {
	enum cause cause;
	const char *remedy; /* NULL: none */
	int exit_code, signal; /* -1 and 0: not known */
	char message[256];
};

/* What is known about an end. */
struct slurm_end {
	const char *state;
	const char *reason; /* squeue's; NULL */
	int exit_code, signal; /* -1: not known */
	int derived_code, derived_signal; /* of the steps */
	int64_t by_uid, own_uid; /* who cancelled it; -1 */
	const char *node; /* NULL */
	bool with_array; /* cancelled with its whole array, because a node could not start one of its tasks */
};
void slurm_explain_end(const struct slurm_end *end, struct slurm_cause *ret);

/* What sbatch's failure means. */
struct slurm_refusal {
	bool definite; /* true: nothing was submitted; false: it may have been */
	enum cause cause; /* CAUSE_REFUSED; CAUSE_LIMIT: the same submission may be accepted later */
	const char *remedy; /* NULL: none */
	char message[512]; /* Slurm's own words, one line */
};
void slurm_explain_refusal(const char *stderr_text, struct slurm_refusal *ret);

#endif
