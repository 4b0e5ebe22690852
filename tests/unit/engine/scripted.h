/* A backend that says what a test has written down, for an engine whose clock the test steps. Nothing runs and nothing
 * is waited for: the test itself plays the runner (it takes claims and writes journals), and an hour passes in a line.
 *
 * There are two, so that a test can choose between them: one has the name and the traits of Slurm, the other those of this
 * machine. Both remember across a restart of the engine, as a cluster does. */
#ifndef TEST_ENGINE_SCRIPTED_H
#define TEST_ENGINE_SCRIPTED_H

#include "backend/backend.h"

#include "base/token.h"

/* What the backend says of every attempt when it is asked, from this time of the stepped clock on. */
struct scripted_sight {
	int64_t from_ms;
	bool earlier; /* only of those submitted before that; the others run */
	enum backend_state state;
	const char *reason;
	const char *node, *job; /* NULL: it does not say */
	enum cause cause; /* ENDED */
	bool unlaunched; /* ENDED */
	int64_t ended_ms; /* ENDED */
	int exit_code, signal;
	struct cost cost; /* ENDED: what accounting knows */
	int rc; /* negative: it cannot be asked */
};

/* What the engine asked of it. */
struct scripted_call {
	enum scripted_verb {
		SCRIPTED_SUBMIT,
		SCRIPTED_POLL,
		SCRIPTED_CANCEL,
		SCRIPTED_WITHDRAW,
		SCRIPTED_PARALLEL
	} verb;
	int64_t at_ms;
	size_t count; /* attempts; PARALLEL: the limit */
	bool again; /* SUBMIT */
	int64_t memory_bytes, time_ms; /* SUBMIT */
	char exclude[64]; /* SUBMIT; "": no node */
	char token[TOKEN_ID_CHARS]; /* of the first */
};

struct scripted {
	struct backend base; /* first */
	const char *why_not; /* open fails with this; NULL */
	uint32_t room;
	int64_t most_memory_bytes, most_time_ms; /* 0: no limit */
	int cancel_rc, parallel_rc;
	bool silent; /* does not answer submissions (they are answered never, as when the daemon ends first) */
	bool has_energy;
	VEC(struct backend_submit_result) answers; /* to submissions, in order; after the last: BACKEND_SUBMITTED */
	size_t answered;
	VEC(struct scripted_sight) sights; /* by time; none: RUNNING */
	VEC(struct scripted_call) calls;
};

extern struct scripted scripted_cluster, scripted_here;
extern const struct backend_ops *const scripted_table[]; /* for engine_config.backends */

/* Both as new: room for 1000, no script. The clock is at 1 hour, wherever it was. */
void scripted_reset(void);
/* Back to the real clock; frees the scripts. */
void scripted_free(void);
void scripted_step(int64_t ms);
int64_t scripted_now(void);
/* From now on it says this. */
void scripted_say(struct scripted *scripted, struct scripted_sight sight);
/* The next submission that has no answer yet gets this one. The texts must live on. */
void scripted_answer(struct scripted *scripted, struct backend_submit_result answer);
size_t scripted_count(const struct scripted *scripted, enum scripted_verb verb);
/* The newest of its kind; NULL. */
const struct scripted_call *scripted_last(const struct scripted *scripted, enum scripted_verb verb);

#endif
