/* Fronts: see front.h. */
#include "cli/front.h"

#include "cli/view.h"

#include <inttypes.h>

#define FRONT_COLUMNS 16

static double front_value(const struct node *point, size_t axis)
{
	const struct node *values = node_get(point, "values");
	return values && axis < values->count ? values->items[axis]->real : 0;
}

static int compare_points(const void *a, const void *b)
{
	double x = front_value(*(const struct node *const *)a, 0), y = front_value(*(const struct node *const *)b, 0);
	return x < y ? -1 : x > y;
}

static void front_add_row(struct term_table *table, const struct node *point, const char *experiment, size_t axes,
			  const struct node *varying)
{
	const struct node *values = node_get(point, "values");
	struct buf text = buf_make(65536);
	char value[VIEW_CHARS];
	term_table_addf(table, TERM_BOLD, "%s/%" PRId64, experiment, node_get_int(point, "task", 0));
	for (size_t i = 0; i < axes; i++) {
		view_metric(values && i < values->count ? values->items[i] : NULL, value);
		term_table_add(table, TERM_PLAIN, value);
	}
	if (node_get(point, "parameters"))
		view_parameters(node_get(point, "parameters"), varying, &text);
	term_table_add(table, TERM_PLAIN, buf_text(&text));
	buf_free(&text);
}

void front_print(const struct node *front, const char *experiment, const struct node *varying, size_t limit,
		 const struct term *term, struct buf *out)
{
	const struct node *axes = node_get(front, "axes"), *points = node_get(front, "points");
	VEC(const struct node *) on = {0};
	struct term_column columns[FRONT_COLUMNS + 2] = {{"TASK", false, false}};
	size_t count = axes && axes->count < FRONT_COLUMNS ? axes->count : 0;
	const char *goal = count ? node_get_string(axes->items[0], "goal") : NULL;
	bool most = goal && strcmp(goal, "max") == 0;
	for (size_t i = 0; points && i < points->count; i++)
		if (node_get_bool(points->items[i], "front", false))
			vec_push(&on, points->items[i]);
	if (!on.len) {
		buf_add_text(out, "no result yet\n");
		return;
	}
	qsort(on.at, on.len, sizeof(*on.at), compare_points);
	for (size_t i = 0; i < count; i++) {
		const char *name = node_get_string(axes->items[i], "name");
		columns[1 + i] = (struct term_column){name ? name : "?", true, false};
	}
	columns[1 + count] = (struct term_column){"PARAMETERS", false, true};
	struct term_table table = {.columns = columns, .column_count = count + 2};
	for (size_t i = 0; i < on.len && i < limit; i++)
		front_add_row(&table, on.at[most ? on.len - 1 - i : i], experiment, count, varying);
	term_table_write(&table, term, out);
	if (count > 1)
		buf_add_text(
			out,
			"each value is the best of its task for that objective; they may be of different epochs\n");
	if (on.len > limit)
		buf_addf(out, "and %zu more (--limit N)\n", on.len - limit);
	term_table_free(&table);
	free(on.at);
}
