/* What the processes of a script use, measured at real ones. */
#include "node/usage.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGES 6000

/* In a child: touches new pages. */
static void touch(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		_exit(1);
	madvise(p, PAGES * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		p[i * page] = 1;
}

static void step(int fd, char c)
{
	if (write(fd, &c, 1) != 1)
		_exit(1);
}

static void await(int fd)
{
	char c;
	if (read(fd, &c, 1) != 1)
		_exit(1);
}

/* A script with a child that lives through a look, and one that does not. */
static void script(int go, int done)
{
	pid_t child = fork();
	if (child == 0) {
		touch();
		step(done, 'a');
		await(go);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	step(done, 'b');
	await(go);
	if ((child = fork()) == 0) {
		touch();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	step(done, 'c');
	await(go);
	_exit(0);
}

static double faults(struct usage *usage, int64_t now_ms)
{
	struct cost cost = {0};
	struct sample sample = {0};
	usage_sample(usage, now_ms, &cost, &sample);
	return sample.host[SAMPLE_HOST_FAULTS];
}

static void what_a_child_used_counts_once(void **state)
{
	struct usage usage = {0};
	int go[2], done[2];
	(void)state;
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(done), 0);
	faults(&usage, 1000);
	pid_t pid = fork();
	if (pid == 0)
		script(go[0], done[1]);
	await(done[0]);
	assert_true(faults(&usage, 2000) >= PAGES); /* the child lives */
	step(go[1], 'a');
	await(done[0]);
	assert_true(faults(&usage, 3000) < PAGES / 2); /* it was waited for */
	step(go[1], 'b');
	await(done[0]);
	assert_true(faults(&usage, 4000) >= PAGES); /* one that was never seen */
	step(go[1], 'c');
	waitpid(pid, NULL, 0);
	usage_free(&usage);
	for (size_t i = 0; i < 2; i++) {
		close(go[i]);
		close(done[i]);
	}
}

/* Children that end while they are looked at: each is waited for between the looks at itself and at its parent, at times. */
static void a_child_that_ends_during_a_look_counts_once(void **state)
{
	struct usage usage = {0};
	struct rusage before, after;
	double counted = 0;
	int done[2];
	char c;
	(void)state;
	getrusage(RUSAGE_CHILDREN, &before);
	assert_int_equal(pipe2(done, O_NONBLOCK), 0);
	faults(&usage, 1000);
	pid_t pid = fork();
	for (int i = 0; pid == 0 && i < 300; i++) {
		pid_t child = fork();
		if (child == 0) {
			touch();
			usleep(1000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	if (pid == 0) {
		step(done[1], 'a');
		_exit(0);
	}
	for (int64_t now_ms = 2000; read(done[0], &c, 1) != 1; now_ms += 1000)
		counted += faults(&usage, now_ms);
	waitpid(pid, NULL, 0);
	getrusage(RUSAGE_CHILDREN, &after);
	assert_true(counted > 0);
	assert_true(counted <= (double)(after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt));
	usage_free(&usage);
	close(done[0]);
	close(done[1]);
}

static void a_process_that_ends_has_no_memory_of_0_bytes(void **state)
{
	struct usage usage = {0};
	struct cost cost = {0};
	struct sample sample = {0};
	siginfo_t ended;
	(void)state;
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	usage_sample(&usage, 1000, &cost, &sample);
	assert_true(isnan(sample.host[SAMPLE_HOST_MEMORY]));
	waitpid(pid, NULL, 0);
	usage_free(&usage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_child_used_counts_once),
					   cmocka_unit_test(a_child_that_ends_during_a_look_counts_once),
					   cmocka_unit_test(a_process_that_ends_has_no_memory_of_0_bytes)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
