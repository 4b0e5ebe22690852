/* Another text for the script of an experiment: see engine_replace_script. The one before is kept beside the files; the new
 * one takes its place at once, so that an attempt finds one or the other. */

#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/load.h"
#include "engine/spec.h"
#include "engine/transact.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "spool/paths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

struct replace {
	struct engine_experiment *experiment;
	char *kept; /* where the one before is, relative to the experiment's folder */
};

static int replace_record(struct engine *engine, void *ctx, struct error *err)
{
	struct replace *replace = ctx;
	char when[CLOCK_TEXT_CHARS];
	(void)err;
	clock_format(clock_now_ms(), when);
	char *text = mem_printf("the script was replaced at %s; the one before is kept as %s", when, replace->kept);
	int rc = store_set_warning(engine_store(engine), replace->experiment->id, STORE_WARNS_SCRIPT, text);
	replace->experiment->changed = true;
	free(text);
	return rc;
}

/* Copies the text of the one before, and puts the new one in its place with the same mode. */
static int replace_write(const char *root, const char *script, const char *kept, const char *text, size_t len,
			 struct error *err)
{
	char *files = spool_files_dir(root), *path = mem_printf("%s/%s", files, script);
	char *folder = mem_printf("%s/replaced", root), *copy = mem_printf("%s/%s", root, kept);
	struct buf before = buf_make(LIMIT_BODY_BYTES);
	struct stat st;
	int rc = stat(path, &st) < 0 ? errorf(err, -errno, "%s: %s", path, strerror(errno)) : 0;
	if (rc == 0)
		rc = fs_read(path, LIMIT_BODY_BYTES, &before, err);
	if (rc == 0)
		rc = fs_make_dirs(folder, SPOOL_FOLDER_MODE, err);
	if (rc == 0)
		rc = fs_write(copy, buf_text(&before), before.len, SPOOL_FILE_MODE, true, err);
	if (rc == 0)
		rc = fs_write(path, text, len, st.st_mode & 0777, true, err);
	buf_free(&before);
	free(copy);
	free(folder);
	free(path);
	free(files);
	return rc;
}

int engine_replace_script(struct engine *engine, int64_t experiment, const char *text, size_t len, struct error *err)
{
	struct replace replace = {0};
	int rc = engine_open_experiment(engine, experiment, &replace.experiment, err);
	if (rc < 0)
		return rc;
	const char *script = replace.experiment->spec->script;
	if (!script)
		return errorf(err, -EINVAL, "e%" PRId64 " has no script to replace: it runs a command", experiment);
	const char *slash = strrchr(script, '/');
	char *root = engine_folder(engine, experiment, 0, 0);
	replace.kept = mem_printf("replaced/%" PRId64 "-%s", clock_now_ms(), slash ? slash + 1 : script);
	rc = replace_write(root, script, replace.kept, text, len, err);
	if (rc == 0)
		rc = engine_transact(engine, replace_record, &replace, err);
	free(replace.kept);
	free(root);
	return rc;
}
