/* The cases of test_decide.c, one row each, with short words for what an attempt may be in. */
#ifndef TEST_DECIDE_ROWS_H
#define TEST_DECIDE_ROWS_H

#include "engine/decide.h"

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

	/* A signal or a stop that sluice did not ask for. */
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

#endif
