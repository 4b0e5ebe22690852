/* Warm start: a Python script is forked from a process that has already imported what it imports (a keeper), instead of
 * starting Python anew. There is a keeper for each environment and list of modules on a machine; it is started by the
 * first runner that could use it, whose own script starts cold, and ends when it was idle for a minute.
 *
 * The child of the runner stays, as the script's stand-in: it passes signals on, ends as the script ends, and when it is
 * killed the keeper kills the script. So the runner treats a warm script as any other. */
#ifndef NODE_WARM_H
#define NODE_WARM_H

#include "base/buf.h"
#include "base/cost.h"
#include "node/usage.h"
#include "spool/descriptor.h"

#include <stdbool.h>
#include <sys/types.h>

/* Shared between the runner and the stand-in. */
struct warm_shared {
	volatile pid_t pid; /* the script; 0: it was started cold */
	volatile double cpu_ms, memory_bytes; /* when it has ended: what it used */
	volatile int64_t read_bytes, write_bytes; /* -1: not known */
};

struct warm {
	int connection; /* to the keeper; -1: none, start cold */
	char *python; /* the interpreter */
	char *modules; /* what the keeper has imported, for people */
	struct warm_shared *shared; /* NULL where connection is -1 */
};

/* Decides whether the script can start warm, and connects to its keeper. `env` is the environment of the script. Where
 * there is no keeper yet, starts one and says so in notes, as it does when the script cannot start warm. Call it before
 * the runner becomes a subreaper: a keeper must not become its child. */
void warm_open(const struct spool_descriptor *d, char *const *env, struct warm *ret, struct buf *notes);
/* Frees what it has. The connection is closed by then, or belongs to the child. */
void warm_free(struct warm *warm);

/* In the child of the runner, in the script's folder and with its outputs: asks the keeper for the script, closes
 * `channel` when it runs, and then stands in for it. Returns only if the keeper refuses; then start it cold. */
void warm_become(struct warm *warm, const struct spool_descriptor *d, char *const *argv, char *const *env, int channel);

/* The runner's child has ended with this status. Where the stand-in was killed, perhaps while it ended what the script had
 * left, the keeper kills the script, and so do we: the next task may start at once. */
void warm_end(const struct warm *warm, int status, const char *attempt_dir);
/* A script that a keeper started is no child of ours: its stand-in says what it used. */
void warm_count(const struct warm *warm, const struct usage *usage, struct cost *cost);

#endif
