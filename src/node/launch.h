/* Starts the script: in its own process group, with its outputs in files. It cannot live longer than the runner. */
#ifndef NODE_LAUNCH_H
#define NODE_LAUNCH_H

#include "node/environment.h"
#include "node/warm.h"
#include "spool/descriptor.h"
#include "spool/slot.h"

#include <sys/types.h>

/* A child that waits for launch_go before it becomes the script, so that its pid is in the journal before it does
 * anything. */
struct launch {
	pid_t pid; /* also its process group */
	int channel;
};

/* In a child of the runner. Its handlers must not run there: they would write into its pipe. What it ignores or blocks a
 * script must not. */
void launch_reset_signals(void);
/* Checks for missing files before anything is started. 0, or a negative errno with what to do in err. */
int launch_check(const struct spool_descriptor *descriptor, struct error *err) MUST_USE;
/* gpus: the GPUs that it may see, "0,1"; NULL: not assigned by us. warm: its connection to a keeper goes to the child. */
int launch_prepare(const struct spool_descriptor *descriptor, const struct environment *environment, const char *gpus,
		   struct warm *warm, struct launch *ret, struct error *err) MUST_USE;
/* Returns 0 when the program runs, or when it was killed before that (its exit status shows it). On failure the child
 * has ended and was waited for. */
int launch_go(const struct spool_descriptor *descriptor, struct launch *launch, struct error *err) MUST_USE;

/* Gives the child that waits the cores of its slot, where the file says `cpus`. A failure becomes a line of notes. */
void launch_pin(const struct launch *launch, int64_t cpus, const struct spool_slot *slot, struct buf *notes);

#endif
