/* Someone sets the clock while experiments are open: nothing that waits, is limited or is measured may change. */
#include "stepped.h"

#include "base/clock.h"

#include <math.h>

#define HOUR (3600 * (int64_t)SECOND)
#define DAY (24 * HOUR)

static const int64_t jumps[] = {2 * HOUR, -HOUR, -DAY, 400 * DAY};

static double elapsed_s(struct fixture *f, int64_t id)
{
	struct node *e = read_experiment(f, id);
	const struct node *s = node_get(task_at(e, 0), "elapsed_s");
	double value = node_is_number(s) ? s->real : NAN;
	node_free(e);
	return value;
}

/* Returns how long the task took, over both attempts. By all clocks: of a node whose clock was not set, of one whose clock was, and after a restart of the daemon. */
static double run_through(struct fixture *f, int64_t jump, int64_t node_jump, bool restart)
{
	int64_t id = submit_one(f, "script: run.sh\nparameters: {x: 1}\nstop: {wall: 30m}\nretry: {lost: 1}\n");
	runner_start(f);
	pass(f, 10 * SECOND);
	clock_jump(jump);
	if (restart)
		reopen(f);
	pass(f, 10 * SECOND);
	assert_task(f, id, "running", 1, NULL); /* `stop: {wall}` is far away */
	assert_int_equal(cancels(), 0);
	double now = elapsed_s(f, id);
	assert_true(now >= 19 && now <= 25);
	/* A retry waits for a second, and for no longer. */
	lose(f, CAUSE_EXIT);
	assert_int_equal(submits(), 2);
	struct cost cost = {0};
	cost_set(&cost, FIGURE_WALL, 20 * SECOND);
	runner_claim(f);
	runner_write_at(f, (struct journal_record){.kind = JOURNAL_START, .host = "node1", .version = SLUICE_VERSION},
			scripted_now() + node_jump);
	pass(f, 20 * SECOND);
	runner_write_at(f, (struct journal_record){.kind = JOURNAL_END, .cause = CAUSE_OK, .cost = cost},
			scripted_now() + node_jump);
	pass(f, 2 * SECOND);
	assert_task(f, id, "finished", 2, NULL);
	return elapsed_s(f, id);
}

static double run_anew(int64_t jump, int64_t node_jump, bool restart)
{
	void *fixture = NULL;
	begin(&fixture);
	double elapsed = run_through(fixture, jump, node_jump, restart);
	finish(&fixture);
	return elapsed;
}

static void test_no_jump_of_the_clock_changes_anything(void **state)
{
	(void)state;
	double expected = run_anew(0, 0, false);
	for (size_t i = 0; i < COUNT_OF(jumps); i++)
		for (int how = 0; how < 4; how++) {
			double elapsed = run_anew(jumps[i], how & 1 ? jumps[i] : 0, how & 2);
			assert_true(fabs(elapsed - expected) <= 2); /* a turn */
		}
}

/* The limit itself still holds. */
static void test_a_wall_limit_holds_whatever_the_clock_says(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, "script: run.sh\nparameters: {x: 1}\nstop: {wall: 30m}\n");
	runner_start(f);
	pass(f, 10 * SECOND);
	clock_jump(-DAY);
	for (int i = 0; i < 31; i++)
		pass(f, 60 * SECOND);
	assert_true(cancels() > 0);
	runner_end(f, CAUSE_STOPPED, 0, 0);
	pass(f, 2 * SECOND);
	assert_task(f, id, "stopped", 1, NULL);
}

/* With nothing open the new time is the right one. */
static void test_the_clock_is_taken_over_when_nothing_is_open(void **state)
{
	struct fixture *f = *state;
	int64_t first = submit_one(f, one);
	int64_t before = clock_now_ms();
	clock_jump(2 * HOUR);
	assert_true(clock_now_ms() == before);
	runner_start(f);
	runner_end(f, CAUSE_OK, 0, 0);
	pass(f, 2 * SECOND);
	assert_task(f, first, "finished", 1, NULL);
	submit_one(f, one);
	assert_true(clock_now_ms() >= before + 2 * HOUR);
}

/* A daemon of another boot has only the system's clock; a pause is not a day long for that. */
static void test_a_retry_from_before_a_reboot_does_not_wait_for_a_day(void **state)
{
	struct fixture *f = *state;
	int64_t id = submit_one(f, one);
	runner_start(f);
	pass(f, 2 * SECOND);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_ENDED, .cause = CAUSE_EXIT});
	while (f->engine->live.len)
		pass(f, SECOND);
	close_engine(f);
	char *path = mem_printf("%s/clock", f->dir);
	assert_int_equal(unlink(path), 0);
	free(path);
	clock_jump(-DAY);
	scripted_say(&scripted_cluster, (struct scripted_sight){.state = BACKEND_RUNNING});
	open_engine(f);
	pass(f, 5 * SECOND);
	assert_task(f, id, "submitted", 2, NULL);
}

#define T(test) cmocka_unit_test_setup_teardown(test, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_jump_of_the_clock_changes_anything),
		T(test_a_wall_limit_holds_whatever_the_clock_says),
		T(test_the_clock_is_taken_over_when_nothing_is_open),
		T(test_a_retry_from_before_a_reboot_does_not_wait_for_a_day),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
