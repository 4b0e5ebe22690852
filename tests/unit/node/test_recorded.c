/* Recorded runs of real scripts (bench/node/alarms), replayed as they were and stretched: no healthy one raises an alarm, and
 * those that hang do. */
#include "../unit.h"

#include "../../../bench/node/replay.h"

#include "base/mem.h"

static const char *const healthy[] = {
	"bursts",
	"even",
	"example",
	"four-processes",
	"idle-validation",
	"loader",
	"long-steps",
	"long-validation",
	"polls-a-service",
	"saves-large-files",
	"short-steps",
	"slow-first-epoch",
	"slower-and-slower",
	"threads",
	"uneven-steps",
	"waits-for-data-first",
};
static const struct {
	const char *name;
	enum stall_kind kind;
} hung[] = {
	{"deadlock", STALL_IDLE},
	{"stopped", STALL_STOPPED},
	{"starving-loader", STALL_IDLE},
	/* Stretched, it does nothing for 13 minutes before its first metrics, which cannot be told from a hang. */
	{"waits-for-data-first", STALL_IDLE},
};

static struct replay replay(const char *name, double stretch)
{
	struct replay got;
	char *path = mem_printf("%s/%s.journal", getenv("RUNS"), name);
	assert_int_equal(replay_journal(path, stretch, &got), 0);
	assert_true(got.rows > 0 && got.samples > 5);
	free(path);
	return got;
}

static void test_no_healthy_run_raises_an_alarm(void **state)
{
	static const double stretches[] = {1, 10, 60};
	size_t alarms = 0, judged = 0, replays = 0;
	(void)state;
	for (size_t i = 0; i < COUNT_OF(healthy); i++)
		for (size_t s = 0; s < COUNT_OF(stretches); s++) {
			if (stretches[s] == 60 && !strcmp(healthy[i], "waits-for-data-first"))
				continue;
			struct replay got = replay(healthy[i], stretches[s]);
			replays++;
			judged += got.judged;
			alarms += got.kind != STALL_NONE;
			if (got.kind != STALL_NONE)
				print_message("# %s, %g times: %s after %lld s\n", healthy[i], stretches[s],
					      stall_kinds[got.kind].word, (long long)got.alarm_ms / 1000);
		}
	print_message("# %zu of %zu replays of healthy runs raise an alarm, in %zu judgements\n", alarms, replays,
		      judged);
	assert_int_equal(alarms, 0);
}

static void test_runs_that_hang_raise_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(hung); i++)
		assert_int_equal(replay(hung[i].name, 60).kind, hung[i].kind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_healthy_run_raises_an_alarm),
		cmocka_unit_test(test_runs_that_hang_raise_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
