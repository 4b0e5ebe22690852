/* See pause.h. */
#include "engine/pause.h"

#include "engine/backends.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/missing.h"
#include "engine/remedy.h"
#include "engine/settle.h"
#include "engine/spec.h"
#include "engine/state.h"
#include "engine/waiting.h"

#include "base/log.h"
#include "base/text.h"
#include "notify/notify.h"

#include <inttypes.h>
#include <stdio.h>

/* Is there anything that a pause would keep from running? */
static bool pause_is_worth_it(const struct engine *engine, const struct engine_experiment *e)
{
	if (e->counts[STORE_WAITING] || (!e->asked_all && e->last_number < e->planned))
		return true;
	for (size_t i = 0; i < engine->live.len; i++)
		if (engine->live.at[i]->experiment == e && engine->live.at[i]->facts.phase == ATTEMPT_SUBMITTED)
			return true;
	return false;
}

/* What stands in a cluster's queue is taken out of it, and waits here. */
static int pause_hold_queued(struct engine *engine, struct engine_experiment *e)
{
	int rc = 0;
	if (!e->backend || !backend_is(e->backend->ops, BACKEND_HAS_QUEUE))
		return 0;
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->experiment != e || live->facts.phase != ATTEMPT_SUBMITTED ||
		    live->task.wanted != STORE_WANT_RUN)
			continue;
		live->task.wanted = STORE_WANT_HOLD;
		rc = store_set_wanted(engine->store, live->task.id, STORE_WANT_HOLD);
	}
	return rc;
}

static int pause_begin(struct engine *engine, struct engine_experiment *e, const char *why)
{
	if (e->paused || e->stopping || e->removing || !pause_is_worth_it(engine, e))
		return 0;
	e->paused = mem_strdup(why);
	e->changed = true;
	char *notice = mem_printf("e%" PRId64 " is paused: %s", e->id, why);
	log_warning("%s", notice);
	engine_notice(engine, "warning", notice);
	free(notice);
	int rc = store_set_paused(engine->store, e->id, why);
	if (rc == 0)
		rc = notify_add(engine->notify, NOTIFY_PAUSE, e->id, 0, why);
	return rc < 0 ? rc : pause_hold_queued(engine, e);
}

int engine_pause_end(struct engine *engine, struct engine_experiment *e)
{
	streak_forget(&e->streak);
	e->missing_noted = false;
	if (!e->paused)
		return 0;
	free(e->paused);
	e->paused = NULL;
	e->changed = true;
	int rc = store_set_paused(engine->store, e->id, NULL);
	/* What its tasks wait for now is known a moment later; the pause is no longer it. */
	if (rc == 0 && e->note && text_starts(e->note, WAITING_PAUSED)) {
		rc = store_set_note(engine->store, e->id, NULL);
		free(e->note);
		e->note = NULL;
		e->note_old_ms = 0;
	}
	return rc;
}

/* Workers of the user's own are not ours to pause; what was cancelled or what a machine did says nothing of the script. */
static bool pause_counts(const struct engine_experiment *e, enum cause kind)
{
	bool of_script = kind == CAUSE_EXIT || kind == CAUSE_SIGNAL || kind == CAUSE_LAUNCH || kind == CAUSE_MEMORY ||
		kind == CAUSE_TIME || kind == CAUSE_REFUSED || kind == CAUSE_LIMIT;
	return of_script && e->backend && !backend_is(e->backend->ops, BACKEND_PULLED);
}

int engine_pause_note_failure(struct engine *engine, struct engine_live *live, enum cause kind, const char *words)
{
	struct engine_experiment *e = live->experiment;
	const struct spec *spec = e->spec;
	if (!pause_counts(e, kind))
		return 0;
	int64_t count = streak_add_failure(&e->streak, words);
	bool any = e->counts[STORE_FINISHED] || e->counts[STORE_PRUNED];
	if (!streak_is_enough(&e->streak, spec->stop.failures, any))
		return 0;
	char how[80];
	snprintf(how, sizeof(how), count == 1 ? "a task failed" : "%" PRId64 " tasks in a row failed in the same way",
		 count);
	char *ways = remedy_say(
		"Correct the script and `sluice restart ID --failed --with SCRIPT`, or `sluice restart ID "
		"--failed` if the reason is gone, or `sluice resume ID` to go on as it is",
		e->id, spec->script);
	char *why = mem_printf("%s: %s. %s", how, words, ways);
	free(ways);
	int rc = pause_begin(engine, e, why);
	free(why);
	return rc;
}

/* A search that learns would run blind; any other can be ranked later. */
static int pause_miss(struct engine *engine, struct engine_experiment *e, const char *what, bool never)
{
	e->missing_noted = true;
	e->changed = true;
	char *text = mem_printf("no value for the objective: %s", what);
	int rc = store_set_warning(engine->store, e->id, STORE_WARNS_MISSING, text);
	free(text);
	if (rc < 0 || !never || !(e->spec->search->strategy->capabilities & SEARCH_ADAPTIVE))
		return rc;
	char *why = mem_printf("the search cannot learn: %s", what);
	rc = pause_begin(engine, e, why);
	free(why);
	return rc;
}

int engine_pause_note_success(struct engine *engine, struct engine_live *live)
{
	struct engine_experiment *e = live->experiment;
	char *what = NULL;
	bool never;
	streak_forget(&e->streak);
	if (e->missing_noted || !e->backend || backend_is(e->backend->ops, BACKEND_PULLED))
		return 0;
	int rc = missing_find(engine, live, &what, &never);
	if (rc == 0 && what)
		rc = pause_miss(engine, e, what, never);
	free(what);
	return rc;
}
