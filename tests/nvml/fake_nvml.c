/* A libnvidia-ml.so.1 for machines without a GPU: one card that draws FAKE_NVML_WATTS (100). The real helper loads it
 * through SLUICE_NVML, so that everything but the driver is the real thing.
 *
 *     FAKE_NVML_NO_COUNTER=1   the card has no energy counter
 *     FAKE_NVML_DENY=1         the power limit may not be changed
 *     FAKE_NVML_LIMIT=FILE     each limit that is set is appended here, in milliwatts
 *     FAKE_NVML_PROCESSES=FILE what is on the card: lines "PID BYTES BUSY"
 *     FAKE_NVML_DIE=FILE       nvmlDeviceGetPowerUsage ends the process when this file is there */
#include "node/nvml/nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FAKE(name, arguments) int name arguments;
NVML_REQUIRED(FAKE)
NVML_OPTIONAL(FAKE)

static unsigned limit_mw = 400000;
static int card;

/* The next number of a text, which goes on behind it. */
static unsigned long long number(const char **text)
{
	unsigned long long value = 0;
	for (*text += strspn(*text, " "); **text >= '0' && **text <= '9'; (*text)++)
		value = value * 10 + (unsigned long long)(**text - '0');
	return value;
}

static unsigned watts(void)
{
	const char *text = getenv("FAKE_NVML_WATTS");
	return text ? (unsigned)number(&text) : 100;
}

static unsigned long long now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000 + (unsigned long long)t.tv_nsec / 1000000;
}

int nvmlInit_v2(void)
{
	return NVML_OK;
}

int nvmlShutdown(void)
{
	return NVML_OK;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = 1;
	return NVML_OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *device)
{
	*device = &card;
	return index == 0 ? NVML_OK : 2;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, nvml_device *device)
{
	*device = &card;
	return strcmp(uuid, "GPU-11112222-3333") == 0 || strncmp(uuid, "MIG-", 4) == 0 ? NVML_OK : 6;
}

int nvmlDeviceGetUUID(nvml_device device, char *uuid, unsigned length)
{
	(void)device;
	snprintf(uuid, length, "GPU-11112222-3333");
	return NVML_OK;
}

int nvmlDeviceGetUtilizationRates(nvml_device device, struct nvml_utilization *ret)
{
	(void)device;
	*ret = (struct nvml_utilization){.gpu = 37, .memory = 11};
	return NVML_OK;
}

int nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory *ret)
{
	(void)device;
	*ret = (struct nvml_memory){.total = 80ull << 30, .free = 79ull << 30, .used = 1ull << 30};
	return NVML_OK;
}

int nvmlDeviceGetPowerUsage(nvml_device device, unsigned *mw)
{
	(void)device;
	const char *die = getenv("FAKE_NVML_DIE");
	if (die && access(die, F_OK) == 0)
		_exit(9);
	*mw = watts() * 1000;
	return NVML_OK;
}

int nvmlDeviceGetTotalEnergyConsumption(nvml_device device, unsigned long long *mj)
{
	(void)device;
	*mj = now_ms() * watts();
	return getenv("FAKE_NVML_NO_COUNTER") ? 3 : NVML_OK;
}

int nvmlDeviceGetTemperature(nvml_device device, int sensor, unsigned *celsius)
{
	(void)device, (void)sensor;
	*celsius = 55;
	return NVML_OK;
}

int nvmlDeviceGetClockInfo(nvml_device device, int clock, unsigned *mhz)
{
	(void)device;
	*mhz = clock == NVML_CLOCK_SM ? 1980 : 2619;
	return NVML_OK;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(nvml_device device, unsigned long long *bits)
{
	(void)device;
	*bits = 0x4;
	return NVML_OK;
}

int nvmlDeviceGetPowerManagementLimit(nvml_device device, unsigned *mw)
{
	(void)device;
	*mw = limit_mw;
	return NVML_OK;
}

int nvmlDeviceGetPowerManagementDefaultLimit(nvml_device device, unsigned *mw)
{
	(void)device;
	*mw = 400000;
	return NVML_OK;
}

int nvmlDeviceGetPowerManagementLimitConstraints(nvml_device device, unsigned *min, unsigned *max)
{
	(void)device;
	*min = 200000;
	*max = 700000;
	return NVML_OK;
}

int nvmlDeviceSetPowerManagementLimit(nvml_device device, unsigned mw)
{
	(void)device;
	if (getenv("FAKE_NVML_DENY"))
		return 4;
	limit_mw = mw;
	FILE *file = getenv("FAKE_NVML_LIMIT") ? fopen(getenv("FAKE_NVML_LIMIT"), "a") : NULL;
	if (file) {
		fprintf(file, "%u\n", mw);
		fclose(file);
	}
	return NVML_OK;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvml_device mig, nvml_device *ret)
{
	*ret = mig;
	return NVML_OK;
}

static unsigned read_processes(struct nvml_process *ret, struct nvml_process_utilization *busy, unsigned most)
{
	FILE *file = getenv("FAKE_NVML_PROCESSES") ? fopen(getenv("FAKE_NVML_PROCESSES"), "r") : NULL;
	unsigned count = 0;
	char line[200];
	while (file && count < most && fgets(line, sizeof(line), file)) {
		const char *p = line;
		unsigned pid = (unsigned)number(&p);
		unsigned long long used = number(&p);
		unsigned sm = (unsigned)number(&p);
		if (ret)
			ret[count] = (struct nvml_process){.pid = pid, .used = used};
		if (busy)
			busy[count] = (struct nvml_process_utilization){
				.pid = pid, .time_us = now_ms() * 1000, .sm = sm};
		count++;
	}
	if (file)
		fclose(file);
	return count;
}

int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device device, unsigned *count, struct nvml_process *ret)
{
	(void)device;
	*count = read_processes(ret, NULL, *count);
	return NVML_OK;
}

int nvmlDeviceGetComputeRunningProcesses_v2(nvml_device device, unsigned *count, struct nvml_process *ret)
{
	return nvmlDeviceGetComputeRunningProcesses_v3(device, count, ret);
}

int nvmlDeviceGetProcessUtilization(nvml_device device, struct nvml_process_utilization *ret, unsigned *count,
				    unsigned long long since_us)
{
	(void)device, (void)since_us;
	*count = read_processes(NULL, ret, *count);
	return NVML_OK;
}
