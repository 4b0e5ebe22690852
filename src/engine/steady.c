/* See steady.h. */
#include "engine/steady.h"

#include "engine/state.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/proc.h"

#define STEADY_BYTES 4096

static void steady_write(const struct engine *engine)
{
	struct buf text = buf_make(STEADY_BYTES);
	struct json out = json_to(&text);
	struct error err;
	json_map(&out);
	json_key_string(&out, "boot_id", proc_boot_id());
	json_key_int(&out, "offset_ms", engine->clock_offset_ms);
	json_end(&out);
	buf_add_char(&text, '\n');
	char *path = mem_printf("%s/clock", engine->state_dir);
	if (fs_write(path, buf_text(&text), text.len, 0600, false, &err) < 0)
		log_warning("%s; after a restart the system's clock counts", err.text);
	free(path);
	buf_free(&text);
}

/* What an earlier daemon on this boot went by. */
static bool steady_read(const struct engine *engine, int64_t *ret_offset_ms)
{
	struct buf text = buf_make(STEADY_BYTES);
	struct node *clock = NULL;
	char *path = mem_printf("%s/clock", engine->state_dir);
	bool good = fs_read(path, STEADY_BYTES, &text, NULL) >= 0 &&
		node_parse_json(buf_text(&text), text.len, &clock, NULL) >= 0 && node_get_string(clock, "boot_id") &&
		strcmp(node_get_string(clock, "boot_id"), proc_boot_id()) == 0;
	if (good)
		*ret_offset_ms = node_get_int(clock, "offset_ms", clock_offset_ms());
	free(path);
	node_free(clock);
	buf_free(&text);
	return good;
}

static bool steady_is_off(const struct engine *engine)
{
	int64_t jump = clock_offset_ms() - engine->clock_offset_ms;
	return jump > STEADY_JUMP_MS || jump < -STEADY_JUMP_MS;
}

void engine_hold_clock(struct engine *engine)
{
	bool known = steady_read(engine, &engine->clock_offset_ms);
	if (!known)
		engine->clock_offset_ms = clock_offset_ms();
	clock_hold(engine->clock_offset_ms);
	if (!known)
		steady_write(engine);
	else if (steady_is_off(engine))
		log_warning("the system's clock was set while experiments were open: they go on by the old time");
}

void engine_correct_clock(struct engine *engine)
{
	if (engine->experiments.len || !steady_is_off(engine))
		return;
	engine->clock_offset_ms = clock_offset_ms();
	clock_hold(engine->clock_offset_ms);
	log_info("the system's clock was set: taken over");
	steady_write(engine);
}
