/* A sample: what the processes of an attempt and its GPUs did at one moment, as a list of figures, each known or not.
 * The runner takes samples, the journal carries them, and the store keeps them thinned out. Everything here is pure, so
 * that whatever judges a run (a warning, an advice, a forecast) can be tested with samples that were written down. */
#ifndef BASE_SAMPLE_H
#define BASE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct buf;

/* FIGURE(NAME, key, join, unit, label). key: the member in the journal and in REST. join: what one figure for two
 * samples is: their mean by weight (MEAN), the larger one (MOST), or all bits of both (BITS). A new figure is a row at
 * the end of its list; samples that were stored before do not know it. */
#define SAMPLE_HOST_FIGURES(FIGURE)                                                                                    \
	FIGURE(CPU, "cpu_cores", MEAN, "cores", "CPU in use")                                                          \
	FIGURE(MEMORY, "memory_bytes", MOST, "B", "memory")                                                            \
	FIGURE(READ, "read_bytes_s", MEAN, "B/s", "read from storage")                                                 \
	FIGURE(WRITE, "write_bytes_s", MEAN, "B/s", "written to storage")                                              \
	FIGURE(PROCESSES, "processes", MOST, "", "processes")                                                          \
	FIGURE(THREADS, "threads", MOST, "", "threads")                                                                \
	FIGURE(BUSIEST, "busiest_cores", MEAN, "cores", "busiest process")                                             \
	FIGURE(BLOCKED, "blocked", MOST, "", "blocked (state D)")                                                      \
	FIGURE(STOPPED, "stopped", MOST, "", "stopped (state T)")                                                      \
	FIGURE(POWER, "cpu_power_w", MEAN, "W", "power of the machine's CPUs and memory")                              \
	FIGURE(READY, "ready", MOST, "", "running or ready to run (state R)")                                          \
	FIGURE(FAULTS, "page_faults_s", MEAN, "/s", "new pages of memory")                                             \
	FIGURE(CALLS, "io_calls_s", MEAN, "/s", "calls to read and write")
#define SAMPLE_GPU_FIGURES(FIGURE)                                                                                     \
	FIGURE(UTIL, "util_pct", MEAN, "%", "utilisation")                                                             \
	FIGURE(MEMORY, "memory_bytes", MOST, "B", "memory")                                                            \
	FIGURE(POWER, "power_w", MEAN, "W", "power")                                                                   \
	FIGURE(TEMPERATURE, "temperature_c", MOST, "°C", "temperature")                                                \
	FIGURE(SM_CLOCK, "sm_mhz", MEAN, "MHz", "processor clock")                                                     \
	FIGURE(MEMORY_CLOCK, "memory_mhz", MEAN, "MHz", "memory clock")                                                \
	FIGURE(THROTTLE, "throttle", BITS, "", "reasons for a lower clock")                                            \
	FIGURE(OTHERS, "others", MOST, "", "processes of others")

enum sample_join { SAMPLE_MEAN, SAMPLE_MOST, SAMPLE_BITS };
#define SAMPLE_HOST_ENUM(name, ...) SAMPLE_HOST_##name,
#define SAMPLE_GPU_ENUM(name, ...) SAMPLE_GPU_##name,
enum sample_host { SAMPLE_HOST_FIGURES(SAMPLE_HOST_ENUM) SAMPLE_HOST_COUNT };
enum sample_gpu { SAMPLE_GPU_FIGURES(SAMPLE_GPU_ENUM) SAMPLE_GPU_COUNT };

struct sample_figure {
	const char *key;
	enum sample_join join;
	const char *unit, *label;
};
extern const struct sample_figure sample_host_figures[SAMPLE_HOST_COUNT], sample_gpu_figures[SAMPLE_GPU_COUNT];

/* The GPUs of one attempt on one node. */
#define SAMPLE_GPUS_MAX 16

struct sample {
	int64_t time_ms; /* wall clock: the end of what it covers */
	uint32_t weight; /* how many samples were joined in it */
	uint32_t gpu_count;
	double host[SAMPLE_HOST_COUNT]; /* NAN: not known */
	double gpu[SAMPLE_GPUS_MAX][SAMPLE_GPU_COUNT];
};

/* A sample of weight 1 that knows nothing. */
void sample_init(struct sample *sample, int64_t time_ms, size_t gpu_count);
/* Makes one sample of two: `later` is joined into `sample`. A figure that only one knows is that one's. */
void sample_join(struct sample *sample, const struct sample *later);

/* As it is kept in the store: SAMPLE_PACKED_MAX bytes at most. Returns the number of bytes. */
#define SAMPLE_PACKED_MAX (4 + 4 * (SAMPLE_HOST_COUNT + SAMPLE_GPUS_MAX * SAMPLE_GPU_COUNT))
size_t sample_pack(const struct sample *sample, unsigned char *out);
/* Reads the figures; time and weight are kept apart. False when these bytes are no sample. */
bool sample_unpack(const unsigned char *data, size_t len, struct sample *ret);

/* How many samples of this size a task may have, so that they cost at most LIMIT_SAMPLES_BYTES in the store. */
size_t sample_most_rows(size_t gpu_count);

/* Writes the members "host":{…} and "gpus":[{…}] of the open map, what is known only. */
void sample_write(const struct sample *sample, struct json *out);
/* "thermal, power": the reasons in words, as NVML numbers them. "" for none. */
void sample_throttle_words(double bits, struct buf *out);

#endif
