/* How a script is told that its time is over: the checkpoint signal before its limit, SIGTERM, and SIGKILL after the grace
 * period. docs/internals/node.md has the protocol, sluice-experiment(5) what a script may do with it. */
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
	int checkpoint_signal; /* 0: the script knows none */
	bool told_to_save; /* it got that signal */
	enum cause stopped; /* why we ended it: CAUSE_STOPPED or CAUSE_TIME; CAUSE_NONE: we did not */
	ending_note_f note; /* a line for the timeline */
	void *ctx;
};

/* Its timers belong to the loop, and are closed with it. */
void ending_open(struct ending *ending, uv_loop_t *loop, ending_note_f note, void *ctx);
/* The script runs: the limit of the slot counts from here. */
void ending_begin(struct ending *ending, pid_t pid, const struct spool_descriptor *descriptor,
		  const struct spool_slot *slot);
/* The script has ended: no signal is sent any more. */
void ending_over(struct ending *ending);

/* SIGTERM now, SIGKILL after the grace period. The first request counts. */
void ending_stop(struct ending *ending, enum cause cause, const char *why);
/* The checkpoint signal now, SIGTERM if it still runs after that time, SIGKILL after the grace period. */
void ending_save(struct ending *ending, int64_t within_ms);
/* A signal that the runner got: SIGUSR1 and SIGUSR2 are for the script, any other asks to end it. */
void ending_take(struct ending *ending, int signal);

#endif
