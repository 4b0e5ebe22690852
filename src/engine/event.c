/* Tells the listeners what changed, after the change is committed. */
#include "engine/event.h"

#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/state.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/pace.h"
#include "store/json.h"

#include <inttypes.h>
#include <stdio.h>

/* Past this many changed tasks in one turn it is cheaper for everyone to fetch the table again, and a
 * burst does not fill the event streams. */
#define ENGINE_EVENT_BURST 200

/* A task that changed. */
struct engine_dirty {
	int64_t experiment, number;
};

void engine_listen(struct engine *engine, engine_event_f event, void *ctx)
{
	engine->event = event;
	engine->event_ctx = ctx;
}

static void event_send(struct engine *engine, const char *name, const struct buf *data)
{
	if (engine->event)
		engine->event(engine->event_ctx, name, buf_text(data), data->len);
}

void engine_task_changed(struct engine *engine, int64_t experiment, int64_t number)
{
	if (engine->reset)
		return;
	for (size_t i = engine->dirty.len; i-- > 0;)
		if (engine->dirty.at[i].experiment == experiment && engine->dirty.at[i].number == number)
			return;
	if (engine->dirty.len >= ENGINE_EVENT_BURST) {
		engine->reset = true;
		return;
	}
	vec_push(&engine->dirty, ((struct engine_dirty){experiment, number}));
}

void engine_notice(struct engine *engine, const char *level, const char *text)
{
	struct buf data = buf_make(4096);
	struct json w = json_to(&data);
	json_map(&w);
	json_key_string(&w, "level", level);
	json_key_string(&w, "text", text);
	json_end(&w);
	event_send(engine, "notice", &data);
	buf_free(&data);
}

void engine_tell_trouble(struct engine *engine)
{
	struct buf data = buf_make(4096);
	struct json w = json_to(&data);
	json_map(&w);
	json_key_string(&w, "text", engine->trouble);
	json_end(&w);
	event_send(engine, "trouble", &data);
	buf_free(&data);
}

void engine_unread_cb(void *ctx, const char *text)
{
	struct engine *engine = ctx;
	(void)text; /* the store keeps it */
	if (engine->unread || (engine->unread_ms && clock_mono_ms() - engine->unread_ms < ENGINE_UNREAD_MS))
		return;
	engine->unread = true;
	engine_soon(engine);
}

void engine_tell_unread(struct engine *engine)
{
	char text[512];
	if (!engine->unread)
		return;
	engine->unread = false;
	engine->unread_ms = clock_mono_ms();
	snprintf(text, sizeof(text), "the database could not be read (%s): `sluice doctor` checks it",
		 store_failure(engine->store));
	engine_notice(engine, "error", text);
}

static void event_send_rows(struct engine *engine, struct engine_live *live)
{
	if (!live->rows.len)
		return;
	struct buf data = buf_make(BUF_UNLIMITED);
	buf_addf(&data, "{\"experiment\":\"e%" PRId64 "\",\"task\":%" PRId64 ",\"rows\":[%s]}", live->experiment->id,
		 live->task.number, buf_text(&live->rows));
	event_send(engine, "metrics", &data);
	buf_free(&data);
	buf_free(&live->rows);
}

/* A summary costs a walk over the experiment's tasks: while it runs it is sent twice a second, a change of its
 * state at once. */
static bool event_is_due(struct engine_experiment *e)
{
	int64_t now = clock_mono_ms();
	if (!e->changed || e->removing || (e->state == e->sent_state && now - e->sent_ms < ENGINE_EVENT_MS))
		return false;
	e->sent_ms = now;
	e->sent_state = e->state;
	e->changed = false;
	return true;
}

void engine_send_events(struct engine *engine)
{
	struct buf data = buf_make(BUF_UNLIMITED);
	for (size_t i = 0; i < engine->live.len; i++)
		event_send_rows(engine, engine->live.at[i]);
	for (size_t i = 0; engine->event && !engine->reset && i < engine->dirty.len; i++) {
		struct json w = json_to(&data);
		buf_clear(&data);
		if (store_json_task(engine->store, engine->dirty.at[i].experiment, engine->dirty.at[i].number, &w) == 0)
			event_send(engine, "task", &data);
	}
	for (size_t i = 0; i < engine->experiments.len; i++) {
		struct engine_experiment *e = engine->experiments.at[i];
		struct json w = json_to(&data);
		buf_clear(&data);
		if (event_is_due(e) && engine->event && store_json_experiment(engine->store, e->id, &w) == 0)
			event_send(engine, "experiment", &data);
	}
	if (engine->reset) {
		buf_clear(&data);
		buf_add_text(&data, "{}");
		event_send(engine, "reset", &data);
	}
	engine->reset = false;
	engine->dirty.len = 0;
	buf_free(&data);
}
