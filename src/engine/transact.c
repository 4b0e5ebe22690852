/* Transactions of the engine: see transact.h. */
#include "engine/transact.h"

#include "engine/load.h"
#include "engine/settle.h"
#include "engine/state.h"
#include "engine/trouble.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pace.h"

#include <errno.h>

int engine_refresh(struct engine *engine, struct error *err)
{
	if (!engine->stale)
		return 0;
	int rc = engine_load(engine, err);
	if (rc < 0)
		return rc;
	engine->stale = false;
	engine->reset = true;
	return 0;
}

static void transact_pause(struct engine *engine, const struct error *why)
{
	log_error("nothing can be written: %s; trying again", why->text);
	engine_trouble_begin(engine, why);
	engine->pause_ms = clock_mono_ms() + TRANSACT_PAUSE_MS;
	engine_soon(engine);
}

static int transact_fail(struct engine *engine, int rc, struct error *why, struct error *err)
{
	struct error again = {0};
	if (!why->text[0])
		errorf(why, rc, "%s", strerror(-rc));
	store_rollback(engine->store);
	transact_pause(engine, why);
	engine->stale = true;
	if (engine_refresh(engine, &again) < 0)
		log_error("reading the store again: %s", again.text);
	return errorf(err, rc, "the change could not be written: %s", why->text);
}

int engine_transact(struct engine *engine, engine_transact_f fn, void *ctx, struct error *err)
{
	struct error why = {0};
	uint64_t before = store_version(engine->store);
	int rc = engine_refresh(engine, &why);
	if (rc == 0)
		rc = store_begin(engine->store, &why);
	if (rc == -EALREADY)
		return errorf(err, rc, "%s", why.text);
	if (rc == 0)
		rc = fn(engine, ctx, &why);
	if (rc == 0)
		rc = engine_update_experiments(engine);
	if (rc == 0)
		rc = store_commit(engine->store, &why);
	if (rc < 0)
		return transact_fail(engine, rc, &why, err);
	/* One that changed nothing wrote nothing, and proves nothing. */
	if (store_version(engine->store) != before)
		engine_trouble_end(engine);
	return 0;
}
