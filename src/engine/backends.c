/* The backends of an engine: see backends.h. */
#include "engine/backends.h"

#include "engine/experiment.h"
#include "engine/home.h"
#include "engine/live.h"
#include "engine/state.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"

#include <errno.h>

struct engine_backend *engine_backend_named(struct engine *engine, const char *name)
{
	for (size_t i = 0; i < engine->backends.len; i++)
		if (strcmp(engine->backends.at[i]->ops->name, name) == 0)
			return engine->backends.at[i];
	return NULL;
}

static const struct backend_key *choose_find_key(const struct backend_ops *ops,
						 const struct backend_resources *resources)
{
	for (const struct backend_key *key = resources ? ops->keys : NULL; key && key->name; key++)
		if (backend_key_is_set(key, resources))
			return key;
	return NULL;
}

/* What `auto` stands for. ret_key: the key that only this one understands, or NULL. */
static struct engine_backend *choose_auto(struct engine *engine, const struct backend_resources *resources,
					  const struct backend_key **ret_key)
{
	struct engine_backend *best = NULL;
	*ret_key = NULL;
	for (size_t i = 0; i < engine->backends.len; i++) {
		struct engine_backend *backend = engine->backends.at[i];
		if ((*ret_key = choose_find_key(backend->ops, resources)))
			return backend;
		if (backend->backend && backend->ops->preference > (best ? best->ops->preference : 0))
			best = backend;
	}
	return best;
}

struct engine_backend *engine_choose_backend(struct engine *engine, const char *name,
					     const struct backend_resources *resources, const char **ret_key,
					     struct error *err)
{
	const struct backend_key *key = NULL;
	engine_look_again(engine);
	bool any = strcmp(name, "auto") == 0;
	struct engine_backend *backend = any ? choose_auto(engine, resources, &key)
					     : engine_backend_named(engine, name);
	if (backend && backend->backend)
		return backend;
	const char *why = backend && backend->why_not ? backend->why_not : "there is no backend of that name";
	if (key && ret_key)
		*ret_key = key->name;
	if (key)
		errorf(err, -ENODEV, "'%s' needs the backend '%s', which is not available here: %s", key->name,
		       backend->ops->name, why);
	else
		errorf(err, -ENODEV, "backend '%s' is not available here: %s", name, why);
	return NULL;
}

static void backend_changed_cb(void *ctx)
{
	struct engine_backend *backend = ctx;
	backend->expecting = true;
	backend->polled_ms = 0;
	engine_soon(backend->engine);
}

static void backend_open(struct engine_backend *backend)
{
	struct engine *engine = backend->engine;
	struct backend_config config = {
		.loop = engine->loop,
		.state_dir = engine->state_dir,
		.program = engine->program,
		.daemon_url = engine->daemon_url,
	};
	struct error err = {0};
	int64_t begun = clock_mono_ms();
	if (backend->ops->open(&config, &backend->backend, &err) < 0) {
		int64_t now = clock_mono_ms(), long_ms = (now - begun) * 100;
		backend->look_ms = now + (long_ms > ENGINE_LOOK_AGAIN_MS ? long_ms : ENGINE_LOOK_AGAIN_MS);
		backend->backend = NULL;
		if (!backend->why_not || strcmp(backend->why_not, err.text) != 0)
			log_info("backend %s: %s", backend->ops->name, err.text);
		free(backend->why_not);
		backend->why_not = mem_strdup(err.text);
		return;
	}
	if (backend->why_not)
		log_info("backend %s is available now", backend->ops->name);
	free(backend->why_not);
	backend->why_not = NULL;
	if (backend->ops->on_change)
		backend->ops->on_change(backend->backend, backend_changed_cb, backend);
}

void engine_open_backends(struct engine *engine, const struct engine_config *config)
{
	const struct backend_ops *const *table = config->backends ? config->backends : backend_table;
	for (size_t i = 0; table[i]; i++) {
		struct engine_backend *backend = mem_alloc(sizeof(*backend));
		vec_push(&engine->backends, backend);
		backend->engine = engine;
		backend->ops = table[i];
		uv_timer_init(engine->loop, &backend->timer);
		backend->timer.data = backend;
		backend_open(backend);
	}
}

void engine_look_again(struct engine *engine)
{
	for (size_t i = 0; i < engine->backends.len; i++) {
		struct engine_backend *backend = engine->backends.at[i];
		if (backend->backend || clock_mono_ms() < backend->look_ms)
			continue;
		backend_open(backend);
		if (backend->backend)
			engine_soon(engine);
	}
}

void engine_close_backends(struct engine *engine)
{
	for (size_t i = 0; i < engine->backends.len; i++) {
		struct engine_backend *backend = engine->backends.at[i];
		uv_close((uv_handle_t *)&backend->timer, NULL);
		if (backend->backend)
			backend->ops->close(backend->backend);
	}
}

void engine_free_backends(struct engine *engine)
{
	for (size_t i = 0; i < engine->backends.len; i++) {
		free(engine->backends.at[i]->why_not);
		free(engine->backends.at[i]->cancel_why);
		free(engine->backends.at[i]);
	}
	free(engine->backends.at);
}

static void parallel_sent_cb(void *ctx, int rc, const char *why)
{
	struct engine_backend *backend = ctx;
	if (rc >= 0 || backend->engine->closing)
		return;
	log_warning("%s: changing how many run at once: %s", backend->ops->name, why ? why : strerror(-rc));
	backend->retell_ms = clock_mono_ms() + ENGINE_RETELL_MS;
}

/* A limit that did not reach the backend is sent again. */
static void parallel_send_again(struct engine *engine)
{
	for (size_t i = 0; i < engine->experiments.len; i++) {
		struct engine_experiment *e = engine->experiments.at[i];
		if (e->backend && e->backend->retell_ms && clock_mono_ms() >= e->backend->retell_ms)
			e->parallel_changed = true;
	}
	for (size_t i = 0; i < engine->backends.len; i++)
		if (clock_mono_ms() >= engine->backends.at[i]->retell_ms)
			engine->backends.at[i]->retell_ms = 0;
}

void engine_tell_parallel(struct engine *engine)
{
	parallel_send_again(engine);
	for (size_t i = 0; i < engine->experiments.len; i++) {
		struct engine_experiment *e = engine->experiments.at[i];
		if (!e->parallel_changed || !e->backend || !e->backend->backend)
			continue; /* one that is not available gets it when it is */
		e->parallel_changed = false;
		const char *sent = "";
		bool queue = backend_is(e->backend->ops, BACKEND_HAS_QUEUE);
		for (size_t k = 0; e->backend->ops->set_parallel && k < engine->live.len; k++) {
			const struct engine_live *live = engine->live.at[k];
			if (live->experiment != e || (queue && !live->job) || strcmp(sent, live->token) == 0 ||
			    engine_is_foreign(engine, live->id))
				continue;
			sent = live->token;
			e->backend->ops->set_parallel(e->backend->backend, live->token, live->job,
						      (uint32_t)e->parallel, parallel_sent_cb, e->backend);
		}
	}
}
