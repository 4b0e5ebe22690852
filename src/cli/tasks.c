/* Tables of tasks: see tasks.h. */
#include "cli/tasks.h"

#include "cli/view.h"

#include <inttypes.h>
#include <stdio.h>

#define TASKS_OBJECTIVES 8
#define TASKS_COLUMNS 64 /* more parameters than fit any screen go together in the last column */

static void tasks_add_epoch(struct term_table *table, const struct node *task)
{
	const struct node *epoch = node_get(task, "epoch"), *epochs = node_get(task, "epochs");
	if (node_is_number(epoch) && node_is_number(epochs))
		term_table_addf(table, TERM_PLAIN, "%" PRId64 "/%" PRId64, epoch->integer, epochs->integer);
	else if (node_is_number(epoch))
		term_table_addf(table, TERM_PLAIN, "%" PRId64, epoch->integer);
	else
		term_table_add(table, TERM_DIM, view_none(task));
}

/* Why tasks wait is the same for most of them: it is said in the first row. */
static const char *tasks_say_waiting(const char *waiting_for, const char **said)
{
	bool again = waiting_for && *said && strcmp(waiting_for, *said) == 0;
	if (waiting_for)
		*said = waiting_for;
	return again ? "as above" : waiting_for ? waiting_for : "";
}

/* Do some count epochs and others rows? */
static bool tasks_are_mixed(const struct node *items)
{
	const char *first = NULL;
	for (size_t i = 0; i < items->count; i++) {
		const char *name = node_get_string(items->items[i], "step_name");
		if (name && first && strcmp(name, first) != 0)
			return true;
		first = name ? name : first;
	}
	return false;
}

/* Further objectives, each with its own best value: {"loss": {"best": 0.1, "epoch": 3}}. */
static void tasks_add_further(struct term_table *table, const struct node *task, const struct node *objective)
{
	for (size_t i = 1; objective && i < objective->count && i < TASKS_OBJECTIVES; i++) {
		const char *metric = node_get_string(objective->items[i], "metric");
		const struct node *value = metric ? node_get(node_get(node_get(task, "values"), metric), "best") : NULL;
		char text[VIEW_CHARS];
		bool known = value && value->type != NODE_NULL;
		view_metric(known ? value : NULL, text);
		term_table_add(table, known ? TERM_PLAIN : TERM_DIM, known ? text : view_no_value(task, metric));
	}
}

static void tasks_add_row(struct term_table *table, const struct node *task, const struct node *experiment, bool mixed,
			  const char **said)
{
	const struct node *varying = node_get(experiment, "varying");
	const char *state = node_get_string(task, "state");
	const struct node *best = node_get(task, "best"), *parameters = node_get(task, "parameters");
	char text[VIEW_CHARS];
	bool has_best = best && best->type == NODE_MAP;

	term_table_add(table, TERM_BOLD, node_get_string(task, "id"));
	term_table_add(table, term_state_colour(state), state);
	for (size_t i = 0; varying && i < varying->count && i < TASKS_COLUMNS; i++) {
		const struct node *value = node_get(parameters, varying->items[i]->string);
		char *shown = value ? view_short_value(value) : mem_strdup("not used");
		term_table_add(table, value ? TERM_PLAIN : TERM_DIM, shown);
		free(shown);
	}
	view_metric(has_best ? node_get(best, "value") : NULL, text);
	term_table_add(table, has_best ? TERM_PLAIN : TERM_DIM, has_best ? text : view_none(task));
	const char *step = mixed ? node_get_string(task, "step_name") : NULL;
	if (has_best && node_is_number(node_get(best, "epoch")))
		term_table_addf(table, TERM_PLAIN, "%s%s%" PRId64, step ? step : "", step ? " " : "",
				node_get_int(best, "epoch", 0));
	else
		term_table_add(table, TERM_PLAIN, "");
	tasks_add_further(table, task, node_get(experiment, "objective"));
	tasks_add_epoch(table, task);
	view_seconds(node_get(task, "elapsed_s"), "", text);
	term_table_add(table, TERM_PLAIN, text);
	term_table_add(table, TERM_PLAIN, node_get_string(task, "node"));
	const char *cause = view_cause(task), *waiting = tasks_say_waiting(node_get_string(task, "waiting_for"), said);
	term_table_addf(table, state && strcmp(state, "error") == 0 ? TERM_RED : TERM_DIM, "%s%s%s", cause,
			*cause && *waiting ? "; " : "", waiting);
}

void tasks_write(const struct node *tasks, const struct node *experiment, const struct term *term, struct buf *out)
{
	const struct node *items = node_get(tasks, "items"), *varying = node_get(experiment, "varying");
	struct term_column columns[TASKS_COLUMNS + TASKS_OBJECTIVES + 8];
	struct term_table table = {.columns = columns};
	size_t n = 0;
	if (!items || !items->count) {
		buf_add_text(out, "no tasks\n");
		return;
	}
	const char *objective = view_objective(node_get(experiment, "objective"));
	columns[n++] = (struct term_column){"TASK", false, false};
	columns[n++] = (struct term_column){"STATE", false, false};
	for (size_t i = 0; varying && i < varying->count && i < TASKS_COLUMNS; i++)
		columns[n++] = (struct term_column){node_string(varying->items[i]) ? varying->items[i]->string : "?",
						    false, true};
	columns[n++] = (struct term_column){*objective ? objective : "BEST", true, false};
	columns[n++] = (struct term_column){"AT", true, false};
	const struct node *list = node_get(experiment, "objective");
	for (size_t i = 1; list && i < list->count && i < TASKS_OBJECTIVES; i++)
		columns[n++] = (struct term_column){node_get_string(list->items[i], "metric"), true, false};
	columns[n++] = (struct term_column){"EPOCH", true, false};
	columns[n++] = (struct term_column){"ELAPSED", true, false};
	columns[n++] = (struct term_column){"NODE", false, true};
	columns[n++] = (struct term_column){"WHY", false, true};
	table.column_count = n;
	const char *said = NULL;
	for (size_t i = 0; i < items->count; i++)
		tasks_add_row(&table, items->items[i], experiment, tasks_are_mixed(items), &said);
	term_table_write(&table, term, out);
	int64_t more = node_get_int(tasks, "total", (int64_t)items->count) - (int64_t)items->count;
	if (more > 0)
		buf_addf(out, "and %" PRId64 " more (--limit N)\n", more);
	term_table_free(&table);
}
