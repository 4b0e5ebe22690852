/* Takes the samples of an attempt: what its processes and GPUs do, and the energy they use. Often at first, less often
 * later, and never for more than half a percent of one core. */
#ifndef NODE_SAMPLER_H
#define NODE_SAMPLER_H

#include "node/energy.h"
#include "node/gpus.h"
#include "node/rapl.h"
#include "node/usage.h"

struct sampler_config {
	struct gpus_list gpus;
	const char *power_limit; /* "300" (watts) or "auto"; NULL: leave it as it is */
	double part; /* of one GPU that the script may use; 1: whole ones */
	bool mps; /* the GPU is shared by NVIDIA MPS */
	void (*note)(void *ctx, const char *text); /* a line for the timeline */
	void *ctx;
};

struct sampler {
	struct sampler_config config;
	struct usage usage;
	struct gpus *gpus; /* NULL: the attempt has none, or nothing can read them */
	struct gpu_readings *readings; /* the newest */
	struct rapl rapl;
	struct energy energy;
	int64_t started_ms, next_ms, node_ms; /* monotonic; node_ms: of the last reading of RAPL */
	int64_t asked_ms; /* for a reading of the GPUs; 0: none is awaited */
	double share[SAMPLE_GPUS_MAX]; /* of each GPU, in the last sample; NAN */
	double spent_ms; /* CPU time of the last sample */
	bool limit_set;
	bool limit_refused; /* the GPU is shared */
};

/* Starts the reader of the GPUs. Call it before the script is forked. */
void sampler_open(struct sampler *sampler, const struct sampler_config *config);
/* The first reading, just before the script starts. Waits for it for SAMPLER_START_MS at most. */
void sampler_begin(struct sampler *sampler, int64_t now_ms);
/* Call it often. True when a sample was taken: `ret` is the sample, and `cost` what was used so far. */
bool sampler_poll(struct sampler *sampler, int64_t now_ms, struct cost *cost, struct sample *ret);
/* The script has ended: the last reading. Sets the figures of the energy in `cost`. */
void sampler_end(struct sampler *sampler, struct cost *cost);
void sampler_close(struct sampler *sampler);

/* How long to wait for the next sample, when the attempt has run for so long and the last one took so much CPU time. */
int64_t sampler_interval_ms(int64_t running_ms, double spent_ms);

#endif
