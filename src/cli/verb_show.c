/* `sluice show ID[/TASK]`: everything about an experiment or a task. */
#include "base/cost.h"
#include "base/text.h"
#include "cli/advice.h"
#include "cli/ladder.h"
#include "cli/ran.h"
#include "cli/samples.h"
#include "cli/tasks.h"
#include "cli/verbs.h"
#include "cli/view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static const struct verb_option show_options[] = {
	{"state", "waiting|submitted|running|finished|error|stopped|pruned", "only tasks in this state"},
	{"sort", "number|-number|best|started|elapsed", "order of the tasks (number)"},
	{"n,limit", "N", "at most N tasks (40)"},
	{"script", NULL, "print the script as it was submitted"},
	{"batch-script", NULL, "print what was handed to the cluster (or would be)"},
	{"what-ran", NULL, "of a task: script, Python and packages, git commit, machine, environment"},
	{"attempt", "N", "with --what-ran: of this attempt (the newest)"},
	{"samples", NULL, "of a task: what its processes and GPUs did over its time"},
	{"json", NULL, "print the daemon's answer as JSON"},
	{0},
};

static void show_add_counts(const struct node *tasks, struct buf *out, const struct term *term)
{
	static const char *const states[] = {"finished", "running", "submitted", "waiting",
					     "error",    "stopped", "pruned"};
	struct buf line = buf_make(4096);
	char padded[32];
	snprintf(padded, sizeof(padded), "%-14s ", "tasks");
	term_add_coloured(out, TERM_DIM, padded, term);
	buf_addf(&line, "%" PRId64 " in all", node_get_int(tasks, "total", 0));
	for (size_t i = 0; i < COUNT_OF(states); i++) {
		int64_t count = node_get_int(tasks, states[i], 0);
		if (!count)
			continue;
		char text[64];
		snprintf(text, sizeof(text), "%" PRId64 " %s", count, states[i]);
		buf_add_text(&line, ", ");
		term_add_coloured(&line, term_state_colour(states[i]), text, term);
	}
	buf_addf(out, "%s\n", buf_text(&line));
	buf_free(&line);
}

static void show_add_limits(const struct node *limits, struct buf *out, const struct term *term)
{
	struct buf text = buf_make(65536);
	for (size_t i = 0; limits && limits->type == NODE_LIST && i < limits->count; i++) {
		const struct node *most = node_get(limits->items[i], "at_most"),
				  *bound = most ? most : node_get(limits->items[i], "at_least");
		buf_addf(&text, "%s%s at %s %.6g", i ? ", " : "", node_get_string(limits->items[i], "metric"),
			 most ? "most" : "least", bound ? bound->real : NAN);
	}
	if (text.len)
		view_line(out, term, "limits", buf_text(&text));
	buf_free(&text);
}

static void show_add_objective(const struct node *experiment, struct buf *out, const struct term *term)
{
	const struct node *objective = node_get(experiment, "objective"), *best = node_get(experiment, "best");
	struct buf text = buf_make(65536);
	for (size_t i = 0; objective && i < objective->count; i++) {
		const char *metric = node_get_string(objective->items[i], "metric");
		const char *goal = node_get_string(objective->items[i], "goal");
		buf_addf(&text, "%s%s (%s)", i ? ", " : "", metric ? metric : "?", goal ? goal : "min");
	}
	view_line(out, term, "objective", text.len ? buf_text(&text) : "none");
	buf_clear(&text);
	show_add_limits(node_get(experiment, "limits"), out, term);
	if (best && best->type == NODE_MAP) {
		view_best(experiment, node_get(experiment, "varying"), VIEW_BEST_LONG, &text);
	}
	view_line(out, term, "best", text.len ? buf_text(&text) : view_none(experiment));
	buf_free(&text);
}

/* What was measured, by name. */
static void show_add_metrics(const struct node *thing, struct buf *out, const struct term *term)
{
	const struct node *metrics = node_get(thing, "metrics");
	struct buf names = buf_make(65536);
	for (size_t i = 0; metrics && metrics->type == NODE_LIST && i < metrics->count; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", node_string(metrics->items[i]));
	view_line(out, term, "metrics", names.len ? buf_text(&names) : view_none(thing));
	buf_free(&names);
}

static void show_add_cost(const struct node *cost, struct buf *out, const struct term *term)
{
	char text[VIEW_CHARS];
	for (enum figure f = 0; f < FIGURE_COUNT; f++) {
		const struct cost_figure *figure = &cost_figures[f];
		if (f == FIGURE_GPU && !(node_get_real(cost, figure->key, 0) > 0))
			continue; /* it asked for none */
		if (!figure->counted && !(node_get_real(cost, figure->key, 0) > 0))
			continue; /* nothing was read, estimated, slowed down: nothing to say */
		if (f == FIGURE_ENERGY)
			view_energy(cost, text);
		else
			view_figure(node_get(cost, figure->key), figure->unit, f == FIGURE_WALL ? "not known" : "",
				    text);
		view_line(out, term, figure->label, text);
	}
}

/* "about 3 m 20 s (2 m 50 s to 4 m 00 s), 12 kJ": how much longer. */
static void show_add_left(const struct node *left, struct buf *out, const struct term *term)
{
	char time[VIEW_CHARS], low[VIEW_CHARS], high[VIEW_CHARS], energy[VIEW_CHARS];
	struct buf text = buf_make(4096);
	if (!left || left->type != NODE_MAP)
		return;
	view_seconds(node_get(left, "time_s"), "not known", time);
	view_seconds(node_get(left, "time_low_s"), "?", low);
	view_seconds(node_get(left, "time_high_s"), "?", high);
	view_figure(node_get(left, "energy_j"), "J", "", energy);
	buf_addf(&text, "about %s (%s to %s)%s%s: %s", time, low, high, *energy ? ", " : "", energy,
		 node_get_string(left, "basis"));
	view_line(out, term, "left", buf_text(&text));
	buf_free(&text);
}

/* What the failed tasks of it have cost. */
static void show_add_failed(const struct node *failed, struct buf *out, const struct term *term)
{
	char wall[VIEW_CHARS], gpu[VIEW_CHARS], energy[VIEW_CHARS];
	int64_t tasks = node_get_int(failed, "tasks", 0);
	if (!tasks)
		return;
	view_seconds(node_get(failed, "wall_s"), "not known", wall);
	view_seconds(node_get(failed, "gpu_s"), "", gpu);
	view_figure(node_get(failed, "energy_j"), "J", "", energy);
	char *line = mem_printf("%s by %" PRId64 " task%s%s%s%s%s", wall, tasks, tasks == 1 ? "" : "s",
				*gpu ? ", GPU time " : "", gpu, *energy ? ", energy " : "", energy);
	view_line(out, term, "failed cost", line);
	free(line);
}

static void show_add_slow(const struct node *experiment, struct buf *out, const struct term *term)
{
	const struct node *slow = node_get(experiment, "slow");
	for (size_t i = 0; slow && slow->type == NODE_LIST && i < slow->count; i++) {
		const char *text = node_get_string(slow->items[i], "text");
		char *line = mem_printf("task %" PRId64 ": %s", node_get_int(slow->items[i], "number", 0),
					text ? text : "");
		view_line(out, term, i ? " " : "slow", line);
		free(line);
	}
}

static void show_experiment(const struct node *experiment, const struct term *term, struct buf *out)
{
	const struct node *search = node_get(experiment, "search"), *warnings = node_get(experiment, "warnings");
	const char *state = view_state(experiment), *reason = node_get_string(search, "reason");
	const char *strategy = node_get_string(experiment, "strategy");
	struct buf title = buf_make(4096);
	char text[VIEW_CHARS];

	term_add_coloured(out, TERM_BOLD, node_get_string(experiment, "id"), term);
	buf_add_text(out, "  ");
	term_add_safe(&title, node_get_string(experiment, "name"));
	term_add_coloured(out, TERM_BOLD, buf_text(&title), term);
	buf_add_text(out, "  ");
	term_add_coloured(out, term_state_colour(state), state, term);
	buf_add_char(out, '\n');
	buf_free(&title);

	view_line(out, term, "description", node_get_string(experiment, "description"));
	view_line(out, term, "paused", node_get_string(experiment, "paused"));
	if (!node_get_string(experiment, "paused"))
		view_line(out, term, "note", node_get_string(experiment, "note"));
	view_line(out, term, "script", node_get_string(experiment, "script"));
	show_add_counts(node_get(experiment, "tasks"), out, term);
	show_add_objective(experiment, out, term);
	show_add_metrics(experiment, out, term);
	struct buf line = buf_make(4096);
	buf_addf(&line, "%s%s%s", strategy ? strategy : "not known", reason ? ": " : "", reason ? reason : "");
	view_line(out, term, "search", buf_text(&line));
	buf_free(&line);
	view_line(out, term, "backend", node_get_string(experiment, "backend"));
	view_line(out, term, "sharing", node_get_string(experiment, "sharing"));
	view_parallel(node_get(experiment, "parallel"), text);
	view_line(out, term, "parallel", text);
	view_time(node_get(experiment, "created"), "not known", text);
	view_line(out, term, "created", text);
	view_time(node_get(experiment, "started"), "not yet", text);
	view_line(out, term, "started", text);
	view_time(node_get(experiment, "finished"), "", text);
	view_line(out, term, "finished", text);
	show_add_left(node_get(experiment, "left"), out, term);
	show_add_slow(experiment, out, term);
	show_add_cost(node_get(experiment, "cost"), out, term);
	show_add_failed(node_get(experiment, "failed"), out, term);
	view_line(out, term, "folder", node_get_string(experiment, "folder"));
	for (size_t i = 0; warnings && warnings->type == NODE_LIST && i < warnings->count; i++)
		view_line(out, term, "warning", node_string(warnings->items[i]));
}

static void show_add_parameters(const struct node *parameters, struct buf *out, const struct term *term)
{
	for (size_t i = 0; parameters && parameters->type == NODE_MAP && i < parameters->count; i++) {
		char *value = view_value(parameters->items[i]);
		struct buf line = buf_make(65536);
		buf_addf(&line, "%s = %s", parameters->items[i]->key, value);
		view_line(out, term, i ? " " : "parameters", buf_text(&line));
		buf_free(&line);
		free(value);
	}
}

/* The bare fact beside the words of the script. */
static void show_add_code(const struct node *cause, const char *text, struct buf *out, const struct term *term)
{
	const struct node *code = node_get(cause, "code"), *signal = node_get(cause, "signal");
	char fact[64] = "";
	if (node_is_number(code))
		snprintf(fact, sizeof(fact), "exit code %" PRId64, code->integer);
	else if (node_is_number(signal))
		snprintf(fact, sizeof(fact), "signal %" PRId64, signal->integer);
	if (*fact && !(text && strstr(text, fact)))
		view_line(out, term, "ended with", fact);
}

/* What went wrong, and the last lines of the error output. */
static void show_add_cause(const struct node *task, struct buf *out, const struct term *term)
{
	const struct node *cause = node_get(task, "cause");
	const char *tail = node_get_string(cause, "tail"), *text = node_get_string(cause, "text");
	const char *reason = node_get_string(task, "reason");
	view_line(out, term, "cause", text);
	show_add_code(cause, text, out, term);
	view_line(out, term, "what to do", node_get_string(cause, "remedy"));
	if (!text || (reason && strcmp(text, reason) != 0))
		view_line(out, term, "reason", reason);
	view_line(out, term, "waiting for", node_get_string(task, "waiting_for"));
	if (!tail || !*tail)
		return;
	term_add_coloured(out, TERM_DIM, "the error output ends with:\n", term);
	for (const char *p = tail; *p;) {
		size_t len = strcspn(p, "\n");
		buf_add_text(out, "  ");
		struct buf line = buf_make(65536);
		term_add_safe_output(&line, p, len);
		buf_addf(out, "%s\n", buf_text(&line));
		buf_free(&line);
		p += len + (p[len] == '\n');
	}
}

static void show_add_timeline(const struct node *timeline, struct buf *out, const struct term *term)
{
	for (size_t i = 0; timeline && timeline->type == NODE_LIST && i < timeline->count; i++) {
		char when[VIEW_CHARS];
		struct buf line = buf_make(4096);
		const char *state = node_get_string(timeline->items[i], "state");
		const char *reason = node_get_string(timeline->items[i], "reason");
		view_time(node_get(timeline->items[i], "time"), "not known", when);
		buf_addf(&line, "%s  %s%s%s", when, state ? state : "", reason && *reason ? ": " : "",
			 reason ? reason : "");
		view_line(out, term, i ? " " : "timeline", buf_text(&line));
		buf_free(&line);
	}
}

/* "16 GB, 2 h": what retries and changes make different between attempts. */
static void show_asked(const struct node *asked, char text[static VIEW_CHARS])
{
	char memory[VIEW_CHARS], time[VIEW_CHARS];
	view_bytes(node_get(asked, "memory_bytes"), "", memory);
	view_seconds(node_get(asked, "time_s"), "", time);
	snprintf(text, VIEW_CHARS, "%.50s%s%.50s", memory, *memory && *time ? ", " : "", time);
}

static void show_add_attempts(const struct node *attempts, struct buf *out, const struct term *term)
{
	static const struct term_column columns[] = {
		{"ATTEMPT", true, false},   {"STATE", false, false}, {"STARTED", false, false},
		{"FINISHED", false, false}, {"START", false, true},  {"ASKED", false, true},
		{"NODE", false, true},      {"JOB", false, true},    {"CAUSE", false, true},
	};
	struct term_table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	if (!attempts || attempts->type != NODE_LIST || !attempts->count)
		return;
	for (size_t i = 0; i < attempts->count; i++) {
		const struct node *attempt = attempts->items[i];
		const char *state = node_get_string(attempt, "state");
		char text[VIEW_CHARS];
		term_table_addf(&table, TERM_PLAIN, "%" PRId64, node_get_int(attempt, "number", (int64_t)i + 1));
		term_table_add(&table, term_state_colour(state), state);
		view_time(node_get(attempt, "started"), "not yet", text);
		term_table_add(&table, TERM_PLAIN, text);
		view_time(node_get(attempt, "finished"), "not yet", text);
		term_table_add(&table, TERM_PLAIN, text);
		const struct node *warm = node_get(attempt, "warm");
		term_table_add(&table, TERM_PLAIN,
			       !warm || warm->type != NODE_BOOL ? NULL
				       : warm->boolean          ? "warm"
								: "cold");
		show_asked(node_get(attempt, "asked"), text);
		term_table_add(&table, TERM_PLAIN, text);
		term_table_add(&table, TERM_PLAIN, node_get_string(attempt, "node"));
		term_table_add(&table, TERM_PLAIN, node_get_string(attempt, "job"));
		term_table_add(&table, TERM_PLAIN, view_cause(attempt));
	}
	buf_add_char(out, '\n');
	term_table_write(&table, term, out);
	term_table_free(&table);
}

/* "val_loss 0.31 at epoch 4". */
static void show_add_value(const char *metric, const struct node *value, const struct node *epoch, const char *step,
			   struct buf *out)
{
	char text[VIEW_CHARS];
	view_metric(value, text);
	buf_addf(out, "%s%s%s%s", out->len ? ", " : "", metric, *metric ? " " : "", text);
	if (node_is_number(epoch))
		buf_addf(out, " at %.60s %" PRId64, step, epoch->integer);
}

/* The best and the last value of each objective. `values` has the further ones: see the list of tasks. */
static void show_add_results(const struct node *task, const struct node *experiment, const struct node *values,
			     struct buf *out, const struct term *term)
{
	const struct node *objective = node_get(experiment, "objective"), *best = node_get(task, "best");
	const struct node *last = node_get(task, "last");
	const char *step = view_task_step(task, experiment);
	struct buf bests = buf_make(8192), lasts = buf_make(8192);
	if (best && best->type == NODE_MAP)
		show_add_value(view_objective(objective), node_get(best, "value"), node_get(best, "epoch"), step,
			       &bests);
	if (last && last->type == NODE_MAP)
		show_add_value(view_objective(objective), node_get(last, "value"), node_get(last, "epoch"), step,
			       &lasts);
	for (size_t i = 1; objective && i < objective->count; i++) {
		const char *metric = node_get_string(objective->items[i], "metric");
		const struct node *value = metric ? node_get(values, metric) : NULL;
		if (!value || value->type != NODE_MAP)
			continue;
		show_add_value(metric, node_get(value, "best"), node_get(value, "epoch"), step, &bests);
		show_add_value(metric, node_get(value, "last"), NULL, step, &lasts);
	}
	view_line(out, term, "best", bests.len ? buf_text(&bests) : view_none(task));
	view_line(out, term, "last", lasts.len ? buf_text(&lasts) : view_none(task));
	buf_free(&bests);
	buf_free(&lasts);
}

static void show_task(const struct node *task, const struct node *experiment, const struct node *values,
		      const struct term *term, struct buf *out)
{
	const char *step = view_task_step(task, experiment);
	const char *state = node_get_string(task, "state");
	const struct node *epoch = node_get(task, "epoch"), *epochs = node_get(task, "epochs");
	char text[VIEW_CHARS];

	term_add_coloured(out, TERM_BOLD, node_get_string(task, "id"), term);
	buf_add_text(out, "  ");
	term_add_coloured(out, term_state_colour(state), state ? state : "?", term);
	buf_add_char(out, '\n');
	show_add_cause(task, out, term);
	show_add_parameters(node_get(task, "parameters"), out, term);
	show_add_results(task, experiment, values, out, term);
	if (node_get_string(task, "beyond"))
		view_line(out, term, "limit", node_get_string(task, "beyond"));
	show_add_metrics(task, out, term);
	if (node_is_number(epoch)) {
		snprintf(text, sizeof(text), node_is_number(epochs) ? "%" PRId64 " of %" PRId64 : "%" PRId64,
			 node_get_int(task, "epoch", 0), node_get_int(task, "epochs", 0));
		view_line(out, term, step, text);
	}
	view_line(out, term, "node", node_get_string(task, "node"));
	const char *gpus = node_get_string(task, "gpus");
	snprintf(text, sizeof(text), "%s %.100s", gpus && strchr(gpus, ',') ? "numbers" : "number", gpus ? gpus : "");
	view_line(out, term, "GPU", gpus && *gpus ? text : NULL);
	view_line(out, term, "job", node_get_string(task, "job"));
	view_time(node_get(task, "expected_start"), "", text);
	view_line(out, term, "expected", text);
	view_seconds(node_get(task, "elapsed_s"), "not known", text);
	view_line(out, term, "elapsed", text);
	show_add_left(node_get(task, "left"), out, term);
	show_add_cost(node_get(task, "cost"), out, term);
	view_line(out, term, "folder", node_get_string(task, "folder"));
	show_add_timeline(node_get(task, "timeline"), out, term);
	show_add_attempts(node_get(task, "attempts"), out, term);
}

/* The table of tasks below an experiment. */
static int show_tasks(struct call *call, const struct target *target, const struct node *experiment, int64_t limit,
		      struct buf *out, struct error *err)
{
	struct buf path = buf_make(4096);
	struct node *tasks = NULL;
	const char *state = options_get(&call->options, "state"), *sort = options_get(&call->options, "sort");
	buf_addf(&path, "/experiments/%s/tasks?metrics=*&limit=%" PRId64 "&sort=", target->experiment, limit);
	client_add_encoded(&path, sort ? sort : "number");
	if (state) {
		buf_add_text(&path, "&state=");
		client_add_encoded(&path, state);
	}
	int rc = client_get(&call->client, buf_text(&path), NULL, &tasks, err);
	if (rc == 0) {
		buf_add_char(out, '\n');
		tasks_write(tasks, experiment, &call->term, out);
	}
	node_free(tasks);
	buf_free(&path);
	return rc;
}

static int show_search(struct call *call, const struct target *target, struct buf *out, struct error *err)
{
	struct node *search = NULL;
	char *path = target_path(target, "/search");
	int rc = client_get(&call->client, path, NULL, &search, err);
	if (rc == 0)
		ladder_write(search, &call->term, out);
	free(path);
	node_free(search);
	return rc;
}

static int show_advice(struct call *call, const struct target *target, struct buf *out, struct error *err)
{
	struct node *advice = NULL;
	char *path = target_path(target, "/advice");
	int rc = client_get(&call->client, path, NULL, &advice, err);
	if (rc == 0)
		advice_show(advice, &call->term, out);
	free(path);
	node_free(advice);
	return rc;
}

/* The script itself, byte by byte; on a terminal without its control characters. */
static int show_script(struct call *call, const struct target *target, const struct node *experiment, struct buf *out,
		       struct error *err)
{
	const char *script = node_get_string(experiment, "script");
	struct buf path = buf_make(8192), text = buf_make(BUF_UNLIMITED);
	bool batch = options_has(&call->options, "batch-script");
	buf_addf(&path, "/experiments/%s/%s", target->experiment, batch ? "script" : "file?path=");
	if (!batch)
		client_add_encoded(&path, script ? script : "");
	int rc = client_get(&call->client, buf_text(&path), &text, NULL, err);
	if (rc == 0 && isatty(STDOUT_FILENO))
		term_add_safe_output(out, buf_text(&text), text.len);
	else if (rc == 0)
		buf_add(out, buf_text(&text), text.len);
	buf_free(&path);
	buf_free(&text);
	return rc;
}

/* With what its experiment says: the names of the objectives and of the steps. */
static int show_one(struct call *call, const struct target *target, const struct node *task, struct buf *out,
		    struct error *err)
{
	struct node *experiment = NULL, *list = NULL;
	char *path = mem_printf("/experiments/%s", target->experiment);
	char *row = mem_printf("%s/tasks?metrics=*&filter=number%%3D%" PRId64, path, target->number);
	int rc = client_get(&call->client, path, NULL, &experiment, err);
	if (rc == 0)
		rc = client_get(&call->client, row, NULL, &list, err);
	const struct node *items = rc == 0 ? node_get(list, "items") : NULL;
	if (rc == 0)
		show_task(task, experiment, items && items->count ? node_get(items->items[0], "values") : NULL,
			  &call->term, out);
	free(path);
	free(row);
	node_free(list);
	node_free(experiment);
	return rc;
}

/* What its processes and GPUs did. */
static int show_samples(struct call *call, const struct target *target)
{
	char *path = target_path(target, "/samples");
	int status = call_show(call, path, samples_show);
	free(path);
	return status;
}

/* What an attempt ran; 0: the newest. */
static int show_ran(struct call *call, const struct target *target, int64_t attempt)
{
	char *path = target_path(target, "/ran");
	char *asked = attempt ? mem_printf("%s?attempt=%" PRId64, path, attempt) : mem_strdup(path);
	int status = call_show(call, asked, ran_show);
	free(path);
	free(asked);
	return status;
}

static int show_target(struct call *call, const struct target *target, int64_t limit)
{
	struct error err;
	struct node *answer = NULL;
	struct buf json = buf_make(BUF_UNLIMITED), out = buf_make(BUF_UNLIMITED);
	char *path = target_path(target, "");
	int rc = client_get(&call->client, path, &json, &answer, &err);
	if (rc == 0 && options_has(&call->options, "json")) {
		puts(buf_text(&json));
	} else if (rc == 0 && (options_has(&call->options, "script") || options_has(&call->options, "batch-script"))) {
		rc = show_script(call, target, answer, &out, &err);
	} else if (rc == 0 && target->number) {
		rc = show_one(call, target, answer, &out, &err);
	} else if (rc == 0) {
		show_experiment(answer, &call->term, &out);
		rc = show_advice(call, target, &out, &err);
		if (rc == 0)
			rc = show_search(call, target, &out, &err);
		if (rc == 0)
			rc = show_tasks(call, target, answer, limit, &out, &err);
	}
	fwrite(buf_text(&out), 1, out.len, stdout);
	free(path);
	node_free(answer);
	buf_free(&json);
	buf_free(&out);
	return rc < 0 ? call_fail(&err) : 0;
}

static int show_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	int64_t limit, attempt;
	int status = call_begin(&call, &verb_show, argc, argv, 1, 1);
	if (status)
		return status;
	if (target_parse(call.options.args.at[0], &target, &err) < 0 ||
	    options_int(&call.options, "limit", 1, 1000, 40, &limit, &err) < 0 ||
	    options_int(&call.options, "attempt", 1, INT32_MAX, 0, &attempt, &err) < 0)
		return call_end(&call, call_usage(&verb_show, &err));
	bool ran = options_has(&call.options, "what-ran"), samples = options_has(&call.options, "samples");
	if ((ran || samples) && !target.number) {
		const char *option = ran ? "what-ran" : "samples";
		errorf(&err, -EINVAL, "--%s is about one task: sluice show %s/1 --%s", option, target.experiment,
		       option);
		return call_end(&call, call_usage(&verb_show, &err));
	}
	status = call_connect(&call);
	if (!status)
		status = ran      ? show_ran(&call, &target, attempt)
			: samples ? show_samples(&call, &target)
				  : show_target(&call, &target, limit);
	return call_end(&call, status);
}

const struct verb verb_show = {
	.name = "show",
	.arguments = "ID[/TASK] [options]",
	.summary = "show an experiment with its tasks, or one task",
	.help = "  sluice show e12           the experiment and its tasks\n"
		"  sluice show e12/7         parameters, results, times, attempts; why it failed\n"
		"  sluice show e12/7 --what-ran  script, Python, packages, git commit, machine, environment\n"
		"  sluice show e12/7 --samples  CPU, memory, I/O and GPUs over its time\n"
		"  sluice show e12 --script  the script that was submitted",
	.options = show_options,
	.run = show_run,
};
