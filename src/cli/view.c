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

void view_add_parameters(const struct node *parameters, const struct node *only, struct buf *out)
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

const char *view_step_name(const struct node *experiment)
{
	const char *name = node_get_string(experiment, "step_name");
	return name ? name : "epoch";
}

void view_objective(const struct node *objective, struct buf *out)
{
	for (size_t i = 0; objective && i < objective->count; i++) {
		const char *metric = node_get_string(objective->items[i], "metric");
		buf_addf(out, "%s%s", i ? ", " : "", metric ? metric : "?");
	}
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
