/* `sluice analyse ID`: which parameters matter, how the best came down, what the front is. */
#include "cli/front.h"
#include "cli/verbs.h"
#include "cli/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define ANALYSE_BAR 40

static const struct verb_option analyse_options[] = {
	{"n,limit", "N", "rows of a table at most (10)"},
	{"json", NULL, "print the daemon's answer as JSON"},
	{0},
};

static void analyse_head(struct buf *out, const struct term *term, const char *text)
{
	if (out->len)
		buf_add_char(out, '\n');
	term_add_coloured(out, TERM_BOLD, text, term);
	buf_add_char(out, '\n');
}

static void analyse_importance(const struct node *analysis, const struct term *term, struct buf *out)
{
	const struct node *list = node_get(analysis, "importance");
	int width = 8;
	if (!list || !list->count) {
		buf_addf(out, "needs %" PRId64 " finished tasks with a value, and a parameter that varies\n",
			 node_get_int(analysis, "importance_needs", 0));
		return;
	}
	for (size_t i = 0; i < list->count; i++) {
		int own = term_width(node_get_string(list->items[i], "parameter"));
		width = own > width ? own : width;
	}
	width = width < 32 ? width : 32;
	for (size_t i = 0; i < list->count; i++) {
		const char *name = node_get_string(list->items[i], "parameter");
		double share = node_get_real(list->items[i], "importance", 0);
		int filled = (int)(share * ANALYSE_BAR + 0.5);
		struct buf bar = buf_make(1024);
		term_add_cut(out, name, width, term);
		for (int k = term_width(name); k < width; k++)
			buf_add_char(out, ' ');
		for (int k = 0; k < filled; k++)
			buf_add_text(&bar, term->utf8 ? "█" : "#");
		buf_addf(out, " %5.1f %%  ", share * 100);
		term_add_coloured(out, TERM_CYAN, buf_text(&bar), term);
		buf_add_char(out, '\n');
		buf_free(&bar);
	}
	buf_add_text(out, "A parameter that a search settled early looks unimportant here.\n");
}

static void analyse_progress(const struct node *analysis, const char *id, struct buf *out, size_t limit,
			     const struct term *term)
{
	static const struct term_column columns[] = {
		{"TASK", false, false}, {"BEST", true, false}, {"ENDED", false, false}};
	const struct node *progress = node_get(analysis, "progress");
	struct term_table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	VEC(const struct node *) steps = {0};
	for (size_t i = 0; progress && i < progress->count; i++)
		if (node_equal(node_get(progress->items[i], "value"), node_get(progress->items[i], "best")) &&
		    (!steps.len ||
		     !node_equal(node_get(steps.at[steps.len - 1], "best"), node_get(progress->items[i], "best"))))
			vec_push(&steps, progress->items[i]);
	for (size_t i = steps.len > limit ? steps.len - limit : 0; i < steps.len; i++) {
		char text[VIEW_CHARS];
		term_table_addf(&table, TERM_BOLD, "%s/%" PRId64, id, node_get_int(steps.at[i], "task", 0));
		view_metric(node_get(steps.at[i], "best"), text);
		term_table_add(&table, TERM_PLAIN, text);
		view_time(node_get(steps.at[i], "time"), "not known", text);
		term_table_add(&table, TERM_PLAIN, text);
	}
	if (steps.len)
		term_table_write(&table, term, out);
	else
		buf_add_text(out, "no result yet\n");
	term_table_free(&table);
	free(steps.at);
}

static void analyse_fronts(const struct node *analysis, const struct node *experiment, size_t limit,
			   const struct term *term, struct buf *out)
{
	const struct node *fronts = node_get(analysis, "fronts");
	for (size_t i = 0; fronts && i < fronts->count; i++) {
		const struct node *axes = node_get(fronts->items[i], "axes"),
				  *volume = node_get(fronts->items[i], "hypervolume");
		struct buf title = buf_make(4096);
		buf_add_text(&title, "Front of ");
		for (size_t k = 0; axes && k < axes->count; k++) {
			buf_add_text(&title, k ? " and " : "");
			term_add_safe(&title, node_get_string(axes->items[k], "name"));
		}
		analyse_head(out, term, buf_text(&title));
		buf_free(&title);
		front_print(fronts->items[i], node_get_string(experiment, "id"), node_get(experiment, "varying"), limit,
			    term, out);
		if (node_is_number(volume))
			buf_addf(out, "hypervolume %.6g\n", volume->real);
	}
}

static void analyse_agreement(const struct node *analysis, const struct term *term, struct buf *out)
{
	const struct node *list = node_get(analysis, "agreement");
	if (!list || !list->count)
		return;
	analyse_head(out, term, "Do short runs order the configurations as longer ones do?");
	for (size_t i = 0; i < list->count; i++) {
		const struct node *one = list->items[i], *correlation = node_get(one, "correlation");
		buf_addf(out, "%g and %g: ", node_get_real(one, "from", 0), node_get_real(one, "to", 0));
		if (node_is_number(correlation))
			buf_addf(out, "rank correlation %.2f over %" PRId64 " configurations\n", correlation->real,
				 node_get_int(one, "tasks", 0));
		else
			buf_addf(out, "%" PRId64 " configurations are too few to say\n", node_get_int(one, "tasks", 0));
	}
}

/* Why nothing is predicted: what the backtest lacks, or lost. */
static void analyse_unearned(const struct node *curves, struct buf *out)
{
	const struct node *cuts = node_get(curves, "cuts");
	bool tried = false;
	for (size_t i = 0; cuts && i < cuts->count; i++) {
		const struct node *cut = cuts->items[i];
		if (node_get_int(cut, "tasks", 0) < 8)
			continue;
		buf_addf(out,
			 "after %g %% of the steps extrapolated curves order %" PRId64
			 " finished tasks with rank correlation %.2f, "
			 "their best so far with %.2f\n",
			 100 * node_get_real(cut, "share", 0), node_get_int(cut, "tasks", 0),
			 node_get_real(cut, "correlation", 0), node_get_real(cut, "plain", 0));
		tried = true;
	}
	if (tried)
		buf_add_text(
			out,
			"no prediction: extrapolated curves must rank the tasks clearly better at each of these points\n");
	else
		buf_addf(
			out,
			"no prediction: it needs 8 finished tasks with 4 values in the first half of their steps (and at most "
			"300 values); %" PRId64 " tasks have a curve\n",
			node_get_int(curves, "tasks", 0));
}

static int compare_predicted(const void *a, const void *b)
{
	double x = node_get_real(*(const struct node *const *)a, "predicted", 0);
	double y = node_get_real(*(const struct node *const *)b, "predicted", 0);
	return x < y ? -1 : x > y;
}

/* The running tasks, the best predicted first. */
static void analyse_curves(const struct node *analysis, const struct node *experiment, size_t limit,
			   const struct term *term, struct buf *out)
{
	static const struct term_column columns[] = {
		{"TASK", false, false}, {"PREDICTED", true, false}, {"AT STEP", true, false}};
	const struct node *curves = node_get(analysis, "curves"), *running = node_get(curves, "running");
	const struct node *objective = node_get(analysis, "objective");
	struct term_table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	VEC(const struct node *) rows = {0};
	if (!curves || !objective || !objective->count)
		return;
	const char *goal = node_get_string(objective->items[0], "goal");
	bool maximise = goal && strcmp(goal, "max") == 0;
	analyse_head(out, term, "Where the running tasks are going");
	for (size_t i = 0; running && i < running->count; i++)
		vec_push(&rows, running->items[i]);
	if (rows.len)
		qsort(rows.at, rows.len, sizeof(*rows.at), compare_predicted);
	for (size_t i = 0; i < rows.len && i < limit; i++) {
		const struct node *row = rows.at[maximise ? rows.len - 1 - i : i];
		char text[VIEW_CHARS];
		term_table_addf(&table, TERM_BOLD, "%s/%" PRId64, node_get_string(experiment, "id"),
				node_get_int(row, "task", 0));
		view_metric(node_get(row, "predicted"), text);
		term_table_add(&table, TERM_PLAIN, text);
		term_table_addf(&table, TERM_PLAIN, "%g", node_get_real(row, "at", 0));
	}
	if (rows.len)
		term_table_write(&table, term, out);
	else if (running)
		buf_add_text(out, "no running task has run long enough for a prediction\n");
	else
		analyse_unearned(curves, out);
	term_table_free(&table);
	free(rows.at);
}

static void analyse_print(const struct node *analysis, const struct node *experiment, size_t limit,
			  const struct term *term)
{
	struct buf out = buf_make(BUF_UNLIMITED), head = buf_make(256);
	const struct node *objective = node_get(experiment, "objective");
	int64_t runs = node_get_int(analysis, "runs", 0);
	buf_addf(&head, "Importance of the parameters, from %" PRId64 " finished task%s", runs, runs == 1 ? "" : "s");
	analyse_head(&out, term, buf_text(&head));
	analyse_importance(analysis, term, &out);
	if (objective && objective->count) {
		analyse_head(&out, term, "Best so far");
		analyse_progress(analysis, node_get_string(experiment, "id"), &out, limit, term);
	}
	analyse_fronts(analysis, experiment, limit, term, &out);
	analyse_agreement(analysis, term, &out);
	analyse_curves(analysis, experiment, limit, term, &out);
	fputs(buf_text(&out), stdout);
	buf_free(&head);
	buf_free(&out);
}

static int analyse_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	int64_t limit;
	struct node *experiment = NULL, *analysis = NULL;
	struct buf json = buf_make(BUF_UNLIMITED);
	int status = call_begin(&call, &verb_analyse, argc, argv, 1, 1);
	if (status)
		return status;
	if (target_parse_experiment(call.options.args.at[0], &target, &err) < 0 ||
	    options_int(&call.options, "limit", 1, 1000, 10, &limit, &err) < 0)
		return call_end(&call, call_usage(&verb_analyse, &err));
	status = call_connect(&call);
	if (status)
		return call_end(&call, status);
	char *path = target_path(&target, ""), *more = target_path(&target, "/analysis");
	int rc = client_get(&call.client, path, NULL, &experiment, &err);
	if (rc == 0)
		rc = client_get(&call.client, more, &json, &analysis, &err);
	if (rc < 0)
		status = call_fail(&err);
	else if (options_has(&call.options, "json"))
		puts(buf_text(&json));
	else
		analyse_print(analysis, experiment, (size_t)limit, &call.term);
	free(path);
	free(more);
	node_free(experiment);
	node_free(analysis);
	buf_free(&json);
	return call_end(&call, status);
}

const struct verb verb_analyse = {
	.name = "analyse",
	.arguments = "ID [-n N]",
	.summary = "which parameters matter, the best so far, fronts",
	.help = "The importance of a parameter is how differently it is distributed among the best tenth of the finished tasks\n"
		"and among all (PED-ANOVA); the shares sum to 100 %. It needs 20 finished tasks. A search that learns tries mostly good\n"
		"values: a parameter that it settled early looks unimportant, and another may have its share. A front holds the tasks that no other task\n"
		"beats in both respects. The final values of running tasks are predicted from their curves, but only if such\n"
		"predictions would have ranked the finished tasks better than their best values at that point did.",
	.options = analyse_options,
	.run = analyse_run,
};
