/* How an end is told: one row a case. */
#include "../unit.h"

#include "node/outcome.h"

#include <errno.h>
#include <math.h>
#include <signal.h>

#define EXIT(code) ((code) << 8)

static const struct row {
	const char *what;
	struct outcome_facts facts;
	enum cause cause;
	const char *message;
} rows[] = {
	{"well", {.status = EXIT(0)}, CAUSE_OK, "finished"},
	{"exit code", {.status = EXIT(3)}, CAUSE_EXIT, "exit code 3, and it printed nothing"},
	{"exit code and words",
	 {.status = EXIT(1), .errors = "Traceback (most recent call last):\n  File \"a\"\nValueError: no data\n"},
	 CAUSE_EXIT,
	 "ValueError: no data"},
	{"exit code and a print",
	 {.status = EXIT(3), .errors = "", .output = "epoch 1\n"},
	 CAUSE_EXIT,
	 "exit code 3; the last line that it printed: epoch 1"},
	{"no room for its words",
	 {.status = EXIT(120), .unwritable = -ENOSPC},
	 CAUSE_EXIT,
	 "exit code 120, and it printed nothing; nothing can be written to its folder: No space left on device"},
	{"no room, in its own words",
	 {.status = EXIT(1), .unwritable = -ENOSPC, .errors = "OSError: [Errno 28] No space left on device\n"},
	 CAUSE_EXIT,
	 "OSError: [Errno 28] No space left on device"},
	{"out of GPU memory alone",
	 {.status = EXIT(1), .errors = "RuntimeError: CUDA out of memory\n"},
	 CAUSE_EXIT,
	 "RuntimeError: CUDA out of memory"},
	{"out of GPU memory beside others",
	 {.status = EXIT(1), .shared = true, .errors = "RuntimeError: CUDA out of memory\n"},
	 CAUSE_SHARED,
	 "failed on a GPU that it shared: RuntimeError: CUDA out of memory"},
	{"an error of its own beside others",
	 {.status = EXIT(1), .shared = true, .errors = "ValueError: no data\n"},
	 CAUSE_EXIT,
	 "ValueError: no data"},
	{"no progress",
	 {.status = SIGTERM, .stopped = CAUSE_STALLED, .stalled = "no metrics for 3 m 00 s"},
	 CAUSE_STALLED,
	 "ended because it made no progress: no metrics for 3 m 00 s"},
	{"a signal", {.status = SIGSEGV, .peak_bytes = 1 << 20}, CAUSE_SIGNAL, "signal 11 (Segmentation fault)"},
	{"killed, and the kernel counted it",
	 {.status = SIGKILL, .killed_for_memory = true},
	 CAUSE_MEMORY,
	 "ended by the kernel: out of memory"},
	{"killed, and nothing was counted",
	 {.status = SIGKILL, .peak_bytes = 11 << 20},
	 CAUSE_SIGNAL,
	 "signal 9 (Killed), and the kernel did not say why: perhaps the machine ran out of memory (the most that was measured is 11 MB), or a person, an "
	 "administrator's rule or the script itself ended it"},
	{"killed before anything was measured",
	 {.status = SIGKILL, .peak_bytes = NAN},
	 CAUSE_SIGNAL,
	 "signal 9 (Killed), and the kernel did not say why: perhaps the machine ran out of memory, or a person, an "
	 "administrator's rule or the script itself ended it"},
	{"a shell tells of a kill that the kernel counted",
	 {.status = EXIT(137), .killed_for_memory = true},
	 CAUSE_MEMORY,
	 "a process of the script was ended by the kernel: out of memory"},
	/* A signal, so that accounting is asked. */
	{"a shell tells of a kill",
	 {.status = EXIT(137), .peak_bytes = 3 << 20},
	 CAUSE_SIGNAL,
	 "exit code 137: the script ended so by itself, or a shell says by it that signal 9 (Killed) ended a process, and the kernel did not say why: perhaps the machine ran out of memory "
	 "(the most that was measured is 3.0 MB)"},
	{"asks to be continued", {.status = EXIT(85)}, CAUSE_TIME, "asked to be continued (exit code 85)"},
	{"told to save, ended well",
	 {.status = EXIT(0), .told_to_save = true},
	 CAUSE_TIME,
	 "its time limit was near: told to save, it ended with exit code 0; to be continued"},
	{"told to save, ended badly",
	 {.status = EXIT(1), .told_to_save = true},
	 CAUSE_TIME,
	 "its time limit was near: told to save, it ended with exit code 1; to be continued"},
	{"told to save, did not know the signal",
	 {.status = SIGUSR1, .told_to_save = true},
	 CAUSE_TIME,
	 "its time limit was near: told to save, it ended by signal 10 (User defined signal 1); to be continued"},
	{"told to save, ran out of memory",
	 {.status = SIGKILL, .told_to_save = true, .killed_for_memory = true},
	 CAUSE_MEMORY,
	 "ended by the kernel: out of memory"},
	{"told to save as it was stopped",
	 {.status = EXIT(0), .told_to_save = true, .stopped = CAUSE_STOPPED},
	 CAUSE_STOPPED,
	 "stopped"},
	{"we killed it",
	 {.status = SIGKILL, .stopped = CAUSE_STOPPED, .killed_for_memory = true},
	 CAUSE_STOPPED,
	 "stopped"},
	{"our limit",
	 {.status = EXIT(0), .stopped = CAUSE_TIME, .limit_ms = 90000},
	 CAUSE_TIME,
	 "its time limit of 1 m 30 s was reached"},
};

static void test_every_end_has_its_cause_and_its_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome o;
		outcome_decide(&rows[i].facts, &o);
		if (o.cause != rows[i].cause || strcmp(o.message, rows[i].message) != 0)
			fail_msg("%s: %s, %s", rows[i].what, cause_name(o.cause), o.message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_end_has_its_cause_and_its_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
