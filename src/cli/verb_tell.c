/* `sluice tell ID/TASK metric=value ...`: reports what an external worker measured. */
#include "cli/pairs.h"

#include <errno.h>
#include <stdio.h>

static const struct verb_option tell_options[] = {
	{"step", "N", "step (epoch) of the values (default: the next one)"},
	{"more", NULL, "the task goes on: more values will follow"},
	{"failed", "WHY", "the task failed; in a few words, why"},
	{"json", NULL, "print the task as JSON"},
	{0},
};

static int tell_body(const struct options *options, struct node *body, struct error *err)
{
	struct node *values = node_new(NODE_MAP);
	int64_t step;
	int rc = pairs_add_all(values, options, 1, PAIRS_NUMBER, err);
	if (values->count)
		node_add(body, "values", values);
	else
		node_free(values);
	if (rc == 0 && options_has(options, "step")) {
		rc = options_int(options, "step", 0, INT64_MAX, 0, &step, err);
		if (rc == 0)
			node_add(body, "step", node_new_int(step));
	}
	if (options_has(options, "more"))
		node_add(body, "more", node_new_bool(true));
	if (options_has(options, "failed"))
		node_add(body, "failed", node_new_string(options_get(options, "failed")));
	if (rc == 0 && !node_get(body, "values") && !node_get(body, "failed"))
		rc = errorf(err, -EINVAL, "give a result (val_loss=0.31), or --failed WHY");
	return rc;
}

static int tell_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	struct node *answer = NULL, *body = node_new(NODE_MAP);
	int status = call_begin(&call, &verb_tell, argc, argv, 1, SIZE_MAX);
	if (status) {
		node_free(body);
		return status;
	}
	int rc = target_parse(call.options.args.at[0], &target, &err);
	if (rc == 0 && !target.number)
		rc = errorf(&err, -EINVAL, "give the task, such as %s/1", target.experiment);
	if (rc == 0)
		rc = tell_body(&call.options, body, &err);
	status = rc < 0 ? call_usage(&verb_tell, &err) : call_connect(&call);
	if (!status && pairs_post(&call.client, &target, "/tell", body, &answer, &err) < 0)
		status = call_fail(&err);
	else if (!status && options_has(&call.options, "json"))
		pairs_print_json(answer);
	node_free(answer);
	node_free(body);
	return call_end(&call, status);
}

const struct verb verb_tell = {
	.name = "tell",
	.arguments = "ID/TASK metric=value ... [--step N] [--more] [--failed WHY]",
	.summary = "give the result of a task that 'ask' gave you",
	.help = "Without --more, the task ends with these values. With --more, they are one row of its curve and the task goes\n"
		"on. Pruning uses these rows: when it ends the task early, the next 'tell' says so and exits with 1.\n\n"
		"  sluice tell e12/7 val_loss=0.41 --step 1 --more\n"
		"  sluice tell e12/7 val_loss=0.31 --step 2\n"
		"  sluice tell e12/8 --failed 'out of memory'",
	.options = tell_options,
	.run = tell_run,
};
