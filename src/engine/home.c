/* See home.h. */
#include "engine/home.h"

#include "engine/state.h"

#include "store/rows.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"

#include <errno.h>
#include <sys/stat.h>

#define HOME_BYTES 16384

/* NULL: there is none, or it makes no sense. */
static struct node *home_read(const char *folder)
{
	struct buf text = buf_make(HOME_BYTES);
	struct node *home = NULL;
	char *path = mem_printf("%s/home", folder);
	if (fs_read(path, HOME_BYTES, &text, NULL) < 0 || node_parse_json(buf_text(&text), text.len, &home, NULL) < 0 ||
	    !node_get_string(home, "id") || !node_get_string(home, "path")) {
		node_free(home);
		home = NULL;
	}
	free(path);
	buf_free(&text);
	return home;
}

static int home_write(const struct engine *engine, const char *id, struct error *err)
{
	struct buf text = buf_make(HOME_BYTES);
	struct json out = json_to(&text);
	json_map(&out);
	json_key_string(&out, "id", id);
	json_key_string(&out, "path", engine->state_dir);
	json_key_string(&out, "copied_from", engine->copied_from);
	json_key_int(&out, "copied_until", engine->copied_until);
	json_end(&out);
	buf_add_char(&text, '\n');
	char *path = mem_printf("%s/home", engine->state_dir);
	int rc = fs_write(path, buf_text(&text), text.len, 0600, true, err);
	free(path);
	buf_free(&text);
	return rc;
}

/* Is the folder at the path that `home` names another one, with the same id? */
static bool home_is_copied(const struct node *home, const char *state_dir)
{
	const char *path = node_get_string(home, "path");
	struct stat theirs, ours;
	if (stat(path, &theirs) < 0 || stat(state_dir, &ours) < 0 ||
	    (theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino))
		return false;
	struct node *other = home_read(path);
	bool same = other && strcmp(node_get_string(other, "id"), node_get_string(home, "id")) == 0;
	node_free(other);
	return same;
}

int engine_find_home(struct engine *engine, struct error *err)
{
	struct node *home = home_read(engine->state_dir);
	char id[TOKEN_ID_CHARS];
	int rc = 0;
	token_make_id(id);
	if (home && home_is_copied(home, engine->state_dir)) {
		engine->copied_from = mem_strdup(node_get_string(home, "path"));
		rc = store_last_attempt(engine->store, &engine->copied_until);
		if (rc == 0)
			rc = home_write(engine, id, err);
		log_warning("this state folder is a copy of %s: what runs there is left alone", engine->copied_from);
	} else {
		engine->copied_from = mem_strdup(node_get_string(home, "copied_from"));
		engine->copied_until = node_get_int(home, "copied_until", 0);
		struct error why;
		/* New, or moved. Without the file only a later copy is not known as one. */
		if ((!home || strcmp(node_get_string(home, "path"), engine->state_dir) != 0) &&
		    home_write(engine, home ? node_get_string(home, "id") : id, &why) < 0)
			log_warning("%s", why.text);
	}
	node_free(home);
	/* An earlier version may have removed the last attempts of the original, and forgotten their ids. */
	return rc == 0 && engine->copied_from ? store_leave_attempts(engine->store, engine->copied_until) : rc;
}

bool engine_is_foreign(const struct engine *engine, int64_t attempt)
{
	return engine->copied_from && attempt <= engine->copied_until;
}
