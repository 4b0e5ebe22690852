/* See watch.h. */
#include "node/watch.h"

#include "base/clock.h"
#include "base/text.h"
#include "spool/paths.h"

#include <stdlib.h>

void watch_begin(struct watch *watch, const struct spool_descriptor *d, const struct environment *environment,
		 struct recorder *recorder, pid_t pid)
{
	struct stall_rule rule = {.times = d->stall_times > 0 ? d->stall_times : STALL_TIMES,
				  .after_ms = d->stall_after_ms};
	*watch = (struct watch){.d = d, .environment = environment, .recorder = recorder, .pid = pid};
	watch->file = spool_path(d->attempt_dir, SPOOL_STACK);
	watch->why = buf_make(BUF_UNLIMITED);
	stall_init(&watch->stall, &rule, clock_mono_ms());
}

/* By the programs that the script itself would find: py-spy is often installed in its own environment. */
static void watch_look(struct watch *watch, int64_t now_ms)
{
	char **env = environment_make(watch->environment, watch->d, NULL);
	for (size_t i = 0; env[i]; i++)
		if (text_starts(env[i], "PATH="))
			stack_start(&watch->stack, watch->pid, env[i] + 5, watch->file, now_ms);
	environment_free_made(env);
}

/* The word tells the daemon from a usual note that the task needs attention. */
static void watch_tell(struct watch *watch, const char *word, const char *text)
{
	recorder_append(watch->recorder, &(struct journal_record){.kind = JOURNAL_NOTE, .text = text, .stall = word});
}

/* Rows of one look came together. */
static void watch_take_rows(struct watch *watch, int64_t now_ms)
{
	if (watch->rows == watch->recorder->rows)
		return;
	watch->rows = watch->recorder->rows;
	stall_row(&watch->stall, now_ms);
	if (watch->told == STALL_NONE)
		return;
	watch->told = STALL_NONE;
	watch_tell(watch, STALL_OVER, "it makes progress again");
}

void watch_sample(struct watch *watch, const struct sample *sample, int64_t now_ms)
{
	if (!watch->d)
		return;
	watch_take_rows(watch, now_ms);
	stall_sample(&watch->stall, sample);
	enum stall_kind kind = watch->told == STALL_NONE ? stall_judge(&watch->stall, now_ms) : STALL_NONE;
	if (kind == STALL_NONE)
		return;
	watch->told = kind;
	buf_clear(&watch->why);
	stall_explain(&watch->stall, kind, now_ms, &watch->why);
	stack_add_wait(watch->pid, &watch->why);
	watch_tell(watch, stall_kinds[kind].word, buf_text(&watch->why));
	if (!watch->stack.pid)
		watch_look(watch, now_ms);
}

bool watch_poll(struct watch *watch, int64_t now_ms)
{
	if (!watch->d)
		return false;
	watch_take_rows(watch, now_ms);
	stack_poll(&watch->stack, now_ms);
	/* Its stack is worth waiting for: it is gone with the script. */
	return watch->told != STALL_NONE && watch->d->stall_ends && !watch->stack.pid &&
		stall_is_sure(&watch->stall, watch->told);
}

void watch_reap(struct watch *watch, pid_t pid)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	if (watch->stack.pid && pid == watch->stack.pid && stack_ended(&watch->stack, watch->file, &text))
		recorder_note(watch->recorder, buf_text(&text));
	buf_free(&text);
}

void watch_free(struct watch *watch)
{
	free(watch->file);
	buf_free(&watch->why);
}
