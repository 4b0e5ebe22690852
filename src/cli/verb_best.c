/* `sluice best ID`: the best configurations of an experiment. */
#include "cli/front.h"
#include "cli/tasks.h"
#include "cli/verbs.h"
#include "cli/view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const struct verb_option best_options[] = {
	{"n,limit", "N", "how many (5)"},
	{"json", NULL, "print the tasks as JSON, best first"},
	{0},
};

/* Takes tasks without a value, and those beyond a limit, off the end of the list. */
static void best_drop_unknown(struct node *tasks)
{
	struct node *items = node_get(tasks, "items");
	while (items && items->count) {
		const struct node *last = items->items[items->count - 1], *best = node_get(last, "best");
		if (best && best->type == NODE_MAP && !node_get_string(last, "beyond"))
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
		buf_addf(&out, "no task has a value%s; `sluice show %s` says why\n",
			 node_get(experiment, "limits") && node_get(experiment, "limits")->count
				 ? " and keeps the limits"
				 : "",
			 node_get_string(experiment, "id"));
	else
		buf_add_text(&out, "no result yet\n");
	fputs(buf_text(&out), stdout);
	buf_free(&out);
}

/* One configuration: its tasks stand together in the list. */
struct best_group {
	const struct node *parameters;
	struct buf tasks;
	size_t count, of; /* with a value, and all */
	double sum, squares; /* squares: of the differences from the mean so far (Welford) */
};

static void best_group_add(struct best_group *group, const struct node *task)
{
	const struct node *value = node_get(node_get(task, "best"), "value");
	buf_addf(&group->tasks, "%s%s", group->tasks.len ? " " : "", node_get_string(task, "id"));
	group->of++;
	if (!node_is_number(value) || node_get_string(task, "beyond"))
		return;
	double before = group->count ? value->real - group->sum / (double)group->count : 0;
	group->sum += value->real;
	group->count++;
	group->squares += before * (value->real - group->sum / (double)group->count);
}

static void best_group_row(struct best_group *group, const struct node *varying, struct term_table *table)
{
	struct buf parameters = buf_make(65536);
	if (group->count) {
		view_parameters(group->parameters, varying, &parameters);
		term_table_addf(table, TERM_BOLD, "%.6g", group->sum / (double)group->count);
		if (group->count > 1)
			term_table_addf(table, TERM_PLAIN, "%.3g", sqrt(group->squares / (double)(group->count - 1)));
		else
			term_table_add(table, TERM_PLAIN, "");
		if (group->count < group->of)
			term_table_addf(table, TERM_YELLOW, "%zu of %zu", group->count, group->of);
		else
			term_table_addf(table, TERM_PLAIN, "%zu", group->count);
		term_table_add(table, TERM_PLAIN, buf_text(&group->tasks));
		term_table_add(table, TERM_PLAIN, buf_text(&parameters));
	}
	buf_free(&parameters);
	buf_free(&group->tasks);
	*group = (struct best_group){.tasks = buf_make(65536)};
}

/* Where configurations are repeated: a row for each, by the mean. */
static void best_print_means(const struct node *tasks, const struct node *experiment, size_t limit,
			     const struct term *term)
{
	const char *objective = view_objective(node_get(experiment, "objective"));
	const struct term_column columns[] = {{*objective ? objective : "BEST", true, false},
					      {"±", true, false},
					      {"REPEATS", true, false},
					      {"TASKS", false, true},
					      {"PARAMETERS", false, true}};
	struct term_table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	struct best_group group = {.tasks = buf_make(65536)};
	struct buf out = buf_make(BUF_UNLIMITED);
	const struct node *items = node_get(tasks, "items"), *varying = node_get(experiment, "varying");
	bool more = node_get_string(tasks, "next");
	size_t groups = 0;
	for (size_t i = 0; items && i < items->count && groups < limit; i++) {
		const struct node *parameters = node_get(items->items[i], "parameters");
		const struct node *next = i + 1 < items->count ? node_get(items->items[i + 1], "parameters") : NULL;
		group.parameters = parameters;
		best_group_add(&group, items->items[i]);
		if (next && node_equal(parameters, next))
			continue;
		if (!next && more && groups)
			break; /* the page may end within this one: a mean of a part would mislead */
		groups++;
		best_group_row(&group, varying, &table);
	}
	buf_free(&group.tasks);
	term_table_write(&table, term, &out);
	fputs(buf_text(&out), stdout);
	term_table_free(&table);
	buf_free(&out);
}

/* Why no task has a value for every objective. */
static void best_print_none(const struct node *experiment)
{
	const char *value = node_get_string(experiment, "no_value"), *energy = node_get_string(experiment, "no_energy");
	struct buf out = buf_make(65536);
	term_add_safe(&out, value ? value : energy);
	bool over = node_get_string(experiment, "finished") != NULL;
	if (out.len)
		printf("no task has a value for every objective: %s\n", buf_text(&out));
	else if (over)
		printf("no task that finished has a value for every objective; `sluice show %s` lists them\n",
		       node_get_string(experiment, "id"));
	else
		puts("no result yet");
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
	const struct node *points = fronts && fronts->count ? node_get(fronts->items[0], "points") : NULL;
	if (rc == 0 && !(points && points->count)) {
		best_print_none(experiment);
	} else if (rc == 0) {
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
	char *path = target_path(&target, ""), *list = NULL;
	rc = client_get(&call.client, path, NULL, &experiment, &err);
	int64_t repeats = node_get_int(node_get(experiment, "spec"), "repeats", 1), tasks_limit = limit * repeats;
	list = mem_printf("%s/tasks?sort=best&limit=%" PRId64, path, tasks_limit < 1000 ? tasks_limit : 1000);
	if (rc == 0)
		rc = client_get(&call.client, list, &json, &tasks, &err);
	bool text = rc == 0 && !options_has(&call.options, "json");
	const struct node *objective = node_get(experiment, "objective");
	if (rc == 0 && !text)
		puts(buf_text(&json));
	else if (text && objective && objective->count > 1)
		rc = best_print_front(&call, &target, experiment, (size_t)limit, &err);
	else if (text && node_is_number(node_get(node_get(experiment, "best"), "mean")))
		best_print_means(tasks, experiment, (size_t)limit, &call.term);
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
	.help = "With several objectives it prints the front: the tasks that no other task beats in every objective.\n"
		"With repeats it prints a row for each configuration: the mean of its repeats, their standard deviation, and how\n"
		"many have a value.",
	.options = best_options,
	.run = best_run,
};
