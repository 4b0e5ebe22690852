/* Files that a settled attempt no longer needs: descriptor, slot and claim. Cluster quotas count files. A turn removes for
 * some milliseconds only: on a network file system a thousand attempts that end together take seconds. */
#include "engine/tidy.h"

#include "engine/live.h"
#include "engine/state.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/limits.h"
#include "spool/batch.h"
#include "spool/paths.h"

#include <dirent.h>

static void tidy_add(struct engine *engine, const char *batch_dir, uint32_t index)
{
	struct engine_untidy item = {.batch_dir = mem_strdup(batch_dir), .index = index};
	vec_push(&engine->untidy, item);
}

void engine_add_untidy(struct engine *engine, const struct engine_live *live)
{
	tidy_add(engine, live->batch_dir, live->index);
}

/* The folders in a folder; nothing where there is none. */
static void tidy_list(struct engine *engine, const char *path, bool is_batch)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		struct engine_unlooked item = {.is_batch = is_batch};
		if (entry->d_name[0] == '.')
			continue;
		item.dir = mem_printf("%s/%s", path, entry->d_name);
		vec_push(&engine->unlooked, item);
	}
	if (dir)
		closedir(dir);
}

void engine_find_untidy(struct engine *engine)
{
	char *path = spool_experiments_dir(engine->state_dir);
	tidy_list(engine, path, false);
	free(path);
}

struct tidy_batch {
	struct engine *engine;
	const char *dir, *token;
	uint32_t last; /* the item that was put on the list last */
	bool any;
};

static bool tidy_over_cb(void *ctx, uint32_t index)
{
	struct tidy_batch *batch = ctx;
	if (batch->any && batch->last == index)
		return true;
	if (store_is_live(batch->engine->store, batch->token, index) != 0)
		return false;
	tidy_add(batch->engine, batch->dir, index);
	batch->last = index;
	batch->any = true;
	return true;
}

/* One folder: a batch has as many items as one submission. */
static void tidy_look(struct engine *engine)
{
	struct engine_unlooked item = engine->unlooked.at[--engine->unlooked.len];
	if (item.is_batch) {
		struct tidy_batch batch = {.engine = engine, .dir = item.dir, .token = strrchr(item.dir, '/') + 1};
		spool_batch_look(item.dir, tidy_over_cb, &batch);
	} else {
		char *batches = spool_batches_dir(item.dir);
		tidy_list(engine, batches, true);
		free(batches);
	}
	free(item.dir);
}

void engine_tidy(struct engine *engine)
{
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS;
	while ((engine->untidy.len || engine->unlooked.len) && clock_mono_ms() < until) {
		if (!engine->untidy.len) {
			tidy_look(engine);
			continue;
		}
		struct engine_untidy *last = &engine->untidy.at[--engine->untidy.len];
		spool_batch_forget(last->batch_dir, last->index);
		free(last->batch_dir);
	}
	if (engine->untidy.len || engine->unlooked.len)
		engine_soon(engine);
}

void engine_forget_untidy(struct engine *engine)
{
	for (size_t i = 0; i < engine->untidy.len; i++)
		free(engine->untidy.at[i].batch_dir);
	for (size_t i = 0; i < engine->unlooked.len; i++)
		free(engine->unlooked.at[i].dir);
	free(engine->untidy.at);
	free(engine->unlooked.at);
}
