/* The live view of an experiment: see progress.h. */
#include "cli/progress.h"

#include "base/text.h"
#include "cli/view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define PROGRESS_BAR_WIDTH 48
#define PROGRESS_TASK_BAR_WIDTH 16
#define PROGRESS_OTHER_LINES 7 /* title, bar, counts, best, two notes, and one free */

/* In the order of the bar. */
static const char *const progress_states[] = {"finished", "pruned",    "stopped", "error",
					      "running",  "submitted", "waiting"};

void progress_free(struct progress *progress)
{
	progress_clear_tasks(progress);
	free(progress->running.at);
	node_free(progress->experiment);
	node_free(progress->varying);
}

void progress_clear_tasks(struct progress *progress)
{
	for (size_t i = 0; i < progress->running.len; i++)
		node_free(progress->running.at[i]);
	progress->running.len = 0;
}

void progress_give_experiment(struct progress *progress, struct node *give)
{
	const struct node *varying = node_get(give, "varying");
	if (varying && varying->type == NODE_LIST) {
		node_free(progress->varying);
		progress->varying = node_clone(varying);
	}
	node_free(progress->experiment);
	progress->experiment = give;
}

static size_t progress_find(const struct progress *progress, int64_t number)
{
	size_t i = 0;
	while (i < progress->running.len && node_get_int(progress->running.at[i], "number", 0) < number)
		i++;
	return i;
}

void progress_give_task(struct progress *progress, struct node *give)
{
	int64_t number = node_get_int(give, "number", 0);
	const char *state = node_get_string(give, "state");
	size_t at = progress_find(progress, number);
	bool there = at < progress->running.len && node_get_int(progress->running.at[at], "number", 0) == number;
	bool runs = state && strcmp(state, "running") == 0;
	if (there) {
		node_free(progress->running.at[at]);
		progress->running.at[at] = give;
		if (runs)
			return;
		node_free(give);
		progress->running.len--;
		memmove(progress->running.at + at, progress->running.at + at + 1,
			(progress->running.len - at) * sizeof(*progress->running.at));
		return;
	}
	if (!runs) {
		node_free(give);
		return;
	}
	vec_push(&progress->running, give);
	memmove(progress->running.at + at + 1, progress->running.at + at,
		(progress->running.len - 1 - at) * sizeof(*progress->running.at));
	progress->running.at[at] = give;
}

/* The share goes with the epoch until the daemon says better. */
static void progress_move_epoch(struct node *task, int64_t epoch)
{
	double share = node_get_real(task, "progress", -1), epochs = node_get_real(task, "epochs", 0);
	double moved = epochs > 0 ? share + (double)(epoch - node_get_int(task, "epoch", 0)) / epochs : share;
	if (share >= 0 && moved > share)
		node_add(task, "progress", node_new_real(moved < 1 ? moved : 1));
	node_add(task, "epoch", node_new_int(epoch));
}

void progress_take_metrics(struct progress *progress, const struct node *event)
{
	const struct node *rows = node_get(event, "rows");
	int64_t number = node_get_int(event, "task", 0);
	size_t at = progress_find(progress, number);
	if (at >= progress->running.len || node_get_int(progress->running.at[at], "number", 0) != number || !rows)
		return;
	struct node *task = progress->running.at[at];
	for (size_t i = 0; rows->type == NODE_LIST && i < rows->count; i++) {
		/* What rows without an epoch count, only the daemon knows: batches, say. */
		double epoch = floor(node_get_real(rows->items[i], "epoch", -1));
		if (epoch < 1e15 && epoch > (double)node_get_int(task, "epoch", -1))
			progress_move_epoch(task, (int64_t)epoch);
	}
}

const char *progress_state(const struct progress *progress)
{
	const char *state = node_get_string(progress->experiment, "state");
	return state ? state : "";
}

static int64_t progress_over(const struct node *tasks)
{
	return node_get_int(tasks, "finished", 0) + node_get_int(tasks, "error", 0) +
		node_get_int(tasks, "stopped", 0) + node_get_int(tasks, "pruned", 0);
}

/* How much of a running task is done, 0 to 1; 0 where nothing is known. */
static double progress_share(const struct node *task)
{
	const struct node *share = node_get(task, "progress"), *epochs = node_get(task, "epochs");
	double done = node_get_real(task, "epoch", 0);
	if (node_is_number(share) && share->real >= 0 && share->real <= 1)
		return share->real;
	if (!node_is_number(epochs) || epochs->real <= 0 || done <= 0)
		return 0;
	return done >= epochs->real ? 1 : done / epochs->real;
}

int64_t progress_estimate_ms(const struct progress *progress, int64_t now_ms)
{
	const struct node *tasks = node_get(progress->experiment, "tasks");
	int64_t started = view_ms(node_get(progress->experiment, "started"));
	double total = node_get_real(tasks, "total", 0), done = (double)progress_over(tasks);
	for (size_t i = 0; i < progress->running.len; i++)
		done += progress_share(progress->running.at[i]);
	if (started < 0 || now_ms <= started || done < 0.05 || total <= 0)
		return -1;
	if (done >= total)
		return 0;
	return (int64_t)((double)(now_ms - started) * (total - done) / done);
}

/* Adds one line, cut to the terminal. `text` holds no colour. */
static void progress_add_line(struct buf *out, const char *text, const struct term *term)
{
	term_add_cut(out, text, term->width - 1, term);
	buf_add_char(out, '\n');
}

static void progress_add_repeated(struct buf *out, const char *mark, int count)
{
	for (int i = 0; i < count; i++)
		buf_add_text(out, mark);
}

static void progress_add_title(const struct progress *progress, const struct term *term, int64_t now_ms,
			       struct buf *out)
{
	char elapsed[64] = "not started", left[80] = "";
	int64_t started = view_ms(node_get(progress->experiment, "started"));
	int64_t finished = view_ms(node_get(progress->experiment, "finished"));
	int64_t estimate = progress_estimate_ms(progress, now_ms);
	const char *state = progress_state(progress);
	struct buf line = buf_make(8192), cut = buf_make(8192);
	if (started >= 0)
		text_format_duration(((finished >= 0 ? finished : now_ms) - started) / 1000 * 1000, elapsed,
				     sizeof(elapsed));
	if (!view_is_over(state)) {
		char text[64];
		text_format_duration(estimate / 1000 * 1000, text, sizeof(text));
		snprintf(left, sizeof(left),
			 estimate >= 1000       ? ", about %s left"
				 : estimate > 0 ? ", less than a second left"
						: ", no estimate yet",
			 text);
	}
	buf_addf(&line, "%s  ", node_get_string(progress->experiment, "id"));
	term_add_safe(&line, node_get_string(progress->experiment, "name"));
	buf_addf(&line, "  %s  %s%s", view_state(progress->experiment), elapsed, left);
	if (progress->trouble)
		buf_addf(&line, "  (%s)", progress->trouble);
	term_add_cut(&cut, buf_text(&line), term->width - 1, term);
	term_add_coloured(out, TERM_BOLD, buf_text(&cut), term);
	buf_add_char(out, '\n');
	buf_free(&line);
	buf_free(&cut);
}

/* A bar of all tasks, a stretch for each state that has ended or is running. */
static void progress_add_bar(const struct progress *progress, const struct term *term, struct buf *out)
{
	const struct node *tasks = node_get(progress->experiment, "tasks");
	int64_t total = node_get_int(tasks, "total", 0), so_far = 0;
	int width = PROGRESS_BAR_WIDTH < term->width - 24 ? PROGRESS_BAR_WIDTH : term->width - 24, drawn = 0;
	for (size_t i = 0; total > 0 && i < 5; i++) {
		struct buf stretch = buf_make(1024);
		so_far += node_get_int(tasks, progress_states[i], 0);
		int end = (int)((double)so_far / (double)total * width + 0.5);
		end = end > width ? width : end;
		progress_add_repeated(&stretch, term->utf8 ? (i == 4 ? "▒" : "█") : (i == 4 ? "=" : "#"), end - drawn);
		term_add_coloured(out, term_state_colour(progress_states[i]), buf_text(&stretch), term);
		drawn = end > drawn ? end : drawn;
		buf_free(&stretch);
	}
	progress_add_repeated(out, term->utf8 ? "░" : ".", width - drawn);
	buf_addf(out, " %" PRId64 "/%" PRId64 "\n", progress_over(tasks), total);
}

static void progress_add_counts(const struct progress *progress, const struct term *term, struct buf *out)
{
	const struct node *tasks = node_get(progress->experiment, "tasks");
	int used = 0;
	for (size_t i = 0; i < COUNT_OF(progress_states); i++) {
		int64_t count = node_get_int(tasks, progress_states[i], 0);
		char text[48];
		if (!count)
			continue;
		int len = snprintf(text, sizeof(text), "%" PRId64 " %s", count, progress_states[i]);
		if (used + len + 2 >= term->width)
			break;
		buf_add_text(out, used ? ", " : "");
		term_add_coloured(out, term_state_colour(progress_states[i]), text, term);
		used += len + 2;
	}
	buf_add_char(out, '\n');
}

static void progress_add_task(const struct progress *progress, const struct node *task, const struct term *term,
			      struct buf *out)
{
	const struct node *epochs = node_get(task, "epochs"), *best = node_get(task, "best");
	struct buf line = buf_make(65536);
	char value[VIEW_CHARS], epoch[64] = "";
	int full = (int)(progress_share(task) * PROGRESS_TASK_BAR_WIDTH + 0.5);
	buf_addf(&line, "  %-8s ", node_get_string(task, "id"));
	progress_add_repeated(&line, term->utf8 ? "━" : "=", full);
	progress_add_repeated(&line, term->utf8 ? "╌" : "-", PROGRESS_TASK_BAR_WIDTH - full);
	if (node_is_number(epochs))
		snprintf(epoch, sizeof(epoch), "%" PRId64 "/%" PRId64, node_get_int(task, "epoch", 0), epochs->integer);
	else if (node_is_number(node_get(task, "epoch")))
		snprintf(epoch, sizeof(epoch), "%" PRId64, node_get_int(task, "epoch", 0));
	buf_addf(&line, " %9s  ", epoch);
	view_metric(best && best->type == NODE_MAP ? node_get(best, "value") : NULL, value);
	buf_addf(&line, "%-10s", value);
	struct buf parameters = buf_make(65536);
	view_parameters(node_get(task, "parameters"), progress->varying, &parameters);
	buf_add_text(&line, "  ");
	term_add_safe(&line, buf_text(&parameters));
	progress_add_line(out, buf_text(&line), term);
	buf_free(&parameters);
	buf_free(&line);
}

void progress_add_best(const struct progress *progress, struct buf *out)
{
	const struct node *best = node_get(progress->experiment, "best");
	if (!best || best->type != NODE_MAP) {
		const struct node *tasks = node_get(progress->experiment, "tasks");
		bool over = node_get_string(progress->experiment, "finished") != NULL;
		bool any = node_get_int(tasks, "finished", 0) + node_get_int(tasks, "pruned", 0) > 0;
		buf_add_text(out,
			     !over         ? "no result yet"
				     : any ? "no value was found for the objective"
					   : "no task came to its end");
		return;
	}
	struct buf text = buf_make(65536);
	view_best(progress->experiment, progress->varying, VIEW_BEST_LONG, &text);
	term_add_safe(out, buf_text(&text));
	buf_free(&text);
}

void progress_render(const struct progress *progress, const struct term *term, int64_t now_ms, struct buf *out)
{
	const char *notes[] = {progress->unwritable, node_get_string(progress->experiment, "note")};
	struct buf line = buf_make(65536);
	if (!progress->experiment)
		return;
	progress_add_title(progress, term, now_ms, out);
	progress_add_bar(progress, term, out);
	progress_add_counts(progress, term, out);
	int room = term->height - PROGRESS_OTHER_LINES - 1;
	size_t shown = progress->running.len;
	if (room < 0 || shown > (size_t)room)
		shown = room > 1 ? (size_t)room - 1 : 0;
	for (size_t i = 0; i < shown; i++)
		progress_add_task(progress, progress->running.at[i], term, out);
	if (shown < progress->running.len && room > 0) {
		buf_addf(&line, "  and %zu more running", progress->running.len - shown);
		progress_add_line(out, buf_text(&line), term);
		buf_clear(&line);
	}
	buf_add_text(&line, "best  ");
	progress_add_best(progress, &line);
	progress_add_line(out, buf_text(&line), term);
	for (size_t i = 0; i < COUNT_OF(notes); i++) {
		if (!notes[i] || !*notes[i])
			continue;
		buf_clear(&line);
		buf_add_text(&line, "note  ");
		term_add_safe(&line, notes[i]);
		progress_add_line(out, buf_text(&line), term);
	}
	buf_free(&line);
}

int progress_rows(const char *frame, int width)
{
	int rows = 0;
	while (*frame) {
		struct buf plain = buf_make(BUF_UNLIMITED);
		size_t len = strcspn(frame, "\n");
		term_add_safe_output(&plain, frame, len); /* takes the colours away */
		int columns = term_width(buf_text(&plain));
		rows += columns > width ? (columns + width - 1) / width : 1;
		buf_free(&plain);
		frame += len + (frame[len] == '\n');
	}
	return rows;
}
