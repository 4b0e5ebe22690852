/* The parts of the backend `local`: its items, and the runners that they get. Internal to this backend. */
#ifndef BACKEND_LOCAL_PRIVATE_H
#define BACKEND_LOCAL_PRIVATE_H

#include "backend/local_cores.h"
#include "backend/local_machine.h"
#include "backend/local_mps.h"
#include "spool/slot.h"

struct local;

enum local_phase {
	LOCAL_WAITS, /* no slot yet */
	LOCAL_LIVES, /* it has a runner */
	LOCAL_FAILED, /* its runner ended without a claim, or it was cancelled while it waited */
};

struct local_item {
	struct local *local;
	enum local_phase phase;
	char *token, *batch_dir, *attempt_dir;
	int64_t experiment;
	uint32_t index;
	struct spool_slot slot;
	int64_t gpus; /* wanted */
	uint32_t parallel; /* it starts only while fewer of its experiment run; 0: no limit */
	pid_t pid;
	bool adopted; /* started by an earlier daemon */
	bool child; /* of this daemon, and not reaped yet */
	uv_poll_t *pidfd; /* adopted: readable when the runner has ended; NULL: none */
	enum cause cause;
	int exit_code; /* of the runner, where it failed; -1: not known */
	char *message;
	bool watched; /* seen in the present poll */
};

struct local {
	struct backend backend;
	uv_loop_t *loop;
	char *program;
	char host[256]; /* this machine */
	struct local_machine machine;
	struct local_cores cores;
	struct local_mps mps;
	struct local_query *gpu_query; /* nvidia-smi has not answered yet; NULL: nothing to wait for */
	char *cards; /* nvidia-smi's list of GPUs, until their slices are known; NULL */
	backend_findings_f examined; /* waits for nvidia-smi's answer; NULL */
	void *examined_ctx;
	uv_signal_t *reaper; /* SIGCHLD */
	uv_timer_t *news; /* until ends are reported that came while others wait */
	VEC(struct local_item *) items;
	void (*changed)(void *ctx);
	void *changed_ctx;
};

/* The item of this batch and index; NULL. */
struct local_item *local_find(struct local *local, const char *token, uint32_t index);
/* Appends an item that waits for a slot. */
struct local_item *local_add(struct local *local, const char *token, uint32_t index, int64_t experiment,
			     const char *batch_dir, const char *attempt_dir);
/* Takes the item off the list and frees it. Its runner goes on if it has one. */
void local_drop(struct local_item *item);

/* CPUs and memory in use; GPUs are marked busy in the machine. */
void local_used(struct local *local, int64_t *ret_cpus, int64_t *ret_memory_bytes);
/* Does it wait because as many of its experiment run as may? The engine keeps to that too, but a limit may come after what it
 * handed over ahead. */
bool local_is_held(const struct local_item *item);
/* How many items wait for a slot. */
size_t local_waiting(const struct local *local);
/* How many living items share a GPU with others. */
size_t local_sharing(const struct local *local);
/* Gives slots to waiting items, in order, and starts their runners. */
void local_start_waiting(struct local *local);
/* Adds a runner that an earlier daemon started. */
struct local_item *local_adopt(struct local *local, const struct backend_watch *watch, pid_t pid);
/* The runner has ended (started by this daemon or by an earlier one), so its slot is free. killed: it did not end by
 * itself, so processes of the script may be left. Frees or keeps the item, and starts waiting items. */
void local_runner_gone(struct local_item *item, bool killed);
/* Watches for runners that end, from open to close of the backend. */
void local_reap_open(struct local *local);
void local_reap_close(struct local *local);
/* Tells the engine that a slot became free or a runner ended. */
void local_changed(struct local *local);

#endif
