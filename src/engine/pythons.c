/* See pythons.h. */
#include "engine/pythons.h"

#include "base/clock.h"
#include "base/pace.h"
#include "engine/state.h"
#include "spool/pythons.h"

#include <stdlib.h>

static void pythons_work_cb(uv_work_t *work)
{
	struct engine *engine = work->data;
	struct json out = json_to(&engine->pythons.next);
	spool_python_list(engine->state_dir, getenv("HOME"), getenv("PATH"), &out);
}

static void pythons_done_cb(uv_work_t *work, int status)
{
	struct engine *engine = work->data;
	struct engine_pythons *p = &engine->pythons;
	(void)status;
	engine->questions--;
	buf_free(&p->text);
	p->text = p->next;
	p->looking = false;
	p->looked_ms = clock_mono_ms();
}

void engine_write_pythons(struct engine *engine, struct json *out)
{
	struct engine_pythons *p = &engine->pythons;
	if (!p->looking && (!p->text.len || clock_mono_ms() - p->looked_ms > PYTHONS_LOOK_MS)) {
		p->looking = true;
		p->next = buf_make(BUF_UNLIMITED);
		p->work.data = engine;
		engine->questions++;
		uv_queue_work(engine->loop, &p->work, pythons_work_cb, pythons_done_cb);
	}
	json_map(out);
	json_key_bool(out, "looking", p->looking);
	json_key(out, "environments");
	json_raw(out, p->text.len ? buf_text(&p->text) : "[]");
	json_end(out);
}
