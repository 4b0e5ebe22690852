/* The engine's clockwork: opening, the turn, and what it says about itself. */
#include "engine/internal.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "spool/paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Journals are looked at this often while something runs; a backend that hears of an end at once asks
 * for a turn itself. With many attempts the interval stretches, so that looking stays under 2 % of a core. */
#define ENGINE_LOOK_MS 150
#define ENGINE_LOOK_PER_ATTEMPT_MS 1
#define ENGINE_REMOVED ".removed-"
/* How long until a backend that could not be told another parallel limit is told again. */
#define ENGINE_RETELL_MS 5000

static void engine_timer_cb(uv_timer_t *timer);

void engine_soon(struct engine *engine)
{
	/* Not 0: libuv runs a timer that is due again before it looks at a single socket. */
	if (!engine->closing)
		uv_timer_start(&engine->timer, engine_timer_cb, 1, 0);
}

struct engine_experiment *engine_find(struct engine *engine, int64_t experiment)
{
	for (size_t i = 0; i < engine->experiments.len; i++)
		if (engine->experiments.at[i]->id == experiment)
			return engine->experiments.at[i];
	return NULL;
}

struct engine_backend *engine_backend_named(struct engine *engine, const char *name)
{
	for (size_t i = 0; i < engine->backends.len; i++)
		if (strcmp(engine->backends.at[i]->ops->name, name) == 0)
			return engine->backends.at[i];
	return NULL;
}

static const struct backend_key *choose_find_key(const struct backend_ops *ops,
						 const struct backend_resources *resources)
{
	for (const struct backend_key *key = resources ? ops->keys : NULL; key && key->name; key++)
		if (backend_key_is_set(key, resources))
			return key;
	return NULL;
}

/* What `auto` stands for. ret_key: the key that only this one understands, or NULL. */
static struct engine_backend *choose_auto(struct engine *engine, const struct backend_resources *resources,
					  const struct backend_key **ret_key)
{
	struct engine_backend *best = NULL;
	*ret_key = NULL;
	for (size_t i = 0; i < engine->backends.len; i++) {
		struct engine_backend *backend = engine->backends.at[i];
		if ((*ret_key = choose_find_key(backend->ops, resources)))
			return backend;
		if (backend->backend && backend->ops->preference > (best ? best->ops->preference : 0))
			best = backend;
	}
	return best;
}

struct engine_backend *engine_choose_backend(struct engine *engine, const char *name,
					     const struct backend_resources *resources, struct error *err)
{
	const struct backend_key *key = NULL;
	bool any = strcmp(name, "auto") == 0;
	struct engine_backend *backend = any ? choose_auto(engine, resources, &key)
					     : engine_backend_named(engine, name);
	if (backend && backend->backend)
		return backend;
	const char *why = backend && backend->why_not ? backend->why_not : "there is no backend of that name";
	if (key)
		errorf(err, -ENODEV, "'%s' needs the backend '%s', which is not available here: %s", key->name,
		       backend->ops->name, why);
	else
		errorf(err, -ENODEV, "backend '%s' is not available here: %s", name, why);
	return NULL;
}

char *engine_folder(struct engine *engine, int64_t experiment, int64_t number, int64_t attempt)
{
	char *root = spool_experiment_dir(engine->state_dir, experiment);
	if (!number)
		return root;
	char *task = spool_task_dir(root, number);
	free(root);
	if (!attempt)
		return task;
	char *folder = spool_attempt_dir(task, attempt);
	free(task);
	return folder;
}

char *engine_batch_folder(struct engine *engine, int64_t experiment, const char *token)
{
	char *root = spool_experiment_dir(engine->state_dir, experiment), *folder = spool_batch_dir(root, token);
	free(root);
	return folder;
}

struct store *engine_store(struct engine *engine)
{
	return engine->store;
}

/* Settled attempts have been told about; experiments that have ended are forgotten. */
static void turn_forget(struct engine *engine)
{
	size_t keep = 0;
	for (size_t i = 0; i < engine->live.len; i++) {
		if (engine->live.at[i]->facts.phase == ATTEMPT_SETTLED)
			engine_free_live(engine->live.at[i]);
		else
			engine->live.at[keep++] = engine->live.at[i];
	}
	engine->live.len = keep;
	for (size_t i = engine->experiments.len; i-- > 0;) {
		struct engine_experiment *e = engine->experiments.at[i];
		if (store_state_is_over(e->state) && !e->live && !e->removing && !e->sweep)
			engine_forget_experiment(engine, e);
	}
}

struct turn_removal {
	uv_work_t work;
	char *path;
};

static void removal_work_cb(uv_work_t *work)
{
	struct turn_removal *removal = work->data;
	struct error err;
	if (fs_remove_tree(removal->path, &err) < 0)
		log_warning("%s", err.text);
}

static void removal_done_cb(uv_work_t *work, int status)
{
	(void)status;
	struct turn_removal *removal = work->data;
	free(removal->path);
	free(removal);
}

static void engine_remove_folder(struct engine *engine, char *give_path)
{
	struct turn_removal *removal = mem_alloc(sizeof(*removal));
	removal->path = give_path;
	removal->work.data = removal;
	uv_queue_work(engine->loop, &removal->work, removal_work_cb, removal_done_cb);
}

struct turn_remove {
	int64_t experiment;
	bool more; /* rows of it are left */
};

static int turn_remove_rows(struct engine *engine, void *ctx, struct error *err)
{
	struct turn_remove *remove = ctx;
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
static int turn_remove(struct engine *engine, struct engine_experiment *e, struct error *err)
{
	struct turn_remove remove = {.experiment = e->id};
	char *folder = engine_folder(engine, e->id, 0, 0);
	char *experiments = spool_experiments_dir(engine->state_dir);
	char *trash = mem_printf("%s/" ENGINE_REMOVED "e%lld", experiments, (long long)e->id);
	free(experiments);
	if (rename(folder, trash) < 0 && errno != ENOENT)
		log_warning("%s: %s", folder, strerror(errno));
	free(folder);
	int rc = engine_transact(engine, turn_remove_rows, &remove, err);
	if (rc < 0 || remove.more) {
		free(trash);
		return rc < 0 ? rc : 1;
	}
	engine_remove_folder(engine, trash);
	char data[64];
	int len = snprintf(data, sizeof(data), "{\"experiment\":\"e%lld\"}", (long long)e->id);
	if (engine->event)
		engine->event(engine->event_ctx, "removed", data, (size_t)len);
	engine_forget_experiment(engine, e);
	return 0;
}

/* Folders of removed experiments, and of some that were not made whole, that a stop left behind. */
static void engine_remove_leftovers(struct engine *engine)
{
	char *path = spool_experiments_dir(engine->state_dir);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		if (text_starts(entry->d_name, ENGINE_REMOVED) || text_starts(entry->d_name, ENGINE_NEW_FOLDER))
			engine_remove_folder(engine, mem_printf("%s/%s", path, entry->d_name));
	if (dir)
		closedir(dir);
	free(path);
}

static void turn_remove_all(struct engine *engine)
{
	for (size_t i = engine->experiments.len; i-- > 0;) {
		struct engine_experiment *e = engine->experiments.at[i];
		struct error err = {0};
		int rc = e->removing && !e->live ? turn_remove(engine, e, &err) : 0;
		if (rc < 0)
			return; /* the list was read again */
		if (rc > 0)
			engine_soon(engine);
	}
}

static void parallel_told_cb(void *ctx, int rc, const char *why)
{
	struct engine_backend *backend = ctx;
	if (rc >= 0 || backend->engine->closing)
		return;
	log_warning("%s: changing how many run at once: %s", backend->ops->name, why ? why : strerror(-rc));
	backend->retell_ms = clock_mono_ms() + ENGINE_RETELL_MS;
}

/* A limit that a backend could not be told is told again. */
static void turn_retell_parallel(struct engine *engine)
{
	for (size_t i = 0; i < engine->experiments.len; i++) {
		struct engine_experiment *e = engine->experiments.at[i];
		if (e->backend && e->backend->retell_ms && clock_mono_ms() >= e->backend->retell_ms)
			e->parallel_changed = true;
	}
	for (size_t i = 0; i < engine->backends.len; i++)
		if (clock_mono_ms() >= engine->backends.at[i]->retell_ms)
			engine->backends.at[i]->retell_ms = 0;
}

static void turn_tell_parallel(struct engine *engine)
{
	turn_retell_parallel(engine);
	for (size_t i = 0; i < engine->experiments.len; i++) {
		struct engine_experiment *e = engine->experiments.at[i];
		if (!e->parallel_changed)
			continue;
		e->parallel_changed = false;
		const char *told = "";
		for (size_t k = 0; backend_is(e->backend->ops, BACKEND_HAS_QUEUE) && k < engine->live.len; k++) {
			const struct engine_live *live = engine->live.at[k];
			if (live->experiment != e || !live->job || strcmp(told, live->token) == 0)
				continue;
			told = live->token;
			e->backend->ops->set_parallel(e->backend->backend, live->token, live->job,
						      (uint32_t)e->parallel, parallel_told_cb, e->backend);
		}
	}
}

static int turn_work(struct engine *engine, void *ctx, struct error *err)
{
	static int (*const parts[])(struct engine * engine) = {
		engine_inbox_apply, engine_ingest,  engine_settle,       engine_sweep,
		engine_propose,     engine_prepare, engine_note_waiting,
	};
	int rc = 0;
	(void)ctx;
	(void)err;
	for (size_t i = 0; rc == 0 && i < COUNT_OF(parts); i++)
		rc = parts[i](engine);
	return rc;
}

static void turn_schedule(struct engine *engine)
{
	if (uv_is_active((uv_handle_t *)&engine->timer))
		return; /* a turn was asked for */
	int64_t wait = 0;
	if (engine->live.len) {
		wait = (int64_t)engine->live.len * ENGINE_LOOK_PER_ATTEMPT_MS;
		wait = wait > ENGINE_LOOK_MS ? wait : ENGINE_LOOK_MS;
		wait = wait < 1000 ? wait : 1000;
	}
	for (size_t i = 0; i < engine->experiments.len && !wait; i++)
		wait = 1000; /* something waits: for a slot, a time, a backend */
	if (wait)
		uv_timer_start(&engine->timer, engine_timer_cb, (uint64_t)wait, 0);
}

static void engine_turn(struct engine *engine)
{
	if (engine_transact(engine, turn_work, NULL, NULL) < 0)
		return;
	engine_inbox_clear(&engine->inbox);
	engine_send_events(engine);
	turn_forget(engine);
	turn_remove_all(engine);
	engine_submit(engine);
	turn_tell_parallel(engine);
	engine_cancel(engine);
	engine_follow(engine);
	engine_serve_askers(engine);
}

static void engine_timer_cb(uv_timer_t *timer)
{
	struct engine *engine = timer->data;
	engine_tell_unread(engine);
	if (engine->pause_ms) {
		engine_refuse_askers(engine, -EIO, "nothing can be written at the moment; ask again");
		int64_t wait = engine->pause_ms - clock_mono_ms();
		if (wait > 0) {
			uv_timer_start(&engine->timer, engine_timer_cb, (uint64_t)wait, 0);
			return;
		}
		engine->pause_ms = 0;
	}
	engine_turn(engine);
	turn_schedule(engine);
}

static void backend_changed_cb(void *ctx)
{
	struct engine_backend *backend = ctx;
	backend->expecting = true;
	backend->polled_ms = 0;
	engine_soon(backend->engine);
}

static void engine_open_backends(struct engine *engine, const struct backend_ops *const *table)
{
	struct backend_config config = {
		.loop = engine->loop,
		.state_dir = engine->state_dir,
		.program = engine->program,
		.push_url = engine->push_url,
	};
	for (size_t i = 0; table[i]; i++) {
		struct engine_backend *backend = mem_alloc(sizeof(*backend));
		vec_push(&engine->backends, backend);
		struct error err = {0};
		backend->engine = engine;
		backend->ops = table[i];
		uv_timer_init(engine->loop, &backend->timer);
		backend->timer.data = backend;
		if (backend->ops->open(&config, &backend->backend, &err) < 0) {
			backend->backend = NULL;
			backend->why_not = mem_strdup(err.text);
			log_info("backend %s: %s", backend->ops->name, err.text);
			continue;
		}
		if (backend->ops->on_change)
			backend->ops->on_change(backend->backend, backend_changed_cb, backend);
	}
}

int engine_open(const struct engine_config *config, struct engine **ret, struct error *err)
{
	struct engine *engine = mem_alloc(sizeof(*engine));
	char *path = mem_printf("%s/sluice.db", config->state_dir);
	char *experiments = spool_experiments_dir(config->state_dir);

	engine->loop = config->loop;
	engine->state_dir = mem_strdup(config->state_dir);
	engine->program = mem_strdup(config->program);
	engine->push_url = mem_strdup(config->push_url);
	engine->findings = buf_make(BUF_UNLIMITED);
	int rc = fs_make_dirs(experiments, 0700, err);
	if (rc == 0)
		rc = store_open(path, &engine->store, err);
	free(path);
	free(experiments);
	if (rc < 0) {
		free(engine->state_dir);
		free(engine->program);
		free(engine->push_url);
		free(engine);
		return rc;
	}
	uv_timer_init(engine->loop, &engine->timer);
	engine->timer.data = engine;
	store_on_failure(engine->store, engine_unread_cb, engine);
	engine_open_backends(engine, config->backends ? config->backends : backend_table);
	if ((rc = engine_load(engine, err)) < 0) {
		if (err && !*err->text)
			errorf(err, rc,
			       "%s/sluice.db could not be read: %s; put back a copy of it, or use another state folder",
			       engine->state_dir, store_failure(engine->store));
		engine_close(engine);
		return rc;
	}
	engine_remove_leftovers(engine);
	engine_soon(engine);
	*ret = engine;
	return 0;
}

/* What backends said last is written too; without it they would be asked again. */
static int engine_close_inbox(struct engine *engine, void *ctx, struct error *err)
{
	(void)ctx;
	(void)err;
	return engine_inbox_apply(engine);
}

void engine_close(struct engine *engine)
{
	if (!engine)
		return;
	struct error err = {0};
	engine_refuse_askers(engine, -ECANCELED, "the daemon ends");
	if (engine->inbox.news.len && engine_transact(engine, engine_close_inbox, NULL, &err) < 0)
		log_error("%s", err.text);
	engine->closing = true;
	uv_close((uv_handle_t *)&engine->timer, NULL);
	engine_end_check(engine);
	for (size_t i = 0; i < engine->backends.len; i++) {
		struct engine_backend *backend = engine->backends.at[i];
		uv_close((uv_handle_t *)&backend->timer, NULL);
		if (backend->backend)
			backend->ops->close(backend->backend);
	}
	uv_run(engine->loop, UV_RUN_NOWAIT); /* lets the handles close */
	engine_unload(engine);
	/* A search that is thinking cannot be interrupted, and the loop must outlive what runs for it. */
	while (engine->questions)
		uv_run(engine->loop, UV_RUN_ONCE);
	for (size_t i = 0; i < engine->backends.len; i++) {
		free(engine->backends.at[i]->why_not);
		free(engine->backends.at[i]);
	}
	free(engine->backends.at);
	engine_inbox_clear(&engine->inbox);
	free(engine->live.at);
	free(engine->owed.at);
	free(engine->experiments.at);
	free(engine->submissions.at);
	free(engine->dirty.at);
	buf_free(&engine->findings);
	store_close(engine->store);
	free(engine->state_dir);
	free(engine->program);
	free(engine->push_url);
	free(engine);
}

void engine_add_findings(struct engine *engine, const struct backend_finding *list, size_t count)
{
	engine->examining--;
	for (size_t i = 0; i < count; i++) {
		struct json w = json_to(&engine->findings);
		if (engine->findings.len)
			buf_add_char(&engine->findings, ',');
		json_map(&w);
		json_key_string(&w, "level", list[i].level);
		json_key_string(&w, "what", list[i].what);
		json_key_string(&w, "fix", list[i].fix);
		json_end(&w);
	}
}

static void examined_cb(void *ctx, const struct backend_finding *list, size_t count)
{
	engine_add_findings(ctx, list, count);
}

void engine_examine(struct engine *engine)
{
	if (engine->examining)
		return;
	buf_clear(&engine->findings);
	engine_begin_check(engine);
	for (size_t i = 0; i < engine->backends.len; i++) {
		struct engine_backend *backend = engine->backends.at[i];
		if (!backend->backend || !backend->ops->examine)
			continue;
		engine->examining++;
		backend->ops->examine(backend->backend, examined_cb, engine);
	}
}

void engine_write_cluster(struct engine *engine, struct json *out)
{
	json_map(out);
	json_key(out, "backends");
	json_list(out);
	for (size_t i = 0; i < engine->backends.len; i++) {
		const struct engine_backend *backend = engine->backends.at[i];
		if (backend_is(backend->ops, BACKEND_PULLED))
			continue; /* no machine of its own to describe */
		if (backend->backend) {
			backend->ops->describe(backend->backend, out);
			continue;
		}
		json_map(out);
		json_key_string(out, "name", backend->ops->name);
		json_key_bool(out, "available", false);
		json_key_string(out, "text", backend->why_not);
		json_key(out, "keys");
		backend_write_keys(backend->ops, out);
		json_end(out);
	}
	json_end(out);
	json_key_bool(out, "examining", engine->examining > 0);
	char *findings = mem_printf("[%s]", buf_text(&engine->findings));
	json_key_raw(out, "findings", findings);
	free(findings);
	json_end(out);
}

void engine_write_info(struct engine *engine, struct json *out)
{
	const struct engine_backend *usual = engine_choose_backend(engine, "auto", NULL, NULL);
	json_key(out, "backends");
	json_list(out);
	for (size_t i = 0; i < engine->backends.len; i++)
		if (engine->backends.at[i]->backend)
			json_string(out, engine->backends.at[i]->ops->name);
	json_end(out);
	json_key_string(out, "default_backend", usual ? usual->ops->name : NULL);
	json_key(out, "strategies");
	search_write_strategies(out);
	json_key(out, "limits");
	json_map(out);
	json_key_int(out, "tasks", LIMIT_TASKS);
	json_key_int(out, "body_bytes", LIMIT_BODY_BYTES);
	json_end(out);
}
