/* Removing experiments. For the user, the experiment is gone when the request is answered. Its rows are removed in
 * small steps, and its folder on libuv's pool, because both may take long. */
#include "engine/removal.h"

#include "engine/experiment.h"
#include "engine/folder.h"
#include "engine/load.h"
#include "engine/state.h"
#include "engine/transact.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "spool/paths.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define REMOVAL_PREFIX ".removed-"

struct removal {
	uv_work_t work;
	char *path;
};

static void removal_work_cb(uv_work_t *work)
{
	struct removal *removal = work->data;
	struct error err;
	if (fs_remove_tree(removal->path, &err) < 0)
		log_warning("%s", err.text);
}

static void removal_done_cb(uv_work_t *work, int status)
{
	(void)status;
	struct removal *removal = work->data;
	free(removal->path);
	free(removal);
}

static void removal_queue_folder(struct engine *engine, char *give_path)
{
	struct removal *removal = mem_alloc(sizeof(*removal));
	removal->path = give_path;
	removal->work.data = removal;
	uv_queue_work(engine->loop, &removal->work, removal_work_cb, removal_done_cb);
}

struct removal_rows {
	int64_t experiment;
	bool more; /* rows of it are left */
};

static int removal_delete_rows(struct engine *engine, void *ctx, struct error *err)
{
	struct removal_rows *remove = ctx;
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS;
	int more = 1;
	(void)err;
	while (more > 0 && clock_mono_ms() < until)
		more = store_delete_some(engine->store, remove->experiment);
	remove->more = more > 0;
	return more < 0 ? more : 0;
}

/* The folder gets another name first: after a crash at any point, the rows (which say that it is being removed)
 * go at the next start, and so does what has that name. 1 where not all rows are gone yet. */
static int removal_carry_on(struct engine *engine, struct engine_experiment *e, struct error *err)
{
	struct removal_rows remove = {.experiment = e->id};
	char *folder = engine_folder(engine, e->id, 0, 0);
	char *experiments = spool_experiments_dir(engine->state_dir);
	char *trash = mem_printf("%s/" REMOVAL_PREFIX "e%" PRId64, experiments, e->id);
	free(experiments);
	if (rename(folder, trash) < 0 && errno != ENOENT)
		log_warning("%s: %s", folder, strerror(errno));
	free(folder);
	int rc = engine_transact(engine, removal_delete_rows, &remove, err);
	if (rc < 0 || remove.more) {
		free(trash);
		return rc < 0 ? rc : 1;
	}
	removal_queue_folder(engine, trash);
	char data[64];
	int len = snprintf(data, sizeof(data), "{\"experiment\":\"e%" PRId64 "\"}", e->id);
	if (engine->event)
		engine->event(engine->event_ctx, "removed", data, (size_t)len);
	engine_forget_experiment(engine, e);
	return 0;
}

void engine_remove_leftovers(struct engine *engine)
{
	char *path = spool_experiments_dir(engine->state_dir);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		if (text_starts(entry->d_name, REMOVAL_PREFIX) || text_starts(entry->d_name, ENGINE_NEW_FOLDER))
			removal_queue_folder(engine, mem_printf("%s/%s", path, entry->d_name));
	if (dir)
		closedir(dir);
	free(path);
}

void engine_remove_gone(struct engine *engine)
{
	for (size_t i = engine->experiments.len; i-- > 0;) {
		struct engine_experiment *e = engine->experiments.at[i];
		struct error err = {0};
		int rc = e->removing && !e->live ? removal_carry_on(engine, e, &err) : 0;
		if (rc < 0)
			return; /* the list was read again */
		if (rc > 0)
			engine_soon(engine);
	}
}
