/* See home.h. */
#include "engine/home.h"

#include "engine/state.h"

#include "base/fs.h"
#include "base/log.h"

#include <sys/stat.h>

#define HOME_BYTES 8192

static void home_write(const struct engine *engine)
{
	char *path = mem_printf("%s/home", engine->state_dir);
	struct error err;
	if (fs_write(path, engine->state_dir, strlen(engine->state_dir), 0600, true, &err) < 0)
		log_warning("%s", err.text);
	free(path);
}

/* Another folder than ours that has a database of its own. */
static bool home_is_elsewhere(const char *home, const char *state_dir)
{
	struct stat theirs, ours, db;
	char *path = mem_printf("%s/sluice.db", home);
	bool elsewhere = stat(home, &theirs) == 0 && stat(state_dir, &ours) == 0 && stat(path, &db) == 0 &&
		(theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino);
	free(path);
	return elsewhere;
}

void engine_find_home(struct engine *engine)
{
	struct buf home = buf_make(HOME_BYTES);
	char *path = mem_printf("%s/home", engine->state_dir);
	bool known = fs_read(path, HOME_BYTES, &home, NULL) == 0 && home.len;
	if (known && home_is_elsewhere(buf_text(&home), engine->state_dir)) {
		engine->copied_from = mem_strdup(buf_text(&home));
		engine->copied_until = INT64_MAX;
		log_warning("this state folder is a copy of %s: what runs there is left alone", engine->copied_from);
	} else if (!known || strcmp(buf_text(&home), engine->state_dir) != 0) {
		home_write(engine);
	}
	free(path);
	buf_free(&home);
}

bool engine_is_foreign(const struct engine *engine, const struct engine_live *live)
{
	return engine->copied_from && live->id <= engine->copied_until;
}

void engine_settle_home(struct engine *engine)
{
	int64_t last = 0;
	if (!engine->copied_from)
		return;
	for (size_t i = 0; i < engine->live.len; i++)
		if (engine_is_foreign(engine, engine->live.at[i]) && engine->live.at[i]->id > last)
			last = engine->live.at[i]->id;
	engine->copied_until = last;
	if (last)
		return;
	home_write(engine);
	free(engine->copied_from);
	engine->copied_from = NULL;
}
