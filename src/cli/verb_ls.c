/* `sluice ls`: the experiments, newest first. Also `sluice __ids`, which completions call. */
#include "cli/verbs.h"
#include "cli/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define LS_LIMIT_MAX 1000

static const struct verb_option ls_options[] = {
	{"state", "waiting|running|paused|finished|error|stopped", "only experiments in this state"},
	{"tag", "TAG", "only experiments with this tag"},
	{"archived", NULL, "only archived experiments; they are not listed by default"},
	{"n,limit", "N", "at most N experiments (50)"},
	{"json", NULL, "print the daemon's answer as JSON"},
	{0},
};

static void ls_add_best(struct term_table *table, const struct node *experiment)
{
	const struct node *best = node_get(experiment, "best");
	struct buf text = buf_make(1024);
	if (best && best->type == NODE_MAP)
		view_best(experiment, NULL, VIEW_BEST_SHORT, &text);
	else
		buf_add_text(&text, view_none(experiment));
	term_table_add(table, best && best->type == NODE_MAP ? TERM_PLAIN : TERM_DIM, buf_text(&text));
	buf_free(&text);
}

static void ls_add_row(struct term_table *table, const struct node *experiment)
{
	const char *state = view_state(experiment), *note = node_get_string(experiment, "note");
	const char *paused = node_get_string(experiment, "paused");
	const char *failure = node_get_string(experiment, "failure");
	const struct node *tasks = node_get(experiment, "tasks");
	int64_t errors = node_get_int(tasks, "error", 0), stalled = node_get_int(experiment, "stalled", 0);
	int64_t over = node_get_int(tasks, "finished", 0) + errors + node_get_int(tasks, "stopped", 0) +
		node_get_int(tasks, "pruned", 0);
	char text[VIEW_CHARS];

	term_table_add(table, TERM_BOLD, node_get_string(experiment, "id"));
	term_table_add(table, TERM_PLAIN, node_get_string(experiment, "name"));
	term_table_add(table, term_state_colour(state), state);
	term_table_addf(table, TERM_PLAIN, "%" PRId64 "/%" PRId64, over, node_get_int(tasks, "total", 0));
	ls_add_best(table, experiment);
	view_ago(node_get(experiment, "created"), "not known", text);
	term_table_add(table, TERM_DIM, text);
	if (paused)
		term_table_add(table, TERM_RED, paused);
	else if (stalled)
		term_table_addf(table, TERM_RED, "%" PRId64 " task%s no progress; see `sluice show %s`", stalled,
				stalled == 1 ? " makes" : "s make", node_get_string(experiment, "id"));
	else if (note)
		term_table_add(table, TERM_YELLOW, note);
	else if (errors)
		term_table_addf(table, TERM_RED, "%" PRId64 " failed%s%s", errors, failure ? ": " : "",
				failure ? failure : "");
	else
		term_table_add(table, TERM_YELLOW, failure ? failure : "");
}

/* none: the line where there are none. */
static void ls_write(const struct node *answer, const struct term *term, const char *none, struct buf *out)
{
	static const struct term_column columns[] = {
		{"ID", false, false},  {"NAME", false, true},     {"STATE", false, false}, {"TASKS", true, false},
		{"BEST", false, true}, {"CREATED", false, false}, {"NOTE", false, true},
	};
	struct term_table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	const struct node *items = node_get(answer, "items");
	size_t count = items ? items->count : 0;
	for (size_t i = 0; i < count; i++)
		ls_add_row(&table, items->items[i]);
	if (count)
		term_table_write(&table, term, out);
	else
		buf_add_text(out, none);
	int64_t more = node_get_int(answer, "total", (int64_t)count) - (int64_t)count;
	if (more > 0)
		buf_addf(out, "and %" PRId64 " more (--limit N)\n", more);
	term_table_free(&table);
}

static void ls_print(const struct node *answer, const struct term *term, struct buf *out)
{
	ls_write(answer, term, "no experiments; 'sluice run FILE' starts one\n", out);
}

static void ls_print_some(const struct node *answer, const struct term *term, struct buf *out)
{
	ls_write(answer, term, "no experiment fits these options; 'sluice ls' lists those that are not archived\n",
		 out);
}

static int ls_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct buf path = buf_make(4096);
	int64_t limit;
	int status = call_begin(&call, &verb_ls, argc, argv, 0, 0);
	if (status)
		return status;
	if (options_int(&call.options, "limit", 1, LS_LIMIT_MAX, 50, &limit, &err) < 0)
		return call_end(&call, call_usage(&verb_ls, &err));
	buf_addf(&path, "/experiments?limit=%" PRId64, limit);
	const char *state = options_get(&call.options, "state");
	if (state) {
		buf_add_text(&path, "&state=");
		client_add_encoded(&path, state);
	}
	const char *tag = options_get(&call.options, "tag");
	if (tag) {
		buf_add_text(&path, "&tag=");
		client_add_encoded(&path, tag);
	}
	if (options_has(&call.options, "archived"))
		buf_add_text(&path, "&archived=yes");
	status = call_connect(&call);
	if (!status)
		status = call_show(&call, buf_text(&path),
				   state || tag || options_has(&call.options, "archived") ? ls_print_some : ls_print);
	buf_free(&path);
	return call_end(&call, status);
}

const struct verb verb_ls = {
	.name = "ls",
	.arguments = "[options]",
	.summary = "list experiments, newest first",
	.options = ls_options,
	.run = ls_run,
};

/* Ids and names for completion. Silent, and never starts a daemon: a person only pressed the tab key. */
static int ids_run(int argc, char **argv)
{
	struct client client;
	struct node *answer = NULL;
	(void)argc, (void)argv;
	if (client_open(&client, false, NULL) < 0)
		return 1;
	if (client_get(&client, "/experiments?limit=100", NULL, &answer, NULL) == 0) {
		const struct node *items = node_get(answer, "items");
		for (size_t i = 0; items && i < items->count; i++) {
			const char *id = node_get_string(items->items[i], "id");
			const char *name = node_get_string(items->items[i], "name");
			struct buf line = buf_make(1024);
			term_add_safe(&line, name ? name : "");
			if (id)
				printf("%s\t%s\n", id, buf_text(&line));
			buf_free(&line);
		}
	}
	node_free(answer);
	client_close(&client);
	return 0;
}

const struct verb verb_ids = {
	.name = "__ids",
	.arguments = "",
	.summary = "ids of experiments, for completion",
	.hidden = true,
	.run = ids_run,
};
