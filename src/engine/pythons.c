/* See pythons.h. */
#include "engine/pythons.h"

#include "engine/state.h"

#include "base/clock.h"
#include "base/pace.h"
#include "spool/pythons.h"

#include <stdlib.h>

/* Has what it needs: it may outlive the engine. */
struct pythons_scan {
	uv_work_t work;
	struct engine *engine; /* NULL: it has closed */
	char *state_dir;
	struct buf text;
};

static void pythons_work_cb(uv_work_t *work)
{
	struct pythons_scan *scan = work->data;
	struct json out = json_to(&scan->text);
	spool_python_list(scan->state_dir, getenv("HOME"), getenv("PATH"), &out);
}

static void pythons_done_cb(uv_work_t *work, int status)
{
	struct pythons_scan *scan = work->data;
	(void)status;
	if (scan->engine) {
		struct engine_pythons *p = &scan->engine->pythons;
		buf_free(&p->text);
		p->text = scan->text;
		p->scan = NULL;
		p->looked_ms = clock_mono_ms();
	} else {
		buf_free(&scan->text);
	}
	free(scan->state_dir);
	free(scan);
}

static void pythons_start(struct engine *engine)
{
	struct pythons_scan *scan = mem_alloc(sizeof(*scan));
	*scan = (struct pythons_scan){
		.engine = engine, .state_dir = mem_strdup(engine->state_dir), .text = buf_make(BUF_UNLIMITED)};
	scan->work.data = scan;
	engine->pythons.scan = scan;
	uv_queue_work(engine->loop, &scan->work, pythons_work_cb, pythons_done_cb);
}

void engine_write_pythons(struct engine *engine, struct json *out)
{
	struct engine_pythons *p = &engine->pythons;
	if (!p->scan && (!p->text.len || clock_mono_ms() - p->looked_ms > PYTHONS_LOOK_MS))
		pythons_start(engine);
	json_map(out);
	json_key_bool(out, "looking", p->scan);
	json_key(out, "environments");
	json_put_raw(out, p->text.len ? buf_text(&p->text) : "[]");
	json_end(out);
}

void engine_leave_pythons(struct engine *engine)
{
	if (engine->pythons.scan)
		engine->pythons.scan->engine = NULL;
	engine->pythons.scan = NULL;
}
