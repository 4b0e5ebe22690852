/* NVIDIA MPS for tasks that share a GPU: with it their kernels run side by side, without it they take turns. It is started
 * when the first such task needs it, with folders of our own, and ended when none has needed it for a while. Where the
 * program is missing or fails, tasks share by taking turns. */
#ifndef BACKEND_LOCAL_MPS_H
#define BACKEND_LOCAL_MPS_H

#include <stdbool.h>
#include <uv.h>

enum local_mps_state {
	LOCAL_MPS_OFF, /* not started, or ended */
	LOCAL_MPS_STARTING,
	LOCAL_MPS_ON,
	LOCAL_MPS_NEVER, /* it is not available here */
};

struct local_mps {
	uv_loop_t *loop;
	enum local_mps_state state;
	char *pipe_dir, *log_dir;
	struct local_mps_start *start; /* it is being started or ended; NULL */
	uv_timer_t *idle; /* until it is ended; NULL before local_mps_open */
	void (*changed)(void *ctx); /* it has started, or is known not to */
	void *ctx;
};

/* Private folders below the state folder, or below /tmp where its path is too long for a socket. One that a killed daemon
 * has left there is taken over. */
void local_mps_open(struct local_mps *mps, uv_loop_t *loop, const char *state_dir, void (*changed)(void *ctx),
		    void *ctx);
/* Call it before a task that shares a GPU is started. Starts it, also again where it has died. False: wait for `changed`.
 * Afterwards the state says whether the task gets MPS. */
bool local_mps_want(struct local_mps *mps);
/* Runners of an earlier daemon use it. */
void local_mps_adopt(struct local_mps *mps);
/* How many tasks share a GPU now: without any, it is ended after a while. */
void local_mps_count(struct local_mps *mps, size_t tasks);
/* Ends it, unless tasks use it: they outlive the daemon. */
void local_mps_close(struct local_mps *mps, bool in_use);

#endif
