/* How long a runner waits before it gives up, and what it says then. The clock is stepped; each wait still takes the second
 * in which a signal may come. */
#include "../unit.h"

#include "base/clock.h"
#include "base/pace.h"
#include "node/room.h"
#include "spool/status.h"

#include <errno.h>
#include <signal.h>

static int64_t now_ms;

static int64_t read_clock(void)
{
	return now_ms;
}

static const struct error failed = {.text = "a step failed"};

static void test_each_reason_has_its_status_words_and_time(void **state)
{
	static const struct {
		int error, status;
		int64_t patience_ms;
		const char *word;
	} rows[] = {
		{ENOSPC, SPOOL_STATUS_FULL, EXEC_ROOM_MS, "full"},
		{EDQUOT, SPOOL_STATUS_QUOTA, EXEC_ROOM_MS, "quota"},
		{ESTALE, SPOOL_STATUS_STALE, EXEC_AWAY_MS, "not available"},
		{EIO, SPOOL_STATUS_INPUT, EXEC_AWAY_MS, "errors"},
		{ENOENT, SPOOL_STATUS_UNSEEN, EXEC_UNSEEN_MS, "not visible"},
		{EROFS, SPOOL_STATUS_DENIED, EXEC_UNSEEN_MS, "may not write"},
		{EMFILE, SPOOL_STATUS_CROWDED, EXEC_AWAY_MS, "no files"},
		{EINVAL, SPOOL_STATUS_FAILED, 0, NULL},
		{EEXIST, SPOOL_STATUS_FAILED, 0, NULL},
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *text = spool_status_text(rows[i].status);
		assert_int_equal(spool_status_of(-rows[i].error), rows[i].status);
		assert_int_equal(spool_status_patience_ms(rows[i].status), rows[i].patience_ms);
		if (rows[i].word)
			assert_non_null(strstr(text, rows[i].word));
		else
			assert_null(text);
	}
	assert_null(spool_status_text(0));
	assert_null(spool_status_text(-1));
}

static void test_a_full_disk_is_waited_for_until_its_time_is_over(void **state)
{
	struct room room = {0};
	(void)state;
	now_ms = 1000000;
	clock_replace(read_clock);
	assert_true(room_wait(&room, -ENOSPC, &failed));
	now_ms += EXEC_ROOM_MS - 1;
	assert_true(room_wait(&room, -ENOSPC, &failed));
	now_ms += 1;
	assert_false(room_wait(&room, -ENOSPC, &failed));
	assert_int_equal(room_status(&room, -ENOSPC), SPOOL_STATUS_FULL);
	clock_replace(NULL);
}

static void test_what_does_not_pass_is_not_waited_for(void **state)
{
	struct room room = {0};
	(void)state;
	assert_false(room_wait(&room, -EINVAL, &failed));
	assert_int_equal(room_status(&room, -EINVAL), SPOOL_STATUS_FAILED);
}

static void test_a_signal_ends_the_wait(void **state)
{
	struct room room = {0};
	sigset_t set;
	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	assert_int_equal(raise(SIGTERM), 0);
	assert_false(room_wait(&room, -ESTALE, &failed));
	assert_int_equal(room_status(&room, -ESTALE), 128 + SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_reason_has_its_status_words_and_time),
		cmocka_unit_test(test_a_full_disk_is_waited_for_until_its_time_is_over),
		cmocka_unit_test(test_what_does_not_pass_is_not_waited_for),
		cmocka_unit_test(test_a_signal_ends_the_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
