/* `sluice change ID`: another budget, strategy, space or size of the tasks while the experiment runs. */
#include "cli/pairs.h"
#include "cli/submit.h"
#include "cli/submit_objective.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const struct verb_option change_options[] = {
	{"tasks", "N", "tasks in all"},
	{"parallel", "N", "tasks at the same time; 0: as many as fit"},
	{"strategy", "STRATEGY", "search strategy: auto, grid, random, tpe, ..."},
	{"seed", "N", "seed of the search"},
	{"objective", "METRIC...", "rank all tasks by this metric, also those that have finished; a,b for several"},
	{"goal", "min|max...", "of the objective (default: guessed from its name)"},
	{"failures", "N|off", "pause after N equal failures in a row"},
	{"constraint", "EXPR...", "replace all constraints by these"},
	SUBMIT_RESOURCES,
	SUBMIT_RETRY,
	{"json", NULL, "print the experiment as JSON"},
	{0},
};

static int change_body(const struct options *options, struct node *body, struct error *err)
{
	static const char *const numbers[] = {"tasks", "parallel", "seed"};
	struct node *parameters = node_new(NODE_MAP);
	int64_t value;
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < COUNT_OF(numbers); i++)
		rc = options_int(options, numbers[i], 0, INT64_MAX, 0, &value, err);
	for (size_t i = 0; rc >= 0 && i < options->given.len; i++)
		rc = submit_apply_flag(body, &options->given.at[i], err);
	if (rc >= 0)
		rc = pairs_add_all(parameters, options, 1, PAIRS_VALUES, err);
	if (rc >= 0)
		rc = submit_apply_objective(body, options, err);
	if (parameters->count)
		node_add(body, "parameters", parameters);
	else
		node_free(parameters);
	if (rc >= 0 && !body->count)
		rc = errorf(err, -EINVAL, "there is nothing to change: give an option or name=values");
	return rc < 0 ? rc : 0;
}

/* What the new resources are for: tasks that run keep theirs. */
static void change_say_resources(const struct node *experiment, struct buf *out)
{
	const struct node *tasks = node_get(experiment, "tasks");
	const char *id = node_get_string(experiment, "id"), *backend = node_get_string(experiment, "backend");
	int64_t queued = node_get_int(tasks, "submitted", 0), running = node_get_int(tasks, "running", 0);
	int64_t failed = node_get_int(tasks, "error", 0);
	bool renews = backend && strcmp(backend, "slurm") == 0;
	buf_add_text(out, "attempts from now on ask for the new resources");
	if (queued)
		buf_addf(out,
			 renews ? "; %" PRId64 " in the queue %s taken out and submitted again"
				: "; %" PRId64 " already handed over %s left as they are",
			 queued, queued == 1 && renews ? "is" : "are");
	if (running)
		buf_addf(out, "; %" PRId64 " running %s what %s", running, running == 1 ? "keeps" : "keep",
			 running == 1 ? "it has" : "they have");
	buf_add_char(out, '\n');
	if (failed)
		buf_addf(out, "%" PRId64 " failed: 'sluice restart %s --failed' runs %s again with them\n", failed, id,
			 failed == 1 ? "it" : "them");
}

static void change_say(const struct node *experiment, const struct node *body)
{
	const struct node *tasks = node_get(experiment, "tasks"), *search = node_get(experiment, "search");
	const char *reason = node_get_string(search, "reason"), *strategy = node_get_string(experiment, "strategy");
	struct buf out = buf_make(8192);
	const char *state = node_get_string(experiment, "state");
	int64_t open = node_get_int(tasks, "waiting", 0) + node_get_int(tasks, "submitted", 0) +
		node_get_int(tasks, "running", 0);
	if (!open && node_get_int(tasks, "finished", 0) == node_get_int(tasks, "total", -1))
		buf_addf(&out, "%s is changed; nothing is left to run", node_get_string(experiment, "id"));
	else
		buf_addf(&out, "%s goes on with %s%s%s%s", node_get_string(experiment, "id"),
			 strategy ? strategy : "its search", reason ? " (" : "", reason ? reason : "",
			 reason ? ")" : "");
	buf_addf(&out, ": %" PRId64 " tasks in all, %" PRId64 " finished\n", node_get_int(tasks, "total", 0),
		 node_get_int(tasks, "finished", 0));
	if (node_get(body, "resources"))
		change_say_resources(experiment, &out);
	if (state && strcmp(state, "stopped") == 0)
		buf_addf(&out, "it is stopped: 'sluice resume %s' lets it go on\n", node_get_string(experiment, "id"));
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
		change_say(answer, body);
	node_free(answer);
	node_free(body);
	return call_end(&call, status);
}

const struct verb verb_change = {
	.name = "change",
	.arguments = "ID [options] [name=values ...]",
	.summary = "change budget, strategy, parameters or resources while it runs",
	.help = "The search continues with all results so far. Running tasks are not touched. An experiment that has ended runs\n"
		"again if there is more to do. New values of a parameter replace its old ones; its condition (when) stays. A\n"
		"single value makes the parameter a constant.\n\n"
		"Resources and --retry are for the attempts that follow. On Slurm, tasks that wait in the queue are taken out and\n"
		"submitted again; tasks that run keep what they have. Restart failed tasks to run them with the new resources.\n\n"
		"  sluice change e12 --tasks 120\n"
		"  sluice change e12 learning_rate=1e-6..1:log optimizer=adam,sgd,rmsprop\n"
		"  sluice change e12 batch_size=64 --strategy tpe\n"
		"  sluice change e12 --objective val_loss    rank all tasks by another metric, and go on\n"
		"  sluice change e12 --objective accuracy,latency --goal max,min    by two\n"
		"  sluice change e12 --memory 32G --time 4h && sluice restart e12 --failed",
	.options = change_options,
	.run = change_run,
};
