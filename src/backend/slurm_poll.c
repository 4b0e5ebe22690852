/* Polls everything at once: one squeue for all attempts of all experiments, then one sacct for those that have ended or
 * left the queue (and, rarely, one more for submissions that were never confirmed). Attempts are matched by token and
 * index only; a known job id under another name is a lost job, not ours. */
#include "backend/slurm_poll.h"

#include "base/clock.h"
#include "base/pace.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* More elements of one array than this are asked for by the array's id alone. */
#define SLURM_ELEMENTS_MAX 500
/* The most of one argument; the system allows 128 KiB. */
#define SLURM_ARGUMENT_BYTES (100u << 10)

static void slurm_poll_ask_accounting(struct slurm_poll_call *poll);

static void slurm_poll_free(struct slurm_poll_call *poll)
{
	slurm_queue_free(&poll->queue);
	slurm_finals_free(&poll->by_job);
	slurm_finals_free(&poll->by_name);
	free(poll->seen);
	free(poll);
}

/* Which of two jobs for one attempt tells its story: one that runs, one that waits, one that ended badly, one that
 * ended well. A batch submitted twice has two, and the one that loses the claim ends well at once. */
static int slurm_rank(const char *state)
{
	switch (slurm_state_kind(state)) {
	case SLURM_STATE_RUNNING: return 4;
	case SLURM_STATE_UNKNOWN:
	case SLURM_STATE_WAITING: return 3;
	case SLURM_STATE_ENDED: break;
	}
	return strcmp(state, "COMPLETED") == 0 ? 1 : 2;
}

bool slurm_row_over(const struct slurm_seen *seen)
{
	return !seen->row || slurm_state_kind(seen->row->state) == SLURM_STATE_ENDED;
}

bool slurm_never_started(const struct slurm_seen *seen)
{
	return seen->row && slurm_row_over(seen) && (!*seen->row->node || strcmp(seen->row->node, "(null)") == 0);
}

static void slurm_match_queue(struct slurm_poll_call *poll)
{
	for (size_t i = 0; i < poll->queue.jobs.len; i++) {
		const struct slurm_job *row = &poll->queue.jobs.at[i];
		for (size_t r = 0; r < row->range_count; r++) {
			const struct slurm_range *range = &poll->queue.ranges.list.at[row->first_range + r];
			size_t at = slurm_find_key(poll->seen, poll->count, sizeof(*poll->seen), row->token,
						   range->low);
			for (; at < poll->count; at++) {
				struct slurm_seen *seen = &poll->seen[at];
				if (strcmp(seen->key.token, row->token) != 0 || seen->key.index > range->high)
					break;
				if ((seen->key.index - range->low) % range->step == 0 &&
				    (!seen->row || slurm_rank(row->state) > slurm_rank(seen->row->state)))
					seen->row = row;
			}
		}
	}
}

/* An array that was cancelled before any element started has one row without indices. */
static void slurm_match_rest(struct slurm_poll_call *poll)
{
	for (size_t i = 0; i < poll->queue.jobs.len; i++) {
		const struct slurm_job *row = &poll->queue.jobs.at[i];
		size_t at = row->rest ? slurm_find_key(poll->seen, poll->count, sizeof(*poll->seen), row->token, 0)
				      : poll->count;
		for (; at < poll->count && strcmp(poll->seen[at].key.token, row->token) == 0; at++)
			if (!poll->seen[at].row)
				poll->seen[at].row = row;
	}
}

static void slurm_match_finals(struct slurm_poll_call *poll, const struct slurm_finals *finals)
{
	for (size_t i = 0; i < finals->list.len; i++) {
		const struct slurm_final *final = &finals->list.at[i];
		if (!final->token || slurm_state_kind(final->state) != SLURM_STATE_ENDED || final->index == UINT32_MAX)
			continue;
		size_t at = slurm_find_key(poll->seen, poll->count, sizeof(*poll->seen), final->token, final->index);
		for (; at < poll->count; at++) {
			struct slurm_seen *seen = &poll->seen[at];
			if (strcmp(seen->key.token, final->token) != 0 || seen->key.index != final->index)
				break;
			/* Of one job the later record counts. */
			if (!seen->final || seen->final->id == final->id ||
			    slurm_rank(final->state) > slurm_rank(seen->final->state))
				seen->final = final;
		}
	}
}

/* Elements that were ended before they started share one record. */
static void slurm_match_never_started(struct slurm_poll_call *poll, const struct slurm_finals *finals)
{
	for (size_t i = 0; i < finals->list.len; i++) {
		const struct slurm_final *final = &finals->list.at[i];
		if (!final->token || slurm_state_kind(final->state) != SLURM_STATE_ENDED || final->index != UINT32_MAX)
			continue;
		size_t at = slurm_find_key(poll->seen, poll->count, sizeof(*poll->seen), final->token, 0);
		for (; at < poll->count && strcmp(poll->seen[at].key.token, final->token) == 0; at++)
			if (!poll->seen[at].final &&
			    (!final->range_count ||
			     slurm_ranges_have(&finals->ranges, final->first_range, final->range_count,
					       poll->seen[at].key.index)))
				poll->seen[at].final = final;
	}
}

/* Records that are not filled in yet have no name; their ids say whom they will be about. */
static void slurm_match_incomplete(struct slurm_poll_call *poll, const struct slurm_finals *finals)
{
	for (size_t f = 0; f < finals->list.len; f++) {
		const struct slurm_final *final = &finals->list.at[f];
		for (size_t i = 0; final->incomplete && i < poll->count; i++)
			if (poll->seen[i].job == final->id && poll->seen[i].key.index == final->index)
				poll->seen[i].incomplete = true;
	}
}

/* Is there something that only the accounting could know? */
static bool slurm_in_doubt(const struct slurm_poll_call *poll)
{
	for (size_t i = 0; i < poll->count; i++)
		if (!poll->seen[i].row && !poll->seen[i].final && !poll->seen[i].incomplete &&
		    !poll->seen[i].queue_only)
			return true;
	return false;
}

static void slurm_poll_tell(struct slurm_poll_call *poll)
{
	struct slurm *slurm = poll->slurm;
	int rc = 0;

	if (!slurm->closing) {
		if (poll->accounting_failed && !slurm->accounting_failed_mono_ms)
			slurm->accounting_failed_mono_ms = clock_mono_ms();
		if (poll->accounting_failed && slurm_in_doubt(poll) &&
		    clock_mono_ms() - slurm->accounting_failed_mono_ms < SLURM_ACCOUNTING_PATIENCE_MS)
			rc = -EAGAIN;
		slurm_tell_all(poll, rc == 0);
		poll->done(poll->ctx, rc, rc < 0 ? poll->why : NULL);
	}
	slurm_poll_free(poll);
}

static void slurm_poll_boot_cb(void *ctx, const struct proc_result *result)
{
	struct slurm_poll_call *poll = ctx;
	poll->boot_asked = slurm_answered_well(result);
	if (poll->boot_asked)
		slurm_boot_read(&poll->slurm->cluster.boot, buf_text(&result->out), clock_now_ms());
	slurm_poll_tell(poll);
}

/* Elements that vanished from the queue are rare: only then the controller is asked since when it is up. */
static void slurm_poll_finish(struct slurm_poll_call *poll)
{
	bool vanished = false;
	slurm_match_finals(poll, &poll->by_job);
	slurm_match_finals(poll, &poll->by_name);
	slurm_match_never_started(poll, &poll->by_job);
	slurm_match_never_started(poll, &poll->by_name);
	slurm_match_incomplete(poll, &poll->by_job);
	for (size_t i = 0; i < poll->count && !vanished; i++)
		vanished = slurm_has_vanished(poll, &poll->seen[i]);
	if (!vanished || poll->slurm->closing) {
		slurm_poll_tell(poll);
		return;
	}
	struct slurm_args args = {0};
	slurm_args_program(&args, "scontrol");
	slurm_args_add(&args, "show");
	slurm_args_add(&args, "config");
	slurm_run(poll->slurm, &args, NULL, slurm_poll_boot_cb, poll);
}

/* This cluster has no accounting, and sacct says so. */
static bool slurm_accounting_is_off(const struct proc_result *result)
{
	const char *said = buf_text(&result->err);
	return result->exit_code > 0 &&
		(strstr(said, "accounting storage is disabled") || strstr(said, "not running a supported accounting"));
}

/* Takes an answer of sacct. False: there is none, and the poll goes on without. */
static bool slurm_take_accounting(struct slurm_poll_call *poll, const struct proc_result *result,
				  struct slurm_finals *to)
{
	struct slurm *slurm = poll->slurm;
	if (slurm_answered_well(result)) {
		slurm->accounting = SLURM_ACCOUNTING_ON;
		slurm->accounting_failed_mono_ms = 0;
		slurm_finals_parse(buf_text(&result->out), result->out.len, slurm->columns, to);
		return true;
	}
	if (slurm_accounting_is_off(result)) {
		slurm->accounting = SLURM_ACCOUNTING_OFF;
	} else {
		poll->accounting_failed = true;
		slurm_explain_failed_call("sacct", result, poll->why, sizeof(poll->why));
	}
	return false;
}

static void slurm_by_name_cb(void *ctx, const struct proc_result *result)
{
	struct slurm_poll_call *poll = ctx;
	if (!poll->slurm->closing)
		slurm_take_accounting(poll, result, &poll->by_name);
	slurm_poll_finish(poll);
}

static void slurm_sacct_args(struct slurm *slurm, struct slurm_args *args)
{
	char *format = slurm_columns_format(slurm->columns);
	slurm_args_program(args, "sacct");
	slurm_args_add(args, "-n");
	slurm_args_add(args, "-P");
	slurm_args_add(args, "-D");
	slurm_args_add(args, "--delimiter=" SLURM_SEPARATOR);
	slurm_args_addf(args, "--format=%s", format);
	slurm_args_add(args, "-u");
	slurm_args_addf(args, "%lu", (unsigned long)slurm->uid);
	free(format);
}

/* Not everything could be asked about: nothing may be concluded about the rest this time. */
static void slurm_poll_too_many(struct slurm_poll_call *poll)
{
	poll->accounting_failed = true;
	snprintf(poll->why, sizeof(poll->why), "too many jobs to ask the accounting about at once");
}

/* Submissions that were never confirmed have no id to ask for: by name, from a day before the oldest. */
static void slurm_poll_ask_names(struct slurm_poll_call *poll)
{
	struct buf names = buf_make(SLURM_ARGUMENT_BYTES);
	int64_t oldest = INT64_MAX;
	const char *last = "";

	for (size_t i = 0; i < poll->count; i++) {
		const struct slurm_seen *seen = &poll->seen[i];
		if (seen->job || seen->row || seen->queue_only || strcmp(last, seen->key.token) == 0)
			continue;
		last = seen->key.token;
		char name[SLURM_JOB_NAME_CHARS];
		slurm_job_name(seen->experiment, seen->key.token, name);
		/* Earlier versions, and the doctor, have the bare token. */
		buf_addf(&names, "%s%s,%s", names.len ? "," : "", name, seen->key.token);
		if (seen->submitted_ms < oldest)
			oldest = seen->submitted_ms;
	}
	if (!names.len) {
		buf_free(&names);
		slurm_poll_finish(poll);
		return;
	}
	if (names.full)
		slurm_poll_too_many(poll);
	int64_t days = (clock_now_ms() - oldest) / 86400000 + 2;
	if (days < 2 || days > 365)
		days = days < 2 ? 2 : 365;
	struct slurm_args args = {0};
	slurm_sacct_args(poll->slurm, &args);
	slurm_args_addf(&args, "--name=%s", buf_text(&names));
	slurm_args_add(&args, "-S");
	slurm_args_addf(&args, "now-%" PRId64 "day", days);
	buf_free(&names);
	slurm_run(poll->slurm, &args, NULL, slurm_by_name_cb, poll);
}

static void slurm_by_job_cb(void *ctx, const struct proc_result *result)
{
	struct slurm_poll_call *poll = ctx;
	if (!poll->slurm->closing && slurm_take_accounting(poll, result, &poll->by_job))
		slurm_poll_ask_names(poll);
	else
		slurm_poll_finish(poll);
}

/* Is this attempt one to ask the accounting about, by its id? */
static uint64_t slurm_wanted_job(const struct slurm_seen *seen)
{
	if (!slurm_row_over(seen) || slurm_never_started(seen) || seen->queue_only)
		return 0;
	return seen->row ? seen->row->id : seen->job;
}

/* Only the array's records together tell how it ended: one that left the queue may never have started, and a cancel may
 * have been meant for another element. */
static bool slurm_asks_for_array(const struct slurm_seen *seen)
{
	return !seen->row || strcmp(seen->row->state, "CANCELLED") == 0;
}

/* "7_1,7_2,9": elements, or whole arrays for tokens with more than `max` elements, and where an element needs it. */
static void slurm_list_jobs(const struct slurm_poll_call *poll, size_t max, struct buf *list)
{
	for (size_t i = 0, next; i < poll->count; i = next) {
		size_t elements = 0;
		uint64_t last = 0;
		for (next = i; next < poll->count && strcmp(poll->seen[next].key.token, poll->seen[i].key.token) == 0;
		     next++)
			if (slurm_wanted_job(&poll->seen[next]))
				elements += slurm_asks_for_array(&poll->seen[next]) ? max + 1 : 1;
		for (size_t e = i; e < next; e++) {
			uint64_t job = slurm_wanted_job(&poll->seen[e]);
			if (!job || (elements > max && job == last))
				continue;
			buf_addf(list, "%s%" PRIu64, list->len ? "," : "", job);
			if (elements <= max)
				buf_addf(list, "_%u", poll->seen[e].key.index);
			last = job;
		}
	}
}

static void slurm_poll_columns_cb(void *ctx, const struct proc_result *result)
{
	struct slurm_poll_call *poll = ctx;
	if (!poll->slurm->closing && slurm_answered_well(result)) {
		poll->slurm->columns = slurm_columns_known(buf_text(&result->out));
		slurm_poll_ask_accounting(poll);
		return;
	}
	poll->accounting_failed = true;
	slurm_explain_failed_call("sacct", result, poll->why, sizeof(poll->why));
	slurm_poll_finish(poll);
}

static void slurm_poll_ask_accounting(struct slurm_poll_call *poll)
{
	struct slurm *slurm = poll->slurm;
	struct slurm_args args = {0};
	bool wanted = false;

	for (size_t i = 0; i < poll->count && !wanted; i++)
		wanted = slurm_row_over(&poll->seen[i]) && !slurm_never_started(&poll->seen[i]) &&
			!poll->seen[i].queue_only;
	if (!wanted || slurm->accounting == SLURM_ACCOUNTING_OFF) {
		slurm_poll_finish(poll);
		return;
	}
	if (!slurm->columns) {
		slurm_args_program(&args, "sacct");
		slurm_args_add(&args, "--helpformat");
		slurm_run(slurm, &args, NULL, slurm_poll_columns_cb, poll);
		return;
	}
	struct buf jobs = buf_make(SLURM_ARGUMENT_BYTES);
	slurm_list_jobs(poll, SLURM_ELEMENTS_MAX, &jobs);
	if (jobs.full) {
		buf_free(&jobs);
		jobs = buf_make(SLURM_ARGUMENT_BYTES);
		slurm_list_jobs(poll, 0, &jobs);
	}
	if (jobs.full)
		slurm_poll_too_many(poll);
	if (jobs.len) {
		slurm_sacct_args(slurm, &args);
		slurm_args_add(&args, "-j");
		slurm_args_add(&args, buf_text(&jobs));
		slurm_run(slurm, &args, NULL, slurm_by_job_cb, poll);
	} else {
		slurm_poll_ask_names(poll);
	}
	buf_free(&jobs);
}

static void slurm_poll_looked_cb(void *ctx, int rc, struct slurm_queue *queue, const char *why)
{
	struct slurm_poll_call *poll = ctx;
	if (rc < 0) {
		if (!poll->slurm->closing)
			poll->done(poll->ctx, rc, why);
		slurm_poll_free(poll);
		return;
	}
	poll->queue = *queue;
	*queue = (struct slurm_queue){0};
	slurm_match_queue(poll);
	slurm_match_rest(poll);
	slurm_poll_ask_accounting(poll);
}

void slurm_poll(struct backend *backend, const struct backend_watch *watch, size_t count, backend_observation_f observe,
		backend_polled_f done, void *ctx)
{
	struct slurm_poll_call *poll = mem_alloc(sizeof(*poll));
	*poll = (struct slurm_poll_call){
		.slurm = (struct slurm *)backend,
		.seen = mem_array(count, sizeof(*poll->seen)),
		.count = count,
		.observe = observe,
		.done = done,
		.ctx = ctx,
	};
	for (size_t i = 0; i < count; i++) {
		struct slurm_seen *seen = &poll->seen[i];
		snprintf(seen->key.token, sizeof(seen->key.token), "%s", watch[i].token);
		seen->key.index = watch[i].index;
		seen->experiment = watch[i].experiment;
		seen->submitted_ms = watch[i].submitted_ms;
		seen->queue_only = watch[i].queue_only;
		if (!watch[i].job || slurm_parse_job(watch[i].job, &seen->job) < 0)
			seen->job = 0;
	}
	qsort(poll->seen, count, sizeof(*poll->seen), slurm_compare_key);
	slurm_look(poll->slurm, slurm_poll_looked_cb, poll);
}

/* A short wait while something is expected, longer the longer nothing happens, never more than a twentieth of the
 * controller's time, and further and further apart while it does not answer. */
int64_t slurm_poll_interval_ms(struct backend *backend, bool expecting)
{
	struct slurm *slurm = (struct slurm *)backend;
	int64_t wait = SLURM_EXPECTING_MS;

	if (!expecting && !slurm->lagging) {
		wait = SLURM_QUIET_MS + (int64_t)slurm->quiet_polls * 1000;
		if (wait > SLURM_QUIET_MAX_MS)
			wait = SLURM_QUIET_MAX_MS;
	}
	if (slurm->failures) {
		wait <<= slurm->failures < 6 ? slurm->failures : 6;
		if (wait > SLURM_TROUBLE_MAX_MS)
			wait = SLURM_TROUBLE_MAX_MS;
	}
	if (wait < slurm->latency_ms * 20)
		wait = slurm->latency_ms * 20;
	return wait < SLURM_INTERVAL_MAX_MS ? wait : SLURM_INTERVAL_MAX_MS;
}
