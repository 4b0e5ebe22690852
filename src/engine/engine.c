/* The main part of the engine: opening, closing, and the turn. */
#include "engine/engine.h"

#include "engine/accounted.h"
#include "engine/backends.h"
#include "engine/check.h"
#include "engine/collect.h"
#include "engine/ended.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/external.h"
#include "engine/follow.h"
#include "engine/home.h"
#include "engine/ingest.h"
#include "engine/live.h"
#include "engine/load.h"
#include "engine/propose.h"
#include "engine/removal.h"
#include "engine/settle.h"
#include "engine/silence.h"
#include "engine/slow.h"
#include "engine/state.h"
#include "engine/steady.h"
#include "engine/stopping.h"
#include "engine/submit.h"
#include "engine/sweep.h"
#include "engine/tidy.h"
#include "engine/transact.h"
#include "engine/trouble.h"
#include "engine/turn.h"
#include "engine/waiting.h"
#include "engine/worker.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/pace.h"
#include "notify/notify.h"
#include "spool/paths.h"

#include <errno.h>

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

struct store *engine_store(const struct engine *engine)
{
	return engine->store;
}

const char *engine_state_dir(const struct engine *engine)
{
	return engine->state_dir;
}

/* Has it ended, and nothing is left to do for it? */
static bool turn_is_done_with(const struct engine_experiment *e)
{
	return store_state_is_over(e->state) && !e->live && !e->removing && !e->sweep && !e->remove_from;
}

void engine_forget_settled(struct engine *engine)
{
	size_t keep = 0;
	engine_send_events(engine);
	for (size_t i = 0; i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->facts.phase == ATTEMPT_SETTLED) {
			if (engine_has_runner(live))
				engine_add_untidy(engine, live);
			engine_free_live(live);
		} else {
			engine->live.at[keep++] = live;
		}
	}
	engine->live.len = keep;
	for (size_t i = engine->experiments.len; i-- > 0;) {
		struct engine_experiment *e = engine->experiments.at[i];
		if (turn_is_done_with(e) && clock_mono_ms() >= e->keep_until_ms)
			engine_forget_experiment(engine, e);
	}
}

static int turn_work(struct engine *engine, void *ctx, struct error *err)
{
	static int (*const parts[])(struct engine * engine) = {
		engine_inbox_apply,  engine_ingest,    engine_look_at_workers, engine_settle,     engine_tell_untold,
		engine_sweep,        engine_propose,   engine_prepare,         engine_note_stops, engine_note_silence,
		engine_note_waiting, engine_note_slow, engine_remove_marked,
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
	int64_t wait = 0, kept = 0;
	if (engine->live.len) {
		wait = (int64_t)engine->live.len * ENGINE_LOOK_PER_ATTEMPT_MS;
		wait = wait > ENGINE_LOOK_MS ? wait : ENGINE_LOOK_MS;
		wait = wait < ENGINE_LOOK_MAX_MS ? wait : ENGINE_LOOK_MAX_MS;
	}
	for (size_t i = 0; i < engine->experiments.len && !wait; i++) {
		const struct engine_experiment *e = engine->experiments.at[i];
		int64_t left = e->keep_until_ms - clock_mono_ms();
		if (!turn_is_done_with(e))
			wait = ENGINE_WAITING_MS; /* something waits: for a slot, a time, a backend */
		else if (!kept || left < kept)
			kept = left > 1 ? left : 1;
	}
	if (!wait)
		wait = engine_ended_wait_ms(engine);
	if (!wait && engine->trouble)
		wait = TROUBLE_LOOK_MS;
	if (kept && (!wait || kept < wait))
		wait = kept;
	if (wait)
		uv_timer_start(&engine->timer, engine_timer_cb, (uint64_t)wait, 0);
}

static void engine_turn(struct engine *engine)
{
	if (engine_transact(engine, turn_work, NULL, NULL) < 0)
		return;
	engine_inbox_clear(&engine->inbox);
	engine_forget_settled(engine);
	notify_send(engine->notify);
	engine_tidy(engine);
	engine_remove_gone(engine);
	engine_submit(engine);
	engine_tell_parallel(engine);
	engine_cancel(engine);
	engine_follow(engine);
	engine_serve_askers(engine);
}

static void engine_timer_cb(uv_timer_t *timer)
{
	struct engine *engine = timer->data;
	engine_tell_unread(engine);
	engine_look_for_trouble(engine);
	if (engine->pause_ms) {
		engine_refuse_askers(engine, -EIO, "the database cannot be written at the moment; try again");
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

int engine_open(const struct engine_config *config, struct engine **ret, struct error *err)
{
	struct engine *engine = mem_alloc(sizeof(*engine));
	engine->has_removed = true; /* an earlier daemon may have left some */
	char *path = mem_printf("%s/sluice.db", config->state_dir);
	char *experiments = spool_experiments_dir(config->state_dir);

	engine->loop = config->loop;
	engine->state_dir = mem_strdup(config->state_dir);
	engine->findings = buf_make(BUF_UNLIMITED);
	int rc = fs_make_dirs(experiments, 0700, err);
	if (rc == 0)
		engine_hold_clock(engine);
	if (rc == 0)
		rc = store_open(path, &engine->store, err);
	free(path);
	free(experiments);
	if (rc < 0) {
		free(engine->state_dir);
		free(engine);
		return rc;
	}
	uv_timer_init(engine->loop, &engine->timer);
	engine->timer.data = engine;
	store_on_failure(engine->store, engine_unread_cb, engine);
	engine->program = mem_strdup(config->program);
	engine->daemon_url = mem_strdup(config->daemon_url);
	engine->notify = notify_open(&(struct notify_config){.loop = engine->loop,
							     .store = engine->store,
							     .state_dir = engine->state_dir,
							     .daemon_url = engine->daemon_url});
	engine_open_backends(engine, config);
	rc = engine_find_home(engine, err);
	if (rc == 0)
		rc = engine_load(engine, err);
	if (rc < 0) {
		if (err && !*err->text)
			errorf(err, rc,
			       "%s/sluice.db could not be read: %s; restore a backup of it, or use another state folder",
			       engine->state_dir, store_failure(engine->store));
		engine_close(engine);
		return rc;
	}
	engine_correct_clock(engine);
	engine_remove_leftovers(engine);
	engine_find_untidy(engine);
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

/* Keepers of warm starts end when they have nothing to do and their socket is gone. */
static void engine_end_keepers(struct engine *engine)
{
	struct error err;
	char *dir = spool_warm_dir(engine->state_dir);
	int rc = fs_remove_tree(dir, &err);
	if (rc < 0 && rc != -ENOENT)
		log_warning("%s", err.text);
	free(dir);
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
	notify_close(engine->notify);
	engine_close_backends(engine);
	engine_end_collectors(engine);
	engine_leave_pythons(engine);
	engine_end_keepers(engine);
	uv_run(engine->loop, UV_RUN_NOWAIT); /* lets the handles close */
	engine_unload(engine);
	/* A search that is thinking cannot be interrupted, and the loop must outlive what runs for it. */
	while (engine->questions)
		uv_run(engine->loop, UV_RUN_ONCE);
	engine_free_backends(engine);
	engine_inbox_clear(&engine->inbox);
	free(engine->program);
	free(engine->daemon_url);
	free(engine->copied_from);
	free(engine->trouble);
	free(engine->live.at);
	free(engine->ended.at);
	engine_forget_untidy(engine);
	free(engine->experiments.at);
	free(engine->submissions.at);
	free(engine->dirty.at);
	buf_free(&engine->findings);
	buf_free(&engine->pythons.text);
	store_close(engine->store);
	clock_release();
	free(engine->state_dir);
	free(engine);
}
