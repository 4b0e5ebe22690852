/* This machine. Attempts get slots: CPUs, memory and whole GPUs; a runner is started detached, so that it
 * outlives the daemon, and is found again by its claim. What is in memory here is only what lives: how an
 * attempt ended is in its journal, which the engine reads. */
#include "backend/local.h"

#include "backend/local_machine.h"
#include "backend/local_trace.h"
#include "backend/local_wait.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/proc.h"
#include "spool/paths.h"
#include "spool/slot.h"
#include "spool/stop.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

struct local;

enum local_phase {
	LOCAL_WAITS, /* no slot yet */
	LOCAL_LIVES, /* it has a runner */
	LOCAL_FAILED, /* its runner ended without having claimed it, or it was cancelled while it waited */
};

struct local_item {
	struct local *local; /* NULL: the backend was closed; the runner goes on */
	enum local_phase phase;
	char *token, *batch_dir, *attempt_dir;
	int64_t experiment;
	uint32_t index;
	struct spool_slot slot;
	int64_t gpus; /* wanted */
	pid_t pid;
	bool adopted; /* started by an earlier daemon */
	bool child; /* an exit callback will come */
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
	struct local_query *gpu_query; /* nvidia-smi has not answered yet; NULL: nothing to wait for */
	backend_findings_f examined; /* waits for nvidia-smi's answer; NULL */
	void *examined_ctx;
	VEC(struct local_item *) items;
	void (*changed)(void *ctx);
	void *changed_ctx;
};

static void local_changed(struct local *local)
{
	if (local->changed)
		local->changed(local->changed_ctx);
}

static struct local_item *local_find(struct local *local, const char *token, uint32_t index)
{
	for (size_t i = 0; i < local->items.len; i++)
		if (local->items.at[i]->index == index && strcmp(local->items.at[i]->token, token) == 0)
			return local->items.at[i];
	return NULL;
}

static struct local_item *local_add(struct local *local, const char *token, uint32_t index, int64_t experiment,
				    const char *batch_dir, const char *attempt_dir)
{
	struct local_item *item = mem_alloc(sizeof(*item));
	item->local = local;
	item->token = mem_strdup(token);
	item->index = index;
	item->experiment = experiment;
	item->exit_code = -1;
	item->batch_dir = mem_strdup(batch_dir);
	item->attempt_dir = mem_strdup(attempt_dir);
	vec_push(&local->items, item);
	return item;
}

static void local_item_free(struct local_item *item)
{
	free(item->token);
	free(item->batch_dir);
	free(item->attempt_dir);
	free(item->message);
	free(item);
}

static void local_pidfd_closed_cb(uv_handle_t *handle)
{
	free(handle);
}

static void local_pidfd_close(struct local_item *item)
{
	int fd = -1;
	if (!item->pidfd)
		return;
	uv_poll_stop(item->pidfd);
	uv_fileno((uv_handle_t *)item->pidfd, &fd);
	if (fd >= 0)
		close(fd);
	uv_close((uv_handle_t *)item->pidfd, local_pidfd_closed_cb);
	item->pidfd = NULL;
}

/* Takes the item off the list. It is freed, or left to its exit callback where one will come. */
static void local_drop(struct local_item *item)
{
	struct local *local = item->local;
	size_t at = 0;
	while (local->items.at[at] != item)
		at++;
	local->items.len--;
	memmove(local->items.at + at, local->items.at + at + 1, (local->items.len - at) * sizeof(item));
	local_pidfd_close(item);
	item->local = NULL;
	if (!item->child)
		local_item_free(item);
}

/* CPUs and memory in use; GPUs are marked busy in the machine. */
static void local_used(struct local *local, int64_t *cpus, int64_t *memory)
{
	*cpus = *memory = 0;
	for (size_t g = 0; g < local->machine.gpu_count; g++)
		local->machine.gpus[g].busy = false;
	for (size_t i = 0; i < local->items.len; i++) {
		const struct local_item *item = local->items.at[i];
		if (item->phase != LOCAL_LIVES)
			continue;
		*cpus += item->slot.cpus;
		*memory += item->slot.memory_bytes;
		local_machine_mark_busy(&local->machine, item->slot.gpus);
	}
}

static char *local_impossible(const struct local *local, const struct backend_resources *r, const char **ret_key,
			      const char **ret_remedy)
{
	return local_machine_impossible(&local->machine, !local->gpu_query, r, ret_key, ret_remedy);
}

static uint32_t local_room(struct backend *backend, const struct backend_resources *r)
{
	struct local *local = (struct local *)backend;
	const struct local_machine *m = &local->machine;
	const char *key, *remedy;
	int64_t cpus, memory;
	char *impossible = local_impossible(local, r, &key, &remedy);
	free(impossible);
	if (impossible) /* let it come: submit refuses it, with the reason */
		return 1;
	local_used(local, &cpus, &memory);
	for (size_t i = 0; i < local->items.len; i++)
		if (local->items.at[i]->phase == LOCAL_WAITS)
			return 0;
	int64_t room = (m->cpus - cpus) / local_machine_cpus(r);
	if (r->memory_bytes > 0) {
		int64_t fits = (m->memory_free_bytes - memory) / r->memory_bytes;
		if (fits < 1 && memory == 0)
			fits = 1; /* it fits the machine; what others use now is their affair */
		room = fits < room ? fits : room;
	}
	if (r->gpus > 0 && local_machine_free_gpus(m) / r->gpus < room)
		room = local_machine_free_gpus(m) / r->gpus;
	return room > 0 ? (uint32_t)room : 0;
}

static uint32_t local_slots(struct backend *backend, const struct backend_resources *r)
{
	return (uint32_t)local_machine_slots(&((struct local *)backend)->machine, r);
}

static char *local_why_wait(struct backend *backend, const struct backend_resources *r, int64_t experiment)
{
	struct local *local = (struct local *)backend;
	struct local_holds holds = {0};
	for (size_t i = 0; i < local->items.len; i++)
		if (local->items.at[i]->phase == LOCAL_LIVES)
			local_hold_add(&holds, local->items.at[i]->experiment, &local->items.at[i]->slot);
	char *why = local_wait_why(&local->machine, !local->gpu_query, &holds, r, experiment);
	free(holds.list.at);
	return why;
}

/* Marks GPUs as the item's and names them in its slot. False when too few are free. */
static bool local_take_gpus(struct local *local, struct local_item *item)
{
	struct buf list = buf_make(sizeof(item->slot.gpus) - 1);
	int64_t missing = item->gpus;
	for (size_t g = 0; g < local->machine.gpu_count && missing > 0; g++) {
		struct local_gpu *gpu = &local->machine.gpus[g];
		if (gpu->busy)
			continue;
		gpu->busy = true;
		buf_addf(&list, "%s%s", list.len ? "," : "", gpu->id);
		missing--;
	}
	snprintf(item->slot.gpus, sizeof(item->slot.gpus), "%s", missing ? "" : buf_text(&list));
	buf_free(&list);
	return missing == 0;
}

static void local_start_waiting(struct local *local);

/* The runner is gone, ours or one of an earlier daemon. Its slot is free; how the attempt ended is in the journal. */
static void local_runner_gone(struct local_item *item, bool unnatural)
{
	struct local *local = item->local;
	struct local_trace trace;
	local_trace_read(item->batch_dir, item->index, 0, &trace);
	if (unnatural)
		local_kill_leftovers(item->attempt_dir);
	if (trace.state == LOCAL_TRACE_NONE) {
		item->phase = LOCAL_FAILED;
		item->cause = CAUSE_LOST;
		item->message = local_last_words(item->batch_dir, item->index);
		item->slot = (struct spool_slot){0};
		local_pidfd_close(item);
	} else {
		local_drop(item);
	}
	local_start_waiting(local);
	local_changed(local);
}

static void local_exit_cb(void *ctx, pid_t pid, int exit_code, int signal)
{
	struct local_item *item = ctx;
	(void)pid;
	item->child = false;
	item->exit_code = signal ? -1 : exit_code;
	if (item->local)
		local_runner_gone(item, signal != 0);
	else
		local_item_free(item);
}

static void local_pidfd_cb(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	local_runner_gone(poll->data, true);
}

static int local_start(struct local *local, struct local_item *item, struct error *err)
{
	char index[16];
	char *cuda = mem_printf("CUDA_VISIBLE_DEVICES=%s", item->slot.gpus);
	char *log = spool_item_path(item->batch_dir, item->index, SPOOL_OUTPUT);
	snprintf(index, sizeof(index), "%" PRIu32, item->index);
	const char *argv[] = {local->program, "exec", item->batch_dir, index, NULL};
	/* Who asked for no GPU gets none: it would take one that is promised to another. Before nvidia-smi has answered there
	 * may be some. A machine without is left as it is. */
	bool told = item->gpus > 0 || local->machine.gpu_count || local->gpu_query;
	const char *env[] = {told ? cuda : NULL, NULL};

	item->slot.gpus_hidden = item->gpus > 0 ? 0 : (int64_t)local->machine.gpu_count;
	int rc = spool_slot_write(item->batch_dir, item->index, &item->slot, err);
	if (rc == 0)
		rc = proc_detach(local->loop, argv, env, NULL, log, local_exit_cb, item, &item->pid, err);
	if (rc == 0) {
		item->child = true;
		item->phase = LOCAL_LIVES;
	}
	free(cuda);
	free(log);
	return rc;
}

/* Gives slots to what waits, in order. */
static void local_start_waiting(struct local *local)
{
	for (size_t i = 0; i < local->items.len; i++) {
		struct local_item *item = local->items.at[i];
		int64_t cpus, memory;
		struct error err;
		if (item->phase != LOCAL_WAITS)
			continue;
		local_used(local, &cpus, &memory);
		bool fits = cpus + item->slot.cpus <= local->machine.cpus &&
			(memory == 0 || memory + item->slot.memory_bytes <= local->machine.memory_free_bytes);
		if (!fits || !local_take_gpus(local, item))
			continue;
		if (local_start(local, item, &err) < 0) {
			item->phase = LOCAL_FAILED;
			item->cause = CAUSE_LAUNCH;
			item->message = mem_strdup(err.text);
		}
	}
}

/* Takes up a runner that an earlier daemon started. */
static struct local_item *local_adopt(struct local *local, const struct backend_watch *watch, pid_t pid)
{
	struct local_item *item = local_add(local, watch->token, watch->index, watch->experiment, watch->batch_dir,
					    watch->attempt_dir);
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	spool_slot_read(watch->batch_dir, watch->index, &item->slot);
	item->phase = LOCAL_LIVES;
	item->adopted = true;
	item->pid = pid;
	if (fd >= 0) {
		item->pidfd = mem_alloc(sizeof(*item->pidfd));
		item->pidfd->data = item;
		uv_poll_init(local->loop, item->pidfd, fd);
		uv_unref((uv_handle_t *)item->pidfd);
		uv_poll_start(item->pidfd, UV_READABLE, local_pidfd_cb);
	}
	return item;
}

/* A caller that asks what there is waits for the GPUs. Everything else is known at once. */
static void local_examine(struct backend *backend, backend_findings_f done, void *ctx)
{
	struct local *local = (struct local *)backend;
	if (!local->gpu_query) {
		done(ctx, NULL, 0);
		return;
	}
	local->examined = done;
	local->examined_ctx = ctx;
}

static void local_gpus_cb(void *ctx, const char *text)
{
	struct local *local = ctx;
	local->gpu_query = NULL;
	if (text)
		local_machine_read_gpus(&local->machine, text, getenv("CUDA_VISIBLE_DEVICES"));
	else
		log_info("nvidia-smi does not answer: no GPUs are used on this machine");
	local_start_waiting(local);
	local_changed(local);
	if (local->examined)
		local->examined(local->examined_ctx, NULL, 0);
	local->examined = NULL;
}

static int local_open(const struct backend_config *config, struct backend **ret, struct error *err)
{
	(void)err;
	struct local *local = mem_alloc(sizeof(*local));
	local->backend.ops = &backend_local;
	local->loop = config->loop;
	local->program = mem_strdup(config->program);
	gethostname(local->host, sizeof(local->host) - 1);
	local_machine_look(&local->machine);
	local->gpu_query = local_machine_ask_gpus(local->loop, local_gpus_cb, local);
	*ret = &local->backend;
	return 0;
}

static void local_close(struct backend *backend)
{
	struct local *local = (struct local *)backend;
	local_machine_forget_query(local->gpu_query);
	while (local->items.len)
		local_drop(local->items.at[0]);
	free(local->items.at);
	free(local->program);
	free(local);
}

static void local_check(struct backend *backend, const struct backend_resources *r, const struct node *at,
			struct problems *problems)
{
	const char *key = NULL, *remedy = NULL;
	char *why = local_impossible((struct local *)backend, r, &key, &remedy);
	const struct node *place = why ? node_get(at, key) : NULL;
	if (why)
		problem_add(problems, place ? place : at, remedy, "%s", why);
	free(why);
}

static void local_most(struct backend *backend, const struct backend_resources *resources, int64_t *ret_memory_bytes,
		       int64_t *ret_time_ms)
{
	(void)resources, (void)ret_time_ms;
	*ret_memory_bytes = ((struct local *)backend)->machine.memory_bytes;
}

static void local_submit(struct backend *backend, const struct backend_batch *batch, backend_submitted_f done,
			 void *ctx)
{
	struct local *local = (struct local *)backend;
	const struct backend_resources *r = batch->resources;
	const char *key, *remedy;
	char *why = local_impossible(local, r, &key, &remedy);
	if (why) {
		char *text = mem_printf("%s; %s", why, remedy);
		done(ctx, batch->token,
		     &(struct backend_submit_result){.outcome = BACKEND_REFUSED, .cause = CAUSE_REFUSED, .why = text});
		free(text);
		free(why);
		return;
	}
	for (size_t i = 0; i < batch->count; i++) {
		const struct backend_item *wanted = &batch->items[i];
		struct local_item *item = local_find(local, batch->token, wanted->index);
		if (item && item->phase != LOCAL_FAILED)
			continue;
		if (item) /* handed over again after a runner that never got as far as its claim */
			local_drop(item);
		item = local_add(local, batch->token, wanted->index, batch->experiment, batch->batch_dir,
				 wanted->attempt_dir);
		item->gpus = r->gpus;
		item->slot = (struct spool_slot){
			.cpus = local_machine_cpus(r),
			.memory_bytes = r->memory_bytes,
			.time_ms = r->time_ms,
			.signal_before_ms = r->signal_before_ms,
			.checkpoint_signal = r->checkpoint_signal,
		};
	}
	local_start_waiting(local);
	done(ctx, batch->token, &(struct backend_submit_result){.outcome = BACKEND_SUBMITTED});
}

/* How an attempt is sighted that is not on our list. *ret_words keeps the message where it is not a
 * constant. */
static void local_sight_trace(struct local *local, const struct backend_watch *watch, struct backend_sight *sight,
			      char **ret_words)
{
	struct local_trace trace;
	local_trace_read(watch->batch_dir, watch->index, watch->silent_ms, &trace);
	switch (trace.state) {
	case LOCAL_TRACE_NONE:
		/* A runner that is only about to claim it will see the stop file too. */
		sight->state = spool_stop_exists(watch->attempt_dir) ? BACKEND_ENDED : BACKEND_ABSENT;
		sight->cause = CAUSE_CANCELLED;
		sight->message = "stopped before it started";
		return;
	case LOCAL_TRACE_ALIVE:
		local_adopt(local, watch, trace.pid)->watched = true;
		sight->state = BACKEND_RUNNING;
		return;
	case LOCAL_TRACE_UNKNOWN: /* a later look decides */
	case LOCAL_TRACE_ELSEWHERE: sight->state = BACKEND_RUNNING; return;
	case LOCAL_TRACE_GONE:
		/* Of our own runners we saw the end. */
		if (trace.earlier)
			local_kill_leftovers(watch->attempt_dir);
		*ret_words = local_last_words(watch->batch_dir, watch->index);
		sight->message = *ret_words ? *ret_words : "its runner was killed";
		break;
	case LOCAL_TRACE_REBOOT: sight->message = "the machine was restarted while it ran"; break;
	case LOCAL_TRACE_SILENT: sight->message = "it was started on another machine and has been silent since"; break;
	}
	sight->state = BACKEND_ENDED;
	sight->cause = CAUSE_LOST;
}

/* What is sighted: QUEUED while it waits for a slot; RUNNING while its runner lives, which may be before the
 * script starts or after it has ended. ENDED once the runner is gone; its cause is always CAUSE_LOST, with
 * the reason in the message: a runner that goes of its own accord has written END, and the END record in the
 * journal comes first, so read the journal to its end before believing a sight. Only where nothing was
 * claimed the cause is another: CAUSE_CANCELLED (stopped before it started) or CAUSE_LAUNCH (no runner
 * could be started). ABSENT: no runner has claimed it, and no runner of ours is on its way. */
static void local_poll(struct backend *backend, const struct backend_watch *watch, size_t count, backend_sight_f see,
		       backend_polled_f done, void *ctx)
{
	struct local *local = (struct local *)backend;
	for (size_t i = 0; i < local->items.len; i++)
		local->items.at[i]->watched = false;
	for (size_t i = 0; i < count; i++) {
		struct backend_sight sight = {.token = watch[i].token, .index = watch[i].index, .exit_code = -1};
		struct local_item *item = local_find(local, watch[i].token, watch[i].index);
		uint64_t start;
		char *words = NULL;
		if (item && item->adopted && !item->pidfd && proc_start_time(item->pid, &start) < 0) {
			local_runner_gone(item, true);
			item = NULL;
		}
		if (!item) {
			local_sight_trace(local, &watch[i], &sight, &words);
		} else if (item->phase == LOCAL_WAITS) {
			struct backend_resources wanted = {
				.cpus = item->slot.cpus, .memory_bytes = item->slot.memory_bytes, .gpus = item->gpus};
			item->watched = true;
			sight.state = BACKEND_QUEUED;
			sight.reason = words = local_why_wait(backend, &wanted, item->experiment);
		} else if (item->phase == LOCAL_LIVES) {
			item->watched = true;
			sight.state = BACKEND_RUNNING;
		} else {
			item->watched = true;
			sight.state = BACKEND_ENDED;
			sight.cause = item->cause;
			sight.exit_code = item->exit_code;
			sight.node = local->host;
			sight.message = item->message ? item->message : "its runner failed";
		}
		see(ctx, &sight);
		free(words);
	}
	for (size_t i = local->items.len; i-- > 0;) /* the engine no longer asks for these */
		if (!local->items.at[i]->watched && local->items.at[i]->phase == LOCAL_FAILED)
			local_drop(local->items.at[i]);
	done(ctx, 0, NULL);
}

static int local_cancel_one(struct local *local, const struct backend_watch *watch, struct error *err)
{
	struct local_item *item = local_find(local, watch->token, watch->index);
	struct local_trace trace;
	if (item && item->phase == LOCAL_WAITS) {
		item->phase = LOCAL_FAILED;
		item->cause = CAUSE_CANCELLED;
		item->message = mem_strdup("stopped before it started");
	}
	local_trace_read(watch->batch_dir, watch->index, watch->silent_ms, &trace);
	/* Before the claim a signal would end the runner without a word; after it, it is heard. */
	if (trace.state == LOCAL_TRACE_ALIVE)
		return kill(trace.pid, SIGTERM) == 0 || errno == ESRCH
			? 0
			: errorf(err, -errno, "process %ld: %s", (long)trace.pid, strerror(errno));
	if (trace.state == LOCAL_TRACE_GONE || trace.state == LOCAL_TRACE_REBOOT)
		return 0;
	return spool_stop_write(watch->attempt_dir, err);
}

static void local_cancel(struct backend *backend, const struct backend_watch *watch, size_t count, backend_done_f done,
			 void *ctx)
{
	struct error err = {0};
	int rc = 0;
	for (size_t i = 0; i < count; i++) {
		int one = local_cancel_one((struct local *)backend, &watch[i], &err);
		rc = rc < 0 ? rc : one;
	}
	done(ctx, rc, rc < 0 ? err.text : NULL);
}

static int64_t local_poll_interval(struct backend *backend, bool expecting)
{
	(void)backend;
	return expecting ? LOCAL_POLL_SOON_MS : LOCAL_POLL_MS;
}

static char *local_preview(struct backend *backend, const struct backend_resources *r, uint64_t tasks,
			   uint32_t parallel, struct error *err)
{
	(void)err;
	return local_machine_preview(&((struct local *)backend)->machine, r, tasks, parallel);
}

static void local_describe(struct backend *backend, struct json *out)
{
	struct local *local = (struct local *)backend;
	int64_t cpus, memory;
	local_used(local, &cpus, &memory);
	json_map(out);
	json_key_string(out, "name", "local");
	json_key_bool(out, "available", true);
	json_key(out, "keys");
	backend_write_keys(&backend_local, out);
	json_key_int(out, "cpus_busy", cpus);
	json_key_int(out, "memory_busy_bytes", memory);
	local_machine_write(&local->machine, out);
	json_end(out);
}

static void local_on_change(struct backend *backend, void (*changed)(void *ctx), void *ctx)
{
	struct local *local = (struct local *)backend;
	local->changed = changed;
	local->changed_ctx = ctx;
}

const struct backend_ops backend_local = {
	.name = "local",
	.help = "this machine: slots by CPUs, memory and GPUs",
	.traits = BACKEND_RESUBMIT_SAFE,
	.preference = 1,
	.open = local_open,
	.close = local_close,
	.check = local_check,
	.most = local_most,
	.room = local_room,
	.slots = local_slots,
	.why_wait = local_why_wait,
	.submit = local_submit,
	.poll = local_poll,
	.cancel = local_cancel,
	.poll_interval_ms = local_poll_interval,
	.preview = local_preview,
	.describe = local_describe,
	.examine = local_examine,
	.on_change = local_on_change,
};
