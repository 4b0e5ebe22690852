/* Ends attempts, and updates their tasks and experiments: the final state, the cause, a retry if the policy allows it,
 * and the result for the search. */
#include "engine/settle.h"

#include "engine/accounted.h"
#include "engine/action.h"
#include "engine/ahead.h"
#include "engine/backends.h"
#include "engine/best.h"
#include "engine/collect.h"
#include "engine/ended.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/follow.h"
#include "engine/hold.h"
#include "engine/ingest.h"
#include "engine/limit.h"
#include "engine/live.h"
#include "engine/pause.h"
#include "engine/propose.h"
#include "engine/prune.h"
#include "engine/remedy.h"
#include "engine/share.h"
#include "engine/same.h"
#include "engine/spec.h"
#include "engine/state.h"
#include "engine/submit.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"
#include "notify/notify.h"
#include "spool/checkpoint.h"
#include "spool/claim.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const struct attempt_pace settle_pace = {
	.journal_lag_ms = SETTLE_JOURNAL_LAG_MS,
	.silent_ms = SETTLE_SILENT_MS,
	.give_up_ms = SETTLE_GIVE_UP_MS,
	.accounting_lag_ms = SETTLE_ACCOUNTING_LAG_MS,
	.doubt_ms = SETTLE_DOUBT_MS,
	.cancel_again_ms = SETTLE_CANCEL_AGAIN_MS,
};

static int settle_set_state(struct engine *engine, struct engine_experiment *e, const struct store_task *task,
			    enum store_state state, const char *reason, const char *cause, int64_t time_ms)
{
	enum store_state before;
	int rc = store_set_task_state(engine->store, task->id, state, reason, cause, time_ms, &before);
	if (rc < 0)
		return rc;
	e->counts[before]--;
	e->counts[state]++;
	e->changed = true;
	engine_task_changed(engine, e->id, task->number);
	return 0;
}

int engine_set_state(struct engine *engine, struct engine_experiment *e, const struct store_task *task,
		     enum store_state state, const char *reason, const char *cause)
{
	return settle_set_state(engine, e, task, state, reason, cause, clock_now_ms());
}

int engine_take_back_restart(struct engine *engine, struct engine_experiment *e, const struct store_task *task)
{
	enum store_state before, state;
	int rc = store_restore_task(engine->store, task->id, "the restart was stopped before it began: it is as it was",
				    clock_now_ms(), &before, &state);
	if (rc <= 0)
		return rc;
	e->counts[before]--;
	e->counts[state]++;
	e->changed = e->best_changed = true;
	engine_task_changed(engine, e->id, task->number);
	return 1;
}

static char *settle_cause_json(const struct engine_live *live, enum cause kind, const char *text, const char *remedy)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&out);
	const struct attempt_end *end = attempt_end_of(&live->facts);
	int code = end->exit_code, signal = end->signal;
	json_map(&w);
	json_key_string(&w, "kind", cause_name(kind));
	json_key(&w, "code");
	if (code >= 0)
		json_put_int(&w, code);
	else
		json_put_null(&w);
	json_key(&w, "signal");
	if (signal > 0)
		json_put_int(&w, signal);
	else
		json_put_null(&w);
	json_key_string(&w, "text", text);
	const struct engine_experiment *e = live->experiment;
	int64_t most_memory = 0, most_time = 0;
	if (e->backend && e->backend->backend && e->backend->ops->most)
		e->backend->ops->most(e->backend->backend, &e->spec->resources, &most_memory, &most_time);
	char *words = remedy_say(remedy ? remedy : remedy_of(kind, text), e->id, e->spec->script);
	words = remedy_fit_memory(words, live->asked.memory_bytes, most_memory);
	json_key_string(&w, "remedy", words);
	free(words);
	json_key_string(&w, "tail", end->tail);
	json_end(&w);
	return buf_take(&out);
}

struct retried {
	char *was, *retries; /* JSON before and after counting this one up */
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
	retry->was = mem_strdup(row->retries);
	retry->retries = buf_take(&out);
	return 0;
}

/* When the next attempt may begin, after `before` retries for the same reason. */
static int64_t settle_retry_time(enum retry policy, int64_t before)
{
	int64_t now = clock_now_ms();
	if (policy != RETRY_UNSTARTED)
		return now + SETTLE_RETRY_MS * (1 + before);
	int64_t pause = SETTLE_UNSTARTED_MS;
	for (int64_t i = 0; i < before && pause < SETTLE_UNSTARTED_MAX_MS; i++)
		pause *= 2;
	int64_t at = now + (pause < SETTLE_UNSTARTED_MAX_MS ? pause : SETTLE_UNSTARTED_MAX_MS);
	return at + SETTLE_UNSTARTED_MS - at % SETTLE_UNSTARTED_MS;
}

/* How often it may be run again after such an end. */
static int64_t settle_budget(struct engine *engine, const struct engine_live *live, enum retry policy)
{
	const struct spec *spec = live->experiment->spec;
	if (policy != RETRY_TIME || spec->retry[policy] >= 0)
		return spec->retry[policy];
	char *task = engine_folder(engine, live->experiment->id, live->task.number, 0);
	bool saved = spool_checkpoint_exists(task);
	free(task);
	return saved ? RETRY_TIME_SAVED : retry_times[policy];
}

/* Is there more to ask for? Time may go on from a checkpoint with no more than before. */
static bool settle_can_ask(struct engine *engine, const struct engine_live *live, enum retry policy, bool more)
{
	if (more || policy != RETRY_TIME)
		return more;
	char *task = engine_folder(engine, live->experiment->id, live->task.number, 0);
	bool saved = spool_checkpoint_exists(task);
	free(task);
	return saved;
}

/* 1 and the task is waiting again, 0 when it is not to be retried, or a negative errno. *ret_why is set, for the caller to
 * free, where a retry was left but would have asked for nothing more. */
static int settle_retry(struct engine *engine, struct engine_live *live, enum cause kind, const char *text,
			char **ret_why)
{
	enum retry policy = cause_retry(kind);
	struct engine_experiment *e = live->experiment;
	bool asked = live->task.wanted == STORE_WANT_STOP || live->task.wanted == STORE_WANT_PRUNE;
	if (policy == RETRY_NEVER || asked || (e->stopping && !engine_runs_on(e, live->task.number)) || e->removing)
		return 0;
	struct retried retry = {.key = retry_keys[policy]};
	int64_t budget = settle_budget(engine, live, policy);
	int rc = store_read_task(engine->store, e->id, live->task.number, retry_count_cb, &retry);
	bool more = true, outdated = rc == 0 && engine_asked_is_outdated(e, policy, &live->asked, retry.was);
	const char *retries = outdated ? retry.was : retry.retries;
	char *words = rc == 0 && retry.before < budget ? engine_asked_words(e, policy, &live->asked, retries, &more)
						       : NULL;
	if (words && !settle_can_ask(engine, live, policy, more)) {
		*ret_why = words;
		words = NULL;
	} else if (words) {
		char reason[700];
		snprintf(reason, sizeof(reason), "%.500s; retry %" PRId64 " of %" PRId64 "%s", text, retry.before + 1,
			 budget, more ? words : "");
		rc = engine_set_state(engine, e, &live->task, STORE_WAITING, reason, NULL);
		if (rc == 0)
			rc = store_set_retry(engine->store, live->task.id, retries,
					     settle_retry_time(policy, retry.before));
		if (rc == 0)
			rc = 1;
	}
	free(words);
	free(retry.was);
	free(retry.retries);
	return rc;
}

/* Time and energy are no metrics with steps: the task is ranked by them once it has ended. */
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
	double *values = NULL;
	int rc = 0;
	if (state == STORE_FINISHED || state == STORE_PRUNED) {
		values = mem_array(engine_count_told(e->spec), sizeof(*values));
		rc = engine_read_told(engine, e, live->task.id, values);
		if (rc == 0)
			rc = settle_rank(engine, live, values[0]);
		if (rc == 0)
			rc = engine_judge(engine, e, live->task.id);
	}
	if (rc == 0 && !(values && engine_tell_later(live, values)))
		rc = engine_tell(engine, e, live->task.asked, outcomes[state], values);
	free(values);
	return rc;
}

bool engine_fence(const struct engine_live *live, enum spool_stop_why why)
{
	struct error err;
	bool written = spool_stop_write(live->attempt_dir, why, &err) >= 0;
	if (!written)
		log_warning("%s", err.text);
	return written;
}

/* When it ended as far as its backend knows, or when that was first seen; 0: not known. */
static int64_t settle_backend_time(const struct attempt_facts *facts, int64_t now)
{
	if (facts->seen != ATTEMPT_GONE)
		return 0;
	return facts->backend_end.time_ms ? facts->backend_end.time_ms : now - (clock_mono_ms() - facts->gone_ms);
}

/* When it ended: as its journal says, and not when we came to read it. How long it ran was measured; without that the
 * clocks of others are believed between its start and now. */
static int64_t settle_time(const struct engine_live *live)
{
	const struct attempt_end *end = &live->facts.journal_end;
	int64_t now = clock_now_ms();
	int64_t ended = end->wall_ms >= 0 && live->started_ms ? live->started_ms + end->wall_ms : end->time_ms;
	if (live->facts.phase != ATTEMPT_ENDED)
		ended = settle_backend_time(&live->facts, now);
	if (!ended || ended > now)
		return now;
	return ended < live->started_ms ? live->started_ms : ended < live->created_ms ? live->created_ms : ended;
}

/* Its runner did not come to say how long it ran, and its last sample may be a minute old. */
static int settle_wall(struct engine *engine, const struct engine_live *live, int64_t when)
{
	struct cost cost = {0};
	if (live->facts.phase != ATTEMPT_RUNNING || live->accounted || !live->started_ms || !engine_has_runner(live))
		return 0;
	cost_set(&cost, FIGURE_WALL, (double)(when - live->started_ms));
	engine_add_gpu_time(live, &cost);
	return store_set_cost(engine->store, live->id, live->task.id, &cost);
}

/* The task has ended for good. */
static int settle_over(struct engine *engine, struct engine_live *live, enum store_state state, enum cause kind,
		       const char *text, const char *cause, int64_t when)
{
	const struct spec *spec = live->experiment->spec;
	int rc = state == STORE_STOPPED ? engine_take_back_restart(engine, live->experiment, &live->task) : 0;
	if (rc)
		return rc < 0 ? rc : 0;
	rc = settle_set_state(engine, live->experiment, &live->task, state, text, cause, when);
	/* What the repeats, or the other objectives, of the best one say may be another thing now. */
	live->experiment->best_changed |= spec->repeats > 1 || spec->objective_count > 1 || spec->limit_count;
	if (rc == 0)
		rc = settle_tell(engine, live, state);
	if (rc == 0 && state == STORE_ERROR)
		rc = engine_pause_note_failure(engine, live, kind, text);
	else if (rc == 0 && (state == STORE_FINISHED || state == STORE_PRUNED))
		rc = engine_pause_note_success(engine, live);
	if (rc == 0 && state == STORE_FINISHED)
		rc = engine_warn_same(engine, live);
	return rc;
}

/* An attempt that was taken back out of a queue: its task waits as before. */
static int settle_hold(struct engine *engine, struct engine_live *live)
{
	const char *why = live->experiment->paused
		? "removed from the queue, because the experiment was paused"
		: "removed from the queue, to be submitted again with other resources";
	int rc = store_set_wanted(engine->store, live->task.id, STORE_WANT_RUN);
	live->task.wanted = STORE_WANT_RUN;
	return rc < 0 ? rc : engine_set_state(engine, live->experiment, &live->task, STORE_WAITING, why, NULL);
}

int engine_end(struct engine *engine, struct engine_live *live, enum store_state state, enum cause kind,
	       const char *text, const char *remedy)
{
	const struct attempt_end *end = attempt_end_of(&live->facts);
	char *cause = state == STORE_ERROR ? settle_cause_json(live, kind, text, remedy) : NULL;
	int64_t when = settle_time(live);
	bool held = state == STORE_WAITING;
	int rc = store_end_attempt(engine->store, live->id, held ? STORE_STOPPED : state, cause, end->exit_code,
				   end->signal, when);
	int retried = 0;
	char *why = NULL;
	if (rc == 0)
		rc = settle_wall(engine, live, when);
	if (live->facts.phase != ATTEMPT_ENDED)
		engine_fence(live, SPOOL_STOP_OVER);
	if (rc == 0 && state == STORE_ERROR && kind == CAUSE_UNSTARTED)
		rc = engine_note_unstarted(engine, live, text);
	engine_ahead_ended(live, state);
	if (rc == 0)
		rc = engine_share_ended(engine, live, state, kind);
	if (rc == 0 && state == STORE_ERROR)
		retried = rc = settle_retry(engine, live, kind, text, &why);
	/* What ended in its own way is not to be taken back when it is run again. */
	if (rc >= 0 && !held && live->task.wanted == STORE_WANT_HOLD &&
	    store_set_wanted(engine->store, live->task.id, STORE_WANT_RUN) < 0)
		rc = -EIO;
	if (rc == 0 && held) {
		rc = settle_hold(engine, live);
	} else if (rc == 0 && !retried) {
		char *whole = why ? mem_printf("%s; %s", text, why) : mem_strdup(text);
		rc = settle_over(engine, live, state, kind, whole, cause, when);
		free(whole);
	}
	if (when > live->experiment->ended_ms)
		live->experiment->ended_ms = when;
	engine_ended_add(engine, live);
	engine_note(live, ATTEMPT_EVENT_SETTLED);
	live->experiment->live--;
	free(why);
	free(cause);
	engine_soon(engine);
	return rc < 0 ? rc : 0;
}

void engine_note(struct engine_live *live, enum attempt_event_kind kind)
{
	attempt_update(&live->facts, &(struct attempt_event){.kind = kind, .at_ms = clock_mono_ms()});
}

static enum attempt_claim settle_look(const struct engine_live *live)
{
	int claimed = spool_claim_look(live->batch_dir, live->index);
	if (claimed < 0 && live->facts.claim != ATTEMPT_CLAIM_UNKNOWN)
		log_warning("the claim %u in %s cannot be looked at: %s; waiting for it", live->index, live->batch_dir,
			    strerror(-claimed));
	return claimed < 0 ? ATTEMPT_CLAIM_UNKNOWN : claimed ? ATTEMPT_CLAIM_TAKEN : ATTEMPT_CLAIM_NONE;
}

/* What is known elsewhere: what is wanted, and when the backend answered. */
static struct attempt_pace settle_bring_up(struct engine_live *live)
{
	const struct engine_backend *backend = live->experiment->backend;
	struct attempt_pace pace = settle_pace;
	live->facts.wanted = live->task.wanted;
	live->facts.answered_ms = backend->answered_ms;
	if (backend->backend && backend->ops->doubt_ms)
		pace.doubt_ms = backend->ops->doubt_ms(backend->backend);
	return pace;
}

bool engine_is_silent(const struct engine_live *live)
{
	return attempt_is_silent(&live->facts, &settle_pace);
}

bool engine_may_live(const struct engine_live *live)
{
	return attempt_may_live(&live->facts, &settle_pace);
}

bool engine_needs_cancel(struct engine_live *live)
{
	struct attempt_pace pace = settle_bring_up(live);
	return attempt_needs_cancel(&live->facts, &pace, clock_mono_ms());
}

static struct attempt_verdict settle_decide(struct engine_live *live)
{
	struct attempt_pace pace = settle_bring_up(live);
	struct attempt_verdict verdict = attempt_decide(&live->facts, &pace, clock_mono_ms());
	if (verdict.action != ATTEMPT_LOOK)
		return verdict;
	attempt_update(&live->facts, &(struct attempt_event){.kind = ATTEMPT_EVENT_CLAIM, .claim = settle_look(live)});
	return attempt_decide(&live->facts, &pace, clock_mono_ms());
}

/* No runner has the submission: it is handed over again, once for all its attempts. */
static void settle_give_again(struct engine *engine, struct engine_live *live)
{
	struct engine_submission again = {.experiment = live->experiment, .again = true};
	for (size_t i = 0; i < engine->live.len; i++)
		if (strcmp(engine->live.at[i]->token, live->token) == 0)
			engine_note(engine->live.at[i], ATTEMPT_EVENT_GIVEN);
	for (size_t i = 0; i < engine->submissions.len; i++)
		if (strcmp(engine->submissions.at[i].token, live->token) == 0)
			return;
	log_warning("submission %s is not known to %s: handing it over again", live->token,
		    live->experiment->backend->ops->name);
	memcpy(again.token, live->token, sizeof(again.token));
	vec_push(&engine->submissions, again);
}

/* The stop file comes first: it ends a runner that comes back, and after a restart it shows what was decided here. */
static int settle_give_up(struct engine *engine, struct engine_live *live)
{
	if (!engine_fence(live, SPOOL_STOP_SILENT))
		return 0; /* at the next turn */
	engine_note(live, ATTEMPT_EVENT_GIVEN_UP);
	log_warning("e%" PRId64 "/%" PRId64 ": there was no sign of life from its runner for %s: cancelling its job",
		    live->experiment->id, live->task.number, SETTLE_GIVE_UP_TEXT);
	return store_add_history(engine->store, live->task.id, STORE_RUNNING,
				 "there was no sign of life from its runner for " SETTLE_GIVE_UP_TEXT
				 ": cancelling its job",
				 clock_now_ms());
}

static int settle_end(struct engine *engine, struct engine_live *live, const struct attempt_verdict *verdict)
{
	const char *text = verdict->text;
	if (verdict->state == STORE_STOPPED)
		text = engine_stop_why(engine, live->experiment, live->task.number);
	if (verdict->state == STORE_PRUNED)
		text = "ended early by the search";
	if (verdict->state == STORE_WAITING)
		text = "taken back";
	const char *more = verdict->more;
	if (more && verdict->cause == CAUSE_LOST && live->damaged)
		more = "lines of it are damaged, perhaps its end is one of them";
	const char *node = verdict->cause == CAUSE_UNSTARTED ? live->node : NULL;
	char *whole = more ? mem_printf("%s%s%s: %s", text, node ? " on " : "", node ? node : "", more)
			   : mem_strdup(text);
	int rc = engine_end(engine, live, verdict->state, verdict->cause, whole, verdict->remedy);
	free(whole);
	return rc;
}

static int settle_one(struct engine *engine, struct engine_live *live)
{
	/* How long a script ran its runner has measured; a job may have stood in the queue for longer. */
	if (live->facts.phase == ATTEMPT_ENDED)
		live->gone_cost.known &= ~(UINT64_C(1) << FIGURE_WALL | UINT64_C(1) << FIGURE_GPU);
	if (live->facts.seen == ATTEMPT_GONE && live->gone_cost.known) {
		int rc = engine_take_accounted(engine, live->experiment->id, live->task.number, live->task.id, live->id,
					       &live->gone_cost);
		live->accounted |= cost_has(&live->gone_cost, FIGURE_WALL);
		live->gone_cost.known = 0;
		if (rc < 0)
			return rc;
	}
	struct attempt_verdict verdict = settle_decide(live);
	switch (verdict.action) {
	case ATTEMPT_WAIT:
		if (verdict.poll)
			engine_poll_soon(live->experiment->backend);
		break;
	case ATTEMPT_LOOK: break; /* the file system did not answer: at the next turn */
	case ATTEMPT_GIVE_AGAIN: settle_give_again(engine, live); break;
	case ATTEMPT_GIVE_UP: return settle_give_up(engine, live);
	case ATTEMPT_COLLECT: return engine_collect(engine, live);
	case ATTEMPT_END: return settle_end(engine, live, &verdict);
	}
	return 0;
}

int engine_settle(struct engine *engine)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++)
		if (engine->live.at[i]->facts.phase != ATTEMPT_SETTLED)
			rc = settle_one(engine, engine->live.at[i]);
	return rc;
}

static enum store_state experiment_state(const struct engine_experiment *e)
{
	const int64_t *n = e->counts;
	int64_t open = n[STORE_WAITING] + n[STORE_SUBMITTED] + n[STORE_RUNNING];
	int64_t over = n[STORE_FINISHED] + n[STORE_ERROR] + n[STORE_STOPPED] + n[STORE_PRUNED];
	if (e->paused && !e->live && !e->sweep && (open || !e->asked_all))
		return STORE_WAITING;
	if (open || e->sweep || !(e->asked_all || e->stopping))
		return n[STORE_RUNNING] || over ? STORE_RUNNING : STORE_WAITING;
	if (!over && store_state_is_over(e->state))
		return e->state; /* all its tasks were removed */
	if (e->stopping == STORE_STOP_WHEN)
		return STORE_FINISHED; /* it has what it was to find */
	if (e->stopping && (n[STORE_STOPPED] || !over))
		return STORE_STOPPED;
	if (n[STORE_FINISHED] || n[STORE_PRUNED])
		return STORE_FINISHED;
	return n[STORE_ERROR] ? STORE_ERROR : STORE_STOPPED;
}

bool engine_is_over_budget(struct engine *engine, const struct engine_experiment *e)
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

/* Means of repeats need a walk over all tasks: once a second while attempts live, since turns come as often then. */
static bool experiment_best_is_due(struct engine_experiment *e)
{
	int64_t now = clock_mono_ms();
	if (!e->best_changed ||
	    (e->spec->repeats > 1 && e->live && !store_state_is_over(experiment_state(e)) && e->best_ms &&
	     now - e->best_ms < ENGINE_BEST_MS))
		return false;
	e->best_ms = now;
	return true;
}

static int experiment_update(struct engine *engine, struct engine_experiment *e)
{
	int64_t now = clock_now_ms();
	int rc = 0;
	if (experiment_best_is_due(e)) {
		rc = engine_update_best(engine, e);
		e->best_changed = false;
		e->changed = true;
	}
	if (rc == 0 && (!e->stopping || e->met_task) && engine_is_over_budget(engine, e)) {
		if (!e->stopping)
			log_info("e%" PRId64 ": its budget is used up", e->id);
		rc = e->stopping ? engine_end_met(engine, e) : engine_stop_within(engine, e, STORE_STOP_BUDGET);
	}
	enum store_state state = experiment_state(e);
	bool was_over = store_state_is_over(e->state); /* and then some of its tasks were removed */
	if (rc < 0 || state == e->state)
		return rc;
	if (!e->started_ms && state == STORE_RUNNING)
		e->started_ms = now;
	int64_t ended_ms = e->ended_ms ? e->ended_ms : now;
	rc = store_set_experiment_state(engine->store, e->id, state, e->started_ms,
					store_state_is_over(state) ? ended_ms : 0);
	e->state = state;
	e->changed = true;
	if (rc == 0 && store_state_is_over(state) && !was_over && !e->removing)
		rc = notify_add(engine->notify, NOTIFY_END, e->id, 0, NULL);
	return rc;
}

int engine_update_experiments(struct engine *engine)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->experiments.len; i++) {
		rc = experiment_update(engine, engine->experiments.at[i]);
		engine->experiments.at[i]->ended_ms = 0;
	}
	return rc;
}
