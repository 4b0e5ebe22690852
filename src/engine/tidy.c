/* Files that a settled attempt no longer needs: descriptor, slot and claim. Cluster quotas count files. A turn removes for
 * some milliseconds only: on a network file system a thousand attempts that end together take seconds. What a killed
 * daemon did not get to stays until the experiment is removed. */
#include "engine/tidy.h"

#include "engine/state.h"

#include "base/clock.h"
#include "base/limits.h"
#include "spool/batch.h"

void engine_add_untidy(struct engine *engine, const struct engine_live *live)
{
	struct engine_untidy item = {.batch_dir = mem_strdup(live->batch_dir), .index = live->index};
	vec_push(&engine->untidy, item);
}

void engine_tidy(struct engine *engine)
{
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS;
	while (engine->untidy.len && clock_mono_ms() < until) {
		struct engine_untidy *last = &engine->untidy.at[--engine->untidy.len];
		spool_batch_forget(last->batch_dir, last->index);
		free(last->batch_dir);
	}
	if (engine->untidy.len)
		engine_soon(engine);
}

void engine_forget_untidy(struct engine *engine)
{
	for (size_t i = 0; i < engine->untidy.len; i++)
		free(engine->untidy.at[i].batch_dir);
	free(engine->untidy.at);
}
