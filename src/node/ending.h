/* Ends a script: with the checkpoint signal before its time limit, then SIGTERM, and SIGKILL after the grace period.
 * docs/internals/node.md has the protocol; sluice-experiment(5) says how a script can use it. */
#ifndef NODE_ENDING_H
#define NODE_ENDING_H

#include "base/cause.h"
#include "spool/descriptor.h"
#include "spool/slot.h"

#include <uv.h>

typedef void (*ending_note_f)(void *ctx, const char *text);

struct ending {
	uv_timer_t term, kill, limit, checkpoint;
	pid_t pid; /* the script and its process group; 0: it does not run (any more) */
	int64_t grace_ms;
	int checkpoint_signal; /* 0: the script handles none */
	bool told_to_save; /* it got that signal */
	enum cause stopped; /* why we ended it: CAUSE_STOPPED or CAUSE_TIME; CAUSE_NONE: we did not */
	ending_note_f note; /* a line for the timeline */
	void *ctx;
};

/* Its timers belong to the loop, and are closed with it. */
void ending_open(struct ending *ending, uv_loop_t *loop, ending_note_f note, void *ctx);
/* Call it when the script runs: its time limit counts from now on. */
void ending_begin(struct ending *ending, pid_t pid, const struct spool_descriptor *descriptor,
		  const struct spool_slot *slot);
/* Call it when the script has ended: no more signals are sent. */
void ending_over(struct ending *ending);

/* Sends SIGTERM now, and SIGKILL after the grace period. Only the first request counts. */
void ending_stop(struct ending *ending, enum cause cause, const char *why);
/* Sends the checkpoint signal now, SIGTERM if the script still runs after that time, and SIGKILL after the grace
 * period. */
void ending_save(struct ending *ending, int64_t within_ms);
/* Handles a signal that the runner got: SIGUSR1 and SIGUSR2 go to the script, any other ends it. */
void ending_take(struct ending *ending, int signal);

#endif
