/* One writer and one reader of the descriptor. The reader checks every member and passes over unknown ones: an older or a
 * newer daemon may have written the file. */
#include "spool/descriptor.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "spool/paths.h"
#include "spool/python.h"

#include <errno.h>
#include <signal.h>

static void descriptor_put_node(struct json *out, const char *key, const struct node *node)
{
	json_key(out, key);
	if (node)
		node_write_json(node, out);
	else
		json_put_null(out);
}

void spool_descriptor_put(const struct spool_descriptor *d, struct json *out)
{
	json_map(out);
	json_key_string(out, "sluice", SLUICE_VERSION);
	json_key_string(out, "token", d->token);
	json_key_int(out, "index", d->index);
	json_key_string(out, "experiment", d->experiment);
	json_key_int(out, "task", d->task);
	json_key_int(out, "attempt", d->attempt);
	json_key_string(out, "files_dir", d->files_dir);
	json_key_string(out, "task_dir", d->task_dir);
	json_key_string(out, "attempt_dir", d->attempt_dir);
	json_key_string(out, "script", d->script);
	json_key_string(out, "caller", d->caller);
	json_key_string(out, "ran_dir", d->ran_dir);
	json_key_string(out, "python", d->python);
	descriptor_put_node(out, "modules", d->modules);
	json_key_int(out, "cpus", d->cpus);
	json_key_int(out, "gpu_share", d->gpu_share);
	json_key_string(out, "warm_dir", d->warm_dir);
	json_key_string(out, "results", d->results);
	descriptor_put_node(out, "argv", d->argv);
	descriptor_put_node(out, "setup", d->setup);
	descriptor_put_node(out, "env", d->env);
	descriptor_put_node(out, "params", d->params);
	descriptor_put_node(out, "metrics", d->metrics);
	descriptor_put_node(out, "objectives", d->objectives);
	json_key_bool(out, "fresh", d->fresh);
	json_key_real(out, "stall_times", d->stall_times);
	json_key_int(out, "stall_after_ms", d->stall_after_ms);
	json_key_bool(out, "stall_ends", d->stall_ends);
	json_key_string(out, "power_limit", d->power_limit);
	json_key_string(out, "gpus", d->gpus);
	json_key_int(out, "copy_limit_bytes", d->copy_limit_bytes);
	json_key_int(out, "grace_ms", d->grace_ms);
	json_key_int(out, "checkpoint_signal", d->checkpoint_signal);
	json_end(out);
}

int spool_descriptor_write(const char *batch_dir, const struct spool_descriptor *d, struct error *err)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&text);
	char *path = spool_item_path(batch_dir, d->index, SPOOL_DESCRIPTOR);
	spool_descriptor_put(d, &out);
	int rc = fs_write(path, buf_text(&text), text.len, SPOOL_FILE_MODE, false, err);
	free(path);
	buf_free(&text);
	return rc;
}

static const struct node *descriptor_get(const struct node *tree, const char *key, enum node_type type)
{
	const struct node *node = node_get(tree, key);
	return node && node->type == type ? node : NULL;
}

static bool descriptor_all_strings(const struct node *list)
{
	for (size_t i = 0; list && i < list->count; i++)
		if (!node_string(list->items[i]))
			return false;
	return true;
}

static bool descriptor_is_folder(const char *path)
{
	return path && path[0] == '/';
}

static int descriptor_check(const struct spool_descriptor *d, const char *name, struct error *err)
{
	if (!d->argv || !d->argv->count || !descriptor_all_strings(d->argv))
		return errorf(err, -EINVAL, "%s: argv is not a list of texts", name);
	if (!descriptor_all_strings(d->setup) || !descriptor_all_strings(d->env) ||
	    !descriptor_all_strings(d->objectives))
		return errorf(err, -EINVAL, "%s: setup, env and objectives must hold texts", name);
	if (!descriptor_is_folder(d->files_dir) || !descriptor_is_folder(d->task_dir) ||
	    !descriptor_is_folder(d->attempt_dir))
		return errorf(err, -EINVAL, "%s: files_dir, task_dir and attempt_dir must be absolute", name);
	if ((d->script && !fs_is_safe_relative(d->script)) || (d->caller && !descriptor_is_folder(d->caller)) ||
	    (d->ran_dir && !descriptor_is_folder(d->ran_dir)) || (d->python && !spool_python_is_choice(d->python)) ||
	    !descriptor_all_strings(d->modules) || d->cpus < 0 || (d->warm_dir && !descriptor_is_folder(d->warm_dir)))
		return errorf(err, -EINVAL,
			      "%s: script, caller, ran_dir, python, modules, cpus or warm_dir is not valid", name);
	if (d->results && !fs_is_safe_relative(d->results))
		return errorf(err, -EINVAL, "%s: results leaves the work folder", name);
	if (!d->experiment || d->task < 1 || d->attempt < 1)
		return errorf(err, -EINVAL, "%s: experiment, task or attempt is missing", name);
	if (d->copy_limit_bytes < 0)
		return errorf(err, -EINVAL, "%s: copy_limit_bytes is negative", name);
	if (d->grace_ms < 0)
		return errorf(err, -EINVAL, "%s: grace_ms is negative", name);
	return 0;
}

static struct spool_descriptor descriptor_take(struct node *tree)
{
	int64_t index = node_get_int(tree, "index", 0), signal = node_get_int(tree, "checkpoint_signal", 0);
	return (struct spool_descriptor){
		.tree = tree,
		.token = node_get_string(tree, "token"),
		.experiment = node_get_string(tree, "experiment"),
		.index = index >= 0 && index <= UINT32_MAX ? (uint32_t)index : 0,
		.task = node_get_int(tree, "task", 0),
		.attempt = node_get_int(tree, "attempt", 0),
		.files_dir = node_get_string(tree, "files_dir"),
		.task_dir = node_get_string(tree, "task_dir"),
		.attempt_dir = node_get_string(tree, "attempt_dir"),
		.script = node_get_string(tree, "script"),
		.caller = node_get_string(tree, "caller"),
		.ran_dir = node_get_string(tree, "ran_dir"),
		.python = node_get_string(tree, "python"),
		.modules = descriptor_get(tree, "modules", NODE_LIST),
		.cpus = node_get_int(tree, "cpus", 0),
		.gpu_share = node_get_int(tree, "gpu_share", 0),
		.warm_dir = node_get_string(tree, "warm_dir"),
		.results = node_get_string(tree, "results"),
		.argv = descriptor_get(tree, "argv", NODE_LIST),
		.setup = descriptor_get(tree, "setup", NODE_LIST),
		.env = descriptor_get(tree, "env", NODE_MAP),
		.params = descriptor_get(tree, "params", NODE_MAP),
		.metrics = descriptor_get(tree, "metrics", NODE_MAP),
		.objectives = descriptor_get(tree, "objectives", NODE_LIST),
		.fresh = node_get_bool(tree, "fresh", false),
		.stall_times = node_get_real(tree, "stall_times", 0),
		.stall_after_ms = node_get_int(tree, "stall_after_ms", 0),
		.stall_ends = node_get_bool(tree, "stall_ends", false),
		.power_limit = node_get_string(tree, "power_limit"),
		.gpus = node_get_string(tree, "gpus"),
		.copy_limit_bytes = node_get_int(tree, "copy_limit_bytes", LIMIT_COPY_BYTES),
		.grace_ms = node_get_int(tree, "grace_ms", SPOOL_GRACE_MS),
		.checkpoint_signal = signal > 0 && signal < NSIG ? (int)signal : 0,
	};
}

int spool_descriptor_parse(const char *name, const char *text, size_t len, struct spool_descriptor *ret,
			   struct error *err)
{
	struct node *tree = NULL;
	struct error why = {0};
	int rc = node_parse_json(text, len, &tree, &why);
	if (rc < 0)
		return errorf(err, rc, "%s:%d: %s", name, why.line, why.text);
	struct spool_descriptor d = descriptor_take(tree);
	rc = descriptor_check(&d, name, err);
	if (rc < 0) {
		node_free(tree);
		return rc;
	}
	d.work_dir = spool_work_dir(d.task_dir);
	d.checkpoint_dir = spool_checkpoint_dir(d.task_dir);
	d.params_path = spool_params_path(d.task_dir);
	d.report_path = spool_path(d.attempt_dir, SPOOL_REPORT);
	d.stop_path = spool_path(d.attempt_dir, SPOOL_STOP);
	*ret = d;
	return 0;
}

int spool_descriptor_read(const char *batch_dir, uint32_t index, struct spool_descriptor *ret, struct error *err)
{
	char *path = spool_item_path(batch_dir, index, SPOOL_DESCRIPTOR);
	struct buf text = buf_make(LIMIT_DOCUMENT_BYTES);
	int rc = fs_read(path, LIMIT_DOCUMENT_BYTES, &text, err);
	if (rc == 0)
		rc = spool_descriptor_parse(path, buf_text(&text), text.len, ret, err);
	buf_free(&text);
	free(path);
	return rc;
}

int spool_descriptor_find(const char *batch_dir, uint32_t index, char **ret_below, struct error *err)
{
	char *path = spool_item_path(batch_dir, index, SPOOL_DESCRIPTOR);
	struct buf text = buf_make(LIMIT_DOCUMENT_BYTES);
	struct spool_descriptor d = {0};
	struct error why;
	int rc = fs_read(path, LIMIT_DOCUMENT_BYTES, &text, &why);
	bool usable = rc == 0 && spool_descriptor_parse(path, buf_text(&text), text.len, &d, NULL) == 0;
	if (rc < 0 && rc != -ENOENT && rc != -E2BIG) {
		errorf(err, rc, "%s", why.text);
	} else {
		*ret_below = usable && text_starts(d.attempt_dir, d.task_dir)
			? mem_strdup(d.attempt_dir + strlen(d.task_dir))
			: NULL;
		rc = 0;
	}
	spool_descriptor_free(&d);
	buf_free(&text);
	free(path);
	return rc;
}

void spool_descriptor_free(struct spool_descriptor *d)
{
	node_free(d->tree);
	free(d->work_dir);
	free(d->checkpoint_dir);
	free(d->params_path);
	free(d->report_path);
	free(d->stop_path);
	*d = (struct spool_descriptor){0};
}
