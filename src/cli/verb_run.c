/* `sluice run`, `check` and `watch`: submit an experiment, try it without running anything, follow one. */
#include "base/environ.h"
#include "base/fs.h"
#include "base/token.h"
#include "cli/caller.h"
#include "cli/follow.h"
#include "cli/submit.h"
#include "cli/submit_git.h"
#include "cli/verbs.h"
#include "cli/view.h"
#include "cli/where.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const struct verb_option run_options[] = {
	{"d,detach", NULL, "do not follow: print the id and return"},
	{"json", NULL, "print the created experiment as JSON on one line"},
	SUBMIT_OPTIONS,
	{0},
};

static const struct verb_option check_options[] = {
	{"json", NULL, "print the daemon's answer as JSON"},
	{"script", NULL, "print only the batch script"},
	{"yaml", NULL, "print only the experiment file"},
	SUBMIT_OPTIONS,
	{0},
};

static const struct verb_option watch_options[] = {{0}};

/* The experiment is wrong: every error with its place. Returns the exit status. */
static int run_refused(const struct submit *submit, const struct reply *reply)
{
	struct error err;
	struct term term = term_of(2);
	struct buf out = buf_make(BUF_UNLIMITED);
	int status = 2;
	if (submit_add_problems(submit, reply, &term, &out)) {
		fputs(buf_text(&out), stderr);
	} else {
		client_problem(reply, &err);
		call_fail(&err);
		status = reply->status == 400 || reply->status == 422 ? 2 : 1;
	}
	buf_free(&out);
	return status;
}

/* Where the experiment can be watched in a browser: the daemon leaves its address in the state folder. */
static void run_add_address(const struct client *client, const char *id, struct buf *out)
{
	struct buf address = buf_make(256);
	char *path = mem_printf("%s/address", client->folder);
	if (fs_read(path, 256, &address, NULL) == 0 && address.len) {
		address.data[strcspn(address.data, "\n")] = 0;
		buf_addf(out, "http://%s/e/%s", buf_text(&address), id);
	}
	buf_free(&address);
	free(path);
}

static void run_say_created(struct call *call, const struct node *experiment, bool detached)
{
	struct buf line = buf_make(8192), address = buf_make(4096);
	const char *id = node_get_string(experiment, "id");
	const struct node *warnings = node_get(experiment, "warnings");
	buf_addf(&line, "%s: ", id);
	term_add_safe(&line, node_get_string(experiment, "name"));
	int64_t total = node_get_int(node_get(experiment, "tasks"), "total", 0);
	bool runs = node_get(node_get(experiment, "spec"), "fidelity") != NULL; /* a task may use several of them */
	buf_addf(&line, ", %" PRId64 " %s%s", total, runs ? "run" : "task", total == 1 ? "" : "s");
	where_add(experiment, &line);
	puts(buf_text(&line));
	if (detached) {
		run_add_address(&call->client, id, &address);
		printf("watch it: sluice watch %s%s%s\n", id, address.len ? ", or " : "", buf_text(&address));
	}
	for (size_t i = 0; warnings && warnings->type == NODE_LIST && i < warnings->count; i++) {
		buf_clear(&line);
		term_add_safe(&line, node_string(warnings->items[i]));
		fprintf(stderr, "sluice: warning: %s\n", buf_text(&line));
	}
	where_warn(&call->client, experiment);
	where_hint_install(&call->client, experiment);
	fflush(stdout);
	buf_free(&line);
	buf_free(&address);
}

/* After the experiment was created. Returns the exit status. */
static int run_created(struct call *call, const struct reply *reply)
{
	struct error err;
	struct node *experiment = NULL;
	bool detach = options_has(&call->options, "detach"), json = options_has(&call->options, "json");
	if (node_parse_json(buf_text(&reply->body), reply->body.len, &experiment, &err) < 0)
		return call_fail(&err);
	const char *id = node_get_string(experiment, "id");
	int status = 0;
	if (!id) {
		errorf(&err, -EBADMSG, "the daemon created the experiment but gave no id: see 'sluice ls'");
		status = call_fail(&err);
	} else if (json) {
		puts(buf_text(&reply->body));
		fflush(stdout);
	} else {
		run_say_created(call, experiment, detach);
	}
	if (!status && !detach)
		status = follow_experiment(&call->client, id, &call->term, json, true);
	node_free(experiment);
	return status;
}

/* The command of the first task, or an example of one. */
static void run_add_call(const struct node *answer, const struct term *term, struct buf *out)
{
	const char *text = node_get_string(answer, "call");
	bool exact = node_get_bool(answer, "call_exact", true);
	char *shown = text ? mem_printf("%s%s", exact ? "" : "such as ", text) : NULL;
	view_line(out, term, "call", shown);
	free(shown);
}

/* Shows the command of the first task and what was chosen for it, before anything runs. What is wrong is reported by the
 * request that follows. */
static void run_show_call(struct call *call, struct submit *submit)
{
	struct buf body = buf_make(BUF_UNLIMITED), line = buf_make(BUF_UNLIMITED);
	struct reply reply;
	struct node *answer = NULL;
	int rc = submit_write_check(submit, &body, NULL);
	struct request request = {.method = "POST", .path = "/check", .body = buf_text(&body), .body_len = body.len};
	if (rc == 0)
		rc = client_send(&call->client, &request, &reply, NULL);
	buf_free(&body);
	if (rc < 0)
		return;
	if (reply.status < 300 && node_parse_json(buf_text(&reply.body), reply.body.len, &answer, NULL) == 0) {
		const struct node *chosen = node_get(answer, "chosen");
		run_add_call(answer, &call->term, &line);
		for (size_t i = 0; chosen && chosen->type == NODE_LIST && i < chosen->count; i++)
			view_line(&line, &call->term, i ? " " : "chosen", node_string(chosen->items[i]));
		fwrite(buf_text(&line), 1, line.len, stderr); /* the first word of the output is the id */
	}
	node_free(answer);
	reply_free(&reply);
	buf_free(&line);
}

static int run_submit(struct call *call, struct submit *submit)
{
	struct error err;
	struct buf body = buf_make(BUF_UNLIMITED);
	struct reply reply;
	char key[TOKEN_ID_CHARS];
	where_await(&call->client);
	if (!where_is_meant(&call->client, submit->tree)) {
		fputs("sluice: nothing was started; without --backend local the tasks go to the cluster\n", stderr);
		buf_free(&body);
		return 2;
	}
	if (!options_has(&call->options, "json"))
		run_show_call(call, submit);
	token_make_id(key);
	int rc = submit_write_request(submit, &call->client, &body, &err), status;
	struct request request = {
		.method = "POST", .path = "/experiments", .body = buf_text(&body), .body_len = body.len, .key = key};
	if (rc == 0)
		rc = client_send(&call->client, &request, &reply, &err);
	buf_free(&body);
	if (rc < 0)
		return call_fail(&err);
	status = reply.status >= 300 ? run_refused(submit, &reply) : run_created(call, &reply);
	reply_free(&reply);
	return status;
}

/* A wrong file is a wrong call: 2. The message carries its place already. */
static int run_bad_file(const struct error *err)
{
	struct buf safe = buf_make(8192);
	term_add_safe(&safe, err->text);
	fprintf(stderr, err->line ? "%s\n" : "sluice: %s\n", buf_text(&safe));
	buf_free(&safe);
	return 2;
}

static void run_add_lines(struct buf *safe, const char *line)
{
	while (*line) {
		size_t len = strcspn(line, "\n");
		buf_add_text(safe, "sluice: ");
		term_add_safe_output(safe, line, len);
		buf_add_char(safe, '\n');
		line += len + (line[len] == '\n');
	}
}

/* What goes along without having been named, and what does not. */
static void run_say_files(const struct submit *submit)
{
	struct buf safe = buf_make(BUF_UNLIMITED);
	run_add_lines(&safe, buf_text(&submit->notes));
	if (submit->taken.len) {
		buf_add_text(&safe, "sluice: the script needs these files, so they are taken along: ");
		term_add_safe_output(&safe, buf_text(&submit->taken), submit->taken.len);
		buf_add_char(&safe, '\n');
	}
	run_add_lines(&safe, buf_text(&submit->unseen));
	fputs(buf_text(&safe), stderr);
	buf_free(&safe);
}

static void run_say_missing(const struct submit *submit)
{
	run_say_files(submit);
	struct buf safe = buf_make(BUF_UNLIMITED);
	term_add_safe_output(&safe, buf_text(&submit->missing), submit->missing.len);
	fputs(buf_text(&safe), stderr);
	buf_free(&safe);
}

/* A variable that the script was promised, and that this shell does not have. */
static void run_say_unset(const struct node *keep)
{
	for (size_t i = 0; keep && keep->type == NODE_LIST && i < keep->count; i++) {
		const char *name = node_string(keep->items[i]);
		if (name && environ_is_variable(name) && !getenv(name))
			fprintf(stderr, "sluice: environment.keep: %s is not set in this shell\n", name);
	}
}

/* What `run` and `check` have in common. Where files are missing, `check` still asks what else is wrong. */
static int run_with(const struct verb *verb, int argc, char **argv,
		    int (*send)(struct call *call, struct submit *submit))
{
	struct call call;
	struct error err;
	struct submit submit;
	int status = call_begin(&call, verb, argc, argv, 1, SIZE_MAX);
	if (status)
		return status;
	if (submit_load(&submit, &call.options, &err) < 0)
		status = run_bad_file(&err);
	else if (submit.missing.len && verb == &verb_run)
		status = 2;
	else
		status = call_connect(&call);
	run_say_missing(&submit);
	if (!status)
		run_say_unset(node_get(node_get(submit.tree, "environment"), "keep"));
	if (!status)
		submit.caller = caller_read(submit.tree, call.options.args.at[0],
					    verb == &verb_run || submit_wants_git(submit.tree));
	if (!status)
		status = send(&call, &submit);
	submit_free(&submit);
	return call_end(&call, status);
}

static int run_run(int argc, char **argv)
{
	return run_with(&verb_run, argc, argv, run_submit);
}

const struct verb verb_run = {
	.name = "run",
	.arguments = "FILE | SCRIPT [name=values ...] [options]",
	.summary = "submit an experiment and follow it",
	.help = "FILE is an experiment file, .yaml or .json (sluice-experiment(5)); its script and files are taken along.\n"
		"Options and name=values that follow a FILE replace what the file says.\n"
		"\n"
		"SCRIPT is a program, followed by its parameters: a value, several separated by commas, or a range.\n"
		"Commas in brackets or double quotes belong to a value: layers=[64,32],[128].\n"
		"\n"
		"  sluice run experiment.yaml\n"
		"  sluice run train.py batch_size=64,32,16 learning_rate=1e-5..1e-1:log units=16..512:step=16 epochs=100 \\\n"
		"         --objective val_loss --strategy tpe --tasks 60 --parallel 8\n"
		"\n"
		"Ctrl-C leaves the view; the experiment goes on. The exit status is 0 when the experiment finished, 1 when\n"
		"it ended in error or was stopped, 2 when it was not accepted, 130 after Ctrl-C.",
	.options = run_options,
	.run = run_run,
};

static void check_add_sample(const struct node *answer, const struct term *term, struct buf *out)
{
	const struct node *sample = node_get(answer, "sample");
	size_t shown = sample && sample->type == NODE_LIST ? (sample->count < 5 ? sample->count : 5) : 0;
	const char *title = node_get_bool(answer, "sample_exact", true) ? "first tasks" : "for example";
	for (size_t i = 0; i < shown; i++) {
		struct buf line = buf_make(65536);
		view_parameters(sample->items[i], NULL, &line);
		view_line(out, term, i ? " " : title, buf_text(&line));
		buf_free(&line);
	}
	int64_t more = node_get_int(answer, "count", 0) - (int64_t)shown;
	char text[64];
	snprintf(text, sizeof(text), "and %" PRId64 " more", more);
	if (shown && more > 0)
		view_line(out, term, " ", text);
}

/* Nothing where nothing is known. */
static void check_add_estimate(const struct node *estimate, const struct term *term, struct buf *out)
{
	const char *basis = node_get_string(estimate, "basis");
	char wall[VIEW_CHARS], limit[VIEW_CHARS];
	struct buf line = buf_make(4096);
	view_seconds(node_get(estimate, "wall_s"), "", wall);
	view_seconds(node_get(estimate, "limit_s"), "", limit);
	if (basis)
		buf_addf(&line, "%s%s%s%s", *wall ? "about " : "", wall, *wall ? ": " : "", basis);
	if (*limit)
		buf_addf(&line, "; 95 %% of the slowest tasks take less than %s", limit);
	view_line(out, term, "time", buf_text(&line));
	buf_free(&line);
}

static void check_add_names(const char *title, const struct node *list, const struct term *term, struct buf *out)
{
	struct buf line = buf_make(4096);
	for (size_t i = 0; list && list->type == NODE_LIST && i < list->count; i++)
		buf_addf(&line, "%s%s", i ? ", " : "", node_string(list->items[i]));
	if (line.len)
		view_line(out, term, title, buf_text(&line));
	buf_free(&line);
}

static void check_add_environment(const struct node *environment, const struct term *term, struct buf *out)
{
	const char *python = node_get_string(environment, "python"), *how = node_get_string(environment, "how");
	const char *version = node_get_string(environment, "version");
	char *line = python
		? mem_printf("%s (%s%s%s)", python, version ? version : "", version ? ", " : "", how ? how : "")
		: NULL;
	if (line)
		view_line(out, term, "python", line);
	free(line);
	check_add_names("modules", node_get(environment, "modules"), term, out);
	check_add_names("variables", node_get(environment, "variables"), term, out);
}

static void check_add_answer(const struct node *answer, const struct term *term, struct buf *out)
{
	const struct node *warnings = node_get(answer, "warnings"),
			  *notes = node_get(node_get(answer, "scan"), "notes"), *chosen = node_get(answer, "chosen");
	const char *how = node_get_string(answer, "how"), *reason = node_get_string(answer, "reason");
	const char *script = node_get_string(answer, "script"), *strategy = node_get_string(answer, "strategy");
	struct buf line = buf_make(4096);
	char text[VIEW_CHARS];
	bool counted = node_is_number(node_get(answer, "count"));
	if (counted)
		buf_addf(&line, "%" PRId64, node_get_int(answer, "count", 0));
	if (counted && how && strcmp(how, buf_text(&line)) != 0)
		buf_addf(&line, " = %s", how);
	else if (!counted)
		buf_addf(&line, "%s", how ? how : "not known");
	view_line(out, term, "tasks", buf_text(&line));
	buf_clear(&line);
	buf_addf(&line, "%s%s%s", strategy ? strategy : "not known", reason ? ": " : "", reason ? reason : "");
	view_line(out, term, "search", buf_text(&line));
	view_parallel(node_get(answer, "parallel"), text);
	view_line(out, term, "parallel", text);
	check_add_environment(node_get(answer, "environment"), term, out);
	check_add_estimate(node_get(answer, "estimate"), term, out);
	check_add_sample(answer, term, out);
	run_add_call(answer, term, out);
	for (size_t i = 0; chosen && chosen->type == NODE_LIST && i < chosen->count; i++)
		view_line(out, term, i ? " " : "chosen", node_string(chosen->items[i]));
	for (size_t i = 0; notes && notes->type == NODE_LIST && i < notes->count; i++)
		view_line(out, term, "found", node_string(notes->items[i]));
	for (size_t i = 0; warnings && warnings->type == NODE_LIST && i < warnings->count; i++)
		view_line(out, term, "warning", node_string(warnings->items[i]));
	if (script && *script) {
		term_add_coloured(out, TERM_DIM, "\nthe batch script:\n", term);
		term_add_safe_output(out, script, strlen(script));
		buf_add_text(out, script[strlen(script) - 1] == '\n' ? "" : "\n");
	}
	buf_free(&line);
}

static int check_print(struct call *call, const struct reply *reply)
{
	struct error err;
	struct node *answer = NULL;
	if (node_parse_json(buf_text(&reply->body), reply->body.len, &answer, &err) < 0)
		return call_fail(&err);
	struct buf out = buf_make(BUF_UNLIMITED);
	if (options_has(&call->options, "json"))
		buf_addf(&out, "%s\n", buf_text(&reply->body));
	else if (options_has(&call->options, "script"))
		buf_add_text(&out, node_get_string(answer, "script") ? node_get_string(answer, "script") : "");
	else if (options_has(&call->options, "yaml"))
		buf_add_text(&out, node_get_string(answer, "yaml") ? node_get_string(answer, "yaml") : "");
	else
		check_add_answer(answer, &call->term, &out);
	fwrite(buf_text(&out), 1, out.len, stdout);
	buf_free(&out);
	node_free(answer);
	return 0;
}

static int check_send(struct call *call, struct submit *submit)
{
	struct error err;
	struct buf body = buf_make(BUF_UNLIMITED);
	struct reply reply;
	where_await(&call->client);
	int rc = submit_write_check(submit, &body, &err), status;
	struct request request = {
		.method = "POST", .path = "/check?scan=1", .body = buf_text(&body), .body_len = body.len};
	if (rc == 0)
		rc = client_send(&call->client, &request, &reply, &err);
	buf_free(&body);
	if (rc < 0)
		return call_fail(&err);
	status = reply.status >= 300  ? run_refused(submit, &reply)
		: submit->missing.len ? 2
				      : check_print(call, &reply);
	reply_free(&reply);
	return status;
}

static int check_run(int argc, char **argv)
{
	return run_with(&verb_check, argc, argv, check_send);
}

const struct verb verb_check = {
	.name = "check",
	.arguments = "FILE | SCRIPT [name=values ...] [options]",
	.summary = "validate an experiment and count its tasks; runs nothing",
	.help = "Prints how many tasks there would be and why, the first of them, and the batch script that would be submitted.\n"
		"If the same script has run before, it also estimates the time: the number of tasks times the time of one,\n"
		"divided by how many run at a time. From 20 finished tasks on the time follows from the values of the\n"
		"parameters; with fewer it is the median of the last experiment. Takes the same arguments as 'run'. The exit status is 2 if the experiment\n"
		"has errors; each is printed as FILE:LINE:COLUMN: key: what is wrong; what to do.",
	.options = check_options,
	.run = check_run,
};

static int watch_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	int status = call_begin(&call, &verb_watch, argc, argv, 1, 1);
	if (status)
		return status;
	if (target_parse(call.options.args.at[0], &target, &err) < 0)
		return call_end(&call, call_usage(&verb_watch, &err));
	status = call_connect(&call);
	if (!status)
		status = follow_experiment(&call.client, target.experiment, &call.term, false, false);
	return call_end(&call, status);
}

const struct verb verb_watch = {
	.name = "watch",
	.arguments = "ID",
	.summary = "follow an experiment until it ends",
	.help = "The view of 'sluice run', for an experiment that is there already. Ctrl-C leaves it.",
	.options = watch_options,
	.run = watch_run,
};
