/* Decides what happens to an attempt from the facts about it. attempt_update adds a new fact; attempt_decide returns
 * the next action. Neither reads a file, asks a backend or reads a clock: the caller passes all times. So each rule is
 * one row of tests/unit/engine/test_decide.c. settle.c carries out the decisions. All times are monotonic.
 *
 * There are three sources of facts: the journal of the attempt (phase), the backend (seen) and the claim that its
 * runner takes. The journal has priority: while part of it is unread or unreadable, no decision is made that could
 * contradict it. */
#ifndef ENGINE_DECIDE_H
#define ENGINE_DECIDE_H

#include "backend/backend.h"
#include "store/rows.h"

#include "base/cause.h"

/* How far the attempt is, according to its journal. The phase never goes back. */
enum attempt_phase {
	ATTEMPT_SUBMITTED, /* committed; nothing in its journal yet */
	ATTEMPT_RUNNING, /* its journal has START */
	ATTEMPT_ENDED, /* its journal has END */
	ATTEMPT_SETTLED, /* its end is in the store; it is removed from memory at the end of the turn */
};

/* What the backend reported last. GONE is final: an ended attempt does not come back under the same token. */
enum attempt_seen {
	ATTEMPT_UNSEEN,
	ATTEMPT_QUEUED,
	ATTEMPT_ALIVE,
	ATTEMPT_ABSENT, /* a successful lookup did not find it */
	ATTEMPT_GONE, /* ended, as far as the backend knows */
};

/* Has a runner taken it? */
enum attempt_claim {
	ATTEMPT_CLAIM_NOT_LOOKED,
	ATTEMPT_CLAIM_NONE,
	ATTEMPT_CLAIM_TAKEN,
	ATTEMPT_CLAIM_UNKNOWN, /* the file system did not answer */
};

/* Has its journal been read? */
enum attempt_journal {
	ATTEMPT_JOURNAL_READ, /* to its end, or there is none yet */
	ATTEMPT_JOURNAL_MORE, /* there are bytes that were not read yet */
	ATTEMPT_JOURNAL_UNKNOWN, /* it cannot be read now (EIO, ESTALE, EACCES, EMFILE, …) */
};

/* If its runner was killed: was the rest of the script's metrics added to the journal? */
enum attempt_collect {
	ATTEMPT_COLLECT_NOT,
	ATTEMPT_COLLECT_BEGUN, /* from now on, a growing journal does not mean that its runner is alive */
	ATTEMPT_COLLECT_DONE,
};

/* The end of an attempt according to one source. In struct attempt_facts the texts are owned by the facts. */
struct attempt_end {
	enum cause cause; /* CAUSE_NONE: it does not say */
	bool unlaunched; /* as in struct backend_observation */
	char *message, *remedy, *tail;
	int exit_code, signal; /* -1 and 0: unknown */
	int64_t time_ms; /* wall clock of the node, or of the backend; 0: unknown */
	int64_t wall_ms; /* how long the script ran, by a monotonic clock; -1: unknown */
};

struct attempt_facts {
	unsigned traits; /* of its backend */
	enum attempt_phase phase;
	enum attempt_seen seen;
	enum attempt_claim claim;
	enum attempt_journal journal;
	enum store_wanted wanted;
	struct attempt_end journal_end; /* the END record; from ATTEMPT_ENDED on */
	struct attempt_end backend_end; /* what the backend said; with ATTEMPT_GONE */
	enum attempt_collect collect;
	bool beats; /* its runner writes to the journal every minute; runners of earlier versions do not */
	bool given_up; /* it was asked to end because its journal stopped growing */
	bool fenced; /* its stop file is written: a runner that lives ends soon, and says so */
	int64_t grew_ms; /* when its journal grew last; 0 */
	int64_t looked_ms; /* when its journal was last looked at; 0 */
	int64_t silent_ms; /* how long we have looked at its journal and seen nothing new, by our own clock */
	int64_t alive_ms; /* when the backend last said that it runs; 0 */
	int64_t vouched_ms; /* for how long the backend has said that it runs while its journal did not grow */
	int64_t ended_ms; /* when we read END */
	int64_t gone_ms; /* when the backend said GONE */
	int64_t absent_ms, absent_again_ms; /* the first and the latest lookup of a row that did not find it; 0 */
	int64_t answered_ms; /* when the backend last answered anything */
	int64_t cancel_ms; /* when it was last asked to end; 0 */
};

enum attempt_event_kind {
	ATTEMPT_EVENT_START,
	ATTEMPT_EVENT_BEATS, /* .beats, as START says */
	ATTEMPT_EVENT_GROWTH, /* its journal grew */
	ATTEMPT_EVENT_END, /* .end */
	ATTEMPT_EVENT_JOURNAL, /* .journal */
	ATTEMPT_EVENT_CLAIM, /* .claim */
	ATTEMPT_EVENT_QUEUED,
	ATTEMPT_EVENT_ALIVE,
	ATTEMPT_EVENT_PAUSED, /* alive, but not running: suspended, for example */
	ATTEMPT_EVENT_ABSENT,
	ATTEMPT_EVENT_GONE, /* .end */
	ATTEMPT_EVENT_TAKEN, /* the backend confirmed the submission */
	ATTEMPT_EVENT_GIVEN, /* it is submitted again */
	ATTEMPT_EVENT_CANCEL, /* the backend is asked to end it */
	ATTEMPT_EVENT_GIVEN_UP, /* it is silent, and its stop file is written */
	ATTEMPT_EVENT_FENCED, /* its stop file is written because it has ended, as far as is known */
	ATTEMPT_EVENT_COLLECTING,
	ATTEMPT_EVENT_COLLECTED, /* its journal may have grown */
	ATTEMPT_EVENT_SETTLED,
};

struct attempt_event {
	enum attempt_event_kind kind;
	int64_t at_ms;
	const struct attempt_end *end; /* its texts are copied */
	enum attempt_journal journal;
	enum attempt_claim claim;
	bool beats;
};

/* Waiting times. */
struct attempt_pace {
	int64_t journal_lag_ms; /* after GONE: shared file systems may show the journal's last bytes this late */
	int64_t silent_ms; /* a runner writes more often; after this long without a write it counts as silent */
	int64_t give_up_ms; /* a runner that is silent for this long while the backend says that it runs is given up */
	int64_t accounting_lag_ms; /* after END: wait this long for accounting, which may know the real cause */
	int64_t doubt_ms; /* after two lookups this far apart did not find it, it will not appear any more */
	int64_t cancel_again_ms; /* a stop that had no effect is repeated */
};

enum attempt_action {
	ATTEMPT_WAIT, /* and decide again at the next turn */
	ATTEMPT_LOOK, /* look for the claim, add the event, and decide again; if still unknown, at the next turn */
	ATTEMPT_GIVE_AGAIN, /* no runner has it: submit it again under the same token */
	ATTEMPT_GIVE_UP, /* it is silent: write its stop file, add the event, and let the backend end it */
	ATTEMPT_COLLECT, /* it ends without an END record: fence it, then collect the rest of its metrics (collect.h) */
	ATTEMPT_END,
};

/* Texts live as long as the facts do, or are constants. */
struct attempt_verdict {
	enum attempt_action action;
	bool poll; /* WAIT: it waits for the backend, so poll soon */
	/* END */
	enum store_state state;
	enum cause cause; /* for STORE_ERROR */
	const char *text; /* in words; NULL: nothing to say, or the usual words for what was wanted */
	const char *more; /* what the backend said, to be added after a colon; NULL */
	const char *remedy; /* NULL: the usual one of its cause */
};

void attempt_update(struct attempt_facts *facts, const struct attempt_event *event);
struct attempt_verdict attempt_decide(const struct attempt_facts *facts, const struct attempt_pace *pace,
				      int64_t now_ms);
/* Has its runner been silent for longer than pace->silent_ms? */
bool attempt_is_silent(const struct attempt_facts *facts, const struct attempt_pace *pace);
/* Its backend says that it ended: may its runner still write to its journal? */
bool attempt_may_live(const struct attempt_facts *facts, const struct attempt_pace *pace);
/* Must the backend be asked (again) to end it? */
bool attempt_needs_cancel(const struct attempt_facts *facts, const struct attempt_pace *pace, int64_t now_ms);
/* The end that gives its exit code (-1: unknown) and signal (0: none): from the source with the highest priority. */
const struct attempt_end *attempt_end_of(const struct attempt_facts *facts);
void attempt_facts_clear(struct attempt_facts *facts);

#endif
