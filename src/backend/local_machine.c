/* See local_machine.h. A container's limits count where they are lower than the machine's. */
#include "backend/local_machine.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/pace.h"
#include "base/proc.h"
#include "base/text.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

struct local_query {
	local_gpus_f answered; /* NULL: no caller waits any more */
	void *ctx;
	struct proc *proc;
};

/* The number behind a name such as "MemTotal:" in kB; 0 when it is not there. */
static int64_t machine_meminfo(const char *text, const char *name)
{
	const char *p = strstr(text, name);
	uint64_t kb;
	if (!p)
		return 0;
	p += strlen(name);
	p += strspn(p, " ");
	return num_parse_unsigned(p, strspn(p, "0123456789"), INT64_MAX / 1024, &kb) == 0 ? (int64_t)kb * 1024 : 0;
}

/* The numbers in the first line of a file of the control group; false where there is no limit. */
static bool machine_limit(const char *path, uint64_t *first, uint64_t *second)
{
	struct buf text = buf_make(256);
	bool found = false;
	if (fs_read(path, 256, &text, NULL) == 0) {
		const char *p = buf_text(&text);
		size_t n = strspn(p, "0123456789");
		found = num_parse_unsigned(p, n, INT64_MAX, first) == 0;
		p += n + strspn(p + n, " ");
		if (found && second)
			found = num_parse_unsigned(p, strspn(p, "0123456789"), INT64_MAX, second) == 0;
	}
	buf_free(&text);
	return found;
}

static int64_t machine_cpus(void)
{
	cpu_set_t set;
	uint64_t quota, period;
	int64_t cpus = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
	if (machine_limit("/sys/fs/cgroup/cpu.max", &quota, &period) && period) {
		int64_t most = (int64_t)((quota + period - 1) / period);
		cpus = most < cpus ? most : cpus;
	}
	return cpus > 0 ? cpus : 1;
}

void local_machine_look(struct local_machine *machine)
{
	struct buf text = buf_make(65536);
	uint64_t limit;
	*machine = (struct local_machine){.cpus = machine_cpus()};
	if (fs_read("/proc/meminfo", 65536, &text, NULL) == 0) {
		machine->memory_bytes = machine_meminfo(buf_text(&text), "MemTotal:");
		machine->memory_free_bytes = machine_meminfo(buf_text(&text), "MemAvailable:");
	}
	buf_free(&text);
	if (machine_limit("/sys/fs/cgroup/memory.max", &limit, NULL)) {
		if ((int64_t)limit < machine->memory_bytes)
			machine->memory_bytes = (int64_t)limit;
		if ((int64_t)limit < machine->memory_free_bytes)
			machine->memory_free_bytes = (int64_t)limit;
	}
}

/* Is the GPU in a list of indices and UUIDs (or beginnings of them)? CUDA ends the list at the first
 * entry it does not know, such as -1. */
static bool machine_is_visible(const struct local_gpu *gpu, const char *visible)
{
	if (!visible)
		return true;
	while (*visible) {
		size_t n = strcspn(visible, ",");
		if (n && *visible == '-')
			return false;
		if (n &&
		    ((strlen(gpu->id) == n && strncmp(gpu->id, visible, n) == 0) ||
		     (n > 4 && strncmp(gpu->uuid, visible, n) == 0)))
			return true;
		visible += n + (visible[n] == ',');
	}
	return false;
}

static bool machine_read_gpu(char *line, struct local_gpu *gpu)
{
	char *field[4];
	uint64_t index, mib = 0;
	for (int i = 0; i < 4; i++) {
		if (!line)
			return false;
		field[i] = line + strspn(line, " ");
		line = i < 3 ? strchr(line, ',') : NULL;
		if (line)
			*line++ = 0;
	}
	if (num_parse_unsigned(field[0], strlen(field[0]), 1023, &index) < 0)
		return false;
	if (num_parse_unsigned(field[2], strspn(field[2], "0123456789"), INT32_MAX, &mib) < 0)
		mib = 0; /* "[N/A]" on machines whose GPU shares the memory */
	*gpu = (struct local_gpu){.index = (int64_t)index, .memory_bytes = (int64_t)mib << 20};
	snprintf(gpu->id, sizeof(gpu->id), "%" PRIu64, index);
	snprintf(gpu->uuid, sizeof(gpu->uuid), "%s", field[1]);
	snprintf(gpu->name, sizeof(gpu->name), "%s", field[3]);
	return true;
}

void local_machine_read_gpus(struct local_machine *machine, const char *text, const char *visible)
{
	machine->gpu_count = 0;
	while (*text && machine->gpu_count < LOCAL_GPUS_MAX) {
		size_t n = strcspn(text, "\r\n");
		char *line = mem_copy(text, n);
		struct local_gpu gpu;
		if (machine_read_gpu(line, &gpu) && machine_is_visible(&gpu, visible))
			machine->gpus[machine->gpu_count++] = gpu;
		free(line);
		text += n + strspn(text + n, "\r\n");
	}
}

/* "  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4…)". The memory is the one in the name of the profile. */
static bool machine_read_slice(const char *line, const struct local_gpu *card, struct local_gpu *ret)
{
	const char *uuid = strstr(line, "(UUID: MIG-");
	line += strspn(line, " ");
	if (!text_starts(line, "MIG ") || !uuid)
		return false;
	const char *profile = line + 4, *dot = strchr(profile, '.');
	size_t name = strcspn(profile, " "), digits = dot ? strspn(dot + 1, "0123456789") : 0;
	uint64_t gib = 0;
	uuid += strlen("(UUID: ");
	if (!dot || dot > profile + name || num_parse_unsigned(dot + 1, digits, 1 << 20, &gib) < 0)
		gib = 0;
	*ret = (struct local_gpu){.index = card->index, .memory_bytes = (int64_t)gib << 30};
	snprintf(ret->id, sizeof(ret->id), "%.*s", (int)strcspn(uuid, ")"), uuid);
	snprintf(ret->uuid, sizeof(ret->uuid), "%s", ret->id);
	snprintf(ret->name, sizeof(ret->name), "%.40s MIG %.*s", card->name, (int)(name < 16 ? name : 16), profile);
	return strcspn(uuid, ")") < sizeof(ret->id);
}

/* "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5c89…)": which of the GPUs that is; NULL: none that we may use. */
static const struct local_gpu *machine_find_card(const struct local_machine *machine, const char *line)
{
	uint64_t index;
	if (!text_starts(line, "GPU ") ||
	    num_parse_unsigned(line + 4, strspn(line + 4, "0123456789"), 1023, &index) < 0)
		return NULL;
	for (size_t g = 0; g < machine->gpu_count; g++)
		if (machine->gpus[g].index == (int64_t)index)
			return &machine->gpus[g];
	return NULL;
}

/* Does the list name slices? Then only those are meant, else every slice of the cards that it names. */
static bool machine_is_slice_visible(const struct local_gpu *slice, const char *visible)
{
	return !visible || !strstr(visible, "MIG-") || machine_is_visible(slice, visible);
}

void local_machine_read_slices(struct local_machine *machine, const char *text, const char *visible)
{
	struct local_machine now = {0};
	const struct local_gpu *card = NULL;
	bool sliced = false;
	for (size_t n; *text; text += n + strspn(text + n, "\r\n")) {
		n = strcspn(text, "\r\n");
		char *line = mem_copy(text, n);
		struct local_gpu slice;
		if (text_starts(line, "GPU ")) {
			if (card && !sliced && machine_is_visible(card, visible) && now.gpu_count < LOCAL_GPUS_MAX)
				now.gpus[now.gpu_count++] = *card;
			card = machine_find_card(machine, line);
			sliced = false;
		} else if (card && machine_read_slice(line, card, &slice)) {
			sliced = true;
			if (machine_is_slice_visible(&slice, visible) && now.gpu_count < LOCAL_GPUS_MAX)
				now.gpus[now.gpu_count++] = slice;
		}
		free(line);
	}
	if (card && !sliced && machine_is_visible(card, visible) && now.gpu_count < LOCAL_GPUS_MAX)
		now.gpus[now.gpu_count++] = *card;
	if (!now.gpu_count) /* no answer that we understand */
		return;
	memcpy(machine->gpus, now.gpus, sizeof(now.gpus));
	machine->gpu_count = now.gpu_count;
}

void local_machine_use(struct local_machine *machine, const char *list, int64_t share)
{
	while (*list) {
		size_t n = strcspn(list, ",");
		for (size_t g = 0; g < machine->gpu_count; g++)
			if (strlen(machine->gpus[g].id) == n && strncmp(machine->gpus[g].id, list, n) == 0)
				machine->gpus[g].used += share ? share : LOCAL_GPU_WHOLE;
		list += n + (list[n] == ',');
	}
}

/* How many GPUs it has of which tasks may get parts: those that are not MIG slices. */
static size_t local_machine_cards(const struct local_machine *machine)
{
	size_t count = 0;
	for (size_t g = 0; g < machine->gpu_count; g++)
		count += !local_gpu_is_slice(&machine->gpus[g]);
	return count;
}

int64_t local_machine_gpu_room(const struct local_machine *machine, int64_t gpus, int64_t share)
{
	int64_t whole = 0, parts = 0;
	for (size_t g = 0; g < machine->gpu_count; g++) {
		int64_t left = LOCAL_GPU_WHOLE - machine->gpus[g].used;
		whole += machine->gpus[g].used == 0;
		parts += share && left > 0 && !local_gpu_is_slice(&machine->gpus[g]) ? left / share : 0;
	}
	return share ? parts : whole / gpus;
}

static void machine_gpus_cb(void *ctx, const struct proc_result *result)
{
	struct local_query *query = ctx;
	if (query->answered)
		query->answered(query->ctx, result->exit_code == 0 ? buf_text(&result->out) : NULL);
	free(query);
}

static struct local_query *machine_ask(uv_loop_t *loop, const char *const *argv, local_gpus_f answered, void *ctx)
{
	struct proc_spec spec = {.argv = argv, .timeout_ms = MACHINE_GPU_QUERY_MS, .output_max = 1 << 20};
	struct local_query *query = mem_alloc(sizeof(*query));
	*query = (struct local_query){.answered = answered, .ctx = ctx};
	/* It is no error that it is not there: most machines have no such program. */
	if (proc_start(loop, &spec, machine_gpus_cb, query, &query->proc, NULL) == 0)
		return query;
	free(query);
	return NULL;
}

struct local_query *local_machine_ask_gpus(uv_loop_t *loop, local_gpus_f answered, void *ctx)
{
	static const char *const argv[] = {"nvidia-smi", "--query-gpu=index,uuid,memory.total,name",
					   "--format=csv,noheader,nounits", NULL};
	return machine_ask(loop, argv, answered, ctx);
}

struct local_query *local_machine_ask_slices(uv_loop_t *loop, local_gpus_f answered, void *ctx)
{
	static const char *const argv[] = {"nvidia-smi", "-L", NULL};
	return machine_ask(loop, argv, answered, ctx);
}

void local_machine_forget_query(struct local_query *query)
{
	if (!query)
		return;
	query->answered = NULL;
	proc_kill(query->proc);
}

char *local_machine_impossible(const struct local_machine *m, bool gpus_known, const struct backend_resources *r,
			       const char **ret_key, const char **ret_remedy)
{
	char asked[32], has[32];
	if (local_machine_cpus(r) > m->cpus) {
		*ret_key = "cpus";
		*ret_remedy = "ask for fewer CPUs, or choose another backend";
		return mem_printf("a task asks for %" PRId64 " CPUs, but this machine has %" PRId64,
				  local_machine_cpus(r), m->cpus);
	}
	if (r->memory_bytes > m->memory_bytes && m->memory_bytes) {
		text_format_two_bytes(r->memory_bytes, m->memory_bytes, asked, has, sizeof(has));
		*ret_key = "memory";
		*ret_remedy = "ask for less memory, or choose another backend";
		return mem_printf("a task asks for %s of memory, but this machine has %s", asked, has);
	}
	if (gpus_known && r->gpus > (int64_t)m->gpu_count) {
		*ret_key = "gpus";
		*ret_remedy = m->gpu_count ? "ask for fewer GPUs, or choose another backend"
					   : "leave gpus out, or choose a backend that has GPUs";
		if (r->gpu_share)
			return mem_printf("a task asks for %g of a GPU, but this machine has %zu GPUs",
					  (double)r->gpu_share / 1000, m->gpu_count);
		return mem_printf("a task asks for %" PRId64 " GPU%s, but this machine has %zu", r->gpus,
				  r->gpus == 1 ? "" : "s", m->gpu_count);
	}
	if (gpus_known && r->gpu_share && !local_machine_cards(m)) {
		*ret_key = "gpus";
		*ret_remedy = "ask for `gpus: 1`, which is one slice, or choose another backend";
		return mem_printf(
			"a task asks for %g of a GPU, but the GPUs of this machine are MIG slices, which are not "
			"parted",
			(double)r->gpu_share / LOCAL_GPU_WHOLE);
	}
	if (r->nodes > 1) {
		*ret_key = "nodes";
		*ret_remedy = "choose another backend";
		return mem_printf("a task asks for %" PRId64 " nodes, but the local backend is one machine", r->nodes);
	}
	return NULL;
}

void local_machine_write(const struct local_machine *m, struct json *out)
{
	char memory[32], gpus[96] = "no GPU";
	text_format_bytes(m->memory_bytes, memory, sizeof(memory));
	if (m->gpu_count)
		snprintf(gpus, sizeof(gpus), "%zu GPU%s (%s)", m->gpu_count, m->gpu_count == 1 ? "" : "s",
			 m->gpus[0].name);
	char *text = mem_printf("%" PRId64 " CPU%s, %s, %s", m->cpus, m->cpus == 1 ? "" : "s", memory, gpus);
	json_key_string(out, "text", text);
	free(text);
	json_key_int(out, "cpus", m->cpus);
	json_key_int(out, "memory_bytes", m->memory_bytes);
	json_key(out, "gpus");
	json_list(out);
	for (size_t g = 0; g < m->gpu_count; g++) {
		json_map(out);
		json_key_string(out, "id", m->gpus[g].id);
		json_key_int(out, "index", m->gpus[g].index);
		json_key_string(out, "name", m->gpus[g].name);
		json_key_int(out, "memory_bytes", m->gpus[g].memory_bytes);
		json_key_bool(out, "busy", m->gpus[g].used > 0);
		json_key_real(out, "used", (double)m->gpus[g].used / LOCAL_GPU_WHOLE);
		json_end(out);
	}
	json_end(out);
}

int64_t local_machine_slots(const struct local_machine *m, const struct backend_resources *r)
{
	int64_t most = m->cpus / local_machine_cpus(r);
	int64_t parts = r->gpu_share ? LOCAL_GPU_WHOLE / r->gpu_share : 1;
	int64_t gpus = (int64_t)(r->gpu_share ? local_machine_cards(m) : m->gpu_count);
	if (r->gpus > 0 && gpus / r->gpus * parts < most)
		most = gpus / r->gpus * parts;
	/* One that fits the machine runs alone, whatever others use. */
	if (r->memory_bytes > 0 && m->memory_free_bytes / r->memory_bytes < most && most > 0)
		most = m->memory_free_bytes / r->memory_bytes > 1 ? m->memory_free_bytes / r->memory_bytes : 1;
	return most;
}

char *local_machine_preview(const struct local_machine *m, const struct backend_resources *r, uint64_t tasks,
			    uint32_t parallel)
{
	struct buf out = buf_make(LIMIT_TEXT_BYTES);
	char memory[32];
	int64_t most = local_machine_slots(m, r);
	if (parallel && parallel < most)
		most = parallel;
	if (most < 1)
		most = 1;
	buf_addf(&out, "#!/bin/sh\n# %" PRIu64 " task%s on this machine, up to %" PRId64 " at a time.\n", tasks,
		 tasks == 1 ? "" : "s", most);
	buf_addf(&out, "# Each: %" PRId64 " CPU%s", local_machine_cpus(r), local_machine_cpus(r) == 1 ? "" : "s");
	if (r->memory_bytes > 0) {
		text_format_bytes(r->memory_bytes, memory, sizeof(memory));
		buf_addf(&out, ", %s", memory);
	}
	if (r->gpu_share)
		buf_addf(&out, ", %g of a GPU (in CUDA_VISIBLE_DEVICES)", (double)r->gpu_share / LOCAL_GPU_WHOLE);
	else if (r->gpus > 0)
		buf_addf(&out, ", %" PRId64 " GPU%s (in CUDA_VISIBLE_DEVICES)", r->gpus, r->gpus == 1 ? "" : "s");
	else if (m->gpu_count)
		buf_add_text(&out, ", no GPU (CUDA_VISIBLE_DEVICES is empty; ask with `gpus: 1`)");
	buf_addf(&out,
		 ".\n# This is equivalent to:\nseq 0 %" PRIu64 " | xargs -P %" PRId64
		 " -I INDEX sluice exec \"$BATCH\" INDEX\n",
		 tasks ? tasks - 1 : 0, most);
	return buf_take(&out);
}
