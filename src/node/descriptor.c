/* Reading the descriptor. The daemon wrote it, maybe an older or newer one: every member is checked, and
 * unknown ones are passed over. */
#include "node/descriptor.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/limits.h"

#include <errno.h>
#include <inttypes.h>

static int descriptor_read_json(const char *path, struct node **ret, struct error *err)
{
	struct buf text = buf_make(LIMIT_DOCUMENT_BYTES);
	struct error why;
	int rc = fs_read(path, LIMIT_DOCUMENT_BYTES, &text, err);
	if (rc == 0) {
		rc = node_parse_json(buf_text(&text), text.len, ret, &why);
		if (rc < 0)
			errorf(err, rc, "%s:%d: %s", path, why.line, why.text);
	}
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

static int descriptor_check(const struct descriptor *d, const char *path, struct error *err)
{
	if (!d->argv || !d->argv->count || !descriptor_all_strings(d->argv))
		return errorf(err, -EINVAL, "%s: argv is not a list of texts", path);
	if (!descriptor_all_strings(d->setup) || !descriptor_all_strings(d->env))
		return errorf(err, -EINVAL, "%s: setup and env must hold texts", path);
	if (!descriptor_is_folder(d->files_dir) || !descriptor_is_folder(d->task_dir) ||
	    !descriptor_is_folder(d->attempt_dir))
		return errorf(err, -EINVAL, "%s: files_dir, task_dir and attempt_dir must be absolute", path);
	if (d->results && !fs_is_safe_relative(d->results))
		return errorf(err, -EINVAL, "%s: results leaves the work folder", path);
	if (!d->experiment || d->task < 1 || d->attempt < 1)
		return errorf(err, -EINVAL, "%s: experiment, task or attempt is missing", path);
	return 0;
}

static void descriptor_read_slot(struct descriptor *d, const char *batch_dir, uint64_t index)
{
	char *path = mem_printf("%s/%" PRIu64 ".slot", batch_dir, index);
	if (descriptor_read_json(path, &d->slot, NULL) < 0)
		d->slot = NULL;
	free(path);
	if (!d->slot)
		return;
	if (node_get_string(d->slot, "gpus"))
		d->gpus = node_get_string(d->slot, "gpus");
	d->gpus_hidden = node_get_int(d->slot, "gpus_hidden", 0);
	d->time_ms = node_get_int(d->slot, "time_ms", 0);
	d->signal_before_ms = node_get_int(d->slot, "signal_before_ms", 0);
	d->checkpoint_signal = (int)node_get_int(d->slot, "checkpoint_signal", 0);
}

int descriptor_read(const char *batch_dir, uint64_t index, struct descriptor *ret, struct error *err)
{
	char *path = mem_printf("%s/%" PRIu64 ".json", batch_dir, index);
	struct descriptor d = {0};
	int rc = descriptor_read_json(path, &d.tree, err);
	if (rc < 0)
		goto out;
	d.token = node_get_string(d.tree, "token");
	d.experiment = node_get_string(d.tree, "experiment");
	d.index = (int64_t)index;
	d.task = node_get_int(d.tree, "task", 0);
	d.attempt = node_get_int(d.tree, "attempt", 0);
	d.files_dir = node_get_string(d.tree, "files_dir");
	d.task_dir = node_get_string(d.tree, "task_dir");
	d.attempt_dir = node_get_string(d.tree, "attempt_dir");
	d.results = node_get_string(d.tree, "results");
	d.argv = descriptor_get(d.tree, "argv", NODE_LIST);
	d.setup = descriptor_get(d.tree, "setup", NODE_LIST);
	d.env = descriptor_get(d.tree, "env", NODE_MAP);
	d.params = descriptor_get(d.tree, "params", NODE_MAP);
	d.metrics = descriptor_get(d.tree, "metrics", NODE_MAP);
	d.push = descriptor_get(d.tree, "push", NODE_MAP);
	d.fresh = node_get_bool(d.tree, "fresh", false);
	d.grace_ms = node_get_int(d.tree, "grace_ms", 10000);
	d.gpus = node_get_string(d.tree, "gpus");
	rc = descriptor_check(&d, path, err);
	if (rc < 0)
		goto out;
	descriptor_read_slot(&d, batch_dir, index);
	d.work_dir = mem_printf("%s/work", d.task_dir);
	d.checkpoint_dir = mem_printf("%s/checkpoint", d.task_dir);
	d.params_path = mem_printf("%s/params.json", d.task_dir);
	d.report_path = mem_printf("%s/report.jsonl", d.attempt_dir);
	d.stop_path = mem_printf("%s/stop", d.attempt_dir);
	*ret = d;
	d = (struct descriptor){0};
out:
	descriptor_free(&d);
	free(path);
	return rc;
}

void descriptor_free(struct descriptor *d)
{
	node_free(d->tree);
	node_free(d->slot);
	free(d->work_dir);
	free(d->checkpoint_dir);
	free(d->params_path);
	free(d->report_path);
	free(d->stop_path);
	*d = (struct descriptor){0};
}
