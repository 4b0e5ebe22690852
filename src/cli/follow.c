/* Following an experiment by the daemon's event stream: see follow.h. The stream is opened before the experiment is
 * read, so that no change in between is missed. */
#include "cli/follow.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/pace.h"
#include "cli/progress.h"
#include "cli/view.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct follow_state {
	char mark; /* first letter of the state */
	bool over;
	int64_t attempt;
};

struct follow {
	struct client *client;
	const char *id;
	struct term term;
	bool quiet, over, removed, paused;
	struct progress progress;
	struct client_stream stream;
	bool open;
	struct buf last_id;
	struct buf frame; /* as it stands on the terminal */
	int64_t drawn_ms, received_ms, gone_ms;
	struct follow_state *states; /* by task number: what was printed last */
	size_t state_count;
	bool has_states; /* else the first look is not news */
	char *note; /* of the experiment, as last printed in lines; NULL */
};

static volatile sig_atomic_t follow_interrupted, follow_resized;

static void follow_interrupt_cb(int signal)
{
	(void)signal;
	follow_interrupted = 1;
}

static void follow_resize_cb(int signal)
{
	(void)signal;
	follow_resized = 1;
}

static void follow_catch_signals(bool catch)
{
	struct sigaction interrupt = {.sa_handler = follow_interrupt_cb, .sa_flags = SA_RESETHAND}; /* twice: at once */
	struct sigaction resize = {.sa_handler = follow_resize_cb};
	if (!catch)
		interrupt.sa_handler = resize.sa_handler = SIG_DFL;
	follow_interrupted = follow_resized = 0;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGTERM, &interrupt, NULL);
	sigaction(SIGWINCH, &resize, NULL);
}

/* Puts the frame in the place of the last one. */
static void follow_draw(struct follow *follow)
{
	struct buf frame = buf_make(BUF_UNLIMITED), out = buf_make(BUF_UNLIMITED);
	if (follow_resized) {
		follow_resized = 0;
		follow->term = term_of(1);
	}
	progress_render(&follow->progress, &follow->term, clock_now_ms(), &frame);
	int rows = progress_rows(buf_text(&follow->frame), follow->term.width);
	if (rows)
		buf_addf(&out, "\033[%dA\r", rows);
	buf_add_text(&out, "\033[J");
	buf_add(&out, buf_text(&frame), frame.len);
	if (fs_write_all(1, buf_text(&out), out.len) < 0)
		follow_interrupted = 1; /* the terminal is gone */
	buf_free(&follow->frame);
	follow->frame = frame;
	follow->drawn_ms = clock_mono_ms();
	buf_free(&out);
}

/* A line for a state that is new. */
static void follow_print_task(struct follow *follow, const struct node *task)
{
	const char *state = node_get_string(task, "state"), *id = node_get_string(task, "id");
	int64_t number = node_get_int(task, "number", 0);
	if (!state || !id || number < 1 || number > LIMIT_TASKS)
		return;
	if ((size_t)number >= follow->state_count) {
		size_t count = (size_t)number * 2 + 64;
		follow->states = mem_resize(follow->states, count, sizeof(*follow->states));
		memset(follow->states + follow->state_count, 0,
		       (count - follow->state_count) * sizeof(*follow->states));
		follow->state_count = count;
	}
	struct follow_state *last = &follow->states[number];
	struct follow_state now = {
		.mark = strcmp(state, "submitted") == 0 ? 'q' : state[0],
		.over = view_is_over(state),
		.attempt = node_get_int(task, "attempt", 0),
	};
	/* The stream was opened before the tasks were fetched: its first events may be older than what was fetched. */
	if (last->over && !now.over && now.attempt <= last->attempt)
		return;
	bool news = last->mark != now.mark && strcmp(state, "waiting") != 0 && follow->has_states;
	*last = now;
	if (!news || follow->quiet)
		return;
	const struct node *best = node_get(task, "best");
	const char *node_name = node_get_string(task, "node"), *cause = view_cause(task);
	struct buf line = buf_make(8192);
	buf_addf(&line, "%s %s", id, state);
	if (strcmp(state, "running") == 0 && node_name)
		buf_addf(&line, " on %s", node_name);
	if (best && best->type == NODE_MAP && view_is_over(state)) {
		char value[VIEW_CHARS];
		view_metric(node_get(best, "value"), value);
		const struct node *objective = node_get(follow->progress.experiment, "objective");
		bool several = objective && objective->count > 1;
		buf_addf(&line, ": best %s%s%s", several ? view_objective(objective) : "", several ? " " : "", value);
	}
	if (strcmp(state, "error") == 0 && *cause) {
		buf_add_text(&line, ": ");
		term_add_safe(&line, cause);
	}
	puts(buf_text(&line));
	fflush(stdout);
	buf_free(&line);
}

/* Where there is no frame: why nothing happens, when that changes. */
static void follow_print_note(struct follow *follow)
{
	const char *note = node_get_string(follow->progress.experiment, "note");
	if (follow->term.tty || follow->quiet || (note && follow->note && strcmp(note, follow->note) == 0))
		return;
	free(follow->note);
	follow->note = mem_strdup(note);
	if (!note)
		return;
	struct buf line = buf_make(8192);
	buf_addf(&line, "%s: ", follow->id);
	term_add_safe(&line, note);
	puts(buf_text(&line));
	fflush(stdout);
	buf_free(&line);
}

static void follow_give_experiment(struct follow *follow, struct node *give)
{
	progress_give_experiment(&follow->progress, give);
	follow_print_note(follow);
	const struct node *tasks = node_get(follow->progress.experiment, "tasks");
	/* What runs still goes on: it is followed to its end. */
	follow->paused = node_get_string(follow->progress.experiment, "paused") && !node_get_int(tasks, "running", 0) &&
		!node_get_int(tasks, "submitted", 0);
	follow->over = follow->paused || view_is_over(progress_state(&follow->progress));
}

static void follow_give_task(struct follow *follow, struct node *give)
{
	if (!follow->term.tty)
		follow_print_task(follow, give);
	progress_give_task(&follow->progress, give);
}

/* Every task (plain lines need all states) or those that run. */
static int follow_fetch_tasks(struct follow *follow, struct error *err)
{
	struct buf cursor = buf_make(1024);
	int rc = 0;
	progress_clear_tasks(&follow->progress);
	do {
		struct buf path = buf_make(4096);
		struct node *answer = NULL;
		buf_addf(&path, "/experiments/%s/tasks?limit=%d%s", follow->id, follow->term.tty ? 200 : 1000,
			 follow->term.tty ? "&state=running" : "");
		if (cursor.len) {
			buf_add_text(&path, "&cursor=");
			client_add_encoded(&path, buf_text(&cursor));
		}
		rc = client_get(follow->client, buf_text(&path), NULL, &answer, err);
		buf_free(&path);
		buf_clear(&cursor);
		struct node *items = node_get(answer, "items");
		for (size_t i = 0; items && i < items->count; i++)
			follow_give_task(follow, node_clone(items->items[i]));
		if (node_get_string(answer, "next"))
			buf_add_text(&cursor, node_get_string(answer, "next"));
		node_free(answer);
	} while (rc == 0 && cursor.len && !follow->term.tty && !follow_interrupted);
	buf_free(&cursor);
	return rc;
}

/* How it stands now. -ESRCH when the experiment is gone. */
static int follow_fetch(struct follow *follow, struct error *err)
{
	struct node *experiment = NULL;
	char *path = mem_printf("/experiments/%s", follow->id);
	int rc = client_get(follow->client, path, NULL, &experiment, err);
	free(path);
	if (rc < 0)
		return rc;
	follow_give_experiment(follow, experiment);
	rc = follow_fetch_tasks(follow, err);
	follow->has_states |= rc == 0;
	return rc;
}

static bool follow_is_ours(const struct follow *follow, const struct node *data, const char *key)
{
	const char *id = node_get_string(data, key);
	return id && strcmp(id, follow->id) == 0;
}

/* Where the frame does not show it, it is said when it changes. */
static void follow_give_trouble(struct follow *follow, const char *text)
{
	struct client *client = follow->client;
	bool same = text ? client->trouble && strcmp(text, client->trouble) == 0 : !client->trouble;
	if (!same) {
		free(client->trouble);
		client->trouble = mem_strdup(text);
		if (!follow->term.tty || follow->quiet)
			client_say_trouble(client);
	}
	follow->progress.unwritable = client->trouble;
}

static int follow_take_event(struct follow *follow, const struct sse_event *event, struct error *err)
{
	struct node *data = NULL;
	if (strcmp(event->name, "reset") == 0)
		return follow_fetch(follow, err);
	if (node_parse_json(event->data, event->data_len, &data, NULL) < 0)
		return 0; /* of a later version, perhaps */
	if (strcmp(event->name, "experiment") == 0 && follow_is_ours(follow, data, "id")) {
		follow_give_experiment(follow, data);
		return 0;
	}
	if (strcmp(event->name, "task") == 0 && follow_is_ours(follow, data, "experiment")) {
		follow_give_task(follow, data);
		return 0;
	}
	if (strcmp(event->name, "metrics") == 0 && follow_is_ours(follow, data, "experiment"))
		progress_take_metrics(&follow->progress, data);
	if (strcmp(event->name, "trouble") == 0)
		follow_give_trouble(follow, node_get_string(data, "text"));
	if (strcmp(event->name, "removed") == 0 && follow_is_ours(follow, data, "experiment"))
		follow->over = follow->removed = true;
	node_free(data);
	return 0;
}

static int follow_take_events(struct follow *follow, struct error *err)
{
	struct sse_event event;
	int rc = 0;
	while (rc == 0 && sse_next(&follow->stream.sse, &follow->stream.reply.body, &event))
		rc = follow_take_event(follow, &event, err);
	buf_clear(&follow->last_id);
	buf_add_text(&follow->last_id, sse_id(&follow->stream.sse));
	return rc;
}

static void follow_close(struct follow *follow)
{
	if (follow->open)
		client_stream_close(&follow->stream);
	follow->open = false;
}

static int follow_open(struct follow *follow, struct error *err)
{
	int64_t now = clock_mono_ms();
	follow->client->may_start = follow->gone_ms && now - follow->gone_ms > FOLLOW_GONE_MS;
	int rc = client_stream_open(follow->client, buf_text(&follow->last_id), &follow->stream, err);
	if (rc == 0) {
		follow->open = true;
		rc = client_read_trouble(follow->client, err);
		follow->progress.unwritable = follow->client->trouble;
	}
	if (rc == 0)
		rc = follow_fetch(follow, err);
	if (rc < 0) {
		follow_close(follow);
		if (!follow->gone_ms)
			follow->gone_ms = now;
		return rc;
	}
	follow->gone_ms = 0;
	follow->received_ms = now;
	return 0;
}

/* Waits for bytes, a signal, or the next frame. */
static int follow_wait(struct follow *follow, int64_t timeout_ms, struct error *err)
{
	struct pollfd pollfd = {.fd = follow->open ? follow->stream.fd : -1, .events = POLLIN};
	int ready = poll(&pollfd, 1, (int)timeout_ms);
	int64_t now = clock_mono_ms();
	if (!follow->open)
		return 0;
	if (ready > 0) {
		follow->received_ms = now;
		int rc = client_stream_read(&follow->stream, err);
		int taken = follow_take_events(follow, err);
		return rc < 0 ? rc : taken;
	}
	return now - follow->received_ms > FOLLOW_SILENCE_MS ? -ETIMEDOUT : 0;
}

/* Until the experiment or the person ends it. 0, or -ESRCH when the experiment is gone. */
static int follow_loop(struct follow *follow, struct error *err)
{
	while (!follow->over && !follow_interrupted) {
		int rc = 0;
		if (!follow->open)
			rc = follow_open(follow, err);
		if (rc == -ESRCH)
			return rc;
		follow->progress.trouble = follow->open ? NULL : "waiting for the daemon";
		int64_t now = clock_mono_ms(), pause = FOLLOW_CLOCK_MS;
		if (follow->term.tty && !follow->quiet) {
			if (now - follow->drawn_ms >= FOLLOW_FRAME_MS || follow_resized)
				follow_draw(follow);
			else
				pause = FOLLOW_FRAME_MS;
		}
		if (follow->over)
			break;
		if (follow_wait(follow, follow->open ? pause : FOLLOW_RETRY_MS, err) < 0)
			follow_close(follow);
	}
	return 0;
}

/* Is there no value for one of the objectives? */
static bool follow_lacks_value(const struct node *best)
{
	const struct node *values = node_get(best, "values");
	for (size_t i = 1; values && i < values->count; i++)
		if (!node_is_number(values->items[i]))
			return true;
	return !best || best->type != NODE_MAP;
}

static void follow_say(const char *text)
{
	struct buf safe = buf_make(65536);
	term_add_safe(&safe, text);
	if (text)
		fprintf(stderr, "sluice: %s\n", buf_text(&safe));
	buf_free(&safe);
}

/* What was found where the objective was not, and why energy was not measured. */
static void follow_say_missing(struct follow *follow)
{
	struct node *detail = NULL;
	bool lacks = follow_lacks_value(node_get(follow->progress.experiment, "best"));
	char *path = mem_printf("/experiments/%s", follow->id);
	if (client_get(follow->client, path, NULL, &detail, NULL) == 0) {
		follow_say(lacks ? node_get_string(detail, "no_value") : NULL);
		follow_say(node_get_string(detail, "no_energy"));
	}
	node_free(detail);
	free(path);
}

static int follow_finish(struct follow *follow)
{
	const char *state = progress_state(&follow->progress);
	const struct node *tasks = node_get(follow->progress.experiment, "tasks");
	int64_t errors = node_get_int(tasks, "error", 0);
	if (follow->removed) {
		fprintf(stderr, "sluice: %s was removed\n", follow->id);
		return 1;
	}
	if (!follow->quiet && follow->term.tty) {
		follow_draw(follow);
	} else if (!follow->quiet) {
		struct buf line = buf_make(65536);
		buf_addf(&line, "%s %s: ", follow->id, view_state(follow->progress.experiment));
		progress_add_best(&follow->progress, &line);
		puts(buf_text(&line));
		buf_free(&line);
	}
	fflush(stdout);
	if (follow->paused) {
		struct buf why = buf_make(65536);
		term_add_safe(&why, node_get_string(follow->progress.experiment, "paused"));
		fprintf(stderr, "sluice: %s is paused: %s\n", follow->id, buf_text(&why));
		buf_free(&why);
		return 1;
	}
	follow_say_missing(follow);
	if (errors)
		fprintf(stderr, "sluice: %" PRId64 " task%s failed: sluice show %s --state error\n", errors,
			errors == 1 ? "" : "s", follow->id);
	return strcmp(state, "finished") == 0 ? 0 : 1;
}

int follow_experiment(struct client *client, const char *id, const struct term *term, bool quiet, bool fresh)
{
	struct error err;
	struct follow follow = {
		.client = client,
		.id = id,
		.term = *term,
		.quiet = quiet,
		.has_states = fresh,
		.last_id = buf_make(256),
		.frame = buf_make(BUF_UNLIMITED),
	};
	follow_catch_signals(true);
	int rc = follow_loop(&follow, &err), status;
	bool interrupted = follow_interrupted && !follow.over;
	follow_catch_signals(false);
	if (rc < 0) {
		fprintf(stderr, "sluice: %s\n", err.text);
		status = 1;
	} else if (interrupted) {
		fprintf(stderr, "\n%s keeps running. 'sluice watch %s' follows it again, 'sluice stop %s' stops it.\n",
			id, id, id);
		status = FOLLOW_DETACHED;
	} else {
		status = follow_finish(&follow);
	}
	follow_close(&follow);
	progress_free(&follow.progress);
	free(follow.states);
	free(follow.note);
	buf_free(&follow.last_id);
	buf_free(&follow.frame);
	client->may_start = true;
	return status;
}
