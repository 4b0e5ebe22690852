/* What becomes of an attempt: one row a case, over what its journal says, what the backend says, what is wanted,
 * whether a runner claimed it, and how long everything has been silent. No store, no clock, no cluster. */
#include "engine/decide.h"
#include "../unit.h"

/* Times of the table in seconds; "now" is 1000 s. */
#define NOW 1000
#define AGO(seconds) (NOW - (seconds))

static const struct attempt_pace pace = {
	.journal_lag_ms = 10000,
	.silent_ms = 35000,
	.give_up_ms = 90000,
	.accounting_lag_ms = 45000,
	.doubt_ms = 25000,
	.cancel_again_ms = 15000,
};

enum where { LOCAL, SLURM, EXTERNAL };
static const unsigned traits[] = {
	[LOCAL] = BACKEND_RESUBMIT_SAFE,
	[SLURM] = BACKEND_HAS_QUEUE | BACKEND_HAS_ACCOUNTING | BACKEND_FILES_LAG,
	[EXTERNAL] = BACKEND_PULLED | BACKEND_RESUBMIT_SAFE,
};

enum { RUN = STORE_WANT_RUN, STOP = STORE_WANT_STOP, PRUNE = STORE_WANT_PRUNE, HOLD = STORE_WANT_HOLD };
enum { SUBMITTED = ATTEMPT_SUBMITTED, RUNNING = ATTEMPT_RUNNING, ENDED = ATTEMPT_ENDED, SETTLED = ATTEMPT_SETTLED };
enum {
	UNSEEN = ATTEMPT_UNSEEN,
	QUEUED = ATTEMPT_QUEUED,
	ALIVE = ATTEMPT_ALIVE,
	ABSENT = ATTEMPT_ABSENT,
	GONE = ATTEMPT_GONE
};
enum {
	DARK = ATTEMPT_CLAIM_NOT_LOOKED,
	FREE = ATTEMPT_CLAIM_NONE,
	TAKEN = ATTEMPT_CLAIM_TAKEN,
	MURKY = ATTEMPT_CLAIM_UNKNOWN
};
enum { READ = ATTEMPT_JOURNAL_READ, MORE = ATTEMPT_JOURNAL_MORE, DEAF = ATTEMPT_JOURNAL_UNKNOWN };
enum {
	WAITS = 100,
	LOOKS,
	AGAIN,
	GIVES_UP,
	COLLECTS,
	FINISHED = STORE_FINISHED,
	ERROR = STORE_ERROR,
	STOPPED = STORE_STOPPED,
	PRUNED = STORE_PRUNED,
	WAITING = STORE_WAITING
};

static const struct row {
	const char *what;
	int where, phase;
	const char *told; /* cause of END */
	int seen;
	const char *found; /* cause by the backend */
	int wanted, claim, journal;
	/* Seconds ago: END was read, the backend said GONE (ABSENT: was first not found), the journal grew, the backend
	 * answered. */
	int ended, gone, heard, answered;
	int verdict; /* a state, or WAITS, LOOKS, AGAIN */
	const char *cause; /* of ERROR */
} rows[] = {
#define _ NULL
	/* Nothing is known yet: wait. */
	{"just submitted", LOCAL, SUBMITTED, _, UNSEEN, _, RUN, DARK, READ, 0, 0, 0, 0, WAITS, _},
	{"queued", SLURM, SUBMITTED, _, QUEUED, _, RUN, DARK, READ, 0, 0, 0, 0, WAITS, _},
	{"the backend saw it start first", SLURM, SUBMITTED, _, ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, WAITS, _},
	{"at work", LOCAL, RUNNING, _, ALIVE, _, RUN, DARK, READ, 0, 0, 1, 0, WAITS, _},
	{"at work, silent for an hour", SLURM, RUNNING, _, ALIVE, _, RUN, DARK, READ, 0, 0, 900, 0, WAITS, _},
	{"at work, the backend is away", SLURM, RUNNING, _, UNSEEN, _, RUN, DARK, READ, 0, 0, 900, 900, WAITS, _},
	{"asked to stop, not heard yet", SLURM, RUNNING, _, ALIVE, _, STOP, DARK, READ, 0, 0, 1, 0, WAITS, _},
	{"asked to stop in the queue", SLURM, SUBMITTED, _, QUEUED, _, STOP, DARK, READ, 0, 0, 0, 0, WAITS, _},
	{"settled already", LOCAL, SETTLED, "ok", GONE, "ok", RUN, DARK, READ, 9, 9, 9, 0, WAITS, _},

	/* END in the journal. */
	{"ended well", LOCAL, ENDED, "ok", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, FINISHED, _},
	{"ended well, cluster says running", SLURM, ENDED, "ok", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, FINISHED, _},
	{"ended well, cluster says failed", SLURM, ENDED, "ok", GONE, "exit", RUN, DARK, READ, 0, 0, 0, 0, FINISHED, _},
	{"ended well, node failed after", SLURM, ENDED, "ok", GONE, "node", RUN, DARK, READ, 0, 0, 0, 0, FINISHED, _},
	{"ended well, cluster forgot it", SLURM, ENDED, "ok", ABSENT, _, RUN, DARK, READ, 99, 99, 99, 0, FINISHED, _},
	{"ended well as it was stopped", LOCAL, ENDED, "ok", ALIVE, _, STOP, DARK, READ, 0, 0, 0, 0, FINISHED, _},
	{"ended well as it was pruned", LOCAL, ENDED, "ok", ALIVE, _, PRUNE, DARK, READ, 0, 0, 0, 0, FINISHED, _},
	{"exit code", LOCAL, ENDED, "exit", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, ERROR, "exit"},
	{"exit code on a cluster", SLURM, ENDED, "exit", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, ERROR, "exit"},
	{"exit code, cluster says memory", SLURM, ENDED, "exit", GONE, "memory", RUN, DARK, READ, 0, 0, 0, 0, ERROR,
	 "exit"},
	{"exit code after a stop", LOCAL, ENDED, "exit", ALIVE, _, STOP, DARK, READ, 0, 0, 0, 0, STOPPED, _},
	{"exit code after a prune", LOCAL, ENDED, "exit", ALIVE, _, PRUNE, DARK, READ, 0, 0, 0, 0, PRUNED, _},
	{"could not be launched", LOCAL, ENDED, "launch", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, ERROR, "launch"},
	{"runner kept the time limit", LOCAL, ENDED, "time", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, ERROR, "time"},
	{"runner saw the memory kill", SLURM, ENDED, "memory", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, ERROR, "memory"},
	{"stopped as wanted", LOCAL, ENDED, "stopped", ALIVE, _, STOP, DARK, READ, 0, 0, 0, 0, STOPPED, _},
	{"stopped as wanted, on a cluster", SLURM, ENDED, "stopped", ALIVE, _, STOP, DARK, READ, 0, 0, 0, 0, STOPPED,
	 _},
	{"pruned as wanted", SLURM, ENDED, "stopped", GONE, "cancelled", PRUNE, DARK, READ, 0, 0, 0, 0, PRUNED, _},

	/* A signal or a stop that nobody here wanted. */
	{"killed on this machine", LOCAL, ENDED, "signal", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, ERROR, "signal"},
	{"ended here by SIGTERM", LOCAL, ENDED, "stopped", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, ERROR, "cancelled"},
	{"signal: accounting may know", SLURM, ENDED, "signal", ALIVE, _, RUN, DARK, READ, 1, 0, 1, 0, WAITS, _},
	{"signal: accounting says memory", SLURM, ENDED, "signal", GONE, "memory", RUN, DARK, READ, 1, 0, 1, 0, ERROR,
	 "memory"},
	{"signal: accounting says node", SLURM, ENDED, "signal", GONE, "node", RUN, DARK, READ, 1, 0, 1, 0, ERROR,
	 "node"},
	{"signal: accounting says exit", SLURM, ENDED, "signal", GONE, "exit", RUN, DARK, READ, 1, 0, 1, 0, ERROR,
	 "signal"},
	{"signal: accounting says ok", SLURM, ENDED, "signal", GONE, "ok", RUN, DARK, READ, 1, 0, 1, 0, ERROR,
	 "signal"},
	{"signal: accounting is silent", SLURM, ENDED, "signal", ALIVE, _, RUN, DARK, READ, 46, 0, 46, 46, ERROR,
	 "signal"},
	{"signal: wanted", SLURM, ENDED, "signal", ALIVE, _, STOP, DARK, READ, 1, 0, 1, 0, STOPPED, _},
	{"stop: accounting says preempted", SLURM, ENDED, "stopped", GONE, "preempted", RUN, DARK, READ, 1, 0, 1, 0,
	 ERROR, "preempted"},
	{"stop: accounting says time", SLURM, ENDED, "stopped", GONE, "time", RUN, DARK, READ, 1, 0, 1, 0, ERROR,
	 "time"},
	{"stop: accounting says cancelled", SLURM, ENDED, "stopped", GONE, "cancelled", RUN, DARK, READ, 1, 0, 1, 0,
	 ERROR, "cancelled"},
	{"stop: accounting says nothing more", SLURM, ENDED, "stopped", GONE, "ok", RUN, DARK, READ, 1, 0, 1, 0, ERROR,
	 "cancelled"},
	{"stop: still running for the cluster", SLURM, ENDED, "stopped", ALIVE, _, RUN, DARK, READ, 30, 0, 30, 0, WAITS,
	 _},
	{"stop: cluster away since", SLURM, ENDED, "stopped", ALIVE, _, RUN, DARK, READ, 600, 0, 600, 600, WAITS, _},
	{"stop: cluster answers and says nothing", SLURM, ENDED, "stopped", ALIVE, _, RUN, DARK, READ, 60, 0, 60, 1,
	 ERROR, "cancelled"},
	{"stop: cluster forgot it", SLURM, ENDED, "stopped", ABSENT, _, RUN, DARK, READ, 40, 30, 40, 0, ERROR, "lost"},
	{"stop: cluster did not find it once", SLURM, ENDED, "stopped", ABSENT, _, RUN, DARK, READ, 1, 0, 1, 0, WAITS,
	 _},

	/* The backend says that it ended, the journal does not. */
	{"runner killed here", LOCAL, RUNNING, _, GONE, "lost", RUN, DARK, READ, 0, 0, 1, 0, ERROR, "lost"},
	{"journal not read to its end", LOCAL, RUNNING, _, GONE, "lost", RUN, DARK, MORE, 0, 99, 99, 0, WAITS, _},
	{"journal cannot be read", LOCAL, RUNNING, _, GONE, "lost", RUN, DARK, DEAF, 0, 99, 99, 0, WAITS, _},
	{"stop, journal not read to its end", LOCAL, RUNNING, _, GONE, "lost", STOP, DARK, MORE, 0, 99, 99, 0, WAITS,
	 _},
	{"stop, journal cannot be read", SLURM, RUNNING, _, GONE, "cancelled", STOP, DARK, DEAF, 0, 99, 99, 0, WAITS,
	 _},
	{"absent, journal cannot be read", SLURM, RUNNING, _, ABSENT, _, RUN, TAKEN, DEAF, 0, 99, 99, 0, WAITS, _},
	{"not started, journal cannot be read", SLURM, SUBMITTED, _, GONE, "exit", RUN, FREE, DEAF, 0, 99, 0, 0, WAITS,
	 _},
	{"stopped before it started", LOCAL, SUBMITTED, _, GONE, "cancelled", STOP, DARK, READ, 0, 0, 0, 0, STOPPED, _},
	{"runner killed as it was stopped", LOCAL, RUNNING, _, GONE, "lost", STOP, DARK, READ, 0, 0, 1, 0, STOPPED, _},
	{"runner killed as it was pruned", LOCAL, RUNNING, _, GONE, "lost", PRUNE, DARK, READ, 0, 0, 1, 0, PRUNED, _},
	{"runner could not be started, claim?", LOCAL, SUBMITTED, _, GONE, "launch", RUN, DARK, READ, 0, 0, 0, 0, LOOKS,
	 _},
	{"runner could not be started", LOCAL, SUBMITTED, _, GONE, "launch", RUN, FREE, READ, 0, 0, 0, 0, ERROR,
	 "unstarted"},
	{"runner ended before its claim", LOCAL, SUBMITTED, _, GONE, "lost", RUN, FREE, READ, 0, 0, 0, 0, ERROR,
	 "unstarted"},
	{"runner ended after its claim", LOCAL, SUBMITTED, _, GONE, "lost", RUN, TAKEN, READ, 0, 0, 0, 0, ERROR,
	 "lost"},
	{"runner gave up waiting for room", SLURM, ENDED, "unstarted", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, ERROR,
	 "unstarted"},
	{"node without the folder", SLURM, SUBMITTED, _, GONE, "launch", RUN, FREE, READ, 0, 11, 0, 0, ERROR,
	 "unstarted"},
	{"node without the folder, stopped", SLURM, SUBMITTED, _, GONE, "launch", STOP, FREE, READ, 0, 11, 0, 0,
	 STOPPED, _},
	{"killed before its claim", SLURM, SUBMITTED, _, GONE, "signal", RUN, FREE, READ, 0, 11, 0, 0, ERROR,
	 "unstarted"},
	{"killed after its claim", SLURM, SUBMITTED, _, GONE, "signal", RUN, TAKEN, READ, 0, 11, 0, 0, ERROR, "lost"},
	{"time limit before its claim", SLURM, SUBMITTED, _, GONE, "time", RUN, FREE, READ, 0, 11, 0, 0, ERROR,
	 "unstarted"},
	{"time limit after its claim", SLURM, SUBMITTED, _, GONE, "time", RUN, TAKEN, READ, 0, 11, 0, 0, ERROR, "time"},
	{"node failed before its claim", SLURM, SUBMITTED, _, GONE, "node", RUN, DARK, READ, 0, 11, 0, 0, ERROR,
	 "node"},
	{"job ended just now", SLURM, RUNNING, _, GONE, "exit", RUN, DARK, READ, 0, 5, 5, 0, WAITS, _},
	{"job ended just now, wanted", SLURM, RUNNING, _, GONE, "cancelled", STOP, DARK, READ, 0, 5, 5, 0, WAITS, _},
	{"job ended, wanted", SLURM, RUNNING, _, GONE, "cancelled", STOP, DARK, READ, 0, 11, 11, 0, STOPPED, _},
	/* To go back to the waiting ones. */
	{"taken back, in the queue", SLURM, SUBMITTED, _, QUEUED, _, HOLD, DARK, READ, 0, 0, 0, 0, WAITS, _},
	{"taken back, left the queue", SLURM, SUBMITTED, _, GONE, "cancelled", HOLD, DARK, READ, 0, 11, 0, 0, WAITING,
	 _},
	{"taken back, gone before its claim", SLURM, SUBMITTED, _, GONE, "exit", HOLD, FREE, READ, 0, 11, 0, 0, WAITING,
	 _},
	{"taken back, node failed", SLURM, SUBMITTED, _, GONE, "node", HOLD, TAKEN, READ, 0, 11, 0, 0, ERROR, "node"},
	{"taken back, lost after its claim", SLURM, SUBMITTED, _, GONE, "exit", HOLD, TAKEN, READ, 0, 11, 0, 0, ERROR,
	 "lost"},
	{"taken back, not found", SLURM, SUBMITTED, _, ABSENT, _, HOLD, FREE, READ, 0, 99, 0, 0, WAITING, _},
	{"taken back, not found, claimed", SLURM, SUBMITTED, _, ABSENT, _, HOLD, TAKEN, READ, 0, 99, 0, 0, ERROR,
	 "lost"},
	{"taken back, ended as it started", SLURM, ENDED, "stopped", GONE, "cancelled", HOLD, DARK, READ, 0, 0, 0, 0,
	 WAITING, _},
	{"taken back, ran to its end", SLURM, ENDED, "ok", ALIVE, _, HOLD, DARK, READ, 0, 0, 0, 0, FINISHED, _},
	{"taken back, failed by itself", SLURM, ENDED, "exit", ALIVE, _, HOLD, DARK, READ, 0, 0, 0, 0, ERROR, "exit"},

	{"job was killed with its runner", SLURM, RUNNING, _, GONE, "signal", RUN, DARK, READ, 0, 11, 11, 0, ERROR,
	 "lost"},
	{"job ended with a code", SLURM, RUNNING, _, GONE, "exit", RUN, DARK, READ, 0, 11, 11, 0, ERROR, "lost"},
	{"job ended with a code, claim?", SLURM, SUBMITTED, _, GONE, "exit", RUN, DARK, READ, 0, 11, 0, 0, LOOKS, _},
	{"job ended with a code, claim unclear", SLURM, SUBMITTED, _, GONE, "exit", RUN, MURKY, READ, 0, 11, 0, 0,
	 LOOKS, _},
	{"job ended with a code, claimed", SLURM, SUBMITTED, _, GONE, "exit", RUN, TAKEN, READ, 0, 11, 0, 0, ERROR,
	 "lost"},
	{"job ended with a code, unclaimed", SLURM, SUBMITTED, _, GONE, "exit", RUN, FREE, READ, 0, 11, 0, 0, ERROR,
	 "unstarted"},
	{"job ended, no reason, unclaimed", SLURM, SUBMITTED, _, GONE, "", RUN, FREE, READ, 0, 11, 0, 0, ERROR,
	 "unstarted"},
	{"node failed", SLURM, RUNNING, _, GONE, "node", RUN, DARK, READ, 0, 11, 11, 0, ERROR, "node"},
	{"node did not boot", SLURM, SUBMITTED, _, GONE, "boot", RUN, DARK, READ, 0, 11, 0, 0, ERROR, "boot"},
	{"preempted without a word", SLURM, RUNNING, _, GONE, "preempted", RUN, DARK, READ, 0, 11, 11, 0, ERROR,
	 "preempted"},
	{"out of memory, runner too", SLURM, RUNNING, _, GONE, "memory", RUN, DARK, READ, 0, 11, 11, 0, ERROR,
	 "memory"},
	{"time limit, runner too", SLURM, RUNNING, _, GONE, "time", RUN, DARK, READ, 0, 11, 11, 0, ERROR, "time"},
	{"cancelled in the queue by an admin", SLURM, SUBMITTED, _, GONE, "cancelled", RUN, DARK, READ, 0, 11, 0, 0,
	 ERROR, "cancelled"},
	{"deadline passed in the queue", SLURM, SUBMITTED, _, GONE, "deadline", RUN, DARK, READ, 0, 11, 0, 0, ERROR,
	 "deadline"},
	/* A controller that crashed gave the element out again: the second job found the claim taken and ended well. */
	{"claim was taken, other one at work", SLURM, RUNNING, _, GONE, "ok", RUN, DARK, READ, 0, 60, 5, 0, WAITS, _},
	{"claim was taken, other one silent", SLURM, RUNNING, _, GONE, "ok", RUN, DARK, READ, 0, 60, 36, 0, ERROR,
	 "lost"},
	{"claim was taken, not started yet", SLURM, SUBMITTED, _, GONE, "ok", RUN, TAKEN, READ, 0, 20, 0, 0, WAITS, _},
	{"claim was taken, is to stop", SLURM, RUNNING, _, GONE, "ok", STOP, DARK, READ, 0, 20, 5, 0, STOPPED, _},
	{"ended well, nobody claimed it", SLURM, SUBMITTED, _, GONE, "ok", RUN, FREE, READ, 0, 20, 0, 0, ERROR,
	 "unstarted"},
	{"ended well, claim not looked for", SLURM, SUBMITTED, _, GONE, "ok", RUN, DARK, READ, 0, 20, 0, 0, LOOKS, _},

	/* The backend does not know it. */
	{"not found once", SLURM, SUBMITTED, _, ABSENT, _, RUN, DARK, READ, 0, 0, 0, 0, WAITS, _},
	{"not found, twice too close", SLURM, SUBMITTED, _, ABSENT, _, RUN, DARK, READ, 0, 20, 0, 0, WAITS, _},
	{"not found twice, claim?", SLURM, SUBMITTED, _, ABSENT, _, RUN, DARK, READ, 0, 25, 0, 0, LOOKS, _},
	{"not found twice, claim unclear", SLURM, SUBMITTED, _, ABSENT, _, RUN, MURKY, READ, 0, 25, 0, 0, LOOKS, _},
	{"not found twice, unclaimed", SLURM, SUBMITTED, _, ABSENT, _, RUN, FREE, READ, 0, 25, 0, 0, AGAIN, _},
	{"not found twice, claimed", SLURM, SUBMITTED, _, ABSENT, _, RUN, TAKEN, READ, 0, 25, 0, 0, ERROR, "lost"},
	{"not found twice, had started", SLURM, RUNNING, _, ABSENT, _, RUN, DARK, READ, 0, 25, 99, 0, ERROR, "lost"},
	{"not found twice, not wanted", SLURM, SUBMITTED, _, ABSENT, _, STOP, FREE, READ, 0, 25, 0, 0, STOPPED, _},
	{"not found once, not wanted", SLURM, SUBMITTED, _, ABSENT, _, STOP, FREE, READ, 0, 5, 0, 0, WAITS, _},
	{"not found here, unclaimed", LOCAL, SUBMITTED, _, ABSENT, _, RUN, FREE, READ, 0, 30, 0, 0, AGAIN, _},

	/* Workers of the user's own. */
	{"a worker has it", EXTERNAL, RUNNING, _, ALIVE, _, RUN, DARK, READ, 0, 0, 900, 0, WAITS, _},
	{"a worker has it, stopped", EXTERNAL, RUNNING, _, ALIVE, _, STOP, DARK, READ, 0, 0, 1, 0, STOPPED, _},
	{"a worker has it, pruned", EXTERNAL, RUNNING, _, ALIVE, _, PRUNE, DARK, READ, 0, 0, 1, 0, PRUNED, _},
	{"a worker told its result", EXTERNAL, ENDED, "ok", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, FINISHED, _},
	{"a worker told a failure", EXTERNAL, ENDED, "exit", ALIVE, _, RUN, DARK, READ, 0, 0, 0, 0, ERROR, "exit"},
#undef _
};

static struct attempt_end end_with(const char *cause)
{
	struct attempt_end end = {.exit_code = -1};
	if (cause && cause[0]) /* "": the backend gives no reason */
		assert_int_equal(cause_parse(cause, &end.cause), 0);
	return end;
}

static int64_t ms_ago(int seconds)
{
	return (int64_t)AGO(seconds) * 1000;
}

/* The facts of a row, learnt the way the engine learns them. */
static struct attempt_facts facts_of(const struct row *row)
{
	struct attempt_facts f = {.traits = traits[row->where], .wanted = (enum store_wanted)row->wanted};
	struct attempt_end told = end_with(row->told), found = end_with(row->found);
	if (row->phase >= RUNNING)
		attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_START});
	if (row->phase >= ENDED)
		attempt_update(
			&f,
			&(struct attempt_event){.kind = ATTEMPT_EVENT_END, .at_ms = ms_ago(row->ended), .end = &told});
	if (row->phase == SETTLED)
		attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_SETTLED});
	attempt_update(
		&f,
		&(struct attempt_event){.kind = ATTEMPT_EVENT_GROWTH, .at_ms = row->heard ? ms_ago(row->heard) : 0});
	switch (row->seen) {
	case QUEUED: attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_QUEUED}); break;
	case ALIVE: attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_ALIVE}); break;
	case ABSENT:
		attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_ABSENT, .at_ms = ms_ago(row->gone)});
		attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_ABSENT, .at_ms = ms_ago(0)});
		break;
	case GONE:
		attempt_update(
			&f,
			&(struct attempt_event){.kind = ATTEMPT_EVENT_GONE, .at_ms = ms_ago(row->gone), .end = &found});
		break;
	}
	f.answered_ms = ms_ago(row->answered);
	attempt_update(&f,
		       &(struct attempt_event){.kind = ATTEMPT_EVENT_CLAIM, .claim = (enum attempt_claim)row->claim});
	attempt_update(
		&f,
		&(struct attempt_event){.kind = ATTEMPT_EVENT_JOURNAL, .journal = (enum attempt_journal)row->journal});
	return f;
}

/* The verdict when what the script wrote last was read where that comes first. Nothing else may follow from it. */
static struct attempt_verdict decide(struct attempt_facts *f, int64_t now_ms)
{
	struct attempt_verdict v = attempt_decide(f, &pace, now_ms);
	if (v.action != ATTEMPT_COLLECT)
		return v;
	assert_int_equal(f->phase, ATTEMPT_RUNNING);
	assert_false(f->traits & BACKEND_PULLED);
	attempt_update(f, &(struct attempt_event){.kind = ATTEMPT_EVENT_COLLECTING, .at_ms = now_ms});
	assert_int_equal(attempt_decide(f, &pace, now_ms).action, ATTEMPT_COLLECT);
	attempt_update(f, &(struct attempt_event){.kind = ATTEMPT_EVENT_GROWTH, .at_ms = now_ms});
	attempt_update(f, &(struct attempt_event){.kind = ATTEMPT_EVENT_COLLECTED, .at_ms = now_ms});
	assert_int_equal(attempt_decide(f, &pace, now_ms).action, ATTEMPT_WAIT); /* for the rows to be read */
	attempt_update(f,
		       &(struct attempt_event){
			       .kind = ATTEMPT_EVENT_JOURNAL, .at_ms = now_ms, .journal = ATTEMPT_JOURNAL_READ});
	v = attempt_decide(f, &pace, now_ms);
	assert_int_equal(v.action, ATTEMPT_END);
	return v;
}

static int said(const struct attempt_verdict *verdict)
{
	switch (verdict->action) {
	case ATTEMPT_WAIT: return WAITS;
	case ATTEMPT_LOOK: return LOOKS;
	case ATTEMPT_GIVE_AGAIN: return AGAIN;
	case ATTEMPT_GIVE_UP: return GIVES_UP;
	case ATTEMPT_COLLECT: return COLLECTS;
	case ATTEMPT_END: break;
	}
	return (int)verdict->state;
}

static void test_every_case_has_its_verdict(void **state)
{
	(void)state;
	size_t wrong = 0;
	assert_true(COUNT_OF(rows) >= 60);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct attempt_facts f = facts_of(&rows[i]);
		struct attempt_verdict v = decide(&f, ms_ago(0));
		const char *cause = v.action == ATTEMPT_END && v.state == STORE_ERROR ? cause_name(v.cause) : NULL;
		bool same = cause ? rows[i].cause && strcmp(cause, rows[i].cause) == 0 : !rows[i].cause;
		if (said(&v) != rows[i].verdict || !same) {
			print_error("%s: got %d %s, not %d %s\n", rows[i].what, said(&v), cause ? cause : "-",
				    rows[i].verdict, rows[i].cause ? rows[i].cause : "-");
			wrong++;
		}
		attempt_facts_clear(&f);
	}
	assert_int_equal(wrong, 0);
}

/* Whatever else is known, unread bytes and a file system that does not answer keep everything open. */
static void test_nothing_is_lost_while_its_journal_is_unread(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		for (int journal = MORE; journal <= DEAF; journal++) {
			struct row row = rows[i];
			row.journal = journal;
			struct attempt_facts f = facts_of(&row);
			struct attempt_verdict v = attempt_decide(&f, &pace, ms_ago(0) + 86400000);
			assert_true(f.phase >= ATTEMPT_ENDED || v.action == ATTEMPT_WAIT);
			attempt_facts_clear(&f);
		}
}

/* Nothing waits for ever for files or accounting that lag behind. */
static void test_an_attempt_that_ended_waits_for_a_limited_time(void **state)
{
	(void)state;
	size_t waited = 0;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct attempt_facts f = facts_of(&rows[i]);
		struct attempt_verdict v = attempt_decide(&f, &pace, ms_ago(0));
		bool ended = f.phase == ATTEMPT_ENDED ||
			(f.seen == ATTEMPT_GONE && f.journal == ATTEMPT_JOURNAL_READ && f.phase != ATTEMPT_SETTLED);
		if (v.action == ATTEMPT_WAIT && ended) {
			waited++;
			f.answered_ms = ms_ago(0) + pace.accounting_lag_ms;
			v = attempt_decide(&f, &pace, ms_ago(0) + pace.silent_ms + pace.accounting_lag_ms);
			assert_int_not_equal(v.action, ATTEMPT_WAIT);
		}
		attempt_facts_clear(&f);
	}
	assert_true(waited >= 5);
}

/* A runner that beats, or one of an earlier version that does not, and what happens after its last word. Every line of
 * `story` takes a second; the journal is looked at and the backend is asked every second, as in the engine. */
static const struct silence {
	const char *what;
	int where;
	bool beats;
	/* Seconds of: a runner at work (w), silence while the backend says running (r), while it cannot be asked (x),
	 * while it says suspended (s), while the journal cannot be read (e), while nobody looks at anything (z); stop
	 * file written (!). */
	const char *story;
	const char *told; /* then END with this cause; NULL: none */
	const char *found; /* then GONE with this cause, and the lag of the file system; NULL: not gone */
	int wanted;
	int verdict;
	const char *cause;
} silences[] = {
	{"at work", SLURM, true, "500w", NULL, NULL, RUN, WAITS, NULL},
	{"killed, running for the cluster", SLURM, true, "9w 85r", NULL, NULL, RUN, WAITS, NULL},
	{"killed, running for too long", SLURM, true, "9w 93r", NULL, NULL, RUN, GIVES_UP, NULL},
	{"an earlier version says nothing of beats", SLURM, false, "9w 9000r", NULL, NULL, RUN, WAITS, NULL},
	{"its process is seen here", LOCAL, true, "9w 9000r", NULL, NULL, RUN, WAITS, NULL},
	{"the cluster is away", SLURM, true, "9w 9000x", NULL, NULL, RUN, WAITS, NULL},
	{"the cluster is back just now", SLURM, true, "9w 9000x 50r", NULL, NULL, RUN, WAITS, NULL},
	{"the cluster is back for long enough", SLURM, true, "9w 9000x 99r", NULL, NULL, RUN, GIVES_UP, NULL},
	{"suspended", SLURM, true, "9w 9000s", NULL, NULL, RUN, WAITS, NULL},
	{"suspended, and just resumed", SLURM, true, "9w 9000s 50r", NULL, NULL, RUN, WAITS, NULL},
	{"the file system is away", SLURM, true, "9w 9000e", NULL, NULL, RUN, WAITS, NULL},
	{"the file system is back just now", SLURM, true, "9w 9000e 50r", NULL, NULL, RUN, WAITS, NULL},
	{"the daemon was stopped", SLURM, true, "9w 9000z 50r", NULL, NULL, RUN, WAITS, NULL},
	{"heard again in time", SLURM, true, "9w 80r 1w 80r", NULL, NULL, RUN, WAITS, NULL},
	{"is to stop anyway", SLURM, true, "9w 9000r", NULL, NULL, STOP, WAITS, NULL},
	{"given up already", SLURM, true, "9w 93r ! 500r", NULL, NULL, RUN, WAITS, NULL},
	{"given up, then cancelled", SLURM, true, "9w 93r !", NULL, "cancelled", RUN, ERROR, "lost"},
	{"given up, then its time limit", SLURM, true, "9w 93r !", NULL, "time", RUN, ERROR, "lost"},
	{"given up, then the node was found dead", SLURM, true, "9w 93r !", NULL, "node", RUN, ERROR, "node"},
	{"given up, came back and stopped", SLURM, true, "9w 93r !", "stopped", NULL, RUN, ERROR, "lost"},
	{"given up, came back and was killed", SLURM, true, "9w 93r !", "signal", "cancelled", RUN, ERROR, "lost"},
	{"given up, had ended well", SLURM, true, "9w 93r !", "ok", "cancelled", RUN, FINISHED, NULL},
	{"given up, then stopped by its user", SLURM, true, "9w 93r !", NULL, "cancelled", STOP, STOPPED, NULL},
	{"killed, then its time limit", SLURM, true, "9w 60r", NULL, "time", RUN, ERROR, "lost"},
	{"earlier version, then its time limit", SLURM, false, "9w 60r", NULL, "time", RUN, ERROR, "time"},
	{"time limit", SLURM, true, "99w 5r", NULL, "time", RUN, ERROR, "time"},
	{"time limit, told late", SLURM, true, "99w 60x", NULL, "time", RUN, ERROR, "time"},
	{"cancelled by someone after a silence", SLURM, true, "9w 60r", NULL, "cancelled", RUN, ERROR, "cancelled"},
};

static void live_second(struct attempt_facts *f, char kind, int64_t at)
{
	enum attempt_journal journal = kind == 'e' ? ATTEMPT_JOURNAL_UNKNOWN : ATTEMPT_JOURNAL_READ;
	if (kind == 'z')
		return;
	if (kind == 'w')
		attempt_update(f, &(struct attempt_event){.kind = ATTEMPT_EVENT_GROWTH, .at_ms = at});
	attempt_update(f, &(struct attempt_event){.kind = ATTEMPT_EVENT_JOURNAL, .at_ms = at, .journal = journal});
	if (kind == 's')
		attempt_update(f, &(struct attempt_event){.kind = ATTEMPT_EVENT_PAUSED, .at_ms = at});
	else if (kind != 'x')
		attempt_update(f, &(struct attempt_event){.kind = ATTEMPT_EVENT_ALIVE, .at_ms = at});
}

static int64_t live_through(struct attempt_facts *f, const char *story)
{
	int64_t at = 1000;
	for (char *next; *story; story = next + strspn(next, " ")) {
		long seconds = strtol(story, &next, 10);
		char kind = *next++;
		if (kind == '!')
			attempt_update(f, &(struct attempt_event){.kind = ATTEMPT_EVENT_GIVEN_UP, .at_ms = at});
		for (; seconds > 0; seconds--)
			live_second(f, kind, at += 1000);
	}
	return at;
}

static void test_a_silent_runner_is_given_up_by_evidence(void **state)
{
	(void)state;
	size_t wrong = 0;
	for (size_t i = 0; i < COUNT_OF(silences); i++) {
		const struct silence *row = &silences[i];
		struct attempt_facts f = {.traits = traits[row->where], .wanted = (enum store_wanted)row->wanted};
		struct attempt_end told = end_with(row->told), found = end_with(row->found);
		attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_START});
		attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_BEATS, .beats = row->beats});
		int64_t at = live_through(&f, row->story);
		if (row->found)
			attempt_update(&f,
				       &(struct attempt_event){.kind = ATTEMPT_EVENT_GONE, .at_ms = at, .end = &found});
		if (row->told)
			attempt_update(&f,
				       &(struct attempt_event){.kind = ATTEMPT_EVENT_END, .at_ms = at, .end = &told});
		struct attempt_verdict v = decide(&f, row->found ? at + pace.journal_lag_ms : at);
		const char *cause = v.action == ATTEMPT_END && v.state == STORE_ERROR ? cause_name(v.cause) : NULL;
		bool same = cause ? row->cause && strcmp(cause, row->cause) == 0 : !row->cause;
		if (said(&v) != row->verdict || !same) {
			print_error("%s: got %d %s, not %d %s\n", row->what, said(&v), cause ? cause : "-",
				    row->verdict, row->cause ? row->cause : "-");
			wrong++;
		}
		attempt_facts_clear(&f);
	}
	assert_int_equal(wrong, 0);
}

static void test_what_is_given_up_is_cancelled_until_it_is_gone(void **state)
{
	(void)state;
	struct attempt_facts f = {.traits = traits[SLURM]};
	struct attempt_end end = end_with("cancelled");
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_START});
	assert_false(attempt_needs_cancel(&f, &pace, 1000));
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_GIVEN_UP});
	assert_true(attempt_needs_cancel(&f, &pace, 1000));
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_CANCEL, .at_ms = 1000});
	assert_false(attempt_needs_cancel(&f, &pace, 15999));
	assert_true(attempt_needs_cancel(&f, &pace, 16000));
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_GONE, .at_ms = 16000, .end = &end});
	assert_false(attempt_needs_cancel(&f, &pace, 99000));
	attempt_facts_clear(&f);
}

static void test_the_first_word_about_an_end_counts(void **state)
{
	(void)state;
	struct attempt_facts f = {.traits = traits[SLURM]};
	struct attempt_end first = end_with("preempted"), second = end_with("cancelled");
	first.message = mem_strdup("a job with a higher priority took its place");
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_GONE, .at_ms = 1, .end = &first});
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_GONE, .at_ms = 2, .end = &second});
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_QUEUED, .at_ms = 3});
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_ABSENT, .at_ms = 4});
	free(first.message);
	struct attempt_verdict v = decide(&f, 20000);
	assert_int_equal(v.cause, CAUSE_PREEMPTED);
	assert_string_equal(v.text, "a job with a higher priority took its place");
	attempt_facts_clear(&f);
}

static void test_being_found_again_ends_an_absence(void **state)
{
	(void)state;
	struct attempt_facts f = {.traits = traits[SLURM]};
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_ABSENT, .at_ms = 1000});
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_QUEUED, .at_ms = 20000});
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_ABSENT, .at_ms = 40000});
	assert_int_equal(attempt_decide(&f, &pace, 40000).action, ATTEMPT_WAIT);
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_ABSENT, .at_ms = 65000});
	assert_int_equal(attempt_decide(&f, &pace, 65000).action, ATTEMPT_LOOK);
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_CLAIM, .claim = ATTEMPT_CLAIM_NONE});
	assert_int_equal(attempt_decide(&f, &pace, 65000).action, ATTEMPT_GIVE_AGAIN);
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_GIVEN, .at_ms = 65000});
	assert_int_equal(attempt_decide(&f, &pace, 99000).action, ATTEMPT_WAIT);
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_ABSENT, .at_ms = 70000});
	assert_int_equal(attempt_decide(&f, &pace, 99000).action, ATTEMPT_WAIT);
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_ABSENT, .at_ms = 95000});
	assert_int_equal(attempt_decide(&f, &pace, 99000).action, ATTEMPT_LOOK); /* it may have been claimed since */
	attempt_facts_clear(&f);
}

static void test_a_stop_is_repeated_until_it_is_heard(void **state)
{
	(void)state;
	struct attempt_facts f = {.traits = traits[SLURM]};
	struct attempt_end end = end_with("stopped");
	assert_false(attempt_needs_cancel(&f, &pace, 1000));
	f.wanted = STORE_WANT_STOP;
	assert_true(attempt_needs_cancel(&f, &pace, 1000));
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_CANCEL, .at_ms = 1000});
	assert_false(attempt_needs_cancel(&f, &pace, 15999));
	assert_true(attempt_needs_cancel(&f, &pace, 16000));
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_END, .at_ms = 16000, .end = &end});
	assert_false(attempt_needs_cancel(&f, &pace, 99000));
	attempt_facts_clear(&f);
}

static void test_what_has_started_is_not_taken_out_of_the_queue(void **state)
{
	(void)state;
	struct attempt_facts f = {.traits = traits[SLURM], .wanted = STORE_WANT_HOLD};
	assert_true(attempt_needs_cancel(&f, &pace, 1000));
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_ALIVE});
	assert_false(attempt_needs_cancel(&f, &pace, 1000));
	/* It may have been told at the moment it started: that is asked again until there is an answer. */
	attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_CANCEL, .at_ms = 1000});
	assert_true(attempt_needs_cancel(&f, &pace, 99000));
	attempt_facts_clear(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_case_has_its_verdict),
		cmocka_unit_test(test_what_has_started_is_not_taken_out_of_the_queue),
		cmocka_unit_test(test_nothing_is_lost_while_its_journal_is_unread),
		cmocka_unit_test(test_an_attempt_that_ended_waits_for_a_limited_time),
		cmocka_unit_test(test_a_silent_runner_is_given_up_by_evidence),
		cmocka_unit_test(test_what_is_given_up_is_cancelled_until_it_is_gone),
		cmocka_unit_test(test_the_first_word_about_an_end_counts),
		cmocka_unit_test(test_being_found_again_ends_an_absence),
		cmocka_unit_test(test_a_stop_is_repeated_until_it_is_heard),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
