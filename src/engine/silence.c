/* See silence.h. */
#include "engine/silence.h"

#include "engine/backends.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/settle.h"
#include "engine/slow.h"
#include "engine/state.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"

#include <inttypes.h>

#define SILENCE_TEXT "no sign of life from its runner"

static enum engine_silence silence_of(const struct engine_live *live)
{
	const struct engine_backend *backend = live->experiment->backend;
	if (!engine_is_silent(live) || live->facts.wanted != STORE_WANT_RUN)
		return SILENCE_NONE;
	if (live->facts.given_up)
		return SILENCE_GIVEN_UP;
	if (live->facts.seen == ATTEMPT_GONE)
		return SILENCE_ENDED;
	return backend && backend->polled_ms > backend->answered_ms ? SILENCE_AWAY : SILENCE_SOME;
}

/* The caller frees it. */
static char *silence_words(const struct engine_live *live, enum engine_silence silence)
{
	const struct backend_ops *ops = live->experiment->backend->ops;
	if (silence == SILENCE_GIVEN_UP)
		return mem_strdup(SILENCE_TEXT " for " SETTLE_GIVE_UP_TEXT ": its job is being cancelled");
	if (silence == SILENCE_AWAY)
		return mem_printf(SILENCE_TEXT " for " SETTLE_SILENT_TEXT
					       "; %s does not answer, so its state is not known",
				  ops->name);
	if (silence == SILENCE_ENDED)
		return mem_printf(SILENCE_TEXT " for " SETTLE_SILENT_TEXT ", and %s says that its job has ended",
				  ops->name);
	if (live->paused)
		return mem_printf(SILENCE_TEXT " for " SETTLE_SILENT_TEXT ": %s", live->paused);
	if (!backend_is(ops, BACKEND_HAS_QUEUE))
		return mem_strdup(SILENCE_TEXT " for " SETTLE_SILENT_TEXT
					       ", but its process is there: it may be stopped, or wait for the disk");
	return mem_printf(SILENCE_TEXT " for " SETTLE_SILENT_TEXT
				       ", but %s says that its job runs; it is given up after " SETTLE_GIVE_UP_TEXT,
			  ops->name);
}

static int silence_note(struct engine *engine, struct engine_live *live, enum engine_silence silence)
{
	char *text = silence != SILENCE_NONE ? silence_words(live, silence) : NULL;
	bool turned = (silence == SILENCE_NONE) != (live->silence == SILENCE_NONE);
	int rc = turned ? store_set_silent(engine->store, live->id, text) : 0;
	/* A request to stop has a reason of its own. */
	if (rc == 0 && live->task.wanted == STORE_WANT_RUN)
		rc = store_set_task_reason(engine->store, live->task.id, text ? text : engine_running_reason(live), 0);
	if (rc == 0 && turned && live->facts.phase == ATTEMPT_RUNNING)
		rc = store_add_history(engine->store, live->task.id, STORE_RUNNING,
				       text ? text : "its runner gives signs of life again", clock_now_ms());
	if (turned && text)
		log_warning("e%" PRId64 "/%" PRId64 ": %s", live->experiment->id, live->task.number, text);
	live->silence = silence;
	engine_task_changed(engine, live->experiment->id, live->task.number);
	free(text);
	return rc;
}

int engine_note_silence(struct engine *engine)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		enum engine_silence silence = silence_of(live);
		/* One that an earlier daemon called silent is so until something comes from it. */
		bool kept = silence == SILENCE_NONE && !live->facts.grew_ms && live->facts.phase == ATTEMPT_RUNNING;
		if (silence != live->silence && !kept && live->facts.phase <= ATTEMPT_RUNNING)
			rc = silence_note(engine, live, silence);
	}
	return rc;
}
