/* How an attempt ended, in words: the cause, a message for people, and the end of the error output. */
#ifndef NODE_OUTCOME_H
#define NODE_OUTCOME_H

#include "base/buf.h"
#include "base/cause.h"
#include "base/error.h"
#include "node/setup.h"

/* The exit code with which a script asks to be continued. */
#define OUTCOME_CONTINUE 85

struct outcome {
	int exit_code; /* -1: a signal */
	int signal;
	enum cause cause;
	char message[1024];
};

struct outcome_facts {
	int status; /* of waitpid */
	enum cause
		stopped; /* why we ended it: CAUSE_STOPPED, CAUSE_TIME, CAUSE_MEMORY, CAUSE_STALLED; CAUSE_NONE: we did not */
	bool told_to_save; /* it got the checkpoint signal before its time limit */
	bool has_setup; /* bash ran it */
	struct setup_failure setup; /* where bash ended before the program */
	bool killed_for_memory; /* the kernel killed a process of this job for lack of memory while it ran */
	bool limited; /* by a control group that the runner made for it */
	int64_t limit_ms; /* its time limit here; known if it was stopped because of it */
	int64_t limit_bytes; /* its memory limit here; 0: no limit */
	double peak_bytes; /* the most memory that was measured; NAN */
	const char *stalled; /* the evidence, if it was ended because it made no progress */
	bool shared; /* its GPU had other tasks */
	int unwritable; /* negative errno: nothing can be written to its folder now; 0: there is room */
	const char *program;
	const char *errors; /* the end of its error output, cleaned; NULL */
	const char *output; /* the end of its standard output, cleaned; NULL. Looked at where there are no errors */
};

void outcome_decide(const struct outcome_facts *facts, struct outcome *ret);
/* The exit status of the runner: the script's own, as a shell would show it. */
int outcome_status(const struct outcome *outcome);

/* The last lines of a file, at most LIMIT_ERROR_TAIL_BYTES before cleaning; progress bars that
 * overwrote themselves leave their last state only. "" when there are none. */
void outcome_tail(const char *path, struct buf *out);

#endif
