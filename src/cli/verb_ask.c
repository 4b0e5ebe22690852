/* `sluice ask ID`: takes a task for an external worker. */
#include "cli/pairs.h"
#include "cli/view.h"

#include "base/pace.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static const struct verb_option ask_options[] = {
	{"no-wait", NULL, "exit with status 1 if the search first needs results of other tasks"},
	{"json", NULL, "print the task as JSON"},
	{0},
};

static void ask_print(const struct node *task)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	buf_addf(&out, "%s ", node_get_string(task, "id"));
	/* For a program to run with: every digit counts. */
	const struct node *parameters = node_get(task, "parameters");
	for (size_t i = 0; parameters && i < parameters->count; i++) {
		char *value = view_value(parameters->items[i]);
		buf_addf(&out, "%s%s=%s", i ? " " : "", parameters->items[i]->key, value);
		free(value);
	}
	puts(buf_text(&out));
	buf_free(&out);
}

static int ask_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	struct node *task = NULL;
	int status = call_begin(&call, &verb_ask, argc, argv, 1, 1), rc;
	if (status)
		return status;
	if (target_parse_experiment(call.options.args.at[0], &target, &err) < 0)
		return call_end(&call, call_usage(&verb_ask, &err));
	status = call_connect(&call);
	if (status)
		return call_end(&call, status);
	struct node *body = node_new(NODE_MAP);
	bool wait = !options_has(&call.options, "no-wait");
	while ((rc = pairs_post(&call.client, &target, "/ask", body, &task, &err)) == -EAGAIN && wait)
		usleep(ASK_AGAIN_US);
	node_free(body);
	if (rc == 0 && !task)
		rc = errorf(&err, -ENOENT, "%s has no task left to give", target.experiment);
	if (rc < 0)
		status = call_fail(&err);
	else if (options_has(&call.options, "json"))
		pairs_print_json(task);
	else
		ask_print(task);
	node_free(task);
	return call_end(&call, status);
}

const struct verb verb_ask = {
	.name = "ask",
	.arguments = "ID [--no-wait]",
	.summary = "take a task for a worker of your own",
	.help = "For experiments with 'resources: {backend: external}': sluice runs nothing itself, workers of your own take\n"
		"tasks with 'ask' and give results with 'tell'. Prints the task's id and its parameters on one line. From then on\n"
		"the task counts as running, and no other worker gets it. The exit status is 1 when no task is left.\n\n"
		"  while read -r task parameters < <(sluice ask e12); do\n"
		"      sluice tell $task val_loss=$(./measure $parameters)\n"
		"  done",
	.options = ask_options,
	.run = ask_run,
};
