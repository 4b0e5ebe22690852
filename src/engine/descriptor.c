/* The descriptor of an attempt: all that the runner on the node needs to know (docs/internals/node.md). */
#include "engine/descriptor.h"

#include "engine/call.h"
#include "engine/spec.h"
#include "engine/state.h"

#include "spool/descriptor.h"
#include "spool/interpreter.h"
#include "spool/paths.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static void descriptor_add_text(struct node *list, const char *text)
{
	node_add(list, NULL, node_new_string(text));
}

static void descriptor_add_program(const struct spec *spec, const struct node *params, struct node *argv)
{
	for (size_t i = 0; spec->command && spec->command[i]; i++) {
		char *word = call_fill(spec, spec->command[i], params);
		descriptor_add_text(argv, word);
		free(word);
	}
	const char *interpreter = spec->script ? spool_interpreter_of(spec->script) : NULL;
	if (interpreter)
		descriptor_add_text(argv, interpreter);
	if (interpreter && spool_interpreter_option(spec->script))
		descriptor_add_text(argv, spool_interpreter_option(spec->script));
	if (interpreter && *spec->script != '-') {
		descriptor_add_text(argv, spec->script);
	} else if (spec->script) { /* it says itself what runs it (#!), or an interpreter would take it for an option */
		char *path = mem_printf("./%s", spec->script);
		descriptor_add_text(argv, path);
		free(path);
	}
}

struct node *engine_make_argv(const struct spec *spec, int64_t experiment, int64_t task, const struct node *params)
{
	struct node *argv = node_new(NODE_LIST);
	char text[32];

	descriptor_add_program(spec, params, argv);
	if (spec->pass == SPEC_PASS_POSITIONAL) {
		snprintf(text, sizeof(text), "e%" PRId64, experiment);
		descriptor_add_text(argv, text);
		snprintf(text, sizeof(text), "%" PRId64, task);
		descriptor_add_text(argv, text);
	}
	call_add_all(argv, spec, params);
	return argv;
}

static struct node *descriptor_env(const struct spec *spec, int64_t seed, const struct node *params)
{
	struct node *env = node_new(NODE_MAP);
	char text[32];

	for (size_t i = 0; i < spec->var_count; i++)
		node_add(env, spec->vars[i].name, node_new_string(spec->vars[i].value));
	for (size_t i = 0; i < params->count; i++) {
		char *name = mem_printf("SLUICE_PARAM_%s", params->items[i]->key);
		for (char *p = name; *p; p++)
			*p = isalnum((unsigned char)*p) ? (char)toupper((unsigned char)*p) : '_';
		char *value = call_text(params->items[i]);
		node_add(env, name, node_new_string(value));
		free(value);
		free(name);
	}
	snprintf(text, sizeof(text), "%" PRId64, seed);
	node_add(env, "SLUICE_SEED", node_new_string(text));
	return env;
}

/* NULL for NULL. */
static struct node *descriptor_texts(char *const *texts)
{
	struct node *list = texts ? node_new(NODE_LIST) : NULL;
	for (size_t i = 0; texts && texts[i]; i++)
		descriptor_add_text(list, texts[i]);
	return list;
}

static int descriptor_write(struct engine *engine, const struct engine_live *live, const struct node *params,
			    struct error *err)
{
	const struct engine_experiment *e = live->experiment;
	char id[32];
	snprintf(id, sizeof(id), "e%" PRId64, e->id);
	char *root = engine_folder(engine, e->id, 0, 0);
	char *task = engine_folder(engine, e->id, live->task.number, 0);
	char *caller = spool_caller_path(root), *ran = spool_ran_dir(root), *files = spool_files_dir(root),
	     *results = spool_results(id, live->task.number);
	struct node *argv = engine_make_argv(e->spec, e->id, live->task.number, params);
	struct node *env = descriptor_env(e->spec, live->task.seed, params);
	struct node *setup = descriptor_texts(e->spec->setup), *modules = descriptor_texts(e->spec->modules);
	struct node *metrics = e->spec->metrics ? node_clone(e->spec->metrics) : NULL;
	int rc = spool_descriptor_write(live->batch_dir,
					&(struct spool_descriptor){
						.token = live->token,
						.experiment = id,
						.index = live->index,
						.task = live->task.number,
						.attempt = live->number,
						.files_dir = files,
						.task_dir = task,
						.attempt_dir = live->attempt_dir,
						.script = e->spec->script,
						.caller = caller,
						.ran_dir = ran,
						.python = e->spec->python,
						.modules = modules,
						.cpus = e->spec->cpus_asked ? e->spec->resources.cpus : 0,
						.results = results,
						.argv = argv,
						.setup = setup,
						.env = env,
						.params = params,
						.metrics = metrics,
						.fresh = live->task.fresh,
						.copy_limit_bytes = e->spec->copy_limit_bytes,
						.grace_ms = SPOOL_GRACE_MS,
						.checkpoint_signal = e->spec->resources.checkpoint_signal,
					},
					err);
	node_free(metrics);
	node_free(setup);
	node_free(modules);
	node_free(env);
	node_free(argv);
	free(results);
	free(caller);
	free(ran);
	free(files);
	free(task);
	free(root);
	return rc;
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
		return errorf(err, rc, "the parameters of e%" PRId64 "/%" PRId64 " cannot be read",
			      live->experiment->id, live->task.number);
	rc = descriptor_write(engine, live, params, err);
	node_free(params);
	return rc;
}
