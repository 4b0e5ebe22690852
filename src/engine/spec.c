/* The experiment file to a checked struct spec. Each top-level key is a row in a table; whatever is
 * wrong is collected with its place, so that people see all of it at once. */
#include "engine/spec.h"

#include "engine/call.h"
#include "engine/spec_environment.h"
#include "engine/spec_metrics.h"
#include "engine/spec_objective.h"
#include "engine/spec_part.h"
#include "engine/spec_power.h"
#include "engine/spec_stall.h"
#include "engine/spec_stop.h"

#include "base/environ.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/text.h"
#include "spool/descriptor.h"
#include "spool/python.h"

#include <errno.h>
#include <math.h>
#include <strings.h>

static void spec_read_name(struct spec *spec, const struct node *node, struct problems *problems)
{
	spec->name = spec_part_text(node, LIMIT_NAME_BYTES, problems);
	if (spec->name && !spec->name[strspn(spec->name, " \t")])
		problem_add(problems, node, "give the experiment a name, or leave the key out", "the name is empty");
	if (spec->name && strpbrk(spec->name, "\n\r"))
		problem_add(problems, node, "write the name on one line", "the name has a line break");
}

static void spec_read_description(struct spec *spec, const struct node *node, struct problems *problems)
{
	spec->description = spec_part_text(node, LIMIT_TEXT_BYTES, problems);
}

static void spec_check_path(const struct node *node, const char *path, struct problems *problems)
{
	if (path && !fs_is_safe_relative(path))
		problem_add(problems, node, "give a path relative to the experiment file, without '..'",
			    "'%.200s' is not a path below the experiment's folder", path);
}

static void spec_read_script(struct spec *spec, const struct node *node, struct problems *problems)
{
	spec->script = spec_part_text(node, 1024, problems);
	spec_check_path(node, spec->script, problems);
	if (spec->script && strpbrk(spec->script, "\n\r"))
		problem_add(problems, node, "rename the script", "the script's name has a line break");
}

static void spec_read_subcommand(struct spec *spec, const struct node *node, struct problems *problems)
{
	spec->subcommand = spec_part_text(node, 400, problems);
	if (spec->subcommand && (!*spec->subcommand || *spec->subcommand == '-'))
		problem_add(problems, node, "write the word that the script takes first: subcommand: train",
			    "'%.60s' is no subcommand", spec->subcommand);
}

static void spec_read_command(struct spec *spec, const struct node *node, struct problems *problems)
{
	spec->command = spec_part_texts(node, "[prog, arg, …]", problems);
	if (node->type == NODE_LIST && node->count == 0)
		problem_add(problems, node, "name the program to run", "the command is empty");
	else if (spec->command[0] && !*spec->command[0])
		problem_add(problems, node->items[0], "name the program to run", "the command's first word is empty");
}

static void spec_read_files(struct spec *spec, const struct node *node, struct problems *problems)
{
	if (node_string(node) && strcmp(node_string(node), SPEC_GIT) == 0) {
		spec->files = mem_array(2, sizeof(*spec->files));
		spec->files[0] = mem_strdup(SPEC_GIT);
		return;
	}
	spec->files = spec_part_texts(node, "[data/labels.csv, …], or git: the tracked files of the work tree",
				      problems);
	for (size_t i = 0; node->type == NODE_LIST && i < node->count; i++)
		spec_check_path(node->items[i], node_string(node->items[i]), problems);
}

static void spec_read_copy_limit(struct spec *spec, const struct node *node, struct problems *problems)
{
	spec->copy_limit_bytes = spec_part_bytes(node, problems);
}

static void spec_read_repeats(struct spec *spec, const struct node *node, struct problems *problems)
{
	spec->repeats = (uint64_t)spec_part_int(node, 1, LIMIT_REPEATS, 1, problems);
}

static void spec_read_pass(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const words[] = {"flags", "positional", "env", "json", "overrides", "values", NULL};
	spec->pass = (enum spec_pass)spec_part_word(node, words, problems);
}

static void spec_read_style(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const words[] = {"auto", "dash", "underscore", NULL};
	spec->style = (enum spec_style)spec_part_word(node, words, problems);
}

static void spec_read_separator(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const words[] = {"equals", "space", NULL};
	spec->spaced = spec_part_word(node, words, problems) == 1;
}

/* Names are compared with the parameters by spec_finish. */
static void spec_read_arguments(struct spec *spec, const struct node *node, struct problems *problems)
{
	if (!spec_part_map(node, NULL, problems))
		return;
	spec->arguments = mem_array(node->count, sizeof(*spec->arguments));
	for (size_t i = 0; i < node->count; i++) {
		char *how = spec_part_text(node->items[i], 400, problems);
		const char *remedy = how ? call_check(how) : NULL;
		if (remedy)
			problem_add(problems, node->items[i], remedy, "'%.100s' does not say how to pass %.60s", how,
				    node->items[i]->key);
		if (how)
			spec->arguments[spec->argument_count++] = (struct spec_argument){
				.name = mem_strdup(node->items[i]->key), .how = how};
	}
}

/* {times: 2, factor: 2}: only memory and time can be asked for in larger amounts. */
static void spec_read_retry_map(struct spec *spec, int retry, const struct node *item, struct problems *problems)
{
	static const char *const known[] = {"times", "factor", NULL};
	if (!spec_part_map(item, known, problems))
		return;
	const struct node *times = node_get(item, "times"), *factor = node_get(item, "factor");
	spec->retry[retry] = times ? spec_part_int(times, 0, 1000, 0, problems) : 1;
	if (factor && retry != RETRY_MEMORY && retry != RETRY_TIME)
		problem_add(problems, factor, "leave it out; memory and time have one", "'%s' has no factor",
			    retry_keys[retry]);
	else if (factor && !(node_is_number(factor) && factor->real >= 1 && factor->real <= 16))
		problem_add(problems, factor, "give a number from 1 to 16, for example 2",
			    "the factor is not a number from 1 to 16");
	else if (factor)
		spec->retry_factor[retry] = factor->real;
}

static void spec_read_retry(struct spec *spec, const struct node *node, struct problems *problems)
{
	if (!spec_part_map(node, retry_keys, problems))
		return;
	for (int i = 0; i < RETRY_COUNT; i++) {
		const struct node *item = node_get(node, retry_keys[i]);
		if (item && item->type == NODE_MAP)
			spec_read_retry_map(spec, i, item, problems);
		else if (item)
			spec->retry[i] = spec_part_int(item, 0, 1000, 0, problems);
	}
}

/* What was not asked for cannot be multiplied. */
static void spec_check_factor(const struct spec *spec, int retry, int64_t amount, const char *example,
			      const struct node *document, struct problems *problems)
{
	const struct node *at = node_get(node_get(document, "retry"), retry_keys[retry]);
	if (spec->retry_factor[retry] > 1 && amount <= 0)
		problem_add(problems, at, example, "a factor needs something to multiply: resources has no '%s'",
			    retry_keys[retry]);
}

static void spec_read_prune(struct spec *spec, const struct node *node, struct problems *problems)
{
	if (prune_parse(node, problems, &spec->prune) < 0)
		spec->prune = (struct prune_spec){0};
}

static void spec_read_warm(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const words[] = {"auto", "on", "off", NULL};
	if (node->type == NODE_BOOL)
		spec->warm = node->boolean ? SPEC_WARM_ON : SPEC_WARM_OFF;
	else
		spec->warm = (enum spec_warm)spec_part_word(node, words, problems);
}

struct spec_key {
	const char *name;
	void (*read)(struct spec *spec, const struct node *node, struct problems *problems);
};

/* Keys without a reader are read by spec_finish, together, since they lean on each other. */
static const struct spec_key spec_keys[] = {
	{"name", spec_read_name},
	{"description", spec_read_description},
	{"script", spec_read_script},
	{"subcommand", spec_read_subcommand},
	{"command", spec_read_command},
	{"files", spec_read_files},
	{"copy_limit", spec_read_copy_limit},
	{"parameters", NULL},
	{"constraints", NULL},
	{"repeats", spec_read_repeats},
	{"search", NULL},
	{"objective", spec_objective_read},
	{"prune", spec_read_prune},
	{"stop", spec_stop_read},
	{"fidelity", NULL},
	{"pass", spec_read_pass},
	{"style", spec_read_style},
	{"separator", spec_read_separator},
	{"arguments", spec_read_arguments},
	{"metrics", spec_metrics_read},
	{"environment", spec_environment_read},
	{"resources", spec_part_resources},
	{"retry", spec_read_retry},
	{"checkpoint", spec_part_checkpoint},
	{"stall", spec_stall_read},
	{"power", spec_power_read},
	{"warm", spec_read_warm},
};

#define SEARCH_TASKS "write search: {tasks: 60}"
#define SEARCH_STRATEGY "write search: {strategy: auto}"
#define SEARCH_PARALLEL "write search: {parallel: 8}"
#define OBJECTIVE "write objective: {metric: val_loss, goal: min}"
#define RESOURCES "write resources: {partition: gpu, gpus: 1, cpus: 4, memory: 16G, time: 2h}"

/* What stands on top in files of W&B, Optuna and Ray Tune, or one level deeper here. */
static const struct space_hint spec_hints[] = {
	{"program", "write script: model.py"},
	{"file", "write script: model.py"},
	{"params", "write parameters"},
	{"hyperparameters", "write parameters"},
	{"search_space", "write parameters"},
	{"param_space", "write parameters"},
	{"space", "write parameters"},
	{"config", "write parameters"},
	{"title", "write name"},
	{"study_name", "write name"},
	{"method", SEARCH_STRATEGY},
	{"strategy", SEARCH_STRATEGY},
	{"algorithm", SEARCH_STRATEGY},
	{"sampler", SEARCH_STRATEGY},
	{"search_alg", SEARCH_STRATEGY},
	{"tasks", SEARCH_TASKS},
	{"trials", SEARCH_TASKS},
	{"n_trials", SEARCH_TASKS},
	{"num_samples", SEARCH_TASKS},
	{"run_cap", SEARCH_TASKS},
	{"parallel", SEARCH_PARALLEL},
	{"n_jobs", SEARCH_PARALLEL},
	{"max_concurrent_trials", SEARCH_PARALLEL},
	{"seed", "write search: {seed: 1}"},
	{"metric", OBJECTIVE},
	{"goal", OBJECTIVE},
	{"mode", OBJECTIVE},
	{"direction", OBJECTIVE},
	{"pruner", "write prune: {rule: median}, or another rule"},
	{"early_terminate", "write prune: {rule: median}, or another rule"},
	{"scheduler", "write prune: {rule: median}, or search: {strategy: asha} with fidelity"},
	{"timeout", "write stop: {wall: 12h} for all of it, resources: {time: 2h} for a task"},
	{"seeds", "write repeats"},
	{"env", "write environment: {vars: {NAME: value}}"},
	{"setup", "write environment: {setup: [\"module load cuda\"]}"},
	{"backend", RESOURCES},
	{"partition", RESOURCES},
	{"gpus", RESOURCES},
	{"cpus", RESOURCES},
	{"memory", RESOURCES},
	{"time", RESOURCES},
	{"resources_per_trial", RESOURCES},
	{0},
};

static void spec_default(struct spec *spec)
{
	spec->repeats = 1;
	spec->copy_limit_bytes = LIMIT_COPY_BYTES;
	for (int i = 0; i < RETRY_COUNT; i++)
		spec->retry[i] = retry_times[i];
	for (int i = 0; i < RETRY_COUNT; i++)
		spec->retry_factor[i] = 1;
	spec->retry[RETRY_TIME] = -1;
	spec->resources.cpus = 1;
	spec->steps_param = -1;
	spec->stop.failures = -1;
}

/* The parameter that says how many epochs a task has, for progress. */
static long spec_find_steps(const struct space *space)
{
	static const char *const names[] = {"epochs", "max_epochs", "num_epochs", "n_epochs",
					    "steps",  "max_steps",  "iterations"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		long found = space_find(space, names[i]);
		if (found >= 0)
			return found;
	}
	return -1;
}

/* Workers of the user's own take the tasks: there is no script to start. */
static bool spec_is_pulled(const struct spec *spec)
{
	for (size_t i = 0; spec->backend && backend_table[i]; i++)
		if (strcmp(spec->backend, backend_table[i]->name) == 0)
			return backend_is(backend_table[i], BACKEND_PULLED);
	return false;
}

/* The longest values that a task can get must fit into a command line. */
static void spec_check_size(const struct space *space, const struct node *parameters, struct problems *problems)
{
	size_t sum = 0;
	for (size_t i = 0; i < space->count; i++) {
		size_t longest = 0;
		for (size_t k = 0; k < space->params[i].choice_count; k++) {
			const struct space_value *value = &space->params[i].choices[k];
			size_t len = value->kind == SPACE_VALUE_TEXT ? strlen(value->text) : 0;
			longest = len > longest ? len : longest;
		}
		sum += longest;
	}
	if (sum > LIMIT_VALUES_BYTES)
		problem_add(problems, parameters, "put long texts into files, and pass the files' names",
			    "the values of one task have up to %zu bytes; at most %u fit into a command line", sum,
			    LIMIT_VALUES_BYTES);
}

static void spec_check_arguments(const struct spec *spec, const struct node *arguments, struct problems *problems)
{
	const char *names[LIMIT_PARAMETERS + 1];
	for (size_t i = 0; i < spec->space->count; i++)
		names[i] = spec->space->params[i].name;
	names[spec->space->count] = NULL;
	for (size_t i = 0; arguments && arguments->type == NODE_MAP && i < arguments->count; i++) {
		if (space_find(spec->space, arguments->items[i]->key) >= 0 ||
		    strcmp(arguments->items[i]->key, CALL_SEED) == 0)
			continue;
		char *remedy = space_unknown_remedy(arguments->items[i]->key, names);
		problem_add(problems, arguments->items[i], remedy, "there is no parameter '%.60s'",
			    arguments->items[i]->key);
		free(remedy);
	}
}

static void spec_finish(struct spec *spec, const struct node *document, struct problems *problems)
{
	if (!spec_is_pulled(spec) && !node_get(document, "script") && !node_get(document, "command"))
		problem_add_missing(problems, document, "script", "name the training script: script: model.py");
	spec_check_factor(spec, RETRY_MEMORY, spec->resources.memory_bytes, "write resources: {memory: 16G}", document,
			  problems);
	spec_check_factor(spec, RETRY_TIME, spec->resources.time_ms, "write resources: {time: 2h}", document, problems);
	if (!node_get(node_get(document, "retry"), retry_keys[RETRY_STALL]))
		spec->retry[RETRY_STALL] = spec->stall.restarts;
	if (spec->script && spec->command)
		problem_add(problems, node_get(document, "command"), "keep one of them", "both a script and a command");
	if (space_parse(node_get(document, "parameters"), node_get(document, "constraints"), problems, &spec->space) <
	    0) {
		/* What is wrong with the search is reported as well, as far as it can be known. */
		if (search_spec_parse(node_get(document, "search"), node_get(document, "fidelity"), NULL, spec->repeats,
				      spec->objective_count, problems, &spec->search) == 0)
			search_spec_free(spec->search);
		spec->search = NULL;
		return;
	}
	spec_check_size(spec->space, node_get(document, "parameters"), problems);
	spec_check_arguments(spec, node_get(document, "arguments"), problems);
	spec->steps_param = spec_find_steps(spec->space);
	if (search_spec_parse(node_get(document, "search"), node_get(document, "fidelity"), spec->space, spec->repeats,
			      spec->objective_count ? spec->objective_count : 1, problems, &spec->search) < 0)
		return;
	for (size_t i = 0; i < spec->objective_count; i++)
		search_set_goal(spec->search, i, spec->objectives[i].maximise);
	spec_objective_limit(spec);
	uint64_t planned = search_planned(spec->search, spec->space);
	if (planned > LIMIT_TASKS) {
		const struct node *at = node_get(document, "parameters");
		problem_add(problems, at ? at : document,
			    "use fewer values, or a search with a budget: search: {strategy: random, tasks: 100}",
			    "more than %d tasks", LIMIT_TASKS);
	} else if (planned == 0) {
		const struct node *at = node_get(document, "constraints");
		problem_add(problems, at ? at : document, "loosen the constraints", "no configuration is left to run");
	}
}

static void spec_normalise(struct spec *spec, const struct node *document)
{
	if (!spec->name) {
		const char *from = spec->script ? spec->script : spec->command ? spec->command[0] : "external";
		const char *slash = strrchr(from, '/');
		from = slash ? slash + 1 : from;
		const char *dot = strrchr(from, '.');
		spec->name = mem_copy(from, dot && dot > from ? (size_t)(dot - from) : strlen(from));
	}
	if (!spec->description)
		spec->description = mem_strdup("");
	if (!spec->backend)
		spec->backend = mem_strdup("auto");
	spec->normal = node_new(NODE_MAP);
	spec->resources.name = spec->name;
	node_add(spec->normal, "name", node_new_string(spec->name));
	for (size_t i = 0; i < document->count; i++)
		node_add(spec->normal, document->items[i]->key, node_clone(document->items[i]));
}

int spec_parse(const struct node *document, struct problems *problems, struct spec **ret)
{
	size_t before = problems->list.len;
	if (!document || document->type != NODE_MAP)
		return problem_add(problems, document, "begin with  script: model.py",
				   "an experiment is a map of keys and values, not %s", node_type_name(document));
	struct spec *spec = mem_alloc(sizeof(*spec));
	spec_default(spec);
	for (size_t i = 0; i < document->count; i++) {
		const struct node *node = document->items[i];
		const char *names[COUNT_OF(spec_keys) + 1];
		const struct spec_key *key = NULL;
		for (size_t k = 0; k < COUNT_OF(spec_keys); k++) {
			names[k] = spec_keys[k].name;
			if (strcmp(names[k], node->key) == 0)
				key = &spec_keys[k];
		}
		names[COUNT_OF(spec_keys)] = NULL;
		if (!key)
			spec_part_unknown(node, names, spec_hints, problems);
		else if (node->type == NODE_NULL)
			problem_add(problems, node, "give it a value or leave it out", "'%s' has no value", node->key);
		else if (key->read)
			key->read(spec, node, problems);
	}
	spec_finish(spec, document, problems);
	if (problems->list.len > before) {
		spec_free(spec);
		return -EINVAL;
	}
	spec_normalise(spec, document);
	*ret = spec;
	return 0;
}

static void spec_free_texts(char **texts)
{
	for (size_t i = 0; texts && texts[i]; i++)
		free(texts[i]);
	free(texts);
}

void spec_free(struct spec *spec)
{
	if (!spec)
		return;
	search_spec_free(spec->search);
	space_free(spec->space);
	for (size_t i = 0; i < spec->limit_count; i++)
		free(spec->limits[i].of.metric);
	free(spec->limits);
	for (size_t i = 0; i < spec->objective_count; i++)
		free(spec->objectives[i].metric);
	for (size_t i = 0; i < spec->var_count; i++) {
		free(spec->vars[i].name);
		free(spec->vars[i].value);
	}
	for (size_t i = 0; i < spec->argument_count; i++) {
		free(spec->arguments[i].name);
		free(spec->arguments[i].how);
	}
	free(spec->subcommand);
	free(spec->arguments);
	for (size_t i = 0; i < spec->cautions.len; i++)
		free(spec->cautions.at[i]);
	free(spec->cautions.at);
	for (size_t i = 0; i < spec->chosen.len; i++)
		free(spec->chosen.at[i]);
	free(spec->chosen.at);
	spec_free_texts(spec->command);
	spec_free_texts(spec->files);
	spec_free_texts(spec->setup);
	spec_free_texts(spec->modules);
	spec_free_texts(spec->keep);
	free(spec->python);
	free(spec->power_limit);
	spec_free_texts(spec->resources.options);
	char *const owned[] = {
		spec->name,
		spec->description,
		spec->script,
		spec->backend,
		spec->stop.metric,
		spec->resources.gpu_type,
		spec->resources.partition,
		spec->resources.account,
		spec->resources.qos,
		spec->resources.constraint,
		spec->resources.template,
	};
	for (size_t i = 0; i < COUNT_OF(owned); i++)
		free(owned[i]);
	free(spec->objectives);
	free(spec->vars);
	node_free(spec->metrics);
	node_free(spec->normal);
	free(spec);
}
