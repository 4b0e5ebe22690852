/* What becomes of an attempt, decided from what is known of it. Two functions: attempt_update adds what was learnt,
 * attempt_decide says what follows. Neither reads a file, asks a backend or looks at a clock: every time comes with the
 * event or with the question, so that each rule is one row of tests/unit/engine/test_decide.c. settle.c carries out what
 * is decided. All times are monotonic.
 *
 * Three sources speak about an attempt: its journal (phase), the backend (seen) and the claim that its runner takes. The
 * journal is believed first: as long as bytes of it are unread, or it cannot be read, nothing is decided against it. */
#ifndef ENGINE_DECIDE_H
#define ENGINE_DECIDE_H

#include "backend/backend.h"
#include "store/rows.h"

#include "base/cause.h"

/* How far it has come, by its journal. It only goes forward. */
enum attempt_phase {
	ATTEMPT_SUBMITTED, /* committed; nothing in its journal yet */
	ATTEMPT_RUNNING, /* its journal has START */
	ATTEMPT_ENDED, /* its journal has END */
	ATTEMPT_SETTLED, /* its end is in the store; to be forgotten at the end of the turn */
};

/* What the backend said last. GONE stays: what has ended does not come back under the same token. */
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

/* Is what its script wrote before its runner was killed in the journal? */
enum attempt_collect {
	ATTEMPT_COLLECT_NOT,
	ATTEMPT_COLLECT_BEGUN, /* from here on growth of the journal is no sign of its runner */
	ATTEMPT_COLLECT_DONE,
};

/* How one source tells of the end. In struct attempt_facts the texts are its own. */
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
	bool beats; /* its runner promised to write something every minute; one of an earlier version does not */
	bool given_up; /* it was told to end because its journal did not grow */
	int64_t grew_ms; /* when its journal grew last; 0 */
	int64_t looked_ms; /* when its journal was last looked at; 0 */
	int64_t silent_ms; /* for how long looks at its journal have found nothing new. Only our own clock counts, and
			      only time in which we looked. */
	int64_t alive_ms; /* when the backend last said that it runs; 0 */
	int64_t vouched_ms; /* for how long the backend has said so while its journal did not grow */
	int64_t ended_ms; /* when we read END */
	int64_t gone_ms; /* when the backend said GONE */
	int64_t absent_ms, absent_again_ms; /* the first and the latest lookup of a row that did not find it; 0 */
	int64_t answered_ms; /* when the backend last answered anything */
	int64_t cancel_ms; /* when it was last told to end; 0 */
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
	ATTEMPT_EVENT_TAKEN, /* the backend confirmed that it has it */
	ATTEMPT_EVENT_GIVEN, /* it is handed over again */
	ATTEMPT_EVENT_CANCEL, /* the backend is told to end it */
	ATTEMPT_EVENT_GIVEN_UP, /* its stop file is written */
	ATTEMPT_EVENT_COLLECTING,
	ATTEMPT_EVENT_COLLECTED, /* its journal has grown, perhaps */
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

/* How long to wait for what. */
struct attempt_pace {
	int64_t journal_lag_ms; /* after GONE: a shared file system shows the journal's last bytes this late */
	int64_t silent_ms; /* a runner writes more often than this: one that was silent for so long is not at work */
	int64_t give_up_ms; /* a runner that was silent for so long while the backend called it running is given up */
	int64_t accounting_lag_ms; /* after END: accounting may know better why it ended */
	int64_t doubt_ms; /* between two lookups that do not find it, before it will not appear any more */
	int64_t cancel_again_ms; /* a stop that had no effect is repeated */
};

enum attempt_action {
	ATTEMPT_WAIT, /* and decide again at the next turn */
	ATTEMPT_LOOK, /* look for the claim, add the event, and decide again; at the next turn where it stays unknown */
	ATTEMPT_GIVE_AGAIN, /* no runner has it: hand it over again under the same token */
	ATTEMPT_GIVE_UP, /* it is silent: write its stop file, add the event, and have the backend end it */
	ATTEMPT_COLLECT, /* it will end without END: first have the rest of its metrics read, and hear of that */
	ATTEMPT_END,
};

/* Texts live as long as the facts do, or are constants. */
struct attempt_verdict {
	enum attempt_action action;
	bool poll; /* WAIT: for the backend, which should be asked soon */
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
/* Has it missed its beats? */
bool attempt_is_silent(const struct attempt_facts *facts, const struct attempt_pace *pace);
/* Is the backend to be told (again) to end it? */
bool attempt_needs_cancel(const struct attempt_facts *facts, const struct attempt_pace *pace, int64_t now_ms);
/* Its exit code (-1: unknown) and signal (0: none) by the source that is believed first. */
const struct attempt_end *attempt_end_of(const struct attempt_facts *facts);
void attempt_facts_clear(struct attempt_facts *facts);

#endif
