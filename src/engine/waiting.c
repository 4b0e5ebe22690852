/* Explains why tasks wait that were not submitted yet: for free room on the backend, behind which experiments, or
 * because of the experiment's own limit. It is the same for all waiting tasks of an experiment, so it is written once,
 * in the experiment's row, however many wait. */
#include "engine/waiting.h"

#include "engine/backends.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/spec.h"
#include "engine/state.h"
#include "engine/stopping.h"

#include "base/clock.h"
#include "base/num.h"
#include "base/pace.h"

#include <inttypes.h>
#include <stdio.h>

char *engine_say_waiting(const struct engine_experiment *e)
{
	if (e->paused)
		return mem_printf(WAITING_PAUSED "%s", e->paused);
	if (unstarted_is_held(&e->unstarted))
		return unstarted_words(&e->unstarted);
	if (e->parallel && e->live >= e->parallel)
		return mem_printf("waits for another task of its experiment to end: parallel is %" PRId64, e->parallel);
	return e->backend->ops->why_wait ? e->backend->ops->why_wait(e->backend->backend, &e->spec->resources, e->id)
					 : NULL;
}

/* Does it want to hand something over? A search that learns proposes nothing before there is room. */
static bool waiting_any(const struct engine_experiment *e)
{
	if (e->removing || e->stopping || e->sweep == STORE_SWEEP_STOP || !e->backend || !e->backend->backend ||
	    backend_is(e->backend->ops, BACKEND_PULLED))
		return false;
	return e->counts[STORE_WAITING] || (!e->asked_all && !e->live);
}

/* Does the task still run that met the stopping condition? */
static bool waiting_for_met(struct engine *engine, const struct engine_experiment *e)
{
	for (size_t i = 0; e->met_task && i < engine->live.len; i++) {
		const struct engine_live *live = engine->live.at[i];
		if (live->experiment == e && live->task.wanted == STORE_WANT_RUN && live->facts.phase < ATTEMPT_ENDED &&
		    engine_runs_on(e, live->task.number))
			return true;
	}
	return false;
}

/* Why it is over, where that is not in its tasks; NULL. */
static char *waiting_say_met(struct engine *engine, const struct engine_experiment *e)
{
	const struct spec *spec = e->spec;
	char value[NUM_REAL_CHARS], task[48] = "";
	if (e->stopping != STORE_STOP_WHEN || !spec->stop.metric)
		return NULL;
	num_format_real(spec->stop.value, value);
	if (e->met_task) /* an earlier version did not write it down */
		snprintf(task, sizeof(task), "e%" PRId64 "/%" PRId64, e->id, e->met_task);
	char *more = waiting_for_met(engine, e)
		? mem_printf("; it runs on to its end (`sluice stop %s` ends it now)", task)
		: NULL;
	char *text = mem_printf("stopping condition met%s%s: %s %s %s%s", task[0] ? " by " : "", task,
				spec->stop.metric, spec->stop.op, value, more ? more : "");
	free(more);
	return text;
}

static int waiting_note(struct engine *engine, struct engine_experiment *e)
{
	char *stops = e->stopping ? engine_explain_stops(engine, e) : NULL;
	bool any = stops || waiting_any(e);
	char *why = stops ? stops : any ? engine_say_waiting(e) : waiting_say_met(engine, e);
	int64_t now = clock_mono_ms();
	int rc = 0;
	if (why ? e->note && strcmp(why, e->note) == 0 : !e->note) {
		e->note_old_ms = 0;
	} else if (any && !e->note_old_ms) {
		e->note_old_ms = now;
	} else if (!any || now - e->note_old_ms >= WAITING_SETTLE_MS) {
		rc = store_set_note(engine->store, e->id, why);
		free(e->note);
		e->note = why;
		e->note_old_ms = 0;
		e->changed = true;
		return rc;
	}
	free(why);
	return 0;
}

int engine_note_waiting(struct engine *engine)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->experiments.len; i++) {
		struct engine_experiment *e = engine->experiments.at[i];
		/* Before it has seen what is alive, a backend does not know who has what. */
		if (!e->backend || e->backend->adopted || !e->backend->backend)
			rc = waiting_note(engine, e);
	}
	return rc;
}
