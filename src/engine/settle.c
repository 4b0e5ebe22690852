/* How an attempt ends, and what follows for its task and its experiment: the true state, the cause, a
 * retry by policy, the word to the search. */
#include "engine/internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "spool/claim.h"
#include "spool/stop.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

/* After the backend says an attempt is over, the journal on a shared file system may lag by this much. */
#define SETTLE_JOURNAL_LAG_MS 10000
/* A runner samples every 10 s: one that has been silent for this long is not at work. */
#define SETTLE_SILENT_MS 35000
/* After the journal says a signal ended it, accounting may know better why (memory, time limit). */
#define SETTLE_ACCOUNTING_LAG_MS 45000
/* Between a failed attempt and the next. */
#define SETTLE_RETRY_MS 1000

int engine_set_state(struct engine *engine, struct engine_experiment *e, const struct store_task *task,
		     enum store_state state, const char *reason, const char *cause)
{
	enum store_state before;
	int rc = store_set_task_state(engine->store, task->id, state, reason, cause, clock_now_ms(), &before);
	if (rc < 0)
		return rc;
	e->counts[before]--;
	e->counts[state]++;
	e->changed = true;
	engine_task_changed(engine, e->id, task->number);
	return 0;
}

static char *settle_cause_json(const struct engine_live *live, enum cause kind, const char *text, const char *remedy)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&out);
	int code = live->ended ? live->exit_code : live->gone ? live->gone_code : -1;
	int signal = live->ended ? live->signal : live->gone ? live->gone_signal : 0;
	json_map(&w);
	json_key_string(&w, "kind", cause_name(kind));
	json_key(&w, "code");
	if (code >= 0)
		json_int(&w, code);
	else
		json_null(&w);
	json_key(&w, "signal");
	if (signal > 0)
		json_int(&w, signal);
	else
		json_null(&w);
	json_key_string(&w, "text", text);
	json_key_string(&w, "remedy", remedy ? remedy : cause_remedy(kind));
	json_key_string(&w, "tail", live->tail);
	json_end(&w);
	return buf_take(&out);
}

struct retried {
	char *retries; /* JSON after counting this one up */
	int64_t before;
	const char *key;
};

static int retry_count_cb(void *ctx, const struct store_task *row)
{
	struct retried *retry = ctx;
	struct node *map = NULL;
	if (node_parse_json(row->retries, strlen(row->retries), &map, NULL) < 0)
		map = node_new(NODE_MAP);
	retry->before = node_get_int(map, retry->key, 0);
	node_add(map, retry->key, node_new_int(retry->before + 1));
	struct buf out = buf_make(4096);
	struct json w = json_to(&out);
	node_write_json(map, &w);
	node_free(map);
	retry->retries = buf_take(&out);
	return 0;
}

/* 1 and the task is waiting again, 0 when it is not to be retried, or a negative errno. */
static int settle_retry(struct engine *engine, struct engine_live *live, enum cause kind, const char *text)
{
	enum retry policy = cause_retry(kind);
	struct engine_experiment *e = live->experiment;
	if (policy == RETRY_NEVER || live->task.wanted != STORE_WISH_RUN || e->stopping || e->removing)
		return 0;
	struct retried retry = {.key = retry_keys[policy]};
	int rc = store_read_task(engine->store, e->id, live->task.number, retry_count_cb, &retry);
	if (rc == 0 && retry.before < e->spec->retry[policy]) {
		char reason[600];
		snprintf(reason, sizeof(reason), "%s; retry %lld of %lld", text, (long long)retry.before + 1,
			 (long long)e->spec->retry[policy]);
		rc = engine_set_state(engine, e, &live->task, STORE_WAITING, reason, NULL);
		if (rc == 0)
			rc = store_set_retry(engine->store, live->task.id, retry.retries,
					     clock_now_ms() + SETTLE_RETRY_MS * (1 + retry.before));
		if (rc == 0)
			rc = 1;
	}
	free(retry.retries);
	return rc;
}

/* Time and energy are no metrics with steps: the task is ranked by them once it is over. */
static int settle_rank(struct engine *engine, struct engine_live *live, double value)
{
	struct store_task *task = &live->task;
	if (!live->experiment->spec->objective_count || task->last_step >= 0 || isnan(value))
		return 0;
	task->best = task->last = value;
	task->best_step = task->last_step = task->step > 0 ? task->step : 0;
	live->experiment->best_changed = true;
	return store_set_progress(engine->store, task);
}

static int settle_tell(struct engine *engine, struct engine_live *live, enum store_state state)
{
	static const enum search_outcome outcomes[STORE_STATE_COUNT] = {
		[STORE_FINISHED] = SEARCH_FINISHED,
		[STORE_ERROR] = SEARCH_FAILED,
		[STORE_STOPPED] = SEARCH_STOPPED,
		[STORE_PRUNED] = SEARCH_PRUNED,
	};
	struct engine_experiment *e = live->experiment;
	if (e->removing)
		return 0;
	size_t count = e->spec->objective_count ? e->spec->objective_count : 1;
	double *values = NULL;
	int rc = 0;
	if (state == STORE_FINISHED || state == STORE_PRUNED) {
		values = mem_alloc(count * sizeof(*values));
		for (size_t i = 0; i < count; i++)
			values[i] = NAN;
		for (size_t i = 0; rc == 0 && i < e->spec->objective_count; i++)
			rc = engine_read_objective(engine, e, live->task.id, &e->spec->objectives[i], &values[i]);
		if (rc == 0)
			rc = settle_rank(engine, live, values[0]);
	}
	if (rc == 0)
		rc = engine_tell(engine, e, live->task.asked, outcomes[state], values);
	free(values);
	return rc;
}

void engine_fence(const struct engine_live *live)
{
	struct error err;
	if (spool_stop_write(live->attempt_dir, &err) < 0)
		log_warning("%s", err.text);
}

bool engine_is_claimed(const struct engine_live *live)
{
	return spool_claim_exists(live->batch_dir, live->index);
}

int engine_end(struct engine *engine, struct engine_live *live, enum store_state state, enum cause kind,
	       const char *text, const char *remedy)
{
	char *cause = state == STORE_ERROR ? settle_cause_json(live, kind, text, remedy) : NULL;
	int rc = store_end_attempt(engine->store, live->id, state, cause,
				   live->ended ? live->exit_code : live->gone_code, live->signal, clock_now_ms());
	int retried = 0;
	if (!live->ended)
		engine_fence(live);
	if (rc == 0 && state == STORE_ERROR)
		retried = rc = settle_retry(engine, live, kind, text);
	if (rc == 0 && !retried) {
		rc = engine_set_state(engine, live->experiment, &live->task, state, text, cause);
		if (rc == 0)
			rc = settle_tell(engine, live, state);
	}
	engine_owe(engine, live);
	live->settled = true;
	live->experiment->live--;
	free(cause);
	engine_soon(engine);
	return rc < 0 ? rc : 0;
}

static bool settle_from_outside(const struct engine_live *live)
{
	return live->cause == CAUSE_STOPPED || live->cause == CAUSE_SIGNAL;
}

/* The journal has its END record. */
static int settle_ended(struct engine *engine, struct engine_live *live)
{
	const char *text = live->message ? live->message : cause_text(live->cause);
	bool accounting = backend_is(live->experiment->backend->ops, BACKEND_HAS_ACCOUNTING);

	if (live->cause == CAUSE_OK)
		return engine_end(engine, live, STORE_FINISHED, CAUSE_OK, NULL, NULL);
	if (live->task.wanted == STORE_WISH_STOP)
		return engine_end(engine, live, STORE_STOPPED, CAUSE_STOPPED, engine_stop_why(live->experiment), NULL);
	if (live->task.wanted == STORE_WISH_PRUNE)
		return engine_end(engine, live, STORE_PRUNED, CAUSE_PRUNED, "ended early by the search", NULL);
	if (settle_from_outside(live) && accounting) {
		/* The cluster ended it; it may say why. */
		if (live->gone && live->gone_cause != CAUSE_NONE && live->gone_cause != CAUSE_EXIT &&
		    live->gone_cause != CAUSE_OK)
			return engine_end(engine, live, STORE_ERROR, live->gone_cause,
					  live->gone_message ? live->gone_message : text, live->gone_remedy);
		/* A signal is a story of its own; who asked a runner to stop only the cluster knows, once it answers. */
		int64_t until = live->cause == CAUSE_STOPPED ? live->experiment->backend->answered_ms : clock_mono_ms();
		if (!live->gone && until - live->ended_ms < SETTLE_ACCOUNTING_LAG_MS) {
			engine_poll_soon(live->experiment->backend);
			return 0;
		}
	}
	if (live->cause == CAUSE_STOPPED)
		return engine_end(engine, live, STORE_ERROR, CAUSE_CANCELLED, "ended from outside by a signal", NULL);
	return engine_end(engine, live, STORE_ERROR, live->cause, text, NULL);
}

/* May its journal still say something? A runner that ended well has told its end, or found the claim taken (a controller
 * that crashed gave the element out again): then the other one may still be at work. */
static bool settle_may_speak(const struct engine_live *live)
{
	int64_t now = clock_mono_ms(), heard = live->heard_ms > live->gone_ms ? live->heard_ms : live->gone_ms;
	if (!backend_is(live->experiment->backend->ops, BACKEND_FILES_LAG))
		return false;
	if (now - live->gone_ms < SETTLE_JOURNAL_LAG_MS)
		return true;
	return live->gone_cause == CAUSE_OK && live->task.wanted == STORE_WISH_RUN && now - heard < SETTLE_SILENT_MS &&
		(live->running || engine_is_claimed(live));
}

/* The backend says it is over, the journal says nothing. */
static int settle_gone(struct engine *engine, struct engine_live *live)
{
	if (settle_may_speak(live))
		return 0;
	if (live->task.wanted == STORE_WISH_STOP)
		return engine_end(engine, live, STORE_STOPPED, CAUSE_STOPPED, engine_stop_why(live->experiment), NULL);
	if (live->task.wanted == STORE_WISH_PRUNE)
		return engine_end(engine, live, STORE_PRUNED, CAUSE_PRUNED, "ended early by the search", NULL);
	enum cause kind = live->gone_cause;
	const char *said = live->gone_message;
	/* A script's end is in the journal, so what these tell of is the end of the runner. */
	if (kind == CAUSE_NONE || kind == CAUSE_OK || kind == CAUSE_EXIT)
		kind = live->running || engine_is_claimed(live) ? CAUSE_LOST : CAUSE_LAUNCH;
	else if (kind == CAUSE_SIGNAL)
		kind = CAUSE_LOST;
	char *text = kind == CAUSE_LOST
		? mem_printf("its runner ended without a word in its journal%s%s", said ? ": " : "", said ? said : "")
		: mem_strdup(said ? said : "it ended without a word in its journal");
	int rc = engine_end(engine, live, STORE_ERROR, kind, text, live->gone_remedy);
	free(text);
	return rc;
}

int engine_settle(struct engine *engine)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->settled)
			continue;
		if (live->gone && live->gone_cost.wall_ms >= 0) {
			rc = store_set_cost(engine->store, live->id, live->task.id, &live->gone_cost);
			live->gone_cost.wall_ms = -1;
		}
		if (backend_is(live->experiment->backend->ops, BACKEND_PULLED) && live->task.wanted != STORE_WISH_RUN)
			live->gone = true;
		if (rc == 0 && live->ended)
			rc = settle_ended(engine, live);
		else if (rc == 0 && live->gone)
			rc = settle_gone(engine, live);
	}
	return rc;
}

static enum store_state experiment_state(const struct engine_experiment *e)
{
	const int64_t *n = e->counts;
	int64_t open = n[STORE_WAITING] + n[STORE_SUBMITTED] + n[STORE_RUNNING];
	int64_t over = n[STORE_FINISHED] + n[STORE_ERROR] + n[STORE_STOPPED] + n[STORE_PRUNED];
	if (open || e->sweep || !(e->asked_all || e->stopping))
		return n[STORE_RUNNING] || over ? STORE_RUNNING : STORE_WAITING;
	if (e->stopping && (n[STORE_STOPPED] || !over))
		return STORE_STOPPED;
	if (n[STORE_FINISHED] || n[STORE_PRUNED])
		return STORE_FINISHED;
	return n[STORE_ERROR] ? STORE_ERROR : STORE_STOPPED;
}

static bool experiment_over_budget(struct engine *engine, const struct engine_experiment *e)
{
	const struct spec *spec = e->spec;
	double gpu_s = 0, energy_j = 0;
	if (spec->stop.wall_ms && e->started_ms && clock_now_ms() - e->started_ms > spec->stop.wall_ms)
		return true;
	if (!(spec->stop.gpu_hours > 0) && !(spec->stop.energy_j > 0))
		return false;
	if (store_sum_cost(engine->store, e->id, &gpu_s, &energy_j) < 0)
		return false;
	return (spec->stop.gpu_hours > 0 && gpu_s > spec->stop.gpu_hours * 3600) ||
		(spec->stop.energy_j > 0 && energy_j > spec->stop.energy_j);
}

static int experiment_update(struct engine *engine, struct engine_experiment *e)
{
	int64_t now = clock_now_ms();
	int rc = 0;
	if (e->best_changed) {
		bool maximise = e->spec->objective_count && e->spec->objectives[0].maximise;
		rc = store_update_best(engine->store, e->id, maximise);
		e->best_changed = false;
		e->changed = true;
	}
	if (rc == 0 && !e->stopping && experiment_over_budget(engine, e)) {
		log_info("e%lld: its budget is used up", (long long)e->id);
		e->stop_why = "stopped: the budget of the experiment is used up";
		rc = engine_stop_within(engine, e);
	}
	enum store_state state = experiment_state(e);
	if (rc < 0 || state == e->state)
		return rc;
	if (!e->started_ms && state == STORE_RUNNING)
		e->started_ms = now;
	rc = store_set_experiment_state(engine->store, e->id, state, e->started_ms,
					store_state_is_over(state) ? now : 0);
	e->state = state;
	e->changed = true;
	return rc;
}

int engine_update_experiments(struct engine *engine)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->experiments.len; i++)
		rc = experiment_update(engine, engine->experiments.at[i]);
	return rc;
}
