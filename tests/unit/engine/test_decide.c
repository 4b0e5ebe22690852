/* What becomes of an attempt: one row a case, over what its journal says, what the backend says, what is wanted,
 * whether a runner claimed it, and how long everything has been silent. No store, no clock, no cluster. */
#include "engine/decide.h"
#include "../unit.h"
#include "decide_rows.h"

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

/* A script was killed; then a controller that had forgotten the end of its job was told to cancel that. */
static void test_a_cancel_explains_no_other_signal_than_its_own(void **state)
{
	(void)state;
	static const struct {
		int signal;
		const char *found, *cause;
	} ends[] = {
		{9, "cancelled", "signal"}, {11, "cancelled", "signal"},   {15, "cancelled", "cancelled"},
		{9, "memory", "memory"},    {9, "preempted", "preempted"},
	};
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		struct attempt_facts f = {.traits = traits[SLURM]};
		struct attempt_end told = end_with("signal"), found = end_with(ends[i].found);
		told.signal = ends[i].signal;
		attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_START});
		attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_END, .at_ms = 1000, .end = &told});
		attempt_update(&f, &(struct attempt_event){.kind = ATTEMPT_EVENT_GONE, .at_ms = 2000, .end = &found});
		struct attempt_verdict v = decide(&f, 3000);
		assert_int_equal(v.action, ATTEMPT_END);
		assert_string_equal(cause_name(v.cause), ends[i].cause);
		attempt_facts_clear(&f);
	}
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
		cmocka_unit_test(test_a_cancel_explains_no_other_signal_than_its_own),
		cmocka_unit_test(test_what_is_given_up_is_cancelled_until_it_is_gone),
		cmocka_unit_test(test_the_first_word_about_an_end_counts),
		cmocka_unit_test(test_being_found_again_ends_an_absence),
		cmocka_unit_test(test_a_stop_is_repeated_until_it_is_heard),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
