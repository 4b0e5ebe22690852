/* See trouble.h. */
#include "engine/trouble.h"

#include "engine/event.h"
#include "engine/state.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/pace.h"

/* Takes the text. NULL: it has passed. */
static void trouble_set(struct engine *engine, char *take)
{
	bool same = take ? engine->trouble && strcmp(take, engine->trouble) == 0 : !engine->trouble;
	if (same) {
		free(take);
		return;
	}
	if (take)
		log_error("%s", take);
	else
		log_info("the state folder can be written to again");
	free(engine->trouble);
	engine->trouble = take;
	engine_tell_trouble(engine);
	engine_soon(engine); /* an idle engine must look again, too */
}

/* NULL: there is room. */
static char *trouble_of_folder(struct engine *engine)
{
	int rc = fs_try_writing(engine->state_dir);
	engine->tried_ms = clock_mono_ms();
	return rc == 0
		? NULL
		: mem_printf("nothing can be written to the state folder %s: %s. %s. Tasks that run go on; nothing "
			     "new is recorded or started until then",
			     engine->state_dir, strerror(-rc), fs_write_remedy(rc));
}

void engine_trouble_begin(struct engine *engine, const struct error *why)
{
	char *folder = trouble_of_folder(engine);
	engine->trouble_ms = folder ? 0 : clock_mono_ms();
	trouble_set(engine, folder ? folder : mem_printf("nothing can be recorded: %s; trying again", why->text));
}

void engine_trouble_end(struct engine *engine)
{
	/* A small write may find room on a full disk: there the next look at the folder decides. */
	if (!engine->trouble_ms)
		return;
	engine->trouble_ms = 0;
	trouble_set(engine, NULL);
}

void engine_look_for_trouble(struct engine *engine)
{
	int64_t now = clock_mono_ms();
	if (engine->tried_ms && now - engine->tried_ms < TROUBLE_LOOK_MS)
		return;
	char *folder = trouble_of_folder(engine);
	/* The folder has room, but a write to the database failed a moment ago: the next one decides. */
	if (!folder && engine->trouble_ms && now - engine->trouble_ms < TROUBLE_STAYS_MS)
		return;
	trouble_set(engine, folder);
}

const char *engine_trouble(struct engine *engine)
{
	engine_look_for_trouble(engine);
	return engine->trouble;
}
