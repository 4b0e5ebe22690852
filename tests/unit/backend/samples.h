/* Recorded output of several versions of Slurm, for the tests that read it. tests/lab/record-samples records the samples;
 * it says how, and where the numbers of the batches are given. */
#ifndef TESTS_BACKEND_SAMPLES_H
#define TESTS_BACKEND_SAMPLES_H

#include "backend/slurm_text.h"

#include "../unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define S SLURM_SEPARATOR
#define SAMPLE_BYTES (1 << 20)

static const char *const versions[] = {"20.11.4", "22.05.8", "24.11.5"};
static const char *version; /* the one at hand, for messages */

/* Runs the body for every version. */
#define for_versions(v) for (size_t v = 0; v < COUNT_OF(versions) && (version = versions[v]); v++)

/* Whose jobs they are: the first user of the lab. */
#define OWN_UID 1000

static inline bool has_sample(const char *name)
{
	char *path = mem_printf("%s/%s/%s", getenv("SLURM_SAMPLES"), version, name);
	bool there = access(path, R_OK) == 0;
	free(path);
	return there;
}

static inline struct buf read_sample(const char *name)
{
	struct error err;
	struct buf text = buf_make(SAMPLE_BYTES);
	char *path = mem_printf("%s/%s/%s", getenv("SLURM_SAMPLES"), version, name);
	if (fs_read(path, SAMPLE_BYTES, &text, &err) < 0)
		fail_msg("%s", err.text);
	free(path);
	return text;
}

static inline void make_token(int number, char token[static 33])
{
	for (int i = 0; i < 16; i++)
		snprintf(token + 2 * i, 3, "%02d", number);
}

static inline struct slurm_queue read_queue(const char *name)
{
	struct slurm_queue queue;
	struct buf text = read_sample(name);
	slurm_queue_parse(buf_text(&text), text.len, &queue);
	buf_free(&text);
	return queue;
}

static inline const struct slurm_job *find_row(const struct slurm_queue *queue, int number, uint32_t index)
{
	char token[33];
	make_token(number, token);
	for (size_t i = 0; i < queue->jobs.len; i++) {
		const struct slurm_job *job = &queue->jobs.at[i];
		if (strcmp(job->token, token) == 0 &&
		    (job->rest || slurm_ranges_have(&queue->ranges, job->first_range, job->range_count, index)))
			return job;
	}
	return NULL;
}

#endif
