/* This machine. Attempts get slots: CPUs, memory and GPUs, whole or shared. A runner is started detached, so that it survives the
 * daemon, and is found again by its claim. Only live attempts are in memory here: how an attempt ended is in its
 * journal, which the engine reads. */
#include "backend/local.h"

#include "backend/local_private.h"
#include "backend/local_trace.h"
#include "backend/local_wait.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/proc.h"
#include "spool/cage.h"
#include "spool/mark.h"
#include "spool/stop.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#define LOCAL_HELD_TEXT "waits for another task of its experiment to end: parallel is "

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
	size_t waiting = local_waiting(local);
	if (waiting)
		return waiting < r->ahead ? r->ahead - (uint32_t)waiting : 0;
	int64_t room = (m->cpus - cpus) / local_machine_cpus(r);
	if (r->memory_bytes > 0) {
		int64_t fits = (m->memory_free_bytes - memory) / r->memory_bytes;
		if (fits < 1 && memory == 0)
			fits = 1; /* it fits the machine, whatever other programs use now */
		room = fits < room ? fits : room;
	}
	if (r->gpus > 0 && local_machine_gpu_room(m, r->gpus, r->gpu_share) < room)
		room = local_machine_gpu_room(m, r->gpus, r->gpu_share);
	return (room > 0 ? (uint32_t)room : 0) + r->ahead;
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

/* Ends a look: how limits are kept on this machine. */
static void local_tell(backend_findings_f done, void *ctx)
{
	char what[] =
		"tasks on this machine: `memory` is limited by the kernel, in a control group for each task; `cpus` "
		"gives each task cores of its own";
	char watched[] =
		"tasks on this machine: `memory` is watched every second and not limited by the kernel; `cpus` gives "
		"each task cores of its own";
	const struct backend_finding finding = {.level = "ok", .what = cage_is_available() ? what : watched};
	done(ctx, &finding, 1);
}

/* A caller that asks what there is waits for the GPUs. Everything else is known at once. */
static void local_examine(struct backend *backend, backend_findings_f done, void *ctx)
{
	struct local *local = (struct local *)backend;
	if (!local->gpu_query) {
		local_tell(done, ctx);
		return;
	}
	local->examined = done;
	local->examined_ctx = ctx;
}

/* The GPUs are known: nothing may be started on a card before its slices are. */
static void local_gpus_known(struct local *local, const char *slices)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	local->gpu_query = NULL;
	/* A list that names slices says nothing about cards. */
	if (local->cards)
		local_machine_read_gpus(&local->machine, local->cards,
					visible && strstr(visible, "MIG-") ? NULL : visible);
	if (slices)
		local_machine_read_slices(&local->machine, slices, visible);
	free(local->cards);
	local->cards = NULL;
	local_start_waiting(local);
	local_changed(local);
	if (local->examined)
		local_tell(local->examined, local->examined_ctx);
	local->examined = NULL;
}

static void local_slices_cb(void *ctx, const char *text)
{
	local_gpus_known(ctx, text);
}

static void local_gpus_cb(void *ctx, const char *text)
{
	struct local *local = ctx;
	local->gpu_query = NULL;
	if (!text)
		log_info("nvidia-smi does not answer: no GPUs are used on this machine");
	local->cards = mem_strdup(text);
	if (text && *text)
		local->gpu_query = local_machine_ask_slices(local->loop, local_slices_cb, local);
	if (!local->gpu_query)
		local_gpus_known(local, NULL);
}

static void local_mps_cb(void *ctx)
{
	local_start_waiting(ctx);
	local_changed(ctx);
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
	local_cores_open(&local->cores);
	cage_make_room();
	local_mps_open(&local->mps, local->loop, config->state_dir, local_mps_cb, local);
	local_reap_open(local);
	local->gpu_query = local_machine_ask_gpus(local->loop, local_gpus_cb, local);
	*ret = &local->backend;
	return 0;
}

static void local_close(struct backend *backend)
{
	struct local *local = (struct local *)backend;
	local_machine_forget_query(local->gpu_query);
	local_mps_close(&local->mps, local_sharing(local) > 0);
	local_reap_close(local);
	while (local->items.len)
		local_drop(local->items.at[0]);
	free(local->items.at);
	free(local->program);
	free(local->cards);
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
		item->parallel = batch->parallel;
		item->slot = (struct spool_slot){
			.cpus = local_machine_cpus(r),
			.memory_bytes = r->memory_bytes,
			.time_ms = r->time_ms,
			.signal_before_ms = r->signal_before_ms,
			.checkpoint_signal = r->checkpoint_signal,
			.gpu_share = r->gpu_share,
		};
	}
	local_start_waiting(local);
	done(ctx, batch->token, &(struct backend_submit_result){.outcome = BACKEND_SUBMITTED});
}

/* What is observed of an attempt that is not on our list. *ret_words keeps the message where it is not a
 * constant. */
static void local_observe_trace(struct local *local, const struct backend_watch *watch,
				struct backend_observation *observed, char **ret_words)
{
	struct local_trace trace;
	local_trace_read(watch->batch_dir, watch->index, watch->silent_ms, &trace);
	switch (trace.state) {
	case LOCAL_TRACE_NONE:
		/* A runner that is only about to claim it will see the stop file too. */
		observed->state = spool_stop_exists(watch->attempt_dir) ? BACKEND_ENDED : BACKEND_ABSENT;
		observed->cause = CAUSE_CANCELLED;
		observed->message = "stopped before it started";
		return;
	case LOCAL_TRACE_ALIVE:
		local_adopt(local, watch, trace.pid)->watched = true;
		observed->state = BACKEND_RUNNING;
		return;
	case LOCAL_TRACE_UNKNOWN: /* a later look decides */
	case LOCAL_TRACE_ELSEWHERE: observed->state = BACKEND_RUNNING; return;
	case LOCAL_TRACE_GONE:
		/* Of our own runners we saw the end. */
		if (trace.earlier)
			spool_mark_kill_attempt(watch->attempt_dir);
		*ret_words = local_last_words(watch->batch_dir, watch->index);
		observed->message = *ret_words ? *ret_words : "its runner was killed";
		break;
	case LOCAL_TRACE_REBOOT: observed->message = "the machine was restarted while it ran"; break;
	case LOCAL_TRACE_SILENT:
		observed->message = "it was started on another machine and has been silent since";
		break;
	}
	observed->state = BACKEND_ENDED;
	observed->cause = CAUSE_LOST;
}

/* What is observed: QUEUED while it waits for a slot; RUNNING while its runner lives, which may be before the
 * script starts or after it has ended. ENDED once the runner is gone; its cause is always CAUSE_LOST, with
 * the reason in the message: a runner that goes of its own accord has written END, and the END record in the
 * journal comes first, so read the journal to its end before believing an observation. Only where nothing was
 * claimed the cause is another: CAUSE_CANCELLED (stopped before it started) or CAUSE_LAUNCH (no runner
 * could be started). ABSENT: no runner has claimed it, and no runner of ours is on its way. */
static void local_poll(struct backend *backend, const struct backend_watch *watch, size_t count,
		       backend_observation_f see, backend_polled_f done, void *ctx)
{
	struct local *local = (struct local *)backend;
	for (size_t i = 0; i < local->items.len; i++)
		local->items.at[i]->watched = false;
	for (size_t i = 0; i < count; i++) {
		struct backend_observation observed = {
			.token = watch[i].token, .index = watch[i].index, .exit_code = -1};
		struct local_item *item = local_find(local, watch[i].token, watch[i].index);
		uint64_t start;
		char *words = NULL;
		if (item && item->adopted && !item->pidfd && proc_start_time(item->pid, &start) < 0) {
			local_runner_gone(item, true);
			item = NULL;
		}
		if (!item) {
			local_observe_trace(local, &watch[i], &observed, &words);
		} else if (item->phase == LOCAL_WAITS) {
			struct backend_resources wanted = {.cpus = item->slot.cpus,
							   .memory_bytes = item->slot.memory_bytes,
							   .gpus = item->gpus,
							   .gpu_share = item->slot.gpu_share};
			item->watched = true;
			observed.state = BACKEND_QUEUED;
			words = local_is_held(item) ? mem_printf(LOCAL_HELD_TEXT "%" PRIu32, item->parallel)
						    : local_why_wait(backend, &wanted, item->experiment);
			observed.reason = words;
		} else if (item->phase == LOCAL_LIVES) {
			item->watched = true;
			observed.state = BACKEND_RUNNING;
		} else {
			item->watched = true;
			observed.state = BACKEND_ENDED;
			observed.cause = item->cause;
			observed.exit_code = item->exit_code;
			observed.node = local->host;
			observed.message = item->message ? item->message : "its runner failed";
		}
		see(ctx, &observed);
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
	/* Before the claim a signal would end the runner, and nothing would be written; after it, the runner handles it. */
	if (trace.state == LOCAL_TRACE_ALIVE)
		return kill(trace.pid, SIGTERM) == 0 || errno == ESRCH
			? 0
			: errorf(err, -errno, "process %ld: %s", (long)trace.pid, strerror(errno));
	if (trace.state == LOCAL_TRACE_GONE || trace.state == LOCAL_TRACE_REBOOT)
		return 0;
	return spool_stop_write(watch->attempt_dir, SPOOL_STOP_OVER, err);
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

static void local_set_parallel(struct backend *backend, const char *token, const char *job, uint32_t parallel,
			       backend_done_f done, void *ctx)
{
	struct local *local = (struct local *)backend;
	(void)job;
	for (size_t i = 0; i < local->items.len; i++)
		if (strcmp(local->items.at[i]->token, token) == 0)
			local->items.at[i]->parallel = parallel;
	local_start_waiting(local);
	done(ctx, 0, NULL);
}

static int64_t local_poll_interval(struct backend *backend, bool expecting)
{
	(void)backend;
	return expecting ? LOCAL_POLL_SOON_MS : LOCAL_POLL_MS;
}

static int64_t local_doubt(struct backend *backend)
{
	(void)backend;
	return LOCAL_DOUBT_MS;
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
	.traits = BACKEND_RESUBMIT_SAFE | BACKEND_HAS_KEEPERS,
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
	.set_parallel = local_set_parallel,
	.poll_interval_ms = local_poll_interval,
	.doubt_ms = local_doubt,
	.preview = local_preview,
	.describe = local_describe,
	.examine = local_examine,
	.on_change = local_on_change,
};
