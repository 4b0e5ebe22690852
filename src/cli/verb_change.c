/* `sluice change ID`: another budget, strategy or space while the experiment runs. */
#include "cli/pairs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const struct verb_option change_options[] = {
	{"tasks", "N", "tasks in all"},
	{"parallel", "N", "tasks at the same time; 0: as many as fit"},
	{"strategy", "STRATEGY", "search strategy: auto, grid, random, tpe, ..."},
	{"seed", "N", "seed of the search"},
	{"objective", "METRIC", "rank by this metric from now on, also what is there already"},
	{"goal", "min|max", "of the objective; guessed from its name unless given"},
	{"failures", "N|off", "pause after N equal failures in a row"},
	{"constraint", "EXPR...", "the constraints from now on, in the place of those there are"},
	{"json", NULL, "print the experiment as it is now"},
	{0},
};

static int change_body(const struct options *options, struct node *body, struct error *err)
{
	static const char *const numbers[] = {"tasks", "parallel", "seed"};
	struct node *search = node_new(NODE_MAP), *parameters = node_new(NODE_MAP), *constraints = node_new(NODE_LIST);
	struct node *objective = node_new(NODE_MAP), *stop = node_new(NODE_MAP);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < COUNT_OF(numbers); i++) {
		int64_t value;
		if (!options_has(options, numbers[i]))
			continue;
		rc = options_int(options, numbers[i], 0, INT64_MAX, 0, &value, err);
		if (rc == 0)
			node_add(search, numbers[i], node_new_int(value));
	}
	if (options_has(options, "strategy"))
		node_add(search, "strategy", node_new_string(options_get(options, "strategy")));
	if (rc == 0)
		rc = pairs_add_all(parameters, options, 1, PAIRS_VALUES, err);
	for (size_t i = 0; i < options->given.len; i++)
		if (options_is(options->given.at[i].option, "constraint"))
			node_add(constraints, NULL, node_new_string(options->given.at[i].value));
	if (rc == 0 && options_has(options, "goal") && !options_has(options, "objective"))
		rc = errorf(err, -EINVAL, "--goal needs --objective METRIC");
	if (options_has(options, "objective"))
		node_add(objective, "metric", node_new_string(options_get(options, "objective")));
	if (options_has(options, "goal"))
		node_add(objective, "goal", node_new_string(options_get(options, "goal")));
	const char *failures = options_get(options, "failures");
	if (failures)
		node_add(stop, "failures", node_new_scalar(failures, strlen(failures)));
	struct node *const parts[] = {search, parameters, constraints, objective, stop};
	static const char *const keys[] = {"search", "parameters", "constraints", "objective", "stop"};
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		if (parts[i]->count)
			node_add(body, keys[i], parts[i]);
		else
			node_free(parts[i]);
	}
	if (rc == 0 && !body->count)
		rc = errorf(err, -EINVAL, "there is nothing to change: give an option or name=values");
	return rc;
}

static void change_say(const struct node *experiment)
{
	const struct node *tasks = node_get(experiment, "tasks"), *search = node_get(experiment, "search");
	const char *reason = node_get_string(search, "reason"), *strategy = node_get_string(experiment, "strategy");
	struct buf out = buf_make(8192);
	buf_addf(&out, "%s goes on with %s%s%s%s: %" PRId64 " tasks in all, %" PRId64 " finished\n",
		 node_get_string(experiment, "id"), strategy ? strategy : "its search", reason ? " (" : "",
		 reason ? reason : "", reason ? ")" : "", node_get_int(tasks, "total", 0),
		 node_get_int(tasks, "finished", 0));
	if (node_get_string(experiment, "state") && strcmp(node_get_string(experiment, "state"), "stopped") == 0)
		buf_add_text(&out, "it is stopped: 'sluice restart' lets it go on\n");
	fputs(buf_text(&out), stdout);
	buf_free(&out);
}

static int change_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	struct node *answer = NULL, *body = node_new(NODE_MAP);
	int status = call_begin(&call, &verb_change, argc, argv, 1, SIZE_MAX);
	if (status) {
		node_free(body);
		return status;
	}
	int rc = target_parse_experiment(call.options.args.at[0], &target, &err);
	if (rc == 0)
		rc = change_body(&call.options, body, &err);
	status = rc < 0 ? call_usage(&verb_change, &err) : call_connect(&call);
	if (!status && pairs_post(&call.client, &target, "/search", body, &answer, &err) < 0)
		status = call_fail(&err);
	else if (!status && options_has(&call.options, "json"))
		pairs_print_json(answer);
	else if (!status)
		change_say(answer);
	node_free(answer);
	node_free(body);
	return call_end(&call, status);
}

const struct verb verb_change = {
	.name = "change",
	.arguments = "ID [options] [name=values ...]",
	.summary = "change budget, strategy or parameters while it runs",
	.help = "The search goes on from all results so far; tasks that run are left alone, and an experiment that has ended\n"
		"runs again where there is more to do. A parameter's values replace those it had, its condition stays; one value\n"
		"makes it a constant.\n\n"
		"  sluice change e12 --tasks 120\n"
		"  sluice change e12 learning_rate=1e-6..1:log optimizer=adam,sgd,rmsprop\n"
		"  sluice change e12 batch_size=64 --strategy tpe\n"
		"  sluice change e12 --objective val_loss    rank what is there by another metric, and go on",
	.options = change_options,
	.run = change_run,
};
