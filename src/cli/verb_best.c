/* `sluice best ID`: the best configurations of an experiment. */
#include "cli/front.h"
#include "cli/tasks.h"
#include "cli/verbs.h"
#include "cli/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const struct verb_option best_options[] = {
	{"n,limit", "N", "how many (5)"},
	{"json", NULL, "print the tasks as JSON, best first"},
	{0},
};

/* Takes tasks without a value off the end of the list. */
static void best_drop_unknown(struct node *tasks)
{
	struct node *items = node_get(tasks, "items");
	while (items && items->count) {
		const struct node *best = node_get(items->items[items->count - 1], "best");
		if (best && best->type == NODE_MAP)
			break;
		node_free(items->items[--items->count]);
	}
	if (items)
		node_add(tasks, "total", node_new_int((int64_t)items->count));
}

static void best_print(struct node *tasks, const struct node *experiment, const struct term *term)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	const struct node *objective = node_get(experiment, "objective");
	best_drop_unknown(tasks);
	if (node_get(tasks, "items") && node_get(tasks, "items")->count)
		tasks_write(tasks, experiment, term, &out);
	else if (!objective || !objective->count)
		buf_add_text(&out, "the experiment has no objective\n");
	else if (node_get_string(experiment, "finished"))
		buf_addf(&out, "no task has a value; `sluice show %s` says why\n", node_get_string(experiment, "id"));
	else
		buf_add_text(&out, "no result yet\n");
	fputs(buf_text(&out), stdout);
	buf_free(&out);
}

/* With several objectives the best are those on the front. */
static int best_print_front(struct call *call, const struct target *target, const struct node *experiment, size_t limit,
			    struct error *err)
{
	struct node *analysis = NULL;
	struct buf out = buf_make(BUF_UNLIMITED);
	char *path = target_path(target, "/analysis");
	int rc = client_get(&call->client, path, NULL, &analysis, err);
	const struct node *fronts = node_get(analysis, "fronts");
	if (rc == 0) {
		front_print(fronts && fronts->count ? fronts->items[0] : NULL, target->experiment,
			    node_get(experiment, "varying"), limit, &call->term, &out);
		fputs(buf_text(&out), stdout);
	}
	free(path);
	node_free(analysis);
	buf_free(&out);
	return rc;
}

static int best_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	int64_t limit;
	struct node *experiment = NULL, *tasks = NULL;
	struct buf json = buf_make(BUF_UNLIMITED);
	int status = call_begin(&call, &verb_best, argc, argv, 1, 1);
	if (status)
		return status;
	int rc = target_parse_experiment(call.options.args.at[0], &target, &err);
	if (rc == 0)
		rc = options_int(&call.options, "limit", 1, 1000, 5, &limit, &err);
	if (rc < 0)
		return call_end(&call, call_usage(&verb_best, &err));
	status = call_connect(&call);
	if (status)
		return call_end(&call, status);
	char *path = target_path(&target, ""), *list = mem_printf("%s/tasks?sort=best&limit=%" PRId64, path, limit);
	rc = client_get(&call.client, path, NULL, &experiment, &err);
	if (rc == 0)
		rc = client_get(&call.client, list, &json, &tasks, &err);
	bool text = rc == 0 && !options_has(&call.options, "json");
	const struct node *objective = node_get(experiment, "objective");
	if (rc == 0 && !text)
		puts(buf_text(&json));
	else if (text && objective && objective->count > 1)
		rc = best_print_front(&call, &target, experiment, (size_t)limit, &err);
	else if (text)
		best_print(tasks, experiment, &call.term);
	if (rc < 0)
		status = call_fail(&err);
	free(path);
	free(list);
	node_free(experiment);
	node_free(tasks);
	buf_free(&json);
	return call_end(&call, status);
}

const struct verb verb_best = {
	.name = "best",
	.arguments = "ID [-n N]",
	.summary = "the best configurations of an experiment",
	.help = "With several objectives it prints the front: the tasks that no other task beats in every objective.",
	.options = best_options,
	.run = best_run,
};
