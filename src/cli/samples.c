/* See samples.h. */
#include "cli/samples.h"

#include "base/sample.h"
#include "cli/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns of the course. */
#define SAMPLES_COURSE 40

struct samples_range {
	double least, mean, most;
	size_t count;
};

static double samples_value(const struct node *item)
{
	return node_is_number(item) ? item->real : NAN;
}

static struct samples_range samples_range(const struct node *column, size_t from, size_t to)
{
	struct samples_range range = {.least = INFINITY, .most = -INFINITY};
	for (size_t i = from; i < to && i < column->count; i++) {
		double value = samples_value(column->items[i]);
		if (isnan(value))
			continue;
		range.least = value < range.least ? value : range.least;
		range.most = value > range.most ? value : range.most;
		range.mean += value;
		range.count++;
	}
	range.mean = range.count ? range.mean / (double)range.count : NAN;
	return range;
}

/* The means of equal runs of samples, between 0 and the largest. */
static void samples_course(const struct node *column, struct buf *out)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	size_t columns = column->count < SAMPLES_COURSE ? column->count : SAMPLES_COURSE;
	double most = 0;
	for (size_t i = 0; i < columns; i++) {
		double mean = samples_range(column, column->count * i / columns, column->count * (i + 1) / columns)
				      .mean;
		most = mean > most ? mean : most;
	}
	for (size_t i = 0; i < columns; i++) {
		double mean = samples_range(column, column->count * i / columns, column->count * (i + 1) / columns)
				      .mean;
		size_t level = most > 0 && mean > 0 ? (size_t)(mean / most * 7 + 0.5) : 0;
		buf_add_text(out, isnan(mean) ? " " : blocks[level < 8 ? level : 7]);
	}
}

static void samples_number(double value, const char *unit, char text[static VIEW_CHARS])
{
	struct node node = {.type = NODE_REAL, .real = value};
	if (strcmp(unit, "B/s") == 0) {
		char bytes[VIEW_CHARS];
		view_bytes(&node, "", bytes);
		snprintf(text, VIEW_CHARS, "%.40s/s", bytes);
	} else {
		view_figure(&node, unit, "", text);
	}
}

static void samples_add_throttle(const struct node *column, struct term_table *table)
{
	uint32_t bits = 0;
	struct buf words = buf_make(4096);
	for (size_t i = 0; i < column->count; i++)
		bits |= node_is_number(column->items[i]) ? (uint32_t)column->items[i]->integer : 0;
	sample_throttle_words(bits, &words);
	if (words.len) {
		term_table_add(table, TERM_PLAIN, "clock lowered for");
		for (int i = 0; i < 3; i++)
			term_table_add(table, TERM_PLAIN, "");
		term_table_add(table, TERM_YELLOW, buf_text(&words));
	}
	buf_free(&words);
}

static void samples_add_figures(const struct node *columns, const struct node *figures, struct term_table *table)
{
	for (size_t i = 0; figures && i < figures->count; i++) {
		const char *key = node_get_string(figures->items[i], "key");
		const char *unit = node_get_string(figures->items[i], "unit");
		const struct node *column = node_get(columns, key ? key : "");
		if (!column || column->type != NODE_LIST || !column->count)
			continue;
		if (strcmp(key, "throttle") == 0) {
			samples_add_throttle(column, table);
			continue;
		}
		struct samples_range range = samples_range(column, 0, column->count);
		const double shown[] = {range.least, range.mean, range.most};
		if (!range.count || (range.most == 0 && (!unit || !*unit)))
			continue; /* no process was stopped, none waited: nothing to say */
		term_table_add(table, TERM_PLAIN, node_get_string(figures->items[i], "label"));
		for (size_t k = 0; k < 3; k++) {
			char text[VIEW_CHARS];
			samples_number(shown[k], unit ? unit : "", text);
			term_table_add(table, TERM_PLAIN, text);
		}
		struct buf course = buf_make(4096);
		samples_course(column, &course);
		term_table_add(table, TERM_PLAIN, buf_text(&course));
		buf_free(&course);
	}
}

static void samples_add_table(const char *title, const struct node *columns, const struct node *figures,
			      const struct term *term, struct buf *out)
{
	const struct term_column head[] = {{title, false, false},
					   {"LEAST", true, false},
					   {"MEAN", true, false},
					   {"MOST", true, false},
					   {"COURSE", false, false}};
	struct term_table table = {.columns = head, .column_count = 5};
	samples_add_figures(columns, figures, &table);
	term_table_write(&table, term, out);
	term_table_free(&table);
}

void samples_show(const struct node *samples, const struct term *term, struct buf *out)
{
	const struct node *time = node_get(samples, "time_s"), *gpus = node_get(samples, "gpus");
	const struct node *figures = node_get(samples, "figures");
	if (!time || !time->count) {
		buf_add_text(out,
			     "no samples: the task has not run for long enough, or ran under an earlier version\n");
		return;
	}
	char until[VIEW_CHARS];
	view_seconds(time->items[time->count - 1], "", until);
	buf_addf(out, "%zu samples over %s\n\n", time->count, until);
	samples_add_table("PROCESSES", node_get(samples, "host"), node_get(figures, "host"), term, out);
	if (!gpus || !gpus->count)
		buf_add_text(out, "\nGPUs: not measured\n");
	for (size_t g = 0; gpus && g < gpus->count; g++) {
		char title[80];
		const char *id = node_get_string(gpus->items[g], "id");
		snprintf(title, sizeof(title), "GPU %.60s", id ? id : "");
		buf_add_char(out, '\n');
		samples_add_table(title, gpus->items[g], node_get(figures, "gpu"), term, out);
	}
}
