/* Removing experiments and tasks. For the user, an experiment is gone when the request is answered. Rows are removed in
 * small steps, and folders on libuv's pool, because both may take long.
 *
 * Tasks are marked first, in a transaction of their own, and only then removed: after a crash at any point the marks are
 * still there, and the removal continues. A task leaves its experiment with one small write; its metrics, which may be
 * millions of rows, are deleted afterwards by any daemon. The sequence of asks and tells is not touched, so that the search is replayed
 * as it was. */
#include "engine/removal.h"

#include "engine/ended.h"
#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/folder.h"
#include "engine/live.h"
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

/* Its folder gets another name first, as that of an experiment. With the commit it has left the experiment. */
static int removal_task(struct engine *engine, struct engine_experiment *e, const struct store_task *task)
{
	char *folder = engine_folder(engine, e->id, task->number, 0);
	char *experiments = spool_experiments_dir(engine->state_dir);
	char *trash = mem_printf("%s/" REMOVAL_PREFIX "e%" PRId64 "-%" PRId64, experiments, e->id, task->number);
	if (rename(folder, trash) == 0)
		removal_queue_folder(engine, mem_strdup(trash));
	else if (errno != ENOENT)
		log_warning("%s: %s", folder, strerror(errno));
	free(folder);
	free(experiments);
	free(trash);
	engine_ended_forget(engine, task->id);
	e->counts[task->state]--;
	e->removed++;
	e->best_changed = e->changed = true;
	engine->has_removed = true;
	return store_remove_task(engine->store, task);
}

static int removal_of_tasks(struct engine *engine, struct engine_experiment *e, int64_t until)
{
	int rc = 0;
	do {
		struct store_task task = {0};
		rc = store_find_marked(engine->store, e->id, e->remove_from, store_keep_task, &task);
		if (rc == 0)
			rc = removal_task(engine, e, &task);
		if (rc == 0)
			e->remove_from = task.number + 1;
	} while (rc == 0 && clock_mono_ms() < until);
	if (rc == -ENOENT) {
		e->remove_from = rc = 0;
		engine->reset = true; /* the listeners look again */
	}
	engine_soon(engine);
	return rc < 0 ? rc : store_set_remove_from(engine->store, e->id, e->remove_from);
}

/* Deletes rows of tasks that have left their experiments. */
static int removal_of_rows(struct engine *engine, int64_t until)
{
	int more = engine->has_removed;
	while (more > 0 && clock_mono_ms() < until)
		more = store_delete_some(engine->store, STORE_REMOVED);
	engine->has_removed = more > 0;
	if (more > 0)
		engine_soon(engine);
	return more < 0 ? more : 0;
}

int engine_remove_marked(struct engine *engine)
{
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->experiments.len; i++) {
		struct engine_experiment *e = engine->experiments.at[i];
		if (e->remove_from && !e->removing)
			rc = removal_of_tasks(engine, e, until);
	}
	return rc < 0 ? rc : removal_of_rows(engine, until);
}

struct removal_marks {
	struct engine_experiment *experiment;
	const int64_t *numbers;
	size_t count;
	int64_t marked;
};

/* Can this task be removed now? */
static int removal_check(struct engine *engine, const struct engine_experiment *e, int64_t number, struct error *err)
{
	struct store_task task = {0};
	int rc = store_read_task(engine->store, e->id, number, store_keep_task, &task);
	if (rc == -ENOENT || (rc == 0 && task.wanted == STORE_WANT_REMOVE))
		return errorf(err, -ENOENT, "there is no task e%" PRId64 "/%" PRId64, e->id, number);
	if (rc < 0)
		return rc;
	bool busy = !store_state_is_over(task.state);
	for (size_t i = 0; !busy && i < engine->live.len; i++)
		busy = engine->live.at[i]->task.id == task.id;
	if (busy)
		return errorf(err, -EBUSY,
			      "e%" PRId64 "/%" PRId64 " has not ended; stop it first (`sluice stop e%" PRId64
			      "/%" PRId64 "`)",
			      e->id, number, e->id, number);
	for (size_t i = 0; i < e->untold.len; i++)
		if (e->untold.at[i].number == number)
			return errorf(err, -EBUSY,
				      "e%" PRId64 "/%" PRId64
				      " has just ended, and its energy is still being read; try again in a minute",
				      e->id, number);
	return 0;
}

static int removal_mark(struct engine *engine, void *ctx, struct error *err)
{
	struct removal_marks *marks = ctx;
	struct engine_experiment *e = marks->experiment;
	int rc = 0;
	(void)err;
	for (size_t i = 0; rc == 0 && i < marks->count; i++) {
		struct store_task task = {0};
		rc = store_read_task(engine->store, e->id, marks->numbers[i], store_keep_task, &task);
		if (rc < 0 || task.wanted == STORE_WANT_REMOVE)
			continue; /* a number may be given twice */
		rc = store_set_wanted(engine->store, task.id, STORE_WANT_REMOVE);
		if (!e->remove_from || task.number < e->remove_from)
			e->remove_from = task.number;
		marks->marked++;
	}
	return rc < 0 ? rc : store_set_remove_from(engine->store, e->id, e->remove_from);
}

static int removal_begin(struct engine *engine, void *ctx, struct error *err)
{
	(void)ctx;
	(void)err;
	return engine_remove_marked(engine);
}

int engine_remove_tasks(struct engine *engine, int64_t experiment, const int64_t *numbers, size_t count,
			int64_t *ret_count, struct error *err)
{
	struct removal_marks marks = {.numbers = numbers, .count = count};
	engine_forget_settled(engine); /* the end of a task may have been told just now */
	int rc = engine_open_experiment(engine, experiment, &marks.experiment, err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = removal_check(engine, marks.experiment, numbers[i], err);
	if (rc == 0)
		rc = engine_transact(engine, removal_mark, &marks, err);
	if (rc < 0)
		return rc;
	*ret_count = marks.marked;
	/* What fails here is tried again by the next turn. */
	(void)!engine_transact(engine, removal_begin, NULL, NULL);
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
