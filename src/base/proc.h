/* Child processes are started only here. Always with an argument vector, never with a shell string made of user
 * input. */
#ifndef BASE_PROC_H
#define BASE_PROC_H

#include "base/buf.h"
#include "base/error.h"

#include <sys/types.h>
#include <uv.h>

struct proc_spec {
	const char *const *argv; /* NULL-terminated; argv[0] is looked up in PATH */
	const char *const *env; /* "NAME=value" to set besides the daemon's own; NULL-terminated, or NULL */
	const char *cwd; /* NULL: where we are */
	const char *input; /* written to its stdin; NULL: /dev/null */
	size_t input_len;
	int64_t timeout_ms; /* SIGKILL afterwards; 0: none */
	size_t output_max; /* of stdout and of stderr; 0: LIMIT_CHILD_OUTPUT_BYTES */
};

struct proc_result {
	int exit_code; /* -1 when killed by a signal or never started */
	int signal;
	bool timed_out;
	bool overflow; /* more output than output_max */
	struct buf out, err;
};

/* Called once, on the loop, when the child has ended and its output is complete. The result is valid
 * during the call only. */
typedef void (*proc_done_f)(void *ctx, const struct proc_result *result);

struct proc;

/* Starts a child on the loop. 0, or a negative errno when it could not be started (done is not
 * called then). ret may be NULL. */
int proc_start(uv_loop_t *loop, const struct proc_spec *spec, proc_done_f done, void *ctx, struct proc **ret,
	       struct error *err) MUST_USE;
/* Kills the child with SIGKILL; done is still called, once it has ended, with the output that has come by now. */
void proc_kill(struct proc *proc);
/* The same without an event loop: blocks until the child has ended. result must be freed with proc_result_free. */
int proc_run(const struct proc_spec *spec, struct proc_result *result, struct error *err) MUST_USE;
void proc_result_free(struct proc_result *result);

/* Is there a program of this name in PATH? */
bool proc_in_path(const char *program);

/* Starts a child in its own session, so that it lives longer than this process: stdin /dev/null, stdout and stderr
 * appended to log (NULL: /dev/null). The caller asks proc_ended() whether it has ended. */
int proc_detach(const char *const *argv, const char *const *env, const char *cwd, const char *log, pid_t *ret,
		struct error *err) MUST_USE;
/* Has this child of ours ended? Does not wait. The first call that returns true reaps it: do not ask again. exit_code is
 * -1 where a signal ended it, signal is 0 where none did. */
bool proc_ended(pid_t pid, int *ret_exit_code, int *ret_signal);

/* The start time of a process in clock ticks since boot, which identifies it together with its pid. 0, or -ESRCH. A
 * zombie counts as ended. */
int proc_start_time(pid_t pid, uint64_t *ret) MUST_USE;
/* The same of the calling process. It is read once. */
int proc_own_start_time(uint64_t *ret) MUST_USE;
/* This boot's id; "" where the kernel has none. */
const char *proc_boot_id(void);

#endif
