/* Reports what a poll found, one backend_observation per attempt. See slurm_poll.h. */
#include "backend/slurm_poll.h"

#include "base/clock.h"
#include "base/pace.h"

#include <inttypes.h>
#include <stdio.h>

/* For how long we have known that this attempt has ended; remembers it. */
static int64_t slurm_over_since(struct slurm *slurm, const struct slurm_key *key, struct slurm_ended *ret)
{
	int64_t now = clock_mono_ms();
	const struct slurm_ended *list = slurm->ended.list.at;
	size_t count = slurm->ended.list.len;
	size_t at = slurm_find_key(list, count, sizeof(*list), key->token, key->index);
	bool known = at < count && slurm_compare_key(&list[at], key) == 0;
	*ret = (struct slurm_ended){.key = *key, .since_mono_ms = known ? list[at].since_mono_ms : now};
	return now - ret->since_mono_ms;
}

static void slurm_tell_alive(struct slurm_poll_call *poll, const struct slurm_seen *seen, enum backend_state state,
			     const char *reason)
{
	char job[48];
	const struct slurm_job *row = seen->row;
	struct backend_observation observed = {
		.token = seen->key.token,
		.index = seen->key.index,
		.job = job,
		.state = state,
		.reason = reason && *reason ? reason : NULL,
		.node = row && *row->node && strcmp(row->node, "(null)") != 0 ? row->node : NULL,
		.expected_start_ms = row && state == BACKEND_QUEUED ? row->start_ms : 0,
		.exit_code = -1,
	};
	if (row || seen->job)
		snprintf(job, sizeof(job), "%" PRIu64 "_%u", (row ? row->id : seen->job), seen->key.index);
	else
		observed.job = NULL;
	poll->observe(poll->ctx, &observed);
}

static void slurm_tell_row(struct slurm_poll_call *poll, const struct slurm_seen *seen)
{
	const struct slurm_job *row = seen->row;
	enum slurm_state_kind kind = slurm_state_kind(row->state);
	struct buf reason = buf_make(512);
	const char *words = slurm_state_words(row->state);

	if (words)
		buf_add_text(&reason, words);
	else if (kind == SLURM_STATE_WAITING)
		slurm_reason_words(row->reason, &reason);
	else if (kind == SLURM_STATE_UNKNOWN)
		buf_addf(&reason, "Slurm says: %.60s", row->state);
	bool running = kind == SLURM_STATE_RUNNING ||
		(kind == SLURM_STATE_UNKNOWN && *row->node && strcmp(row->node, "(null)") != 0);
	slurm_tell_alive(poll, seen, running ? BACKEND_RUNNING : BACKEND_QUEUED, buf_text(&reason));
	buf_free(&reason);
}

static void slurm_tell_ended(struct slurm_poll_call *poll, const struct slurm_seen *seen)
{
	const struct slurm_final *final = seen->final;
	const struct slurm_job *row = seen->row;
	char job[48], source[128];
	struct slurm_cause cause;
	struct slurm_end end = {
		.state = final ? final->state : row->state,
		.reason = row ? row->reason : NULL,
		.exit_code = final ? final->exit_code : -1,
		.signal = final ? final->signal : 0,
		.derived_code = final ? final->derived_code : -1,
		.derived_signal = final ? final->derived_signal : 0,
		.by_uid = final ? final->by_uid : -1,
		.own_uid = poll->slurm->uid,
		.node = final ? final->node : row->node,
		.with_array = final &&
			(slurm_went_with_array(&poll->by_job, final) || slurm_went_with_array(&poll->by_name, final)),
	};
	slurm_explain_end(&end, &cause);
	struct backend_observation observed = {
		.token = seen->key.token,
		.index = seen->key.index,
		.job = job,
		.state = BACKEND_ENDED,
		.node = slurm_has_node(end.node) ? end.node : NULL,
		.cause = cause.cause,
		.unlaunched = final && slurm_is_unlaunched(final),
		.message = cause.message[0] ? cause.message : NULL,
		.remedy = cause.remedy,
		.exit_code = cause.exit_code,
		.signal = cause.signal,
		.ended_ms = final ? final->end_ms : row->end_ms,
	};
	if (final)
		observed.cost = final->cost;
	/* Slurm's energy is the node's: who shared it is counted too. */
	if (cost_has(&observed.cost, FIGURE_ENERGY)) {
		const char *plugin = poll->slurm->cluster.energy_plugin;
		snprintf(source, sizeof(source), "Slurm accounting (energy of the whole node, %s)",
			 *plugin ? plugin : "unknown plugin");
		observed.cost.source = source;
	}
	snprintf(job, sizeof(job), "%" PRIu64 "_%u", (final ? final->id : row->id), seen->key.index);
	poll->observe(poll->ctx, &observed);
}

/* What one attempt adds to the digest of the picture. */
static uint64_t slurm_digest(const struct slurm_seen *seen)
{
	uint64_t h = 1469598103934665603ull;
	const char *state = seen->final ? seen->final->state : seen->row ? seen->row->state : "";
	for (const char *p = seen->key.token; *p; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211ull;
	for (const char *p = state; *p; p++)
		h = (h ^ (unsigned char)*p) * 1099511628211ull;
	return (h ^ seen->key.index) * 1099511628211ull;
}

/* Taken out of the queue before it started. */
static void slurm_tell_cancelled(struct slurm_poll_call *poll, const struct slurm_seen *seen, const char *message)
{
	struct backend_observation observed = {
		.token = seen->key.token,
		.index = seen->key.index,
		.state = BACKEND_ENDED,
		.cause = CAUSE_CANCELLED,
		.message = message,
		.exit_code = -1,
	};
	poll->observe(poll->ctx, &observed);
}

static bool slurm_was_cancelled(const struct slurm *slurm, const struct slurm_key *key)
{
	const struct slurm_key *list = slurm->cancelled.list.at;
	size_t count = slurm->cancelled.list.len;
	size_t at = slurm_find_key(list, count, sizeof(*list), key->token, key->index);
	return at < count && slurm_compare_key(&list[at], key) == 0;
}

/* Forgets those that the engine no longer asks about. */
static void slurm_forget_cancelled(struct slurm_poll_call *poll)
{
	struct slurm_keys *keys = &poll->slurm->cancelled;
	size_t kept = 0;
	for (size_t i = 0; i < keys->list.len; i++) {
		const struct slurm_key *key = &keys->list.at[i];
		size_t at = slurm_find_key(poll->seen, poll->count, sizeof(*poll->seen), key->token, key->index);
		bool repeated = kept && slurm_compare_key(&keys->list.at[kept - 1], key) == 0;
		if (!repeated && at < poll->count && slurm_compare_key(&poll->seen[at], key) == 0)
			keys->list.at[kept++] = *key;
	}
	keys->list.len = kept;
}

bool slurm_has_vanished(const struct slurm_poll_call *poll, const struct slurm_seen *seen)
{
	if (seen->row || seen->final || seen->incomplete || seen->queue_only || !seen->job || poll->accounting_failed ||
	    poll->slurm->accounting != SLURM_ACCOUNTING_ON)
		return false;
	for (size_t i = 0; i < poll->queue.jobs.len; i++) {
		const struct slurm_job *row = &poll->queue.jobs.at[i];
		if (row->id == seen->job && slurm_state_kind(row->state) == SLURM_STATE_WAITING &&
		    strcmp(row->token, seen->key.token) == 0)
			return true;
	}
	return false;
}

/* An element that its controller does not list any more, and that the accounting has never seen start, was cancelled in
 * the queue by hand, or forgotten in a crash. Only where the controller was up all the time is it the former; what was
 * forgotten is absent, and is handed over again. */
static bool slurm_was_taken_out(const struct slurm_poll_call *poll, const struct slurm_seen *seen)
{
	return poll->boot_asked && slurm_has_vanished(poll, seen) &&
		slurm_boot_is_before(&poll->slurm->cluster.boot, seen->submitted_ms);
}

/* Found nowhere. One that was never confirmed may still come to be for a while. */
static void slurm_tell_absent(struct slurm_poll_call *poll, const struct slurm_seen *seen)
{
	if (slurm_was_cancelled(poll->slurm, &seen->key))
		slurm_tell_cancelled(poll, seen, "cancelled before it started");
	else if (slurm_was_taken_out(poll, seen))
		slurm_tell_cancelled(poll, seen, "taken out of the queue before it started, not by sluice (scancel)");
	else if (!seen->job && slurm_may_appear(poll->slurm, seen->key.token))
		slurm_tell_alive(poll, seen, BACKEND_QUEUED, "Slurm has not confirmed the submission yet");
	else
		slurm_tell_alive(poll, seen, BACKEND_ABSENT, NULL);
}

void slurm_tell_all(struct slurm_poll_call *poll, bool complete)
{
	struct slurm *slurm = poll->slurm;
	struct slurm_ended_set still = {0};
	uint64_t picture = 0;

	slurm->lagging = false;
	for (size_t i = 0; i < poll->count; i++) {
		struct slurm_seen *seen = &poll->seen[i];
		picture += seen->queue_only ? 0 : slurm_digest(seen);
		if (!slurm_row_over(seen)) {
			slurm_tell_row(poll, seen);
		} else if (seen->queue_only) {
			slurm_tell_alive(poll, seen, BACKEND_ABSENT, NULL);
		} else if (seen->final || slurm_never_started(seen)) {
			slurm_tell_ended(poll, seen);
		} else if (seen->row || seen->incomplete) {
			struct slurm_ended ended;
			int64_t over_ms = slurm_over_since(slurm, &seen->key, &ended);
			vec_push(&still.list, ended);
			if (slurm->accounting != SLURM_ACCOUNTING_OFF && over_ms < SLURM_LAG_MS) {
				slurm_tell_alive(poll, seen, BACKEND_RUNNING, "ended; waiting for the accounting");
				slurm->lagging = true;
			} else if (seen->row) {
				slurm_tell_ended(poll, seen);
			} else {
				slurm_tell_absent(poll, seen);
			}
		} else if (complete) {
			slurm_tell_absent(poll, seen);
		}
	}
	free(slurm->ended.list.at);
	slurm->ended = still;
	slurm_forget_cancelled(poll);
	slurm->quiet_polls = picture == slurm->last_picture ? slurm->quiet_polls + 1 : 0;
	slurm->last_picture = picture;
}
