/* `sluice tune-resources ID`: the experiment file for the next time, with the daemon's advice about resources in it. */
#include "base/fs.h"
#include "cli/advice.h"
#include "cli/verbs.h"
#include "cli/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const struct verb_option tune_options[] = {
	{"o,output", "FILE", "write it to this file, which must not exist yet (default: print it)"},
	{"json", NULL, "print only the daemon's advice, as JSON"},
	{0},
};

void advice_show(const struct node *advice, const struct term *term, struct buf *out)
{
	const struct node *items = node_get(advice, "items");
	for (size_t i = 0; items && items->type == NODE_LIST && i < items->count; i++) {
		const char *key = node_get_string(items->items[i], "key");
		const char *value = node_get_string(items->items[i], "value");
		struct buf line = buf_make(4096);
		buf_add_text(&line, node_get_string(items->items[i], "text"));
		if (key && value)
			buf_addf(&line, " (%s: %s)", key, value);
		view_line(out, term, "advice", buf_text(&line));
		buf_free(&line);
	}
}

/* Puts what is advised into `resources`. Returns how many keys were changed. */
static size_t tune_apply(struct node *spec, const struct node *advice, struct buf *out)
{
	const struct node *items = node_get(advice, "items");
	struct node *resources = node_get(spec, "resources");
	size_t changed = 0;
	if (!resources || resources->type != NODE_MAP) {
		resources = node_new(NODE_MAP);
		node_add(spec, "resources", resources);
	}
	for (size_t i = 0; items && items->type == NODE_LIST && i < items->count; i++) {
		const char *key = node_get_string(items->items[i], "key");
		const char *value = node_get_string(items->items[i], "value");
		buf_addf(out, "# %s\n", node_get_string(items->items[i], "text"));
		if (!key || !value)
			continue;
		node_add(resources, key, node_new_scalar(value, strlen(value)));
		changed++;
	}
	return changed;
}

static int tune_write(const char *path, const struct buf *text, struct error *err)
{
	struct stat st;
	if (!path) {
		fwrite(buf_text(text), 1, text->len, stdout);
		return 0;
	}
	if (stat(path, &st) == 0)
		return errorf(err, -EEXIST, "%s exists already: name another file", path);
	int rc = fs_write(path, buf_text(text), text->len, 0644, false, err);
	if (rc == 0)
		printf("written to %s\n", path);
	return rc;
}

static int tune_make(struct call *call, const struct target *target, struct error *err)
{
	struct node *advice = NULL, *experiment = NULL;
	struct buf json = buf_make(BUF_UNLIMITED), text = buf_make(BUF_UNLIMITED);
	char *path = target_path(target, "/advice"), *whole = target_path(target, "");
	int rc = client_get(&call->client, path, &json, &advice, err);
	if (rc == 0 && options_has(&call->options, "json")) {
		puts(buf_text(&json));
		goto out;
	}
	if (rc == 0)
		rc = client_get(&call->client, whole, NULL, &experiment, err);
	struct node *spec = rc == 0 ? node_get(experiment, "spec") : NULL;
	if (spec && !tune_apply(spec, advice, &text)) {
		printf("%s: nothing to change, by %" PRId64 " ended tasks%s\n", target->experiment,
		       node_get_int(advice, "tasks", 0),
		       node_get_int(advice, "tasks", 0) < 3 ? "; at least 3 are needed" : "");
	} else if (spec) {
		node_write_yaml(spec, &text);
		rc = tune_write(options_get(&call->options, "output"), &text, err);
	}
out:
	free(path);
	free(whole);
	node_free(advice);
	node_free(experiment);
	buf_free(&json);
	buf_free(&text);
	return rc;
}

static int tune_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	int status = call_begin(&call, &verb_tune, argc, argv, 1, 1);
	if (status)
		return status;
	if (target_parse_experiment(call.options.args.at[0], &target, &err) < 0)
		return call_end(&call, call_usage(&verb_tune, &err));
	status = call_connect(&call);
	if (!status && tune_make(&call, &target, &err) < 0)
		status = call_fail(&err);
	return call_end(&call, status);
}

const struct verb verb_tune = {
	.name = "tune-resources",
	.arguments = "ID [options]",
	.summary = "the experiment file for the next time, with resources by what its tasks used",
	.help = "  sluice tune-resources e12               print it\n"
		"  sluice tune-resources e12 -o next.yaml  write it to a file\n"
		"\n"
		"The first lines say what was seen. `sluice show e12` lists the same advice.",
	.options = tune_options,
	.run = tune_run,
};
