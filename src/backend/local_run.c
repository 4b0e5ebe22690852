/* The items of the backend `local` and their runners: started when a slot is free, found again after a restart of the
 * daemon, and removed when they have ended. */
#include "backend/local_private.h"

#include "backend/local_trace.h"
#include "base/proc.h"
#include "spool/mark.h"
#include "spool/paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

void local_changed(struct local *local)
{
	if (local->changed)
		local->changed(local->changed_ctx);
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

void local_drop(struct local_item *item)
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

void local_used(struct local *local, int64_t *cpus, int64_t *memory)
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

	local_take_cores(local, item);
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

void local_start_waiting(struct local *local)
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

struct local_item *local_adopt(struct local *local, const struct backend_watch *watch, pid_t pid)
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
