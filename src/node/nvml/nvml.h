/* The few functions of libnvidia-ml.so.1 that the helper calls, declared by ourselves after NVIDIA's published
 * reference. The library is loaded at run time; none of its headers is needed to build this. */
#ifndef NODE_NVML_NVML_H
#define NODE_NVML_NVML_H

#define NVML_OK 0

typedef void *nvml_device; /* an opaque handle */

struct nvml_utilization {
	unsigned gpu, memory; /* percent */
};

struct nvml_memory {
	unsigned long long total, free, used; /* bytes */
};

/* Of nvmlDeviceGetComputeRunningProcesses_v2 and _v3. */
struct nvml_process {
	unsigned pid;
	unsigned long long used; /* bytes; all ones: not known */
	unsigned gpu_instance, compute_instance;
};

struct nvml_process_utilization {
	unsigned pid;
	unsigned long long time_us;
	unsigned sm, memory, encoder, decoder; /* percent */
};

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2, NVML_TEMPERATURE_GPU = 0 };

/* NVML_CALL(name, arguments): required first, those that a card or driver may lack after them. */
#define NVML_REQUIRED(NVML_CALL)                                                                                       \
	NVML_CALL(nvmlInit_v2, (void))                                                                                 \
	NVML_CALL(nvmlShutdown, (void))                                                                                \
	NVML_CALL(nvmlDeviceGetCount_v2, (unsigned *count))                                                            \
	NVML_CALL(nvmlDeviceGetHandleByIndex_v2, (unsigned index, nvml_device *device))                                \
	NVML_CALL(nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device *device))                                  \
	NVML_CALL(nvmlDeviceGetUUID, (nvml_device device, char *uuid, unsigned length))
#define NVML_OPTIONAL(NVML_CALL)                                                                                       \
	NVML_CALL(nvmlDeviceGetUtilizationRates, (nvml_device device, struct nvml_utilization * ret))                  \
	NVML_CALL(nvmlDeviceGetMemoryInfo, (nvml_device device, struct nvml_memory * ret))                             \
	NVML_CALL(nvmlDeviceGetPowerUsage, (nvml_device device, unsigned *mw))                                         \
	NVML_CALL(nvmlDeviceGetTotalEnergyConsumption, (nvml_device device, unsigned long long *mj))                   \
	NVML_CALL(nvmlDeviceGetTemperature, (nvml_device device, int sensor, unsigned *celsius))                       \
	NVML_CALL(nvmlDeviceGetClockInfo, (nvml_device device, int clock, unsigned *mhz))                              \
	NVML_CALL(nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_device device, unsigned long long *bits))           \
	NVML_CALL(nvmlDeviceGetPowerManagementLimit, (nvml_device device, unsigned *mw))                               \
	NVML_CALL(nvmlDeviceGetPowerManagementDefaultLimit, (nvml_device device, unsigned *mw))                        \
	NVML_CALL(nvmlDeviceGetPowerManagementLimitConstraints, (nvml_device device, unsigned *min, unsigned *max))    \
	NVML_CALL(nvmlDeviceSetPowerManagementLimit, (nvml_device device, unsigned mw))                                \
	NVML_CALL(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, (nvml_device mig, nvml_device * ret))                  \
	NVML_CALL(nvmlDeviceGetComputeRunningProcesses_v3,                                                             \
		  (nvml_device device, unsigned *count, struct nvml_process *ret))                                     \
	NVML_CALL(nvmlDeviceGetComputeRunningProcesses_v2,                                                             \
		  (nvml_device device, unsigned *count, struct nvml_process *ret))                                     \
	NVML_CALL(nvmlDeviceGetProcessUtilization,                                                                     \
		  (nvml_device device, struct nvml_process_utilization * ret, unsigned *count,                         \
		   unsigned long long since_us))

#endif
