/* `sluice logs ID/TASK`: what the script wrote, whole or while it is written. */
#include "cli/verbs.h"
#include "cli/view.h"

#include "base/pace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define LOGS_CHUNK_BYTES (256 << 10)

static const struct verb_option logs_options[] = {
	{"f,follow", NULL, "follow the output until the task ends"},
	{"stream", "stdout|stderr", "print only this stream (default: both)"},
	{"attempt", "N", "print the output of this attempt (default: the last)"},
	{"tail", "BYTES", "start this many bytes before the end"},
	{"json", NULL, "print the daemon's answers as JSON, one per line"},
	{0},
};

struct logs_stream {
	const char *name;
	bool wanted;
	int64_t offset;
};

struct logs {
	struct call *call;
	struct target target;
	int64_t attempt, tail;
	struct logs_stream streams[2];
	const struct logs_stream *shown; /* whose bytes stand last on the screen */
	bool heads; /* say which stream it is */
};

/* The bytes themselves where they go to a file or a program; made safe where a terminal takes them. */
static void logs_print(struct logs *logs, struct logs_stream *stream, const char *text)
{
	if (!*text)
		return;
	if (logs->heads && logs->shown != stream)
		printf("%s==> %s <==\n", logs->shown ? "\n" : "", stream->name);
	logs->shown = stream;
	if (!logs->call->term.tty) {
		fputs(text, stdout);
		return;
	}
	struct buf safe = buf_make(BUF_UNLIMITED);
	term_add_safe_output(&safe, text, strlen(text));
	fputs(buf_text(&safe), stdout);
	buf_free(&safe);
}

/* Prints what is new in one stream. */
static int logs_read(struct logs *logs, struct logs_stream *stream, struct error *err)
{
	for (;;) {
		struct node *answer = NULL;
		struct buf json = buf_make(BUF_UNLIMITED);
		char rest[160];
		snprintf(rest, sizeof(rest), "/log?stream=%s&attempt=%" PRId64 "&offset=%" PRId64 "&limit=%d",
			 stream->name, logs->attempt, stream->offset, LOGS_CHUNK_BYTES);
		char *path = target_path(&logs->target, rest);
		int rc = client_get(&logs->call->client, path, &json, &answer, err);
		int64_t next = node_get_int(answer, "next", stream->offset), size = node_get_int(answer, "size", next);
		const char *text = node_get_string(answer, "text");
		if (rc == 0 && options_has(&logs->call->options, "json")) {
			if (text && *text)
				puts(buf_text(&json));
		} else if (rc == 0 && text) {
			logs_print(logs, stream, text);
		}
		bool more = rc == 0 && next > stream->offset && next < size;
		if (rc == 0)
			stream->offset = next;
		node_free(answer);
		buf_free(&json);
		free(path);
		if (!more)
			return rc == -ESRCH ? 0 : rc; /* not written yet */
	}
}

/* The attempt that counts now, and whether the task has ended. */
static int logs_read_task(struct logs *logs, bool *ret_over, struct error *err)
{
	struct node *task = NULL;
	char *path = target_path(&logs->target, "");
	int rc = client_get(&logs->call->client, path, NULL, &task, err);
	int64_t asked = 0, current = node_get_int(task, "attempt", 1);
	if (rc == 0)
		rc = options_int(&logs->call->options, "attempt", 1, INT32_MAX, 0, &asked, err);
	if (rc == 0 && asked > (current > 1 ? current : 1))
		rc = current > 0
			? errorf(err, -ESRCH, "%s/%" PRId64 " has no attempt %" PRId64 "; the last one is %" PRId64,
				 logs->target.experiment, logs->target.number, asked, current)
			: errorf(err, -ESRCH, "%s/%" PRId64 " has no attempt %" PRId64 ": it has not started",
				 logs->target.experiment, logs->target.number, asked);
	if (rc == 0) {
		*ret_over = view_is_over(node_get_string(task, "state")) || (asked && asked != current);
		if (!asked && logs->attempt && current != logs->attempt) {
			fprintf(stderr, "sluice: attempt %" PRId64 " begins\n", current);
			logs->streams[0].offset = logs->streams[1].offset = 0;
		}
		logs->attempt = asked ? asked : current > 0 ? current : 1;
	}
	free(path);
	node_free(task);
	return rc;
}

static int logs_follow(struct logs *logs, struct error *err)
{
	const struct timespec pause = {.tv_nsec = LOGS_POLL_MS * 1000000L};
	bool over = false, follow = options_has(&logs->call->options, "follow");
	for (;;) {
		/* The state first: what was written before the end is then read after it. */
		int rc = logs_read_task(logs, &over, err);
		for (size_t i = 0; rc == 0 && i < COUNT_OF(logs->streams); i++)
			if (logs->streams[i].wanted)
				rc = logs_read(logs, &logs->streams[i], err);
		fflush(stdout);
		if (rc < 0 || over || !follow)
			return rc;
		nanosleep(&pause, NULL);
	}
}

static int logs_run(int argc, char **argv)
{
	struct call call;
	struct error err;
	struct logs logs = {.call = &call, .streams = {{.name = "stdout"}, {.name = "stderr"}}};
	int status = call_begin(&call, &verb_logs, argc, argv, 1, 1);
	if (status)
		return status;
	const char *only = options_get(&call.options, "stream");
	int rc = target_parse(call.options.args.at[0], &logs.target, &err);
	if (rc == 0 && !logs.target.number)
		rc = errorf(&err, -EINVAL, "give a task, such as %s/1", logs.target.experiment);
	if (rc == 0 && only && strcmp(only, "stdout") != 0 && strcmp(only, "stderr") != 0)
		rc = errorf(&err, -EINVAL, "--stream: expected stdout or stderr, got '%s'", only);
	if (rc == 0)
		rc = options_int(&call.options, "tail", 0, INT64_MAX / 2, 0, &logs.tail, &err);
	if (rc < 0)
		return call_end(&call, call_usage(&verb_logs, &err));
	for (size_t i = 0; i < COUNT_OF(logs.streams); i++) {
		logs.streams[i].wanted = !only || strcmp(only, logs.streams[i].name) == 0;
		logs.streams[i].offset = -logs.tail;
	}
	logs.heads = !only;
	status = call_connect(&call);
	if (!status && logs_follow(&logs, &err) < 0)
		status = call_fail(&err);
	else if (!status && !logs.shown && !options_has(&call.options, "json"))
		fprintf(stderr, "sluice: %s/%" PRId64 " has written nothing%s%s\n", logs.target.experiment,
			logs.target.number, only ? " to " : "", only ? only : "");
	return call_end(&call, status);
}

const struct verb verb_logs = {
	.name = "logs",
	.arguments = "ID/TASK [-f]",
	.summary = "print what a task's script wrote",
	.help = "Both streams are printed, each under its name; --stream prints one and nothing else.\n\n"
		"  sluice logs e12/7 -f\n"
		"  sluice logs e12/7 --stream stderr --tail 4096",
	.options = logs_options,
	.run = logs_run,
};
