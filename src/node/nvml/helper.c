/* The helper that talks to NVML. The program itself is static and cannot load a library, so it carries this small
 * dynamic program and starts it beside a script that has GPUs:
 *
 *     sluice-nvml GPUS [LIMIT]     GPUS: "0,1", "GPU-…", "MIG-…"; LIMIT: watts, or "auto"
 *
 * Each line on stdin asks for one reading, which is one line of JSON on stdout. What a card does not know is left out.
 * At the end of stdin the helper gives every card back the power limit that it had, and ends. So the limit is restored
 * also when the runner was killed. It must start on systems with an old glibc: see start.c. */
#include "node/nvml/nvml.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef __x86_64__
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
#endif

#define HELPER_GPUS 16
#define HELPER_PROCESSES 64
#define HELPER_LINE_BYTES 65536

#define HELPER_POINTER(name, arguments) int(*name) arguments;
static struct {
	NVML_REQUIRED(HELPER_POINTER)
	NVML_OPTIONAL(HELPER_POINTER)
} nvml;

struct helper_gpu {
	nvml_device device; /* the card, or a MIG slice of it */
	nvml_device card; /* the card: power, energy and clocks are its own */
	bool slice;
	char id[96]; /* as it was named by the caller */
	unsigned limit_before_mw; /* to restore; 0: unchanged */
	char limit_problem[160];
	unsigned long long seen_us; /* process utilisation up to here was read */
};

static struct helper_gpu gpus[HELPER_GPUS];
static size_t gpu_count;
static char line[HELPER_LINE_BYTES];
static size_t line_len;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...)
{
	__builtin_va_list list;
	__builtin_va_start(list, format);
	int n = vsnprintf(line + line_len, sizeof(line) - line_len, format, list);
	__builtin_va_end(list);
	if (n > 0 && (size_t)n < sizeof(line) - line_len)
		line_len += (size_t)n;
}

static void restore_limits(void)
{
	for (size_t i = 0; i < gpu_count; i++)
		if (gpus[i].limit_before_mw)
			nvml.nvmlDeviceSetPowerManagementLimit(gpus[i].card, gpus[i].limit_before_mw);
}

static void send_line(void)
{
	put("\n");
	for (size_t at = 0; at < line_len;) {
		ssize_t n = write(STDOUT_FILENO, line + at, line_len - at);
		if (n <= 0) { /* the runner is gone: the end of stdin says the same */
			restore_limits();
			_exit(0);
		}
		at += (size_t)n;
	}
	line_len = 0;
}

/* Texts of ours and of the library: neither has what JSON would need escaped, but the caller's ids may. */
static void put_text(const char *text)
{
	put("\"");
	for (; *text; text++)
		if (*text >= ' ' && *text != '"' && *text != '\\')
			put("%c", *text);
	put("\"");
}

static int fail(const char *text, const char *detail)
{
	line_len = 0;
	put("{\"error\":");
	char whole[512];
	snprintf(whole, sizeof(whole), "%s%s", text, detail ? detail : "");
	put_text(whole);
	put("}");
	send_line();
	return 1;
}

static const char *load_library(void)
{
	const char *path = getenv("SLUICE_NVML"); /* another library, for tests */
	void *library = dlopen(path && *path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return "libnvidia-ml.so.1 cannot be loaded";
#define HELPER_LOAD(name, arguments) nvml.name = (int(*) arguments)dlsym(library, #name);
#define HELPER_NEED(name, arguments)                                                                                   \
	HELPER_LOAD(name, arguments)                                                                                   \
	if (!nvml.name)                                                                                                \
		return "libnvidia-ml.so.1 lacks " #name;
	NVML_REQUIRED(HELPER_NEED)
	NVML_OPTIONAL(HELPER_LOAD)
	return nvml.nvmlInit_v2() == NVML_OK ? NULL : "NVML does not start: is the NVIDIA driver loaded?";
}

/* CUDA takes the beginning of a UUID, NVML only whole ones. */
static bool find_by_prefix(const char *id, nvml_device *ret)
{
	unsigned count = 0;
	if (nvml.nvmlDeviceGetCount_v2(&count) != NVML_OK)
		return false;
	for (unsigned i = 0; i < count; i++) {
		char uuid[96] = "";
		if (nvml.nvmlDeviceGetHandleByIndex_v2(i, ret) == NVML_OK &&
		    nvml.nvmlDeviceGetUUID(*ret, uuid, sizeof(uuid)) == NVML_OK && strncmp(uuid, id, strlen(id)) == 0)
			return true;
	}
	return false;
}

static bool find_gpu(const char *id, struct helper_gpu *gpu)
{
	unsigned index = 0;
	const char *p = id;
	for (; *p >= '0' && *p <= '9' && index < 10000; p++)
		index = index * 10 + (unsigned)(*p - '0');
	bool found = *id && !*p ? nvml.nvmlDeviceGetHandleByIndex_v2(index, &gpu->device) == NVML_OK
				: nvml.nvmlDeviceGetHandleByUUID(id, &gpu->device) == NVML_OK ||
			(strncmp(id, "GPU-", 4) == 0 && find_by_prefix(id, &gpu->device));
	gpu->card = gpu->device;
	gpu->slice = found && strncmp(id, "MIG-", 4) == 0;
	if (gpu->slice && nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle &&
	    nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(gpu->device, &gpu->card) != NVML_OK)
		gpu->card = gpu->device;
	return found;
}

/* The GPUs of the list; those that cannot be found are left out. */
static void find_gpus(const char *list)
{
	while (*list && gpu_count < HELPER_GPUS) {
		struct helper_gpu *gpu = &gpus[gpu_count];
		size_t n = strcspn(list, ",");
		if (n < sizeof(gpu->id)) {
			memcpy(gpu->id, list, n);
			gpu->id[n] = 0;
			gpu_count += find_gpu(gpu->id, gpu);
		}
		list += n + (list[n] == ',');
	}
}

/* "300", or "auto": three quarters of what the card has by default. In the range that the card allows. */
static unsigned wanted_limit_mw(const struct helper_gpu *gpu, const char *limit)
{
	unsigned wanted = 0, least = 0, most = 0;
	for (const char *p = limit; *p >= '0' && *p <= '9' && wanted < 100000; p++)
		wanted = wanted * 10 + (unsigned)(*p - '0');
	wanted *= 1000;
	if (strcmp(limit, "auto") == 0 && nvml.nvmlDeviceGetPowerManagementDefaultLimit &&
	    nvml.nvmlDeviceGetPowerManagementDefaultLimit(gpu->card, &wanted) == NVML_OK)
		wanted = wanted / 4 * 3;
	if (nvml.nvmlDeviceGetPowerManagementLimitConstraints &&
	    nvml.nvmlDeviceGetPowerManagementLimitConstraints(gpu->card, &least, &most) == NVML_OK) {
		wanted = wanted < least ? least : wanted;
		wanted = most && wanted > most ? most : wanted;
	}
	return wanted;
}

static void set_limit(struct helper_gpu *gpu, const char *limit)
{
	unsigned before = 0, wanted = wanted_limit_mw(gpu, limit);
	const char *problem = NULL;
	if (gpu->slice)
		problem = "a MIG slice has no power limit of its own";
	else if (!nvml.nvmlDeviceGetPowerManagementLimit || !nvml.nvmlDeviceSetPowerManagementLimit ||
		 nvml.nvmlDeviceGetPowerManagementLimit(gpu->card, &before) != NVML_OK || !wanted)
		problem = "the card does not support it";
	else if (before != wanted && nvml.nvmlDeviceSetPowerManagementLimit(gpu->card, wanted) != NVML_OK)
		problem = "not permitted: it needs root";
	else if (before != wanted)
		gpu->limit_before_mw = before;
	snprintf(gpu->limit_problem, sizeof(gpu->limit_problem), "%s", problem ? problem : "");
}

static void put_unsigned(const char *key, int rc, unsigned long long value)
{
	if (rc == NVML_OK)
		put(",\"%s\":%llu", key, value);
}

/* Calls an optional function: a value, or nothing where it is missing or fails. */
#define PUT_CALL(key, type, name, ...)                                                                                 \
	do {                                                                                                           \
		type value = 0;                                                                                        \
		int rc = nvml.name ? nvml.name(__VA_ARGS__, &value) : -1;                                              \
		put_unsigned(key, rc, value);                                                                          \
	} while (0)

static void put_memory(const struct helper_gpu *gpu)
{
	struct nvml_memory memory = {0};
	if (!nvml.nvmlDeviceGetMemoryInfo || nvml.nvmlDeviceGetMemoryInfo(gpu->device, &memory) != NVML_OK)
		return;
	put(",\"memory\":%llu,\"memory_total\":%llu", memory.used, memory.total);
	if (gpu->slice && nvml.nvmlDeviceGetMemoryInfo(gpu->card, &memory) == NVML_OK)
		put(",\"card_memory\":%llu", memory.total);
}

/* How busy each process kept the card since the last reading: the mean of its entries. */
static double process_busy(const struct nvml_process_utilization *busy, unsigned count, unsigned pid)
{
	double sum = 0;
	unsigned n = 0;
	for (unsigned i = 0; i < count; i++) {
		if (busy[i].pid == pid) {
			sum += busy[i].sm;
			n++;
		}
	}
	return n ? sum / n : -1;
}

static void put_processes(struct helper_gpu *gpu)
{
	static struct nvml_process processes[HELPER_PROCESSES];
	static struct nvml_process_utilization busy[HELPER_PROCESSES * 4];
	unsigned count = HELPER_PROCESSES, busy_count = HELPER_PROCESSES * 4;
	int rc = nvml.nvmlDeviceGetComputeRunningProcesses_v3
		? nvml.nvmlDeviceGetComputeRunningProcesses_v3(gpu->device, &count, processes)
		: nvml.nvmlDeviceGetComputeRunningProcesses_v2
		? nvml.nvmlDeviceGetComputeRunningProcesses_v2(gpu->device, &count, processes)
		: -1;
	if (rc != NVML_OK)
		return;
	if (!nvml.nvmlDeviceGetProcessUtilization || count < 2 || /* one alone needs no share */
	    nvml.nvmlDeviceGetProcessUtilization(gpu->card, busy, &busy_count, gpu->seen_us) != NVML_OK)
		busy_count = 0;
	for (unsigned i = 0; i < busy_count; i++)
		if (busy[i].time_us > gpu->seen_us)
			gpu->seen_us = busy[i].time_us;
	put(",\"processes\":[");
	for (unsigned i = 0; i < count; i++) {
		double share = process_busy(busy, busy_count, processes[i].pid);
		bool known = processes[i].used != ~0ull;
		put("%s[%u,%lld,%.0f]", i ? "," : "", processes[i].pid, known ? (long long)processes[i].used : -1,
		    share);
	}
	put("]");
}

static void put_gpu(struct helper_gpu *gpu)
{
	struct nvml_utilization busy;
	put("{\"id\":");
	put_text(gpu->id);
	put(",\"slice\":%s", gpu->slice ? "true" : "false");
	PUT_CALL("energy_mj", unsigned long long, nvmlDeviceGetTotalEnergyConsumption, gpu->card);
	PUT_CALL("power_mw", unsigned, nvmlDeviceGetPowerUsage, gpu->card);
	if (nvml.nvmlDeviceGetUtilizationRates && nvml.nvmlDeviceGetUtilizationRates(gpu->device, &busy) == NVML_OK)
		put(",\"util\":%u", busy.gpu);
	put_memory(gpu);
	PUT_CALL("temperature", unsigned, nvmlDeviceGetTemperature, gpu->card, NVML_TEMPERATURE_GPU);
	PUT_CALL("sm_mhz", unsigned, nvmlDeviceGetClockInfo, gpu->card, NVML_CLOCK_SM);
	PUT_CALL("memory_mhz", unsigned, nvmlDeviceGetClockInfo, gpu->card, NVML_CLOCK_MEMORY);
	PUT_CALL("throttle", unsigned long long, nvmlDeviceGetCurrentClocksThrottleReasons, gpu->card);
	PUT_CALL("limit_mw", unsigned, nvmlDeviceGetPowerManagementLimit, gpu->card);
	put_processes(gpu);
	if (gpu->limit_before_mw)
		put(",\"limit_before_mw\":%u", gpu->limit_before_mw);
	if (gpu->limit_problem[0]) {
		put(",\"limit_problem\":");
		put_text(gpu->limit_problem);
	}
	put("}");
}

static void answer(void)
{
	put("{\"gpus\":[");
	for (size_t i = 0; i < gpu_count; i++) {
		if (i)
			put(",");
		put_gpu(&gpus[i]);
	}
	put("]}");
	send_line();
}

int main(int argc, char **argv)
{
	static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGXCPU};
	char request[64];
	ssize_t n;

	/* A cluster signals every process of a job: only the end of stdin ends this one, so that limits are restored. */
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "sluice-nvml");
	if (argc < 2 || argc > 3)
		return fail("usage: sluice-nvml GPUS [LIMIT]", NULL);
	const char *problem = load_library();
	if (problem)
		return fail(problem, NULL);
	find_gpus(argv[1]);
	if (!gpu_count)
		return fail("NVML does not know the GPU ", argv[1]);
	for (size_t i = 0; argc > 2 && i < gpu_count; i++)
		set_limit(&gpus[i], argv[2]);
	while ((n = read(STDIN_FILENO, request, sizeof(request))) > 0)
		answer();
	restore_limits();
	nvml.nvmlShutdown();
	return 0;
}
