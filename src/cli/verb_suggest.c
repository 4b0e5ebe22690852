/* `sluice suggest ID name=value ...`: adds a configuration that the user chose to those of the search. */
#include "cli/pairs.h"
#include "cli/view.h"

#include <errno.h>
#include <stdio.h>

static const struct verb_option suggest_options[] = {
	{"outside", NULL,
	 "values may lie outside those that were declared; the search does not learn from such a task"},
	{"json", NULL, "print the task as JSON"},
	{0},
};

static int suggest_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	struct node *answer = NULL, *body = node_new(NODE_MAP), *parameters = node_new(NODE_MAP);
	node_add(body, "parameters", parameters);
	int status = call_begin(&call, &verb_suggest, argc, argv, 2, SIZE_MAX);
	if (status) {
		node_free(body);
		return status;
	}
	int rc = target_parse_experiment(call.options.args.at[0], &target, &err);
	if (rc == 0)
		rc = pairs_add_all(parameters, &call.options, 1, PAIRS_SCALAR, &err);
	if (options_has(&call.options, "outside"))
		node_add(body, "outside", node_new_bool(true));
	if (rc < 0)
		status = call_usage(&verb_suggest, &err);
	else
		status = call_connect(&call);
	if (!status && pairs_post(&call.client, &target, "/suggest", body, &answer, &err) < 0)
		status = call_fail(&err);
	else if (!status && options_has(&call.options, "json"))
		pairs_print_json(answer);
	else if (!status)
		printf("%s is queued\n", node_get_string(answer, "id"));
	node_free(answer);
	node_free(body);
	return call_end(&call, status);
}

const struct verb verb_suggest = {
	.name = "suggest",
	.arguments = "ID name=value ...",
	.summary = "run a configuration of your own in an experiment",
	.help = "The configuration becomes a task beside those that the search proposes, and the search learns from its\n"
		"result. Every parameter that varies needs one of its values; constants may be left out. It does not count\n"
		"against the number of tasks. With --outside, any value of the right type will do, for constants too.\n\n"
		"  sluice suggest e12 learning_rate=0.003 batch_size=64 optimizer=adam",
	.options = suggest_options,
	.run = suggest_run,
};
