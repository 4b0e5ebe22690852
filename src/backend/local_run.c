/* The items of the backend `local` and their runners: started when a slot is free, found again after a restart of the
 * daemon, and removed when they have ended. */
#include "backend/local_private.h"

#include "backend/local_trace.h"
#include "base/pace.h"
#include "base/proc.h"
#include "spool/mark.h"
#include "spool/paths.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

void local_changed(struct local *local)
{
	if (local->changed)
		local->changed(local->changed_ctx);
}

bool local_is_held(const struct local_item *item)
{
	const struct local *local = item->local;
	uint32_t running = 0;
	for (size_t i = 0; item->parallel && i < local->items.len; i++)
		running += local->items.at[i]->phase == LOCAL_LIVES &&
			local->items.at[i]->experiment == item->experiment;
	return item->parallel && running >= item->parallel;
}

size_t local_waiting(const struct local *local)
{
	size_t count = 0;
	for (size_t i = 0; i < local->items.len; i++)
		count += local->items.at[i]->phase == LOCAL_WAITS && !local_is_held(local->items.at[i]);
	return count;
}

static void local_news_cb(uv_timer_t *timer)
{
	local_changed(timer->data);
}

/* While others wait every slot has its next task already: what ended is reported together. */
static void local_report(struct local *local)
{
	if (!local_waiting(local))
		local_changed(local);
	else if (!uv_is_active((uv_handle_t *)local->news))
		uv_timer_start(local->news, local_news_cb, LOCAL_NEWS_MS, 0);
}

struct local_item *local_find(struct local *local, const char *token, uint32_t index)
{
	for (size_t i = 0; i < local->items.len; i++)
		if (local->items.at[i]->index == index && strcmp(local->items.at[i]->token, token) == 0)
			return local->items.at[i];
	return NULL;
}

struct local_item *local_add(struct local *local, const char *token, uint32_t index, int64_t experiment,
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

static void local_handle_closed_cb(uv_handle_t *handle)
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
	uv_close((uv_handle_t *)item->pidfd, local_handle_closed_cb);
	item->pidfd = NULL;
}

void local_drop(struct local_item *item)
{
	struct local *local = item->local;
	size_t at = 0;
	while (local->items.at[at] != item)
		at++;
	local->items.len--;
	memmove(local->items.at + at, local->items.at + at + 1, (local->items.len - at) * sizeof(item));
	local_pidfd_close(item);
	local_item_free(item);
}

void local_used(struct local *local, int64_t *cpus, int64_t *memory)
{
	*cpus = *memory = 0;
	for (size_t g = 0; g < local->machine.gpu_count; g++)
		local->machine.gpus[g].used = 0;
	for (size_t i = 0; i < local->items.len; i++) {
		const struct local_item *item = local->items.at[i];
		if (item->phase != LOCAL_LIVES)
			continue;
		*cpus += item->slot.cpus;
		*memory += item->slot.memory_bytes;
		local_machine_use(&local->machine, item->slot.gpus, item->slot.gpu_share);
	}
}

size_t local_sharing(const struct local *local)
{
	size_t count = 0;
	for (size_t i = 0; i < local->items.len; i++)
		count += local->items.at[i]->phase == LOCAL_LIVES && local->items.at[i]->slot.gpu_share > 0;
	return count;
}

/* The GPU on which most is free. False when the share fits on none. */
static bool local_take_share(struct local *local, struct local_item *item)
{
	struct local_gpu *best = NULL;
	for (size_t g = 0; g < local->machine.gpu_count; g++) {
		struct local_gpu *gpu = &local->machine.gpus[g];
		if (!local_gpu_is_slice(gpu) && gpu->used + item->slot.gpu_share <= LOCAL_GPU_WHOLE &&
		    (!best || gpu->used < best->used))
			best = gpu;
	}
	snprintf(item->slot.gpus, sizeof(item->slot.gpus), "%s", best ? best->id : "");
	return best && local_mps_want(&local->mps);
}

_Static_assert(LOCAL_GPUS_MAX * sizeof((struct local_gpu){0}.id) <= SPOOL_SLOT_GPUS_BYTES, "every list of GPUs fits");

/* Names GPUs in the item's slot. False when too few are free. */
static bool local_take_gpus(struct local *local, struct local_item *item)
{
	struct buf list = buf_make(sizeof(item->slot.gpus) - 1);
	int64_t missing = item->gpus;
	if (item->slot.gpu_share)
		return local_take_share(local, item);
	for (size_t g = 0; g < local->machine.gpu_count && missing > 0; g++) {
		struct local_gpu *gpu = &local->machine.gpus[g];
		if (gpu->used)
			continue;
		gpu->used = LOCAL_GPU_WHOLE;
		buf_addf(&list, "%s%s", list.len ? "," : "", gpu->id);
		missing--;
	}
	snprintf(item->slot.gpus, sizeof(item->slot.gpus), "%s", missing ? "" : buf_text(&list));
	buf_free(&list);
	return missing == 0;
}

/* How the attempt ended is in the journal. */
void local_runner_gone(struct local_item *item, bool killed)
{
	struct local *local = item->local;
	struct local_trace trace;
	local_trace_read(item->batch_dir, item->index, 0, &trace);
	if (killed)
		spool_mark_kill_attempt(item->attempt_dir);
	if (trace.state == LOCAL_TRACE_NONE) {
		item->phase = LOCAL_FAILED;
		item->cause = CAUSE_LOST;
		item->message = local_last_words(item->batch_dir, item->index);
		item->slot = (struct spool_slot){0};
		local_pidfd_close(item);
	} else {
		local_drop(item);
	}
	local_mps_count(&local->mps, local_sharing(local));
	local_start_waiting(local);
	local_report(local);
}

/* One SIGCHLD may stand for several children. An item that has ended leaves the list, or stays in it as failed. */
static void local_reap_cb(uv_signal_t *handle, int number)
{
	struct local *local = handle->data;
	(void)number;
	for (size_t i = 0; i < local->items.len;) {
		struct local_item *item = local->items.at[i];
		int signal;
		if (item->child && proc_ended(item->pid, &item->exit_code, &signal)) {
			item->child = false;
			local_runner_gone(item, signal != 0);
		} else {
			i++;
		}
	}
}

void local_reap_open(struct local *local)
{
	local->reaper = mem_alloc(sizeof(*local->reaper));
	local->reaper->data = local;
	uv_signal_init(local->loop, local->reaper);
	uv_signal_start(local->reaper, local_reap_cb, SIGCHLD);
	uv_unref((uv_handle_t *)local->reaper);
	local->news = mem_alloc(sizeof(*local->news));
	local->news->data = local;
	uv_timer_init(local->loop, local->news);
	uv_unref((uv_handle_t *)local->news);
}

void local_reap_close(struct local *local)
{
	uv_close((uv_handle_t *)local->reaper, local_handle_closed_cb);
	uv_close((uv_handle_t *)local->news, local_handle_closed_cb);
}

static void local_pidfd_cb(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	local_runner_gone(poll->data, true);
}

/* Names cores that no other living item has. Where one has none (a slot of an earlier version), or they do not suffice, the item
 * has none either and runs where the kernel likes. */
static void local_take_cores(struct local *local, struct local_item *item)
{
	cpu_set_t taken;
	bool known = true;
	CPU_ZERO(&taken);
	for (size_t i = 0; i < local->items.len; i++) {
		const struct local_item *other = local->items.at[i];
		if (other->phase == LOCAL_LIVES)
			known = spool_slot_add_cores(&other->slot, &taken) && known;
	}
	item->slot.cores[0] = 0;
	local_cores_look(&local->cores);
	if (known)
		local_cores_choose(&local->cores, &taken, item->slot.cpus, item->slot.cores, sizeof(item->slot.cores));
}

/* The variables of a runner whose task shares a GPU by MPS. Each may take its part of the memory. */
static void local_add_mps(const struct local *local, const struct local_item *item, char **env)
{
	int64_t bytes = 0;
	for (size_t g = 0; g < local->machine.gpu_count; g++)
		if (strcmp(local->machine.gpus[g].id, item->slot.gpus) == 0)
			bytes = local->machine.gpus[g].memory_bytes;
	env[0] = mem_printf("CUDA_MPS_PIPE_DIRECTORY=%s", local->mps.pipe_dir);
	env[1] = mem_printf("CUDA_MPS_LOG_DIRECTORY=%s", local->mps.log_dir);
	if (bytes > 0)
		env[2] = mem_printf("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=%" PRId64 "M",
				    (bytes >> 20) * item->slot.gpu_share / LOCAL_GPU_WHOLE);
}

static int local_start(struct local *local, struct local_item *item, struct error *err)
{
	char index[16], *env[5] = {0};
	char *log = spool_item_path(item->batch_dir, item->index, SPOOL_OUTPUT);
	snprintf(index, sizeof(index), "%" PRIu32, item->index);
	const char *argv[] = {local->program, "exec", item->batch_dir, index, NULL};
	/* Who asked for no GPU gets none: it would take one that is promised to another. Before nvidia-smi has answered there
	 * may be some. A machine without is left as it is. */
	bool limited = item->gpus > 0 || local->machine.gpu_count || local->gpu_query;
	item->slot.mps = item->slot.gpu_share && local->mps.state == LOCAL_MPS_ON;
	if (limited)
		env[0] = mem_printf("CUDA_VISIBLE_DEVICES=%s", item->slot.gpus);
	if (limited && item->slot.mps)
		local_add_mps(local, item, env + 1);

	local_take_cores(local, item);
	item->slot.gpus_hidden = item->gpus > 0 ? 0 : (int64_t)local->machine.gpu_count;
	int rc = spool_slot_write(item->batch_dir, item->index, &item->slot, err);
	if (rc == 0)
		rc = proc_detach(argv, (const char *const *)env, NULL, log, &item->pid, err);
	if (rc == 0) {
		item->child = true;
		item->phase = LOCAL_LIVES;
	}
	for (size_t i = 0; i < COUNT_OF(env); i++)
		free(env[i]);
	free(log);
	return rc;
}

void local_start_waiting(struct local *local)
{
	for (size_t i = 0; i < local->items.len; i++) {
		struct local_item *item = local->items.at[i];
		int64_t cpus, memory;
		struct error err;
		if (item->phase != LOCAL_WAITS || local_is_held(item))
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

struct local_item *local_adopt(struct local *local, const struct backend_watch *watch, pid_t pid)
{
	struct local_item *item = local_add(local, watch->token, watch->index, watch->experiment, watch->batch_dir,
					    watch->attempt_dir);
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	spool_slot_read(watch->batch_dir, watch->index, &item->slot);
	if (item->slot.mps)
		local_mps_adopt(&local->mps);
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
