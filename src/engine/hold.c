/* See hold.h. */
#include "engine/hold.h"

#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/live.h"

#include "base/clock.h"
#include "base/log.h"
#include "spool/status.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static void hold_notice(struct engine *engine, const char *level, const char *fmt, ...) PRINTF_LIKE(3, 4);

static void hold_notice(struct engine *engine, const char *level, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log_warning("%s", text);
	engine_notice(engine, level, text);
}

/* One node by its name: of "cpu[1-2]" it is not known which one it was. */
static const char *hold_node(const char *node)
{
	return node && *node && !node[strcspn(node, "[,")] ? node : NULL;
}

/* The disk and the quota are the same on every node. */
static bool hold_is_of_node(int exit_code)
{
	return exit_code != SPOOL_STATUS_FULL && exit_code != SPOOL_STATUS_QUOTA;
}

int engine_hold_show(struct engine *engine, struct engine_experiment *e)
{
	char *now = unstarted_excluded(&e->unstarted, clock_mono_ms());
	bool same = now ? e->excluded && strcmp(now, e->excluded) == 0 : !e->excluded;
	if (same && e->excluded_shown) {
		free(now);
		return 0;
	}
	/* Where they are the same, only the store may show something older. */
	if (!same && now)
		hold_notice(engine, "warning",
			    "e%" PRId64
			    ": attempts on %s ended before their script began, while tasks start on other nodes: no "
			    "more tasks are submitted there",
			    e->id, now);
	else if (!same)
		hold_notice(engine, "info", "e%" PRId64 ": no node is left out any more", e->id);
	free(e->excluded);
	e->excluded = now;
	e->excluded_shown = true;
	e->changed = true;
	char *words = now ? mem_printf("left out: %s, where attempts ended before their script began", now) : NULL;
	int rc = store_set_warning(engine_store(engine), e->id, STORE_WARNS_NODES, words);
	free(words);
	return rc;
}

int engine_note_unstarted(struct engine *engine, const struct engine_live *live, const char *text)
{
	struct engine_experiment *e = live->experiment;
	bool held = unstarted_is_held(&e->unstarted);
	unstarted_add_failure(&e->unstarted, hold_node(live->node),
			      hold_is_of_node(attempt_end_of(&live->facts)->exit_code), text, clock_mono_ms());
	if (!held && unstarted_is_held(&e->unstarted)) {
		char *words = unstarted_words(&e->unstarted);
		hold_notice(engine, "warning", "e%" PRId64 " is %s", e->id, words);
		free(words);
	}
	return engine_hold_show(engine, e);
}

int engine_note_started(struct engine *engine, struct engine_experiment *e, const char *node)
{
	if (unstarted_add_start(&e->unstarted, hold_node(node), clock_mono_ms()))
		hold_notice(engine, "info", "e%" PRId64 ": a task has started, so it is no longer held back", e->id);
	return engine_hold_show(engine, e);
}

int64_t engine_hold_room(const struct engine_experiment *e, int64_t room)
{
	if (room < 1 || !unstarted_is_held(&e->unstarted))
		return room;
	return e->live || clock_mono_ms() < unstarted_held_until_ms(&e->unstarted) ? 0 : 1;
}

int engine_hold_forget(struct engine *engine, struct engine_experiment *e)
{
	unstarted_forget(&e->unstarted);
	return engine_hold_show(engine, e);
}

bool engine_hold_refused(struct engine *engine, struct engine_experiment *e, int *ret_rc)
{
	if (!e->excluded)
		return false;
	*ret_rc = engine_hold_forget(engine, e);
	return true;
}

static int hold_load_cb(void *ctx, const struct store_beginning *row)
{
	struct unstarted *u = ctx;
	int64_t age = clock_now_ms() - row->time_ms;
	int64_t at = clock_mono_ms() - (age > 0 ? age : 0);
	const char *node = hold_node(row->node);
	if (row->started)
		unstarted_add_start(u, node, at > 0 ? at : 0);
	else
		unstarted_add_failure(u, node, hold_is_of_node(row->exit_code), row->why, at > 0 ? at : 0);
	return 0;
}

int engine_hold_load(struct engine *engine, struct engine_experiment *e)
{
	int rc = store_each_beginning(engine_store(engine), e->id, hold_load_cb, &e->unstarted);
	e->excluded = rc == 0 ? unstarted_excluded(&e->unstarted, clock_mono_ms()) : NULL;
	return rc;
}
