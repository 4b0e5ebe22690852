/* `sluice mark` and `sluice find`: tags, notes, stars and the archive, and search over everything. */
#include "cli/verbs.h"
#include "cli/view.h"

#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const struct verb_option mark_options[] = {
	{"tag", "TAG...", "add a tag; several between commas"},
	{"untag", "TAG...", "remove a tag"},
	{"note", "TEXT", "notes in Markdown, in place of those that are there; \"\" removes them"},
	{"star", NULL, "mark with a star"},
	{"unstar", NULL, "remove the star"},
	{"archive", NULL, "leave the experiment out of lists"},
	{"unarchive", NULL, "list it again"},
	{"json", NULL, "print the daemon's answers as JSON, one per line"},
	{0},
};

static const struct verb_option find_options[] = {
	{"n,limit", "N", "at most N (50)"},
	{"json", NULL, "print the daemon's answer as JSON"},
	{0},
};

/* "a,b" of every option of that name, as a member. */
static void mark_put_tags(const struct options *options, const char *option, const char *key, struct json *out)
{
	if (!options_has(options, option))
		return;
	json_key(out, key);
	json_list(out);
	for (size_t i = 0; i < options->given.len; i++) {
		const char *text = options->given.at[i].value;
		if (!options_is(options->given.at[i].option, option))
			continue;
		for (size_t len; *text; text += len + (text[len] == ',')) {
			len = strcspn(text, ",");
			json_put_string_n(out, text, len);
		}
	}
	json_end(out);
}

static int mark_put_switch(const struct options *options, const char *yes, const char *no, const char *key,
			   struct json *out, struct error *err)
{
	bool on = options_has(options, yes), off = options_has(options, no);
	if (on && off)
		return errorf(err, -EINVAL, "give --%s or --%s, not both", yes, no);
	if (on || off)
		json_key_bool(out, key, on);
	return 0;
}

static int mark_write_body(const struct options *options, struct buf *out, struct error *err)
{
	struct json json = json_to(out);
	json_map(&json);
	mark_put_tags(options, "tag", "add_tags", &json);
	mark_put_tags(options, "untag", "remove_tags", &json);
	if (options_has(options, "note"))
		json_key_string(&json, "notes", options_get(options, "note"));
	int rc = mark_put_switch(options, "star", "unstar", "star", &json, err);
	if (rc == 0)
		rc = mark_put_switch(options, "archive", "unarchive", "archived", &json, err);
	json_end(&json);
	if (rc == 0 && out->len == strlen("{}"))
		rc = errorf(err, -EINVAL, "say what to mark: --tag, --untag, --note, --star or --archive");
	return rc;
}

/* What it has now. */
static void mark_say(const char *id, const struct node *answer)
{
	const struct node *tags = node_get(answer, "tags");
	struct buf line = buf_make(BUF_UNLIMITED);
	for (size_t i = 0; tags && i < tags->count; i++) {
		buf_add_text(&line, i ? ", " : " tags ");
		term_add_safe(&line, tags->items[i]->string);
	}
	if (node_get_bool(answer, "star", false))
		buf_add_text(&line, line.len ? "; star" : " star");
	if (node_get_string(answer, "notes"))
		buf_add_text(&line, line.len ? "; notes" : " notes");
	if (node_get_bool(answer, "archived", false))
		buf_add_text(&line, line.len ? "; archived" : " archived");
	printf("%s:%s\n", id, line.len ? buf_text(&line) : " no marks");
	buf_free(&line);
}

static int mark_one(struct call *call, const char *id, const char *body)
{
	struct error err;
	struct target target;
	struct node *answer = NULL;
	struct buf json = buf_make(BUF_UNLIMITED);
	if (target_parse(id, &target, &err) < 0)
		return call_fail(&err);
	char *path = target_path(&target, "/marks");
	int rc = client_post(&call->client, path, body, &json, &answer, &err);
	if (rc == 0 && options_has(&call->options, "json"))
		puts(buf_text(&json));
	else if (rc == 0)
		mark_say(id, answer);
	node_free(answer);
	buf_free(&json);
	free(path);
	return rc < 0 ? call_fail(&err) : 0;
}

static int mark_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	struct buf body = buf_make(BUF_UNLIMITED);
	int status = call_begin(&call, &verb_mark, argc, argv, 1, SIZE_MAX);
	if (status)
		return status;
	int rc = mark_write_body(&call.options, &body, &err);
	for (size_t i = 0; rc == 0 && i < call.options.args.len; i++)
		rc = target_parse(call.options.args.at[i], &target, &err);
	if (rc < 0) {
		buf_free(&body);
		return call_end(&call, call_usage(&verb_mark, &err));
	}
	status = call_connect(&call);
	for (size_t i = 0; call.connected && i < call.options.args.len; i++)
		if (mark_one(&call, call.options.args.at[i], buf_text(&body)))
			status = 1;
	buf_free(&body);
	return call_end(&call, status);
}

const struct verb verb_mark = {
	.name = "mark",
	.arguments = "ID[/TASK] ... [options]",
	.summary = "tags, notes, stars and the archive",
	.help = "  sluice mark e12 --tag resnet,paper --note \"The run of figure 3.\"\n"
		"  sluice mark e12/7 --star\n"
		"  sluice mark e3 e4 --archive\n"
		"\n"
		"'sluice ls --tag resnet' lists what has a tag, 'sluice find WORDS' also looks into notes.",
	.options = mark_options,
	.run = mark_run,
};

static void find_print(const struct node *answer, const struct term *term, struct buf *out)
{
	static const struct term_column columns[] = {{"ID", false, false},
						     {"NAME", false, true},
						     {"STATE", false, false},
						     {"IN", false, false},
						     {"TEXT", false, true}};
	struct term_table table = {.columns = columns, .column_count = COUNT_OF(columns)};
	const struct node *items = node_get(answer, "items");
	for (size_t i = 0; items && i < items->count; i++) {
		const struct node *hit = items->items[i];
		const char *experiment = node_get_string(hit, "experiment"), *state = node_get_string(hit, "state");
		int64_t task = node_get_int(hit, "task", 0);
		if (task)
			term_table_addf(&table, TERM_BOLD, "%s/%" PRId64, experiment, task);
		else
			term_table_add(&table, TERM_BOLD, experiment);
		term_table_add(&table, TERM_PLAIN, node_get_string(hit, "name"));
		term_table_add(&table, term_state_colour(state), state);
		term_table_add(&table, TERM_DIM, node_get_string(hit, "in"));
		term_table_add(&table, TERM_PLAIN, node_get_string(hit, "text"));
	}
	if (items && items->count)
		term_table_write(&table, term, out);
	else
		buf_add_text(out, "nothing was found\n");
	if (node_get_bool(answer, "more", false))
		buf_add_text(out, "and more (--limit N)\n");
	term_table_free(&table);
}

static int find_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct buf path = buf_make(BUF_UNLIMITED);
	int64_t limit;
	int status = call_begin(&call, &verb_find, argc, argv, 1, SIZE_MAX);
	if (status)
		return status;
	if (options_int(&call.options, "limit", 1, 200, 50, &limit, &err) < 0)
		return call_end(&call, call_usage(&verb_find, &err));
	buf_addf(&path, "/find?limit=%" PRId64 "&q=", limit);
	for (size_t i = 0; i < call.options.args.len; i++) {
		client_add_encoded(&path, i ? " " : "");
		client_add_encoded(&path, call.options.args.at[i]);
	}
	status = call_connect(&call);
	if (!status)
		status = call_show(&call, buf_text(&path), find_print);
	buf_free(&path);
	return call_end(&call, status);
}

const struct verb verb_find = {
	.name = "find",
	.arguments = "WORD ... [options]",
	.summary = "search experiments and tasks",
	.help = "Looks for all words in names, ids, descriptions, tags, notes, scripts, parameters, causes of failures,\n"
		"nodes and jobs. 'lr=0.001' finds tasks with this value.",
	.options = find_options,
	.run = find_run,
};
