/* Members of REST answers as words for people: see view.h. */
#include "cli/view.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/num.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#define VIEW_NAME_WIDTH 14
#define VIEW_CAUSE_BYTES 40
#define VIEW_AGO_MS (48 * 3600 * (int64_t)1000) /* what is older is shown with its date */

void view_metric(const struct node *value, char text[static VIEW_CHARS])
{
	if (node_is_number(value))
		snprintf(text, VIEW_CHARS, "%.6g", value->real);
	else if (node_string(value))
		snprintf(text, VIEW_CHARS, "%s", value->string);
	else
		snprintf(text, VIEW_CHARS, "none yet");
}

const char *view_none(const struct node *thing)
{
	return node_get_string(thing, "finished") ? "none" : "none yet";
}

const char *view_no_value(const struct node *thing, const char *metric)
{
	bool energy = metric && strcmp(metric, "energy") == 0;
	return energy && node_get_string(thing, "finished") ? "not measured" : view_none(thing);
}

char *view_value(const struct node *value)
{
	if (!value || value->type == NODE_NULL)
		return mem_strdup("null");
	if (value->type == NODE_BOOL)
		return mem_strdup(value->boolean ? "true" : "false");
	if (value->string)
		return mem_strdup(value->string);
	struct buf text = buf_make(65536);
	struct json json = json_to(&text);
	node_write_json(value, &json);
	return buf_take(&text);
}

char *view_short_value(const struct node *value)
{
	char text[VIEW_CHARS];
	if (!value || value->type != NODE_REAL || !value->string || strlen(value->string) <= 8)
		return view_value(value);
	snprintf(text, sizeof(text), "%.5g", value->real);
	return mem_strdup(text);
}

static bool view_is_named(const struct node *names, const char *name)
{
	for (size_t i = 0; names && i < names->count; i++)
		if (node_string(names->items[i]) && strcmp(names->items[i]->string, name) == 0)
			return true;
	return false;
}

void view_parameters(const struct node *parameters, const struct node *only, struct buf *out)
{
	bool first = true;
	for (size_t i = 0; parameters && parameters->type == NODE_MAP && i < parameters->count; i++) {
		if (only && !view_is_named(only, parameters->items[i]->key))
			continue;
		char *value = view_short_value(parameters->items[i]);
		buf_addf(out, "%s%s=%s", first ? "" : " ", parameters->items[i]->key, value);
		free(value);
		first = false;
	}
}

/* As view_parameters, after a colon; adds nothing if there are none. */
static void view_add_parameters(const struct node *parameters, const struct node *only, struct buf *out)
{
	struct buf text = buf_make(65536);
	view_parameters(parameters, only, &text);
	if (text.len)
		buf_addf(out, ": %s", buf_text(&text));
	buf_free(&text);
}

const char *view_state(const struct node *experiment)
{
	const char *state = node_get_string(experiment, "state");
	if (!state)
		return "";
	return node_get_string(experiment, "paused") && !view_is_over(state) ? "paused" : state;
}

/* What the steps of its curves are called: "epoch", "row", … */
static const char *view_step_name(const struct node *experiment)
{
	const char *name = node_get_string(experiment, "step_name");
	return name ? name : "epoch";
}

const char *view_task_step(const struct node *task, const struct node *experiment)
{
	const char *name = node_get_string(task, "step_name");
	return name ? name : view_step_name(experiment);
}

const char *view_objective(const struct node *objective)
{
	const char *metric = objective && objective->count ? node_get_string(objective->items[0], "metric") : NULL;
	return metric ? metric : "";
}

/* Did the values of all objectives occur at the step of the first? A cost has no step. */
static bool view_best_together(const struct node *best)
{
	const struct node *epochs = node_get(best, "epochs");
	int64_t first = node_get_int(best, "epoch", -1);
	for (size_t i = 1; epochs && i < epochs->count; i++)
		if (node_is_number(epochs->items[i]) && epochs->items[i]->integer != first)
			return false;
	return true;
}

static void view_add_step(const struct node *step, const char *name, struct buf *out)
{
	if (node_is_number(step))
		buf_addf(out, " at %s %" PRId64, name, step->integer);
}

/* "val_loss 0.4 ± 0.02 (mean of 3)", "loss 0.4, size 12", "loss 0.4 at epoch 3, size 12 at epoch 1". */
static void view_best_values(const struct node *best, const struct node *experiment, struct buf *out)
{
	const struct node *values = node_get(best, "values"), *mean = node_get(best, "mean");
	const struct node *epochs = node_get(best, "epochs"), *objective = node_get(experiment, "objective");
	bool apart = !view_best_together(best);
	char value[VIEW_CHARS];
	view_metric(node_is_number(mean) ? mean : node_get(best, "value"), value);
	buf_addf(out, "%s %s", view_objective(objective), value);
	if (apart)
		view_add_step(node_get(best, "epoch"), view_task_step(best, experiment), out);
	if (node_is_number(mean)) {
		if (node_is_number(node_get(best, "spread")))
			buf_addf(out, " ± %.3g", node_get_real(best, "spread", 0));
		buf_addf(out, " (mean of %" PRId64 ")", node_get_int(best, "repeats", 0));
	}
	for (size_t i = 1; values && objective && i < values->count && i < objective->count; i++) {
		const char *metric = node_get_string(objective->items[i], "metric");
		view_metric(values->items[i], value);
		buf_addf(out, ", %s %s", metric ? metric : "?",
			 node_is_number(values->items[i]) ? value : view_no_value(experiment, metric));
		if (apart && epochs && i < epochs->count)
			view_add_step(epochs->items[i], view_task_step(best, experiment), out);
	}
}

/* In a table: only its first line, and no more than VIEW_CAUSE_BYTES. */
static void view_add_cause(const char *text, enum view_best_form form, struct buf *out)
{
	size_t len = strlen(text), most = strcspn(text, "\n");
	if (form == VIEW_BEST_SHORT && most > VIEW_CAUSE_BYTES)
		most = text_utf8_check(text, VIEW_CAUSE_BYTES);
	buf_add(out, text, form == VIEW_BEST_SHORT ? most : len);
	if (form == VIEW_BEST_SHORT && most < len)
		buf_add_text(out, "...");
}

/* A result of a task that failed counts, and the reader must know. */
static void view_best_failure(const struct node *best, enum view_best_form form, struct buf *out)
{
	const char *state = node_get_string(best, "state");
	const char *kind = node_get_string(node_get(best, "cause"), "kind");
	const char *text = node_get_string(node_get(best, "cause"), "text");
	bool ended = kind && (!strcmp(kind, "exit") || !strcmp(kind, "signal"));
	if (!state || strcmp(state, "error") != 0)
		return;
	buf_addf(out, ", which %s", ended ? "ended with " : text ? "failed: " : "failed");
	view_add_cause(text ? text : "", form, out);
}

void view_best(const struct node *experiment, const struct node *varying, enum view_best_form form, struct buf *out)
{
	const struct node *best = node_get(experiment, "best"), *objective = node_get(experiment, "objective");
	const char *id = node_get_string(experiment, "id");
	int64_t task = node_get_int(best, "task", 0);
	bool repeated = node_get_int(best, "repeats", 0) > 1;
	view_best_values(best, experiment, out);
	if (form == VIEW_BEST_SHORT) {
		buf_addf(out, " (%s/%" PRId64 "%s", id, task,
			 objective && objective->count > 1 ? ", best in the first" : "");
		view_best_failure(best, form, out);
		buf_add_char(out, ')');
		return;
	}
	/* The mean of several tasks has no step. */
	if (!repeated && view_best_together(best))
		view_add_step(node_get(best, "epoch"), view_task_step(best, experiment), out);
	buf_addf(out, repeated ? ", such as %s/%" PRId64 : " in %s/%" PRId64, id, task);
	view_best_failure(best, form, out);
	view_add_parameters(node_get(best, "parameters"), varying, out);
	if (objective && objective->count > 1)
		buf_addf(out, " (best in %s; `sluice best %s` prints the front)", view_objective(objective), id);
}

int64_t view_ms(const struct node *time)
{
	int64_t ms;
	return node_string(time) && clock_parse(time->string, &ms) == 0 ? ms : -1;
}

static void view_local(int64_t ms, const char *format, char text[static VIEW_CHARS])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	if (!localtime_r(&seconds, &tm) || !strftime(text, VIEW_CHARS, format, &tm))
		clock_format(ms, text);
}

void view_ago(const struct node *time, const char *fallback, char text[static VIEW_CHARS])
{
	char duration[64];
	int64_t ms = view_ms(time), age = clock_now_ms() - ms;
	if (ms < 0) {
		snprintf(text, VIEW_CHARS, "%s", fallback);
	} else if (age >= 0 && age < 1000) {
		snprintf(text, VIEW_CHARS, "just now");
	} else if (age > VIEW_AGO_MS || age < 0) {
		view_local(ms, "%Y-%m-%d %H:%M", text);
	} else {
		text_format_duration(age / 1000 * 1000, duration, sizeof(duration));
		snprintf(text, VIEW_CHARS, "%s ago", duration);
	}
}

void view_time(const struct node *time, const char *fallback, char text[static VIEW_CHARS])
{
	int64_t ms = view_ms(time);
	if (ms < 0)
		snprintf(text, VIEW_CHARS, "%s", fallback);
	else
		view_local(ms, "%Y-%m-%d %H:%M:%S", text);
}

void view_seconds(const struct node *seconds, const char *fallback, char text[static VIEW_CHARS])
{
	if (node_is_number(seconds) && seconds->real >= 0 && seconds->real < 1e12)
		text_format_duration((int64_t)(seconds->real * 1000), text, VIEW_CHARS);
	else
		snprintf(text, VIEW_CHARS, "%s", fallback);
}

void view_bytes(const struct node *bytes, const char *fallback, char text[static VIEW_CHARS])
{
	if (node_is_number(bytes) && bytes->real >= 0 && bytes->real < 1e18)
		text_format_bytes((int64_t)bytes->real, text, VIEW_CHARS);
	else
		snprintf(text, VIEW_CHARS, "%s", fallback);
}

static void view_joules(double value, char text[static VIEW_CHARS])
{
	static const char *const units[] = {"J", "kJ", "MJ", "GJ"};
	size_t unit = 0;
	for (; fabs(value) >= 1000 && unit + 1 < COUNT_OF(units); unit++)
		value /= 1000;
	snprintf(text, VIEW_CHARS, "%.3g %s", value, units[unit]);
}

void view_figure(const struct node *value, const char *unit, const char *fallback, char text[static VIEW_CHARS])
{
	if (strcmp(unit, "s") == 0)
		view_seconds(value, fallback, text);
	else if (strcmp(unit, "B") == 0)
		view_bytes(value, fallback, text);
	else if (!node_is_number(value))
		snprintf(text, VIEW_CHARS, "%s", fallback);
	else if (strcmp(unit, "J") == 0)
		view_joules(value->real, text);
	else
		snprintf(text, VIEW_CHARS, "%.4g %s", value->real, unit);
}

void view_energy(const struct node *cost, char text[static VIEW_CHARS])
{
	const struct node *energy = node_get(cost, "energy_j");
	const char *source = node_get_string(cost, "energy_source");
	char joules[VIEW_CHARS];
	view_figure(energy, "J", "", joules);
	if (!*joules)
		snprintf(text, VIEW_CHARS, "%s", source ? source : "not measured");
	else
		snprintf(text, VIEW_CHARS, "%.30s (%s)", joules, source ? source : "source not known");
}

void view_parallel(const struct node *parallel, char text[static VIEW_CHARS])
{
	if (!node_is_number(parallel))
		text[0] = 0;
	else if (parallel->integer < 1)
		snprintf(text, VIEW_CHARS, "as many at the same time as fit");
	else
		snprintf(text, VIEW_CHARS, "%" PRId64 " at the same time", parallel->integer);
}

const char *view_cause(const struct node *task)
{
	const char *text = node_get_string(node_get(task, "cause"), "text");
	if (!text)
		text = node_get_string(task, "reason");
	return text ? text : "";
}

void view_line(struct buf *out, const struct term *term, const char *name, const char *value)
{
	char padded[64];
	if (!value || !*value)
		return;
	snprintf(padded, sizeof(padded), "%-*s", VIEW_NAME_WIDTH, name);
	term_add_coloured(out, TERM_DIM, padded, term);
	buf_add_char(out, ' ');
	term_add_safe(out, value);
	buf_add_char(out, '\n');
}

bool view_is_over(const char *state)
{
	static const char *const over[] = {"finished", "error", "stopped", "pruned"};
	for (size_t i = 0; state && i < COUNT_OF(over); i++)
		if (strcmp(state, over[i]) == 0)
			return true;
	return false;
}
