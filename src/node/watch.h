/* Watches whether a script makes progress (model/stall.h), and says so in the journal when it does not: the evidence, and
 * its stack. Ends it where the user wants that. */
#ifndef NODE_WATCH_H
#define NODE_WATCH_H

#include "model/stall.h"
#include "node/environment.h"
#include "node/recorder.h"
#include "node/stack.h"
#include "spool/descriptor.h"

struct watch {
	const struct spool_descriptor *d; /* NULL: nothing runs */
	const struct environment *environment;
	struct recorder *recorder;
	pid_t pid; /* the script */
	struct stall stall;
	enum stall_kind told; /* STALL_NONE: all is well */
	struct stack stack;
	char *file; /* for its stack */
	struct buf why; /* what was told, for the message of the end */
	uint64_t rows; /* of metrics, as last seen */
};

/* The script runs. What it is given must live as long. */
void watch_begin(struct watch *watch, const struct spool_descriptor *d, const struct environment *environment,
		 struct recorder *recorder, pid_t pid);
/* A sample was taken. */
void watch_sample(struct watch *watch, const struct sample *sample, int64_t now_ms);
/* Call it often. True: the script must be ended, and watch->why says why. */
bool watch_poll(struct watch *watch, int64_t now_ms);
/* A child of the runner has ended. */
void watch_reap(struct watch *watch, pid_t pid);
void watch_free(struct watch *watch);

#endif
