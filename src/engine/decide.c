/* See decide.h. */
#include "engine/decide.h"

#include "base/pace.h"
#include "spool/status.h"

#include <signal.h>

static void attempt_end_clear(struct attempt_end *end)
{
	free(end->message);
	free(end->remedy);
	free(end->tail);
	*end = (struct attempt_end){.exit_code = -1};
}

void attempt_facts_clear(struct attempt_facts *facts)
{
	attempt_end_clear(&facts->journal_end);
	attempt_end_clear(&facts->backend_end);
}

static void attempt_end_copy(struct attempt_end *to, const struct attempt_end *from)
{
	attempt_end_clear(to);
	*to = *from;
	to->message = mem_strdup(from->message);
	to->remedy = mem_strdup(from->remedy);
	to->tail = mem_strdup(from->tail);
}

static void update_absent(struct attempt_facts *f, int64_t at_ms)
{
	if (f->seen == ATTEMPT_GONE)
		return;
	f->seen = ATTEMPT_ABSENT;
	if (!f->absent_ms)
		f->absent_ms = at_ms;
	f->absent_again_ms = at_ms;
	if (f->claim != ATTEMPT_CLAIM_TAKEN)
		f->claim = ATTEMPT_CLAIM_NOT_LOOKED;
}

static void update_gone(struct attempt_facts *f, const struct attempt_event *event)
{
	if (f->seen == ATTEMPT_GONE)
		return; /* the first word counts */
	f->seen = ATTEMPT_GONE;
	f->gone_ms = event->at_ms;
	f->absent_ms = f->absent_again_ms = 0;
	attempt_end_copy(&f->backend_end, event->end);
	if (f->claim != ATTEMPT_CLAIM_TAKEN)
		f->claim = ATTEMPT_CLAIM_NOT_LOOKED;
}

static void update_seen(struct attempt_facts *f, enum attempt_seen seen)
{
	f->absent_ms = f->absent_again_ms = 0;
	if (f->seen != ATTEMPT_GONE)
		f->seen = seen;
}

static void update_growth(struct attempt_facts *f, int64_t at_ms)
{
	if (f->collect)
		return;
	f->grew_ms = at_ms;
	f->silent_ms = f->vouched_ms = 0;
}

/* A journal that was read to its end and has nothing new is silent. One that cannot be read may have a lot to say. */
static void update_journal(struct attempt_facts *f, const struct attempt_event *event)
{
	int64_t step = f->looked_ms ? event->at_ms - f->looked_ms : 0;
	f->journal = event->journal;
	f->looked_ms = event->at_ms;
	if (f->collect)
		return;
	if (event->journal == ATTEMPT_JOURNAL_READ)
		f->silent_ms += step < SETTLE_LOOK_GAP_MS ? step : SETTLE_LOOK_GAP_MS;
	else
		f->silent_ms = f->vouched_ms = 0;
}

static void update_alive(struct attempt_facts *f, int64_t at_ms)
{
	int64_t step = at_ms - f->alive_ms;
	if (f->alive_ms && step <= SETTLE_VOUCH_GAP_MS)
		f->vouched_ms += step < f->silent_ms ? step : f->silent_ms;
	f->alive_ms = at_ms;
	update_seen(f, ATTEMPT_ALIVE);
}

/* One that does not run writes nothing. */
static void update_paused(struct attempt_facts *f)
{
	f->vouched_ms = f->alive_ms = 0;
	update_seen(f, ATTEMPT_ALIVE);
}

void attempt_update(struct attempt_facts *f, const struct attempt_event *event)
{
	switch (event->kind) {
	case ATTEMPT_EVENT_START:
		if (f->phase < ATTEMPT_RUNNING)
			f->phase = ATTEMPT_RUNNING;
		break;
	case ATTEMPT_EVENT_BEATS: f->beats = event->beats; break;
	case ATTEMPT_EVENT_GROWTH: update_growth(f, event->at_ms); break;
	case ATTEMPT_EVENT_END:
		if (f->phase >= ATTEMPT_ENDED)
			break;
		f->phase = ATTEMPT_ENDED;
		f->ended_ms = event->at_ms;
		attempt_end_copy(&f->journal_end, event->end);
		break;
	case ATTEMPT_EVENT_JOURNAL: update_journal(f, event); break;
	case ATTEMPT_EVENT_CLAIM: f->claim = event->claim; break;
	case ATTEMPT_EVENT_QUEUED: update_seen(f, ATTEMPT_QUEUED); break;
	case ATTEMPT_EVENT_ALIVE: update_alive(f, event->at_ms); break;
	case ATTEMPT_EVENT_PAUSED: update_paused(f); break;
	case ATTEMPT_EVENT_ABSENT: update_absent(f, event->at_ms); break;
	case ATTEMPT_EVENT_GONE: update_gone(f, event); break;
	case ATTEMPT_EVENT_TAKEN:
		f->absent_ms = f->absent_again_ms = 0;
		f->cancel_ms = 0; /* a stop that came before found nothing to end */
		break;
	case ATTEMPT_EVENT_GIVEN:
		/* The new one gets as much time to appear as the last one had. */
		f->seen = f->seen == ATTEMPT_GONE ? ATTEMPT_GONE : ATTEMPT_UNSEEN;
		f->absent_ms = f->absent_again_ms = event->at_ms;
		break;
	case ATTEMPT_EVENT_CANCEL: f->cancel_ms = event->at_ms; break;
	case ATTEMPT_EVENT_GIVEN_UP: f->given_up = f->fenced = true; break;
	case ATTEMPT_EVENT_FENCED: f->fenced = true; break;
	case ATTEMPT_EVENT_COLLECTING: f->collect = ATTEMPT_COLLECT_BEGUN; break;
	case ATTEMPT_EVENT_COLLECTED:
		f->collect = ATTEMPT_COLLECT_DONE;
		f->journal = ATTEMPT_JOURNAL_MORE;
		break;
	case ATTEMPT_EVENT_SETTLED: f->phase = ATTEMPT_SETTLED; break;
	}
}

static struct attempt_verdict verdict_wait(void)
{
	return (struct attempt_verdict){.action = ATTEMPT_WAIT};
}

static struct attempt_verdict verdict_end(enum store_state state)
{
	return (struct attempt_verdict){.action = ATTEMPT_END, .state = state};
}

static struct attempt_verdict verdict_error(enum cause cause, const char *text, const char *remedy)
{
	return (struct attempt_verdict){
		.action = ATTEMPT_END, .state = STORE_ERROR, .cause = cause, .text = text, .remedy = remedy};
}

/* Was it asked to end, wherever it is? HOLD only takes out of the queue what has not started. */
static bool decide_is_ended_by(enum store_wanted wanted)
{
	return wanted == STORE_WANT_STOP || wanted == STORE_WANT_PRUNE;
}

/* What was wanted has come about. */
static struct attempt_verdict verdict_wanted(enum store_wanted wanted)
{
	if (wanted == STORE_WANT_HOLD)
		return verdict_end(STORE_WAITING);
	return verdict_end(wanted == STORE_WANT_PRUNE ? STORE_PRUNED : STORE_STOPPED);
}

static const char *const decide_silence = "there was no sign of life from its runner for " SETTLE_GIVE_UP_TEXT
					  ", and its job was cancelled";

/* Did the job end so long after its script that the one does not explain the other? A controller that crashed forgets the
 * end of a job, and what happens to its record later has nothing to do with the task. */
static bool decide_is_later(const struct attempt_facts *f)
{
	int64_t script = f->journal_end.time_ms, job = f->backend_end.time_ms;
	return script && job && job - script > SETTLE_SAME_END_MS;
}

/* Does the end of the job explain that of the script? A cancel asks the runner to stop before anything is killed, so the
 * script it ends has no other signal than SIGTERM. */
static bool decide_explains(const struct attempt_facts *f)
{
	if (f->seen != ATTEMPT_GONE || decide_is_later(f))
		return false;
	switch (f->backend_end.cause) {
	case CAUSE_NONE:
	case CAUSE_EXIT:
	case CAUSE_OK: return false;
	case CAUSE_CANCELLED: return f->journal_end.cause == CAUSE_STOPPED || f->journal_end.signal == SIGTERM;
	default: return true;
	}
}

/* A script that ended by a signal, or a runner that was asked to stop, when sluice did not ask for it: the cluster ended
 * it and may say why, a while later. */
static struct attempt_verdict decide_outside(const struct attempt_facts *f, const struct attempt_pace *pace,
					     int64_t now)
{
	const char *text = f->journal_end.message ? f->journal_end.message : cause_text(f->journal_end.cause);
	bool stopped = f->journal_end.cause == CAUSE_STOPPED, gone = f->seen == ATTEMPT_GONE;
	bool lost = f->seen == ATTEMPT_ABSENT && f->absent_again_ms - f->absent_ms >= pace->doubt_ms;
	if (f->traits & BACKEND_HAS_ACCOUNTING) {
		if (decide_explains(f))
			return verdict_error(f->backend_end.cause,
					     f->backend_end.message ? f->backend_end.message : text,
					     f->backend_end.remedy);
		if (stopped && (lost || (gone && decide_is_later(f))))
			return verdict_error(CAUSE_LOST,
					     lost ? "the backend no longer knows it"
						  : "a signal ended it, and its job ended much later",
					     NULL);
		/* A signal says why by itself. Who asked a runner to stop only the cluster knows: wait for its answer. */
		int64_t at = stopped ? f->answered_ms : now;
		if (!gone && at - f->ended_ms < pace->accounting_lag_ms)
			return (struct attempt_verdict){.action = ATTEMPT_WAIT, .poll = true};
	}
	return stopped ? verdict_error(CAUSE_CANCELLED, "ended from outside by a signal", NULL)
		       : verdict_error(f->journal_end.cause, text, NULL);
}

/* 1: a runner has begun with it, 0: none has, -1 and *ret: that is not known yet. */
static int decide_claimed(const struct attempt_facts *f, struct attempt_verdict *ret)
{
	if (f->phase == ATTEMPT_RUNNING || f->claim == ATTEMPT_CLAIM_TAKEN)
		return 1;
	if (f->claim == ATTEMPT_CLAIM_NONE)
		return 0;
	*ret = (struct attempt_verdict){.action = ATTEMPT_LOOK};
	return -1;
}

/* Does this end of a job tell of its runner? A script's end would be in the journal, so an exit code or a signal is the
 * runner's, or that of what came before it. The time limit is the script's where there was one. A cancel may be that of a
 * node that could not start it. */
static bool decide_is_runners(const struct attempt_end *found)
{
	switch (found->cause) {
	case CAUSE_NONE:
	case CAUSE_OK:
	case CAUSE_EXIT:
	case CAUSE_SIGNAL:
	case CAUSE_LAUNCH:
	case CAUSE_LOST:
	case CAUSE_TIME: return true;
	case CAUSE_CANCELLED: return found->unlaunched;
	default: return false;
	}
}

/* No runner began with it, so nothing of the task has run. It can always be run again, and is not to blame. */
static struct attempt_verdict decide_unstarted(const struct attempt_end *found)
{
	const char *why = spool_status_text(found->exit_code);
	struct attempt_verdict verdict = verdict_error(CAUSE_UNSTARTED, "not started", NULL);
	if (found->unlaunched)
		why = "Slurm cancelled its job before it began: its node could not start it, or an administrator cancelled it";
	verdict.more = why ? why : found->message ? found->message : "its job ended before its runner began";
	return verdict;
}

/* A runner ended, and its journal says nothing of it. */
static struct attempt_verdict decide_lost(const struct attempt_facts *f, const struct attempt_pace *pace)
{
	const struct attempt_end *found = &f->backend_end;
	struct attempt_verdict verdict;
	if (f->given_up && (found->cause == CAUSE_CANCELLED || decide_is_runners(found)))
		return verdict_error(CAUSE_LOST, decide_silence, NULL);
	const char *text = found->message ? found->message : "it ended, and its journal does not say how";
	if (!decide_is_runners(found))
		return verdict_error(found->cause, text, found->remedy);
	int claimed = decide_claimed(f, &verdict);
	if (claimed < 0)
		return verdict;
	if (!claimed)
		return decide_unstarted(found);
	if (found->cause == CAUSE_CANCELLED) /* it had begun, so its node did start it */
		return verdict_error(CAUSE_CANCELLED, text, found->remedy);
	/* Where its runner was gone long before, the limit has ended an empty job. */
	if (found->cause == CAUSE_TIME && !(f->beats && f->vouched_ms >= pace->silent_ms))
		return verdict_error(CAUSE_TIME, text, found->remedy);
	verdict = verdict_error(CAUSE_LOST, "its runner ended, and wrote no end into its journal", found->remedy);
	verdict.more = found->message;
	return verdict;
}

/* It was to go back to the waiting ones and has left the queue: by our word, unless it had begun and ended in its own
 * way. */
static struct attempt_verdict decide_held(const struct attempt_facts *f, const struct attempt_pace *pace)
{
	struct attempt_verdict verdict;
	if (f->backend_end.cause == CAUSE_CANCELLED)
		return verdict_wanted(f->wanted);
	int claimed = decide_claimed(f, &verdict);
	return claimed < 0 ? verdict : claimed ? decide_lost(f, pace) : verdict_wanted(f->wanted);
}

/* The backend says that it ended, the journal does not. */
static struct attempt_verdict decide_gone(const struct attempt_facts *f, const struct attempt_pace *pace, int64_t now)
{
	int64_t latest = f->grew_ms > f->gone_ms ? f->grew_ms : f->gone_ms;
	/* One that promised signs of life has broken that by now. */
	bool silent = f->beats && f->silent_ms >= pace->silent_ms;
	bool lags = f->traits & BACKEND_FILES_LAG;
	if (lags && now - f->gone_ms < pace->journal_lag_ms)
		return verdict_wait();
	/* A runner that ended well has reported its end, or found the claim taken (a controller that crashed gave the element
	 * out again): then the other one may still be at work. */
	if (lags && f->backend_end.cause == CAUSE_OK && f->wanted == STORE_WANT_RUN && !silent &&
	    now - latest < pace->silent_ms) {
		struct attempt_verdict unknown;
		int claimed = decide_claimed(f, &unknown);
		if (claimed)
			return claimed < 0 ? unknown : verdict_wait();
	}
	if (f->wanted == STORE_WANT_HOLD)
		return decide_held(f, pace);
	return f->wanted != STORE_WANT_RUN ? verdict_wanted(f->wanted) : decide_lost(f, pace);
}

/* The backend does not know it, and its journal has no END. One that a runner has claimed cannot be begun again under the
 * same token. */
static struct attempt_verdict decide_absent(const struct attempt_facts *f, const struct attempt_pace *pace)
{
	struct attempt_verdict verdict;
	if (f->absent_again_ms - f->absent_ms < pace->doubt_ms)
		return verdict_wait();
	int claimed = decide_claimed(f, &verdict);
	if (claimed < 0)
		return verdict;
	if (decide_is_ended_by(f->wanted) || (f->wanted == STORE_WANT_HOLD && !claimed))
		return verdict_wanted(f->wanted);
	if (!claimed)
		return (struct attempt_verdict){.action = ATTEMPT_GIVE_AGAIN};
	verdict = verdict_error(CAUSE_LOST, "its runner ended, and wrote no end into its journal", NULL);
	verdict.more = "the backend no longer knows it";
	return verdict;
}

/* It was thought to have ended, and its runner lived and found the stop file. What was known before is the cause. */
static struct attempt_verdict decide_fenced(const struct attempt_facts *f, const struct attempt_pace *pace)
{
	if (f->seen == ATTEMPT_UNSEEN)
		return (struct attempt_verdict){.action = ATTEMPT_WAIT, .poll = true};
	if (f->seen == ATTEMPT_GONE)
		return decide_lost(f, pace);
	return verdict_error(CAUSE_LOST, "the backend did not know it for a while, and it was ended", NULL);
}

/* The journal has its END record. */
static struct attempt_verdict decide_ended(const struct attempt_facts *f, const struct attempt_pace *pace, int64_t now)
{
	if (f->journal_end.cause == CAUSE_OK)
		return verdict_end(STORE_FINISHED);
	/* One that began before it could be taken back has ended in its own way. */
	if (decide_is_ended_by(f->wanted) || (f->wanted == STORE_WANT_HOLD && f->journal_end.cause == CAUSE_STOPPED))
		return verdict_wanted(f->wanted);
	if (f->given_up && (f->journal_end.cause == CAUSE_STOPPED || f->journal_end.cause == CAUSE_SIGNAL))
		return verdict_error(CAUSE_LOST, decide_silence, NULL); /* it came back, and found the stop file */
	if (f->fenced && f->journal_end.cause == CAUSE_STOPPED)
		return decide_fenced(f, pace);
	if (f->journal_end.cause == CAUSE_STOPPED || f->journal_end.cause == CAUSE_SIGNAL)
		return decide_outside(f, pace, now);
	return verdict_error(f->journal_end.cause,
			     f->journal_end.message ? f->journal_end.message : cause_text(f->journal_end.cause), NULL);
}

bool attempt_is_silent(const struct attempt_facts *f, const struct attempt_pace *pace)
{
	return f->beats && f->phase == ATTEMPT_RUNNING && f->silent_ms >= pace->silent_ms;
}

/* A queue knows of a job what its daemons reported, which may be old: a runner that was killed stays "running" where the
 * message about its end was lost. The job is cancelled first, so that nothing of it runs beside the next attempt. A
 * backend that sees the process itself is believed: a runner may be stopped, or wait for its disk, for as long as it
 * takes. While the backend cannot be asked, silence proves nothing. */
static bool decide_gives_up(const struct attempt_facts *f, const struct attempt_pace *pace)
{
	return (f->traits & BACKEND_HAS_QUEUE) && f->wanted == STORE_WANT_RUN && !f->given_up &&
		f->seen == ATTEMPT_ALIVE && attempt_is_silent(f, pace) && f->vouched_ms >= pace->give_up_ms;
}

static struct attempt_verdict decide_by_facts(const struct attempt_facts *f, const struct attempt_pace *pace,
					      int64_t now_ms)
{
	if (f->phase == ATTEMPT_SETTLED)
		return verdict_wait();
	if (f->phase == ATTEMPT_ENDED)
		return decide_ended(f, pace, now_ms);
	if (f->journal != ATTEMPT_JOURNAL_READ)
		return verdict_wait(); /* it may hold the END */
	if ((f->traits & BACKEND_PULLED) && decide_is_ended_by(f->wanted))
		return verdict_wanted(f->wanted);
	if (f->seen == ATTEMPT_GONE)
		return decide_gone(f, pace, now_ms);
	if (f->seen == ATTEMPT_ABSENT)
		return decide_absent(f, pace);
	if (decide_gives_up(f, pace))
		return (struct attempt_verdict){.action = ATTEMPT_GIVE_UP};
	return verdict_wait();
}

/* May a runner that the backend calls ended still write? A node that lost its controller, or a controller that forgot a
 * job, leaves it running. It ends by its stop file, and says so; one that is silent is dead. What the node itself has reported
 * the backend is believed. */
bool attempt_may_live(const struct attempt_facts *f, const struct attempt_pace *pace)
{
	bool cut_off = f->seen != ATTEMPT_GONE || f->backend_end.cause == CAUSE_NODE;
	return (f->traits & BACKEND_FILES_LAG) && cut_off && f->silent_ms < pace->silent_ms;
}

struct attempt_verdict attempt_decide(const struct attempt_facts *f, const struct attempt_pace *pace, int64_t now_ms)
{
	struct attempt_verdict verdict = decide_by_facts(f, pace, now_ms);
	bool rows = f->phase == ATTEMPT_RUNNING && !(f->traits & BACKEND_PULLED);
	if (verdict.action == ATTEMPT_END && rows && f->collect != ATTEMPT_COLLECT_DONE)
		verdict.action = f->fenced && attempt_may_live(f, pace) ? ATTEMPT_WAIT : ATTEMPT_COLLECT;
	return verdict;
}

bool attempt_needs_cancel(const struct attempt_facts *f, const struct attempt_pace *pace, int64_t now_ms)
{
	bool started = f->phase == ATTEMPT_RUNNING || f->seen == ATTEMPT_ALIVE;
	if ((f->wanted == STORE_WANT_RUN && !f->given_up) || f->phase >= ATTEMPT_ENDED || f->seen == ATTEMPT_GONE)
		return false;
	/* What has started is not taken back; a call that may have come at that moment is repeated until it is answered. */
	if (f->wanted == STORE_WANT_HOLD && started && !f->cancel_ms && !f->given_up)
		return false;
	return !f->cancel_ms || now_ms - f->cancel_ms >= pace->cancel_again_ms;
}

const struct attempt_end *attempt_end_of(const struct attempt_facts *f)
{
	return f->phase == ATTEMPT_ENDED ? &f->journal_end : &f->backend_end;
}
