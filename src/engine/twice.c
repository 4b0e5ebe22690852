/* See twice.h. */
#include "engine/twice.h"

#include "engine/engine.h"
#include "engine/experiment.h"

#include "base/num.h"

#include <math.h>

/* Tasks that are read at once. */
#define TWICE_STEP 1000

static char *twice_key(const char *parameters, double value)
{
	char text[NUM_REAL_CHARS];
	num_format_real(value, text);
	return mem_printf("%s %s", text, parameters);
}

struct twice_reading {
	struct twice *twice;
	int64_t last;
	size_t count;
};

static int twice_cb(void *ctx, const struct store_task *row)
{
	struct twice_reading *reading = ctx;
	reading->last = row->number;
	reading->count++;
	if (!isnan(row->best))
		vec_push(&reading->twice->keys, twice_key(row->parameters, row->best));
	return 0;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int twice_read(struct twice *twice, struct engine *engine, const struct engine_experiment *experiment)
{
	struct twice_reading reading = {.twice = twice};
	int rc;
	do {
		reading.count = 0;
		rc = store_each_task(engine_store(engine), experiment->id, reading.last + 1, TWICE_STEP, twice_cb,
				     &reading);
	} while (rc == 0 && reading.count == TWICE_STEP);
	if (twice->keys.len)
		qsort(twice->keys.at, twice->keys.len, sizeof(*twice->keys.at), compare_keys);
	return rc;
}

bool twice_has(const struct twice *twice, const char *parameters, double value)
{
	char *key = twice_key(parameters, value);
	bool found = twice->keys.len &&
		bsearch(&key, twice->keys.at, twice->keys.len, sizeof(*twice->keys.at), compare_keys);
	free(key);
	return found;
}

void twice_free(struct twice *twice)
{
	for (size_t i = 0; i < twice->keys.len; i++)
		free(twice->keys.at[i]);
	free(twice->keys.at);
}
