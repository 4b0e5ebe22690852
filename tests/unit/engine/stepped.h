/* An engine whose clock the test steps, with the scripted backends. The test plays the runner: it takes the claim and
 * writes the journal. After every step memory must be what the store says. */
#ifndef TEST_ENGINE_STEPPED_H
#define TEST_ENGINE_STEPPED_H

#include "fixture.h"
#include "scripted.h"

#include "base/pace.h"
#include "engine/backends.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/state.h"
#include "engine/turn.h"
#include "journal/journal.h"
#include "spool/claim.h"
#include "spool/paths.h"

#define SECOND 1000
static const char script[] = "#!/bin/sh\n";
static const char one[] = "script: run.sh\nparameters: {x: 1}\n";

/* What the store says about an attempt is what memory says. */
static inline int same_live_cb(void *ctx, const struct store_attempt *row)
{
	struct fixture *f = ctx;
	for (size_t i = 0; i < f->engine->live.len; i++) {
		const struct engine_live *live = f->engine->live.at[i];
		if (live->id != row->id)
			continue;
		assert_int_equal(live->number, row->number);
		assert_int_equal(live->index, row->index);
		assert_string_equal(live->token, row->token);
		assert_int_equal(live->offset, row->journal_offset);
		assert_int_equal(live->task.wanted, row->wanted);
		assert_int_equal(live->facts.phase >= ATTEMPT_RUNNING && live->started_ms, row->state == STORE_RUNNING);
		assert_int_equal(live->facts.phase == ATTEMPT_ENDED, row->ended != NULL);
		assert_string_equal(live->job ? live->job : "", row->job ? row->job : "");
		return 0;
	}
	fail_msg("attempt %lld of e%lld/%lld is alive in the store and not in memory", (long long)row->number,
		 (long long)row->experiment, (long long)row->task_number);
	return 0;
}

static inline int count_live_cb(void *ctx, const struct store_attempt *row)
{
	(void)row;
	++*(size_t *)ctx;
	return 0;
}

static inline int same_experiment_cb(void *ctx, const struct store_experiment *row)
{
	struct fixture *f = ctx;
	const struct engine_experiment *e = engine_find(f->engine, row->id);
	int64_t counts[STORE_STATE_COUNT] = {0};
	assert_non_null(e);
	assert_int_equal(e->state, row->state);
	assert_int_equal(e->stopping, row->stopping);
	assert_int_equal(e->asked_all, row->asked_all);
	assert_int_equal(e->parallel, row->parallel);
	assert_int_equal(store_count_tasks(engine_store(f->engine), row->id, counts), 0);
	assert_memory_equal(e->counts, counts, sizeof(counts));
	return 0;
}

static inline void assert_memory_is_store(struct fixture *f)
{
	struct store *store = engine_store(f->engine);
	size_t live = 0;
	assert_int_equal(store_each_active(store, same_experiment_cb, f), 0);
	assert_int_equal(store_each_live(store, same_live_cb, f), 0);
	assert_int_equal(store_each_live(store, count_live_cb, &live), 0);
	assert_int_equal(f->engine->live.len, live);
}

/* Is a turn or a look at a backend due at this time of the stepped clock? Longer timers run on the real clock and are
 * not waited for. */
static inline bool is_due(struct fixture *f)
{
	if (f->engine->collectors.len)
		return true;
	if (uv_is_active((uv_handle_t *)&f->engine->timer) && uv_timer_get_due_in(&f->engine->timer) <= 5)
		return true;
	for (size_t i = 0; i < f->engine->backends.len; i++) {
		const uv_timer_t *timer = &f->engine->backends.at[i]->timer;
		if (uv_is_active((const uv_handle_t *)timer) && uv_timer_get_due_in(timer) <= 5)
			return true;
	}
	return false;
}

/* Everything that happens at this time. */
static inline void settle(struct fixture *f)
{
	int turns = 0;
	engine_soon(f->engine);
	while (is_due(f)) {
		uv_run(&f->loop, UV_RUN_NOWAIT); /* waiting would be for the longer timers too */
		usleep(200);
		assert_true(++turns < 10000);
	}
	assert_memory_is_store(f);
}

/* Time passes, with a turn every two seconds, as in a daemon; over a long time less often. */
static inline void pass(struct fixture *f, int64_t ms)
{
	int64_t most = ms > 200 * SECOND ? ms / 100 : 2 * SECOND;
	settle(f);
	while (ms > 0) {
		int64_t step = ms < most ? ms : most;
		scripted_step(step);
		ms -= step;
		settle(f);
	}
}

static inline int begin(void **state)
{
	scripted_reset();
	unsetenv("SLUICE_BIN"); /* there is no runner, and nothing that looks after it */
	struct fixture *f = mem_alloc(sizeof(*f));
	f->backends = scripted_table;
	assert_int_equal(token_init(), 0);
	snprintf(f->dir, sizeof(f->dir), "/tmp/sluice-scripted-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	open_engine(f);
	settle(f);
	*state = f;
	return 0;
}

static inline int finish(void **state)
{
	int rc = teardown(state);
	scripted_free();
	return rc;
}

static inline void reopen(struct fixture *f)
{
	close_engine(f);
	open_engine(f);
	settle(f);
}

/* kill -9: the next engine finds the files as they are now, whatever this one had still to write. */
static inline void kill_engine(struct fixture *f)
{
	char copy[80], *words = NULL;
	snprintf(copy, sizeof(copy), "%s.killed", f->dir);
	words = mem_printf("cp -a %s %s", f->dir, copy);
	assert_int_equal(system(words), 0);
	free(words);
	close_engine(f);
	assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
	assert_int_equal(rename(copy, f->dir), 0);
	open_engine(f);
}

static inline struct engine_live *only_live(struct fixture *f)
{
	assert_int_equal(f->engine->live.len, 1);
	return f->engine->live.at[0];
}

/* An experiment of one task, handed over. */
static inline int64_t submit_one(struct fixture *f, const char *yaml)
{
	int64_t id = create(f, yaml, script);
	settle(f);
	assert_int_equal(only_live(f)->facts.phase, ATTEMPT_SUBMITTED);
	return id;
}

/* What the runner would do. */

static inline void runner_claim(struct fixture *f)
{
	struct error err = {0};
	const struct engine_live *live = only_live(f);
	if (spool_claim_take(live->batch_dir, live->index, &err) < 0)
		fail_msg("%s", err.text);
}

/* By a node whose clock says `time_ms`. */
static inline void runner_write_at(struct fixture *f, struct journal_record record, int64_t time_ms)
{
	struct error err = {0};
	struct journal_writer *writer = NULL;
	const struct engine_live *live = only_live(f);
	assert_int_equal(fs_make_dirs(live->attempt_dir, 0700, &err), 0);
	char *path = spool_path(live->attempt_dir, SPOOL_JOURNAL);
	record.time_ms = time_ms;
	if (journal_open(path, &writer, &err) < 0 || journal_append(writer, &record, &err) < 0)
		fail_msg("%s", err.text);
	journal_close(writer);
	free(path);
}

static inline void runner_write(struct fixture *f, struct journal_record record)
{
	runner_write_at(f, record, scripted_now());
}

static inline void runner_start(struct fixture *f)
{
	runner_claim(f);
	runner_write(f, (struct journal_record){.kind = JOURNAL_START, .host = "node1", .version = SLUICE_VERSION});
}

/* The same by one that promises to write something every minute. */
static inline void runner_start_beating(struct fixture *f)
{
	runner_claim(f);
	runner_write(f,
		     (struct journal_record){
			     .kind = JOURNAL_START, .host = "node1", .version = SLUICE_VERSION, .beat_ms = 60000});
}

static inline void runner_beat(struct fixture *f)
{
	runner_write(f, (struct journal_record){.kind = JOURNAL_SAMPLE});
}

static inline void runner_row(struct fixture *f, int64_t step, double loss)
{
	struct metric metric = {.name = "loss", .value = loss};
	runner_write(f,
		     (struct journal_record){
			     .kind = JOURNAL_METRIC,
			     .step = step,
			     .step_name = "epoch",
			     .metrics = &metric,
			     .metric_count = 1,
		     });
}

static inline void runner_end(struct fixture *f, enum cause cause, int code, int signal)
{
	runner_write(f,
		     (struct journal_record){.kind = JOURNAL_END, .cause = cause, .exit_code = code, .signal = signal});
}

/* Its runner vanishes: the backend says so until the attempt is settled, and takes the next one. */
static inline void lose(struct fixture *f, enum cause cause)
{
	int64_t lost = only_live(f)->number;
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = cause});
	/* What a node lost may still be at work: it is waited for until it has been silent for long enough. */
	for (int64_t i = 0; i < SETTLE_SILENT_MS / SECOND + 30 && f->engine->live.len && only_live(f)->number == lost;
	     i++)
		pass(f, SECOND);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	pass(f, 10 * SECOND);
}

/* What a user sees. */

static inline void assert_task(struct fixture *f, int64_t id, const char *state, size_t attempts, const char *cause)
{
	struct node *e = read_experiment(f, id);
	const struct node *task = task_at(e, 0), *why = node_get(task, "cause");
	assert_string_equal(node_get_string(task, "state"), state);
	assert_int_equal(node_get(task, "attempts")->count, attempts);
	if (cause)
		assert_string_equal(node_get_string(why, "kind"), cause);
	else
		assert_null(node_get_string(why, "kind"));
	node_free(e);
}

static inline void assert_attempt(struct fixture *f, int64_t id, size_t at, const char *state, const char *cause)
{
	struct node *e = read_experiment(f, id);
	const struct node *attempts = node_get(task_at(e, 0), "attempts");
	assert_true(at < attempts->count);
	assert_string_equal(node_get_string(attempts->items[at], "state"), state);
	const char *kind = node_get_string(node_get(attempts->items[at], "cause"), "kind");
	assert_string_equal(kind ? kind : "", cause ? cause : "");
	node_free(e);
}

static inline void assert_reason(struct fixture *f, int64_t id, const char *words)
{
	struct node *e = read_experiment(f, id);
	const char *reason = node_get_string(task_at(e, 0), "reason");
	if (!reason || !strstr(reason, words))
		fail_msg("the reason is '%s', without '%s'", reason ? reason : "", words);
	node_free(e);
}

static inline void assert_rows(struct fixture *f, int64_t id, size_t count)
{
	struct node *e = read_experiment(f, id);
	const struct node *curve = node_get(node_get(task_at(e, 0), "metrics"), "loss");
	assert_int_equal(curve ? node_get(curve, "step")->count : 0, count);
	node_free(e);
}

static inline size_t submits(void)
{
	return scripted_count(&scripted_cluster, SCRIPTED_SUBMIT);
}

static inline size_t cancels(void)
{
	return scripted_count(&scripted_cluster, SCRIPTED_CANCEL);
}

#endif
