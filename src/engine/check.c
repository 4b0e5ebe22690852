/* Checks the database for `sluice doctor`, one table per turn of the loop. */
#include "engine/check.h"

#include "engine/about.h"
#include "engine/state.h"

#include <inttypes.h>

struct engine_check {
	uv_timer_t timer;
	struct engine *engine;
	char table[STORE_TABLE_CHARS]; /* the last one that was checked */
	int64_t tables;
	struct buf bad; /* what was found */
};

static void check_closed_cb(uv_handle_t *handle)
{
	struct engine_check *check = handle->data;
	buf_free(&check->bad);
	free(check);
}

void engine_end_check(struct engine *engine)
{
	if (engine->check)
		uv_close((uv_handle_t *)&engine->check->timer, check_closed_cb);
	engine->check = NULL;
}

static void check_tell(struct engine_check *check)
{
	struct engine *engine = check->engine;
	char *what,
		*fix = mem_printf(
			"run `sluice daemon stop`, save a copy of %s/sluice.db, then restore a backup from before the "
			"damage, or use the output of `sqlite3 sluice.db .recover`",
			engine->state_dir);
	if (check->bad.len)
		what = mem_printf("the database is damaged: %.600s", buf_text(&check->bad));
	else
		what = mem_printf("the database is sound: %" PRId64 " tables were checked", check->tables);
	struct backend_finding finding = {check->bad.len ? "error" : "ok", what, check->bad.len ? fix : NULL};
	engine_add_findings(engine, &finding, 1);
	free(what);
	free(fix);
	engine_end_check(engine);
}

static void check_timer_cb(uv_timer_t *timer)
{
	struct engine_check *check = timer->data;
	int rc = store_check(check->engine->store, check->table, &check->bad);
	if (rc > 0) {
		check->tables++;
		uv_timer_start(timer, check_timer_cb, 1, 0);
		return;
	}
	if (rc < 0)
		buf_addf(&check->bad, "%s%s", check->bad.len ? "; " : "", store_failure(check->engine->store));
	check_tell(check);
}

void engine_begin_check(struct engine *engine)
{
	struct engine_check *check = mem_alloc(sizeof(*check));
	check->engine = engine;
	check->bad = buf_make(BUF_UNLIMITED);
	uv_timer_init(engine->loop, &check->timer);
	check->timer.data = check;
	uv_timer_start(&check->timer, check_timer_cb, 1, 0);
	engine->check = check;
	engine->examining++;
}
