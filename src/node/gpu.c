/* See gpu.h. */
#include "node/gpu.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/node.h"
#include "base/num.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void gpu_init(struct gpu_reading *ret, const char *id)
{
	*ret = (struct gpu_reading){
		.energy_j = NAN, .memory_total_bytes = NAN, .part = 1, .limit_w = NAN, .limit_before_w = NAN};
	snprintf(ret->id, sizeof(ret->id), "%.95s", id ? id : "");
	for (size_t i = 0; i < SAMPLE_GPU_COUNT; i++)
		ret->figure[i] = NAN;
}

/* A figure of the helper; NAN when it is missing or impossible. */
static double gpu_get(const struct node *gpu, const char *key, double per)
{
	double value = node_get_real(gpu, key, NAN);
	return isfinite(value) && value >= 0 && value < 1e18 ? value / per : NAN;
}

static void gpu_read_processes(const struct node *list, struct gpu_reading *ret)
{
	ret->knows_processes = list && list->type == NODE_LIST;
	for (size_t i = 0; ret->knows_processes && i < list->count && i < GPU_PROCESSES_MAX; i++) {
		const struct node *row = list->items[i];
		if (row->type != NODE_LIST || row->count != 3 || row->items[0]->type != NODE_INT)
			continue;
		double memory = row->items[1]->real, busy = row->items[2]->real;
		ret->processes[ret->process_count++] = (struct gpu_process){
			.pid = row->items[0]->integer,
			.memory_bytes = memory >= 0 ? memory : NAN,
			.busy_pct = busy >= 0 ? busy : NAN,
		};
	}
}

static void gpu_read_helper(const struct node *gpu, struct gpu_reading *ret)
{
	gpu_init(ret, node_get_string(gpu, "id"));
	ret->figure[SAMPLE_GPU_UTIL] = gpu_get(gpu, "util", 1);
	ret->figure[SAMPLE_GPU_MEMORY] = gpu_get(gpu, "memory", 1);
	ret->figure[SAMPLE_GPU_POWER] = gpu_get(gpu, "power_mw", 1000);
	ret->figure[SAMPLE_GPU_TEMPERATURE] = gpu_get(gpu, "temperature", 1);
	ret->figure[SAMPLE_GPU_SM_CLOCK] = gpu_get(gpu, "sm_mhz", 1);
	ret->figure[SAMPLE_GPU_MEMORY_CLOCK] = gpu_get(gpu, "memory_mhz", 1);
	ret->figure[SAMPLE_GPU_THROTTLE] = gpu_get(gpu, "throttle", 1);
	ret->energy_j = gpu_get(gpu, "energy_mj", 1000);
	ret->memory_total_bytes = gpu_get(gpu, "memory_total", 1);
	ret->limit_w = gpu_get(gpu, "limit_mw", 1000);
	ret->limit_before_w = gpu_get(gpu, "limit_before_mw", 1000);
	const char *problem = node_get_string(gpu, "limit_problem");
	snprintf(ret->limit_problem, sizeof(ret->limit_problem), "%.159s", problem ? problem : "");
	/* Power and energy are the card's. A slice is counted by its part of the memory. */
	double card = gpu_get(gpu, "card_memory", 1);
	if (node_get_bool(gpu, "slice", false))
		ret->part = card > 0 && ret->memory_total_bytes <= card ? ret->memory_total_bytes / card : NAN;
	gpu_read_processes(node_get(gpu, "processes"), ret);
}

int gpu_parse_helper(const char *line, size_t len, struct gpu_readings *ret, struct error *err)
{
	struct node *answer = NULL;
	int rc = node_parse_json(line, len, &answer, err);
	if (rc < 0)
		return rc;
	const struct node *list = node_get(answer, "gpus");
	const char *problem = node_get_string(answer, "error");
	ret->count = 0;
	if (!list || list->type != NODE_LIST || !list->count)
		rc = errorf(err, -ENODEV, "%.300s", problem ? problem : "NVML gave no reading");
	for (size_t i = 0; rc == 0 && i < list->count && i < SAMPLE_GPUS_MAX; i++)
		gpu_read_helper(list->items[i], &ret->at[ret->count++]);
	node_free(answer);
	return rc;
}

bool gpu_parse_smi(const char *line, size_t len, struct gpu_reading *ret)
{
	enum { INDEX, UTIL, USED, TOTAL, POWER, TEMPERATURE, SM, MEMORY, THROTTLE, FIELDS };
	double value[FIELDS];
	char id[32] = "";
	size_t field = 0;
	for (const char *p = line, *end = line + len; field < FIELDS && p <= end; field++) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		size_t n = (size_t)((comma ? comma : end) - p);
		while (n && *p == ' ')
			p++, n--;
		while (n && (p[n - 1] == ' ' || p[n - 1] == '\r'))
			n--;
		uint64_t bits = 0;
		if (field == INDEX)
			snprintf(id, sizeof(id), "%.*s", (int)(n < 31 ? n : 31), p);
		for (size_t i = 2; field == THROTTLE && i < n && strchr("0123456789abcdefABCDEF", p[i]); i++)
			bits = bits * 16 + (uint64_t)(p[i] <= '9' ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
		if (field == THROTTLE)
			value[field] = n > 2 && p[0] == '0' ? (double)bits : NAN;
		else if (num_parse_real(p, n, &value[field]) < 0) /* "[N/A]" */
			value[field] = NAN;
		p += n;
		p = comma ? comma + 1 : end + 1;
	}
	if (field != FIELDS || isnan(value[INDEX]))
		return false;
	gpu_init(ret, id);
	ret->figure[SAMPLE_GPU_UTIL] = value[UTIL];
	ret->figure[SAMPLE_GPU_MEMORY] = value[USED] * 1048576;
	ret->figure[SAMPLE_GPU_POWER] = value[POWER];
	ret->figure[SAMPLE_GPU_TEMPERATURE] = value[TEMPERATURE];
	ret->figure[SAMPLE_GPU_SM_CLOCK] = value[SM];
	ret->figure[SAMPLE_GPU_MEMORY_CLOCK] = value[MEMORY];
	ret->figure[SAMPLE_GPU_THROTTLE] = value[THROTTLE];
	ret->memory_total_bytes = value[TOTAL] * 1048576;
	return true;
}

/* A number in a file of sysfs; NAN where there is none. */
static double gpu_read_number(const char *dir, const char *name, double per)
{
	struct buf text = buf_make(256);
	double value = NAN;
	char *path = mem_printf("%s/%s", dir, name);
	if (fs_read(path, 256, &text, NULL) == 0) {
		size_t n = strcspn(buf_text(&text), "\n");
		if (num_parse_real(buf_text(&text), n, &value) < 0)
			value = NAN;
	}
	free(path);
	buf_free(&text);
	return value / per;
}

/* The folder of its sensors; NULL. The caller frees it. */
static char *gpu_amd_sensors(const char *dir)
{
	char *path = mem_printf("%s/device/hwmon", dir), *found = NULL;
	DIR *list = opendir(path);
	struct dirent *entry;
	while (list && !found && (entry = readdir(list)))
		if (text_starts(entry->d_name, "hwmon"))
			found = mem_printf("%s/%s", path, entry->d_name);
	if (list)
		closedir(list);
	free(path);
	return found;
}

bool gpu_read_amd(const char *dir, const char *id, struct gpu_reading *ret)
{
	gpu_init(ret, id);
	ret->figure[SAMPLE_GPU_UTIL] = gpu_read_number(dir, "device/gpu_busy_percent", 1);
	ret->figure[SAMPLE_GPU_MEMORY] = gpu_read_number(dir, "device/mem_info_vram_used", 1);
	ret->memory_total_bytes = gpu_read_number(dir, "device/mem_info_vram_total", 1);
	char *sensors = gpu_amd_sensors(dir);
	if (sensors) {
		double power = gpu_read_number(sensors, "power1_average", 1e6); /* microwatts */
		ret->figure[SAMPLE_GPU_POWER] = isnan(power) ? gpu_read_number(sensors, "power1_input", 1e6) : power;
		ret->figure[SAMPLE_GPU_TEMPERATURE] = gpu_read_number(sensors, "temp1_input", 1000);
		ret->figure[SAMPLE_GPU_SM_CLOCK] = gpu_read_number(sensors, "freq1_input", 1e6);
		ret->figure[SAMPLE_GPU_MEMORY_CLOCK] = gpu_read_number(sensors, "freq2_input", 1e6);
	}
	free(sensors);
	return !isnan(ret->figure[SAMPLE_GPU_UTIL]) || !isnan(ret->figure[SAMPLE_GPU_POWER]);
}

/* Processes with numbers of another name space are ours when none of ours can be seen: the GPU was given to us. */
static bool gpu_is_ours(const struct gpu_process *process, bool any, gpu_has_f has, gpu_has_f lives, const void *ctx)
{
	return has(ctx, process->pid) || (!any && !lives(ctx, process->pid));
}

double gpu_share(const struct gpu_reading *reading, double part, gpu_has_f has, gpu_has_f lives, const void *ctx,
		 size_t *ret_others)
{
	double ours = 0, all = 0;
	size_t mine = 0, others = 0;
	bool any = false;
	for (size_t i = 0; i < reading->process_count; i++)
		any |= has(ctx, reading->processes[i].pid);
	for (size_t i = 0; i < reading->process_count; i++) {
		const struct gpu_process *process = &reading->processes[i];
		bool own = gpu_is_ours(process, any, has, lives, ctx);
		double busy = isnan(process->busy_pct) ? 0 : process->busy_pct;
		mine += own;
		others += !own;
		ours += own ? busy : 0;
		all += busy;
	}
	*ret_others = others;
	if (!others && !any && part < 1)
		return reading->process_count > 1 ? 1.0 / (double)reading->process_count : part;
	if (!others)
		return 1;
	return all > 0 ? ours / all : (double)mine / (double)(mine + others);
}

void gpu_forget_server(struct gpu_reading *reading, gpu_has_f is_server, const void *ctx)
{
	size_t kept = 0;
	for (size_t i = 0; i < reading->process_count; i++) {
		struct gpu_process process = reading->processes[i];
		process.busy_pct = NAN;
		if (!is_server(ctx, process.pid))
			reading->processes[kept++] = process;
	}
	reading->process_count = kept;
}

double gpu_memory(const struct gpu_reading *reading, gpu_has_f has, const void *ctx, bool shared)
{
	double sum = 0;
	bool any = false;
	for (size_t i = 0; i < reading->process_count; i++) {
		const struct gpu_process *process = &reading->processes[i];
		if (!has(ctx, process->pid) || isnan(process->memory_bytes))
			continue;
		any = true;
		sum += process->memory_bytes;
	}
	return any ? sum : shared ? NAN : reading->figure[SAMPLE_GPU_MEMORY];
}
