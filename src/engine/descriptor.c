/* The descriptor of an attempt: all that the runner on the node needs to know (docs/internals/node.md). */
#include "engine/descriptor.h"

#include "engine/backends.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/spec.h"

#include "spool/descriptor.h"
#include "spool/interpreter.h"
#include "spool/paths.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* With fewer tasks a script starts cold, unless `warm: on` says otherwise. */
#define WARM_TASKS_LEAST 4

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
	for (const char *p = spec->subcommand; p && *(p += strspn(p, " "));) {
		char *word = mem_copy(p, strcspn(p, " "));
		descriptor_add_text(argv, word);
		p += strlen(word);
		free(word);
	}
}

struct node *engine_make_argv(const struct spec *spec, int64_t experiment, int64_t task, int64_t seed,
			      const struct node *params)
{
	struct node *argv = node_new(NODE_LIST), *seeded = NULL;
	char text[32];

	if (call_said(spec, CALL_SEED) && !node_get(params, CALL_SEED)) {
		params = seeded = node_clone(params);
		node_add(seeded, CALL_SEED, node_new_int(seed));
	}
	descriptor_add_program(spec, params, argv);
	if (spec->pass == SPEC_PASS_POSITIONAL) {
		snprintf(text, sizeof(text), "e%" PRId64, experiment);
		descriptor_add_text(argv, text);
		snprintf(text, sizeof(text), "%" PRId64, task);
		descriptor_add_text(argv, text);
	}
	call_add_all(argv, spec, params);
	node_free(seeded);
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

/* What the script must report: sluice measures time and energy itself. */
static struct node *descriptor_objectives(const struct spec *spec)
{
	struct node *list = node_new(NODE_LIST);
	for (size_t i = 0; i < spec->objective_count; i++)
		if (!spec_is_measured(spec->objectives[i].metric))
			descriptor_add_text(list, spec->objectives[i].metric);
	for (size_t i = 0; i < spec->limit_count; i++)
		if (!spec_is_measured(spec->limits[i].of.metric))
			descriptor_add_text(list, spec->limits[i].of.metric);
	return list;
}

/* NULL for NULL. */
static struct node *descriptor_texts(char *const *texts)
{
	struct node *list = texts ? node_new(NODE_LIST) : NULL;
	for (size_t i = 0; texts && texts[i]; i++)
		descriptor_add_text(list, texts[i]);
	return list;
}

/* Where keepers are, for a script that may start warm. For a few tasks a keeper is not worth its memory. NULL: cold. */
static char *descriptor_warm_dir(const struct engine *engine, const struct engine_experiment *e)
{
	bool wanted = e->spec->warm == SPEC_WARM_ON ||
		(e->spec->warm == SPEC_WARM_AUTO && e->planned >= WARM_TASKS_LEAST);
	return wanted && e->backend->ops->traits & BACKEND_HAS_KEEPERS ? spool_warm_dir(engine_state_dir(engine))
								       : NULL;
}

static int descriptor_write(struct engine *engine, const struct engine_live *live, const struct node *params,
			    struct error *err)
{
	const struct engine_experiment *e = live->experiment;
	bool positional = e->spec->pass == SPEC_PASS_POSITIONAL; /* then it may be a script of S-TFManager */
	char id[32];
	snprintf(id, sizeof(id), "e%" PRId64, e->id);
	char *root = engine_folder(engine, e->id, 0, 0);
	char *task = engine_folder(engine, e->id, live->task.number, 0);
	char *caller = spool_caller_path(root), *ran = spool_ran_dir(root), *files = spool_files_dir(root),
	     *results = positional ? spool_results(id, live->task.number) : NULL;
	char *warm = descriptor_warm_dir(engine, e);
	struct node *argv = engine_make_argv(e->spec, e->id, live->task.number, live->task.seed, params);
	struct node *env = descriptor_env(e->spec, live->task.seed, params);
	struct node *setup = descriptor_texts(e->spec->setup), *modules = descriptor_texts(e->spec->modules);
	struct node *metrics = e->spec->metrics ? node_clone(e->spec->metrics) : NULL;
	struct node *objectives = descriptor_objectives(e->spec);
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
						.gpu_share = live->asked.gpu_share,
						.warm_dir = warm,
						.results = results,
						.argv = argv,
						.setup = setup,
						.env = env,
						.params = params,
						.metrics = metrics,
						.objectives = objectives,
						.fresh = live->task.fresh,
						.stall_times = e->spec->stall.times,
						.stall_after_ms = e->spec->stall.after_ms,
						.stall_ends = e->spec->stall.ends,
						.power_limit = e->spec->power_limit,
						.copy_limit_bytes = e->spec->copy_limit_bytes,
						.grace_ms = SPOOL_GRACE_MS,
						.checkpoint_signal = e->spec->resources.checkpoint_signal,
					},
					err);
	node_free(objectives);
	node_free(metrics);
	node_free(setup);
	node_free(modules);
	node_free(env);
	node_free(argv);
	free(warm);
	free(results);
	free(caller);
	free(ran);
	free(files);
	free(task);
	free(root);
	return rc;
}

int engine_write_descriptor(struct engine *engine, const struct engine_live *live, struct error *err)
{
	struct node *params = NULL;
	int rc = live->parameters ? node_parse_json(live->parameters, strlen(live->parameters), &params, NULL) : -EIO;
	if (rc < 0)
		return errorf(err, rc, "the parameters of e%" PRId64 "/%" PRId64 " cannot be read",
			      live->experiment->id, live->task.number);
	rc = descriptor_write(engine, live, params, err);
	node_free(params);
	return rc;
}
