/* Describes the engine: GET /cluster, GET /info, and the findings of `sluice doctor`. */
#include "engine/about.h"

#include "engine/backends.h"
#include "engine/check.h"
#include "engine/state.h"

#include "base/limits.h"
#include "notify/notify.h"
#include "search/search.h"

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

static void examined_notify_cb(void *ctx, const char *level, const char *what, const char *fix)
{
	struct engine *engine = ctx;
	const struct backend_finding finding = {level, (char *)what, (char *)fix};
	engine->examining++;
	engine_add_findings(engine, &finding, 1);
}

int engine_write_notify(struct engine *engine, struct json *out)
{
	return notify_write(engine->notify, out);
}

int engine_change_notify(struct engine *engine, const struct node *body, struct error *err)
{
	return notify_change(engine->notify, body, err);
}

int engine_test_notify(struct engine *engine, struct error *err)
{
	return notify_test(engine->notify, err);
}

void engine_examine(struct engine *engine)
{
	if (engine->examining)
		return;
	buf_clear(&engine->findings);
	notify_examine(engine->notify, examined_notify_cb, engine);
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
	engine_look_again(engine);
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
	const struct engine_backend *usual = engine_choose_backend(engine, "auto", NULL, NULL, NULL);
	json_key(out, "backends");
	json_list(out);
	for (size_t i = 0; i < engine->backends.len; i++)
		if (engine->backends.at[i]->backend)
			json_put_string(out, engine->backends.at[i]->ops->name);
	json_end(out);
	json_key_string(out, "default_backend", usual ? usual->ops->name : NULL);
	json_key_string(out, "trouble", engine_trouble(engine));
	json_key(out, "open_stops");
	engine_write_stops(engine, out);
	json_key(out, "strategies");
	search_write_strategies(out);
	json_key(out, "limits");
	json_map(out);
	json_key_int(out, "tasks", LIMIT_TASKS);
	json_key_int(out, "body_bytes", LIMIT_BODY_BYTES);
	json_end(out);
}
