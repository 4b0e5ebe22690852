/* See replay.h. */
#include "replay.h"

#include "base/buf.h"
#include "base/fs.h"
#include "journal/journal.h"

#include <errno.h>

#define REPLAY_BYTES (64u << 20)

struct replay_run {
	double stretch;
	int64_t begun_ms, last_row_ms;
	struct stall stall;
	struct replay *ret;
};

/* Rows that came within one look of the runner count once, as there. */
static void replay_row(struct replay_run *run, int64_t time_ms)
{
	run->ret->rows++;
	if (time_ms > run->last_row_ms)
		stall_row(&run->stall, time_ms);
	run->last_row_ms = time_ms;
}

static void replay_sample(struct replay_run *run, const struct sample *sample, int64_t time_ms)
{
	run->ret->samples++;
	stall_sample(&run->stall, sample);
	if (run->ret->kind != STALL_NONE)
		return;
	run->ret->judged++;
	run->ret->kind = stall_judge(&run->stall, time_ms);
	run->ret->alarm_ms = time_ms;
}

static int replay_record_cb(void *ctx, const struct journal_record *record)
{
	struct replay_run *run = ctx;
	if (record->kind == JOURNAL_START) {
		run->begun_ms = record->time_ms;
		stall_init(&run->stall, &(struct stall_rule){.times = STALL_TIMES}, 0);
	}
	int64_t time_ms = (int64_t)((double)(record->time_ms - run->begun_ms) * run->stretch);
	run->ret->length_ms = time_ms;
	if (record->kind == JOURNAL_METRIC)
		replay_row(run, time_ms);
	else if (record->kind == JOURNAL_SAMPLE && record->sample)
		replay_sample(run, record->sample, time_ms);
	return 0;
}

int replay_journal(const char *path, double stretch, struct replay *ret)
{
	struct buf text = buf_make(REPLAY_BYTES);
	struct replay_run run = {.stretch = stretch, .last_row_ms = -1, .ret = ret};
	unsigned bad = 0;
	*ret = (struct replay){0};
	int rc = fs_read(path, REPLAY_BYTES, &text, NULL);
	if (rc == 0 && journal_read(buf_text(&text), text.len, replay_record_cb, &run, &bad) < 0)
		rc = -EIO;
	buf_free(&text);
	return rc < 0 ? rc : bad ? -EBADMSG : 0;
}
