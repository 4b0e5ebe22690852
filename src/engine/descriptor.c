/* The descriptor of an attempt: all that the runner on the node needs to know (docs/internals/node.md). */
#include "engine/internal.h"

#include "base/fs.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

/* What runs a script, by its ending; a script with another ending must say so itself (#!). */
static const struct descriptor_interpreter {
	const char *suffix, *program;
} descriptor_interpreters[] = {
	{".py", "python3"},
	{".sh", "bash"},
	{".R", "Rscript"},
	{".jl", "julia"},
};

static void descriptor_write_program(const struct spec *spec, struct json *w)
{
	for (size_t i = 0; spec->command && spec->command[i]; i++)
		json_string(w, spec->command[i]);
	if (!spec->script)
		return;
	for (size_t i = 0; i < COUNT_OF(descriptor_interpreters); i++) {
		if (text_ends(spec->script, descriptor_interpreters[i].suffix)) {
			json_string(w, descriptor_interpreters[i].program);
			json_string(w, spec->script);
			return;
		}
	}
	char *path = mem_printf("./%s", spec->script);
	json_string(w, path);
	free(path);
}

/* The text of one value of the task's parameters, as a script sees it. */
static char *descriptor_value(const struct node *value)
{
	if (value->type == NODE_BOOL)
		return mem_strdup(value->boolean ? "true" : "false");
	return mem_strdup(value->string ? value->string : "");
}

static void descriptor_write_argv(const struct engine_live *live, const struct node *params, struct json *w)
{
	const struct spec *spec = live->experiment->spec;
	char text[32];

	json_key(w, "argv");
	json_list(w);
	descriptor_write_program(spec, w);
	if (spec->pass == SPEC_PASS_POSITIONAL) {
		snprintf(text, sizeof(text), "e%lld", (long long)live->experiment->id);
		json_string(w, text);
		snprintf(text, sizeof(text), "%lld", (long long)live->task.number);
		json_string(w, text);
	}
	for (size_t i = 0; i < params->count; i++) {
		char *value = descriptor_value(params->items[i]);
		if (spec->pass == SPEC_PASS_POSITIONAL) {
			json_string(w, value);
		} else if (spec->pass == SPEC_PASS_FLAGS) {
			char *flag = mem_printf("--%s=%s", params->items[i]->key, value);
			for (char *p = flag; !spec->underscore && *p && *p != '='; p++)
				if (*p == '_')
					*p = '-';
			json_string(w, flag);
			free(flag);
		}
		free(value);
	}
	json_end(w);
}

static void descriptor_write_env(const struct engine_live *live, const struct node *params, struct json *w)
{
	const struct spec *spec = live->experiment->spec;
	char text[32];

	json_key(w, "env");
	json_map(w);
	for (size_t i = 0; i < spec->var_count; i++)
		json_key_string(w, spec->vars[i].name, spec->vars[i].value);
	for (size_t i = 0; i < params->count; i++) {
		char *name = mem_printf("SLUICE_PARAM_%s", params->items[i]->key);
		for (char *p = name; *p; p++)
			*p = isalnum((unsigned char)*p) ? (char)toupper((unsigned char)*p) : '_';
		char *value = descriptor_value(params->items[i]);
		json_key_string(w, name, value);
		free(value);
		free(name);
	}
	snprintf(text, sizeof(text), "%lld", (long long)live->task.seed);
	json_key_string(w, "SLUICE_SEED", text);
	json_end(w);
}

static void descriptor_write_texts(char *const *texts, struct json *w)
{
	json_list(w);
	for (size_t i = 0; texts && texts[i]; i++)
		json_string(w, texts[i]);
	json_end(w);
}

static void descriptor_write(struct engine *engine, const struct engine_live *live, const struct node *params,
			     struct json *w)
{
	const struct engine_experiment *e = live->experiment;
	const struct spec *spec = e->spec;
	char *root = engine_folder(engine, e->id, 0, 0);
	char *task = engine_folder(engine, e->id, live->task.number, 0);
	char *files = mem_printf("%s/files", root);
	char *results = mem_printf("results/e%lld/%lld", (long long)e->id, (long long)live->task.number);
	char id[32];

	json_map(w);
	json_key_string(w, "sluice", SLUICE_VERSION);
	json_key_string(w, "token", live->token);
	json_key_int(w, "index", live->index);
	snprintf(id, sizeof(id), "e%lld", (long long)e->id);
	json_key_string(w, "experiment", id);
	json_key_int(w, "task", live->task.number);
	json_key_int(w, "attempt", live->number);
	json_key_string(w, "files_dir", files);
	json_key_string(w, "task_dir", task);
	json_key_string(w, "attempt_dir", live->attempt_dir);
	descriptor_write_argv(live, params, w);
	json_key(w, "setup");
	descriptor_write_texts(spec->setup, w);
	descriptor_write_env(live, params, w);
	json_key(w, "params");
	node_write_json(params, w);
	json_key_string(w, "results", results);
	json_key(w, "metrics");
	if (spec->metrics_format) {
		json_map(w);
		json_key_string(w, spec->metrics_format, spec->metrics_pattern);
		json_end(w);
	} else {
		json_null(w);
	}
	json_key_bool(w, "fresh", live->task.fresh);
	json_key_int(w, "grace_ms", 10000);
	json_key_null(w, "push");
	json_end(w);
	free(results);
	free(files);
	free(task);
	free(root);
}

static int descriptor_params_cb(void *ctx, const struct store_task *row)
{
	struct node **params = ctx;
	return node_parse_json(row->parameters, strlen(row->parameters), params, NULL);
}

int engine_write_descriptor(struct engine *engine, const struct engine_live *live, struct error *err)
{
	struct node *params = NULL;
	int rc = store_read_task(engine->store, live->experiment->id, live->task.number, descriptor_params_cb, &params);
	if (rc < 0)
		return errorf(err, rc, "the parameters of e%lld/%lld cannot be read", (long long)live->experiment->id,
			      (long long)live->task.number);
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	descriptor_write(engine, live, params, &w);
	char *path = mem_printf("%s/%u.json", live->batch_dir, live->index);
	rc = fs_write(path, buf_text(&text), text.len, 0600, false, err);
	free(path);
	buf_free(&text);
	node_free(params);
	return rc;
}
