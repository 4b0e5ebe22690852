/* `sluice stop`, `rm` and `parallel`: the verbs that change what runs. */
#include "cli/verbs.h"
#include "cli/view.h"

#include "base/num.h"
#include "base/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const struct verb_option stop_options[] = {
	{"checkpoint", NULL, "let scripts save first, for as long as checkpoint: {before_limit} says"},
	{"json", NULL, "print the daemon's answers as JSON, one per line"},
	{0},
};

static const struct verb_option rm_options[] = {
	{"stop", NULL, "stop it first if it is running"},
	{"y,yes", NULL, "do not ask"},
	{0},
};

static const struct verb_option parallel_options[] = {
	{"json", NULL, "print the experiment as JSON"},
	{0},
};

/* Every id on the command line, before anything is done to the first. */
static int stop_parse_targets(const struct options *options, struct target **ret, struct error *err)
{
	struct target *targets = mem_array(options->args.len, sizeof(*targets));
	for (size_t i = 0; i < options->args.len; i++) {
		int rc = target_parse(options->args.at[i], &targets[i], err);
		if (rc < 0) {
			free(targets);
			return rc;
		}
	}
	*ret = targets;
	return 0;
}

static void stop_say(const struct target *target, const struct node *answer)
{
	static const char done[] = "asked to stop";
	const char *state = node_get_string(answer, "state");
	if (target->number) {
		/* One that runs is ended in the next moments; one that waited has stopped already. */
		bool stopped = state && strcmp(state, "stopped") == 0;
		if (!stopped && view_is_over(state ? state : "")) {
			printf("%s/%" PRId64 " had ended already: %s\n", target->experiment, target->number, state);
			return;
		}
		printf("%s/%" PRId64 " is %s\n", target->experiment, target->number, stopped ? state : done);
		return;
	}
	int64_t count = node_get_int(answer, "tasks", 0), unproposed = node_get_int(answer, "unproposed", 0);
	if (count)
		printf("%s: %" PRId64 " task%s %s\n", target->experiment, count, count == 1 ? "" : "s", done);
	if (unproposed)
		printf("%s: %" PRId64 " planned task%s that had not begun will not run\n", target->experiment,
		       unproposed, unproposed == 1 ? "" : "s");
	if (!count && !unproposed)
		printf("%s: there was nothing to do\n", target->experiment);
}

/* POST .../stop for every target; the others go on when one fails. */
static int stop_run(int argc, char **argv)
{
	const struct verb *verb = &verb_stop;
	struct call call;
	struct error err;
	struct target *targets;
	int status = call_begin(&call, verb, argc, argv, 1, SIZE_MAX);
	if (status)
		return status;
	if (stop_parse_targets(&call.options, &targets, &err) < 0)
		return call_end(&call, call_usage(verb, &err));
	const char *body = options_has(&call.options, "checkpoint") ? "{\"checkpoint\":true}" : "{}";
	status = call_connect(&call);
	for (size_t i = 0; call.connected && i < call.options.args.len; i++) {
		struct node *answer = NULL;
		struct buf json = buf_make(BUF_UNLIMITED);
		char *path = target_path(&targets[i], "/stop");
		int rc = client_post(&call.client, path, body, &json, &answer, &err);
		if (rc == 0 && options_has(&call.options, "json"))
			puts(buf_text(&json));
		else if (rc == 0)
			stop_say(&targets[i], answer);
		if (rc < 0)
			status = call_fail(&err);
		node_free(answer);
		buf_free(&json);
		free(path);
	}
	free(targets);
	return call_end(&call, status);
}

const struct verb verb_stop = {
	.name = "stop",
	.arguments = "ID[/TASK] ... [--checkpoint]",
	.summary = "stop experiments or tasks",
	.help = "The script gets SIGTERM, and SIGKILL ten seconds later; with 'checkpoint:' in the file it gets that\n"
		"signal first, and SIGTERM after five seconds, or with --checkpoint after 'before_limit' (two minutes\n"
		"by default). The metrics so far are kept; 'sluice restart' runs\n"
		"stopped tasks again.",
	.options = stop_options,
	.run = stop_run,
};

static bool rm_answered_yes(void)
{
	char answer[16] = "";
	fflush(stderr);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* Asks a person; true for yes. */
static bool rm_confirm(struct client *client, const struct target *target)
{
	struct node *experiment = NULL;
	struct buf name = buf_make(1024);
	char *path = target_path(target, "");
	if (client_get(client, path, NULL, &experiment, NULL) == 0)
		term_add_safe(&name, node_get_string(experiment, "name"));
	fprintf(stderr, "remove %s (%s) with its %" PRId64 " tasks, their logs and results? [y/N] ", target->experiment,
		buf_text(&name), node_get_int(node_get(experiment, "tasks"), "total", 0));
	bool yes = rm_answered_yes();
	free(path);
	node_free(experiment);
	buf_free(&name);
	return yes;
}

static int rm_one(struct call *call, const struct target *target)
{
	struct error err;
	struct reply reply;
	char *path = target_path(target, options_has(&call->options, "stop") ? "?stop=1" : "");
	struct request request = {.method = "DELETE", .path = path};
	int rc = client_send(&call->client, &request, &reply, &err);
	if (rc == 0 && reply.status == 409) {
		client_problem(&reply, &err);
		struct error inner = err;
		rc = errorf(&err, -EBUSY, "%s: %s ('sluice rm --stop %s' stops it first)", target->experiment,
			    inner.text, target->experiment);
		reply_free(&reply);
	} else if (rc == 0) {
		rc = reply.status >= 300 ? client_problem(&reply, &err) : 0;
		reply_free(&reply);
	}
	free(path);
	if (rc < 0)
		return call_fail(&err);
	printf("%s is removed%s\n", target->experiment,
	       options_has(&call->options, "stop") ? " once everything has stopped" : "");
	return 0;
}

/* Removes `count` tasks of one experiment in one request: all of them or none. */
static int rm_tasks(struct call *call, const struct target *targets, size_t count)
{
	struct error err;
	struct node *answer = NULL;
	struct buf numbers = buf_make(BUF_UNLIMITED);
	for (size_t i = 0; i < count; i++)
		buf_addf(&numbers, "%s%" PRId64, i ? "," : "", targets[i].number);
	bool yes = options_has(&call->options, "yes");
	if (!yes) {
		fprintf(stderr, "remove %zu task%s of %s (%s) with logs and results? [y/N] ", count,
			count == 1 ? "" : "s", targets->experiment, buf_text(&numbers));
		yes = rm_answered_yes();
	}
	if (!yes) {
		buf_free(&numbers);
		return 1;
	}
	char *path = mem_printf("/experiments/%s/tasks/remove", targets->experiment);
	char *body = mem_printf("{\"tasks\":[%s]}", buf_text(&numbers));
	int rc = client_post(&call->client, path, body, NULL, &answer, &err);
	if (rc < 0)
		call_fail(&err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		printf("%s/%" PRId64 " is removed\n", targets[i].experiment, targets[i].number);
	node_free(answer);
	free(path);
	free(body);
	buf_free(&numbers);
	return rc < 0;
}

/* How many targets, from the first on, are tasks of one experiment; 0: it is an experiment. */
static size_t rm_count_tasks(const struct target *targets, size_t count)
{
	size_t n = 0;
	while (n < count && targets[n].number && strcmp(targets[n].experiment, targets[0].experiment) == 0)
		n++;
	return n;
}

static int rm_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target *targets;
	int status = call_begin(&call, &verb_rm, argc, argv, 1, SIZE_MAX);
	if (status)
		return status;
	if (stop_parse_targets(&call.options, &targets, &err) < 0)
		return call_end(&call, call_usage(&verb_rm, &err));
	int rc = 0;
	for (size_t i = 0; rc == 0 && options_has(&call.options, "stop") && i < call.options.args.len; i++)
		if (targets[i].number)
			rc = errorf(&err, -EINVAL, "--stop is for experiments; stop the task first: sluice stop %s",
				    call.options.args.at[i]);
	bool ask = !options_has(&call.options, "yes");
	if (rc == 0 && ask && !isatty(0))
		rc = errorf(&err, -EINVAL, "stdin is not a terminal; add --yes to confirm");
	if (rc < 0) {
		free(targets);
		return call_end(&call, call_usage(&verb_rm, &err));
	}
	status = call_connect(&call);
	size_t tasks;
	for (size_t i = 0; call.connected && i < call.options.args.len; i += tasks ? tasks : 1) {
		tasks = rm_count_tasks(&targets[i], call.options.args.len - i);
		if (tasks)
			status |= rm_tasks(&call, &targets[i], tasks);
		else if ((ask && !rm_confirm(&call.client, &targets[i])) || rm_one(&call, &targets[i]))
			status = 1;
	}
	free(targets);
	return call_end(&call, status);
}

const struct verb verb_rm = {
	.name = "rm",
	.arguments = "ID[/TASK] ... [--stop] [--yes]",
	.summary = "remove experiments or tasks with all their logs and results",
	.help = "Asks first, unless --yes is given. An experiment that still runs is refused without --stop. A task\n"
		"must have ended. The search keeps what it has learnt from a removed task, and proposes the same\n"
		"configurations as it would have with it. Numbers of removed tasks are not given again.",
	.options = rm_options,
	.run = rm_run,
};

static int parallel_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct target target;
	int64_t count;
	int status = call_begin(&call, &verb_parallel, argc, argv, 2, 2);
	if (status)
		return status;
	const char *number = call.options.args.at[1];
	int rc = target_parse(call.options.args.at[0], &target, &err);
	if (rc == 0 && target.number)
		rc = errorf(&err, -EINVAL, "give the experiment: %s", target.experiment);
	if (rc == 0 && num_parse_int(number, strlen(number), 0, LIMIT_PARALLEL, &count) < 0)
		rc = errorf(&err, -EINVAL, "expected a number from 0 (as many as fit) to %d, got '%s'", LIMIT_PARALLEL,
			    number);
	if (rc < 0)
		return call_end(&call, call_usage(&verb_parallel, &err));
	status = call_connect(&call);
	if (status)
		return call_end(&call, status);
	char *path = target_path(&target, "/parallel"), *body = mem_printf("{\"parallel\":%" PRId64 "}", count);
	struct buf json = buf_make(BUF_UNLIMITED);
	struct node *answer = NULL;
	rc = client_post(&call.client, path, body, &json, &answer, &err);
	if (rc == 0 && options_has(&call.options, "json"))
		puts(buf_text(&json));
	else if (rc == 0 && !count)
		printf("%s runs as many tasks at the same time as fit\n", target.experiment);
	else if (rc == 0)
		printf("%s runs up to %" PRId64 " task%s at the same time\n", target.experiment, count,
		       count == 1 ? "" : "s");
	node_free(answer);
	buf_free(&json);
	free(path);
	free(body);
	return call_end(&call, rc < 0 ? call_fail(&err) : 0);
}

const struct verb verb_parallel = {
	.name = "parallel",
	.arguments = "ID N",
	.summary = "change how many tasks run at the same time",
	.help = "With a smaller number, running tasks go on, and fewer new tasks are started. 0: as many as fit.",
	.options = parallel_options,
	.run = parallel_run,
};
