/* See share.h. What was measured is kept in the store, for the script (or the command) with the files beside it and its
 * parameters, and for the model of the GPU: other values may need other numbers, and a script that was edited is another
 * one. */
#include "engine/share.h"

#include "engine/backends.h"
#include "engine/experiment.h"
#include "engine/folder.h"
#include "engine/live.h"
#include "engine/spec.h"
#include "engine/state.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "spool/paths.h"
#include "spool/ran.h"

#include <errno.h>
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The newest tasks whose memory counts. */
#define SHARE_TASKS_MOST 200
#define SHARE_MODEL_BYTES 1024
/* Of files beside the script: larger ones are data, and of what is beyond the sum only the sizes count. The loop waits
 * meanwhile. */
#define SHARE_FILE_BYTES (1 << 20)
#define SHARE_READ_BYTES (8 << 20)

/* What the backend says of this machine; NULL: tasks run elsewhere. */
static struct node *share_describe(const struct engine_backend *backend)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	struct node *machine = NULL;
	if (!backend || !backend->backend || backend_is(backend->ops, BACKEND_HAS_QUEUE))
		return NULL;
	backend->ops->describe(backend->backend, &w);
	if (node_parse_json(buf_text(&text), text.len, &machine, NULL) < 0)
		machine = NULL;
	buf_free(&text);
	return machine;
}

double engine_card_bytes(const struct engine_backend *backend)
{
	struct node *machine = share_describe(backend);
	const struct node *gpus = node_get(machine, "gpus");
	double least = NAN;
	for (size_t i = 0; gpus && gpus->type == NODE_LIST && i < gpus->count; i++) {
		double bytes = node_get_real(gpus->items[i], "memory_bytes", NAN);
		least = bytes > 0 && !(least <= bytes) ? bytes : least;
	}
	node_free(machine);
	return least;
}

/* Has one of the GPUs before this one the same name? */
static bool share_is_named(const struct node *gpus, size_t before, const char *name)
{
	for (size_t i = 0; i < before; i++) {
		const char *other = node_get_string(gpus->items[i], "name");
		if (other && strcmp(other, name) == 0)
			return true;
	}
	return false;
}

/* The models of this machine's GPUs, each once: "NVIDIA H200". The caller frees it. NULL: none are known (yet).
 * ret_slices: there are MIG slices among them, which have no parts. */
static char *share_model(const struct engine_backend *backend, bool *ret_slices)
{
	struct node *machine = share_describe(backend);
	const struct node *gpus = node_get(machine, "gpus");
	struct buf names = buf_make(SHARE_MODEL_BYTES);
	*ret_slices = false;
	for (size_t i = 0; gpus && gpus->type == NODE_LIST && i < gpus->count; i++) {
		const char *name = node_get_string(gpus->items[i], "name"), *id = node_get_string(gpus->items[i], "id");
		*ret_slices |= id && text_starts(id, "MIG-");
		if (name && *name && !share_is_named(gpus, i, name))
			buf_addf(&names, "%s%s", names.len ? ", " : "", name);
	}
	node_free(machine);
	char *model = names.len ? mem_strdup(buf_text(&names)) : NULL;
	buf_free(&names);
	return model;
}

/* What a file that was submitted adds to the digest: its name, its size, and its content where that is not too large. */
static void share_add_file(const char *path, const char *name, int64_t *left, struct json *out)
{
	struct stat st;
	char hex[65] = "";
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	json_put_string(out, name);
	json_put_int(out, st.st_size);
	*left -= st.st_size <= SHARE_FILE_BYTES ? st.st_size : 0;
	if (st.st_size <= SHARE_FILE_BYTES && *left >= 0 && spool_ran_hash_file(path, hex) == 0)
		json_put_string(out, hex);
}

/* All of them, in the order of their names. */
static void share_add_files(const char *folder, unsigned depth, int64_t *left, struct json *out)
{
	struct dirent **names = NULL;
	int count = depth > LIMIT_DOCUMENT_DEPTH ? -1 : scandir(folder, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		const char *name = names[i]->d_name;
		char *path = mem_printf("%s/%s", folder, name);
		struct stat st;
		bool own = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && lstat(path, &st) == 0;
		if (own && S_ISDIR(st.st_mode)) {
			json_put_string(out, name);
			json_list(out);
			share_add_files(path, depth + 1, left, out);
			json_end(out);
		} else if (own) {
			share_add_file(path, name, left, out);
		}
		free(path);
		free(names[i]);
	}
	free(names);
}

/* Of the script, or the command, the files beside it, and the parameters. False: the script cannot be read. */
static bool share_digest(struct engine *engine, const struct engine_experiment *e, char digest[SPOOL_RAN_CHARS])
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	char *root = engine_folder(engine, e->id, 0, 0), *files = spool_files_dir(root), hex[65] = "";
	char *path = e->spec->script ? mem_printf("%s/%s", files, e->spec->script) : NULL;
	bool good = !path || spool_ran_hash_file(path, hex) == 0;
	int64_t left = SHARE_READ_BYTES;
	const struct node *command = node_get(e->spec->normal, "command");
	const struct node *parameters = node_get(e->spec->normal, "parameters");
	json_list(&w);
	json_put_string(&w, hex);
	if (command)
		node_write_json(command, &w);
	if (parameters)
		node_write_json(parameters, &w);
	json_list(&w);
	share_add_files(files, 0, &left, &w);
	json_end(&w);
	json_end(&w);
	spool_ran_digest(buf_text(&text), text.len, digest);
	buf_free(&text);
	free(path);
	free(files);
	free(root);
	return good;
}

static int share_peak_cb(void *ctx, const struct store_used *used)
{
	double *peak = ctx;
	if (used->gpu_memory_bytes > *peak)
		*peak = used->gpu_memory_bytes;
	return 0;
}

/* Its attempts on GPUs now, the one that has just ended among them. */
static double share_running(const struct engine *engine, const struct engine_experiment *e)
{
	double count = 0;
	for (size_t i = 0; i < engine->live.len; i++)
		count += engine->live.at[i]->experiment == e && engine->live.at[i]->facts.phase <= ATTEMPT_ENDED;
	return count;
}

static int share_keep(struct engine *engine, const struct engine_experiment *e)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	int rc = 0;
	sharing_write(&e->sharing, &w);
	if (e->share.script)
		rc = store_set_sharing(engine->store, e->share.script, e->share.model, buf_text(&text), clock_now_ms());
	buf_free(&text);
	return rc;
}

static void share_apply(struct engine_experiment *e)
{
	size_t parts = sharing_parts(&e->sharing);
	struct buf words = buf_make(BUF_UNLIMITED);
	e->spec->resources.gpu_share = parts > 1 ? 1000 / (int64_t)parts : 0;
	e->changed = true;
	sharing_explain(&e->sharing, &words);
	log_info("e%" PRId64 ": %s", e->id, buf_text(&words));
	buf_free(&words);
}

int engine_share_ended(struct engine *engine, const struct engine_live *live, enum store_state state, enum cause cause)
{
	struct engine_experiment *e = live->experiment;
	double peak = 0, wall_ms = (double)attempt_end_of(&live->facts)->wall_ms;
	size_t parts = live->asked.gpu_share ? (size_t)(1000 / live->asked.gpu_share) : 1;
	/* After a restart of the daemon its attempts may end before others are handed over. */
	int rc = engine_share_recall(engine, e);
	if (rc < 0 || !e->spec->resources.share_auto || e->share.slices)
		return rc;
	if (state == STORE_ERROR && cause == CAUSE_SHARED) {
		sharing_fail(&e->sharing, parts);
		share_apply(e);
		return share_keep(engine, e);
	}
	if (state != STORE_FINISHED || !(wall_ms > 0))
		return 0;
	rc = store_each_used(engine->store, e->id, SHARE_TASKS_MOST, share_peak_cb, &peak);
	if (rc < 0)
		return rc;
	sharing_set_memory(&e->sharing, peak, e->share.card_bytes);
	if (sharing_take(&e->sharing, parts, share_running(engine, e), wall_ms))
		share_apply(e);
	return share_keep(engine, e);
}

int engine_share_recall(struct engine *engine, struct engine_experiment *e)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct node *measured = NULL;
	char digest[SPOOL_RAN_CHARS];
	if (!e->spec->resources.share_auto || e->share.model)
		return 0;
	e->share.model = share_model(e->backend, &e->share.slices);
	if (!e->share.model || e->share.slices)
		return 0; /* nvidia-smi has not answered yet; or there are no parts */
	e->share.card_bytes = engine_card_bytes(e->backend);
	if (share_digest(engine, e, digest))
		e->share.script = mem_strdup(digest);
	int rc = e->share.script ? store_read_sharing(engine->store, digest, e->share.model, &text) : -ENOENT;
	if (rc == 0 && node_parse_json(buf_text(&text), text.len, &measured, NULL) == 0 &&
	    sharing_read(measured, &e->sharing))
		share_apply(e);
	node_free(measured);
	buf_free(&text);
	return rc == -ENOENT ? 0 : rc;
}

void engine_share_change(struct engine_experiment *e)
{
	size_t parts = sharing_parts(&e->sharing);
	free(e->share.model);
	free(e->share.script);
	e->share.model = e->share.script = NULL;
	if (e->spec->resources.share_auto && parts > 1)
		e->spec->resources.gpu_share = 1000 / (int64_t)parts;
}

void engine_write_sharing(const struct engine_experiment *e, struct json *out)
{
	struct buf words = buf_make(BUF_UNLIMITED);
	if (e && e->spec->resources.share_auto && e->share.slices)
		buf_add_text(&words, "1 task on a GPU: MIG slices are not parted");
	else if (e && e->spec->resources.share_auto)
		sharing_explain(&e->sharing, &words);
	json_key_string(out, "sharing", words.len ? buf_text(&words) : NULL);
	buf_free(&words);
}
