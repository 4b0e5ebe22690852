/* One daemon a state folder, for as long as it lives and no longer. */
#include "http/lease.h"
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* A daemon that has the lease and a child that has not become another program yet. */
struct holder {
	pid_t pid, child;
};

static void hold(const char *folder, int told)
{
	if (lease_take(folder, NULL) < 0)
		_exit(1);
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	if (write(told, &child, sizeof(child)) != sizeof(child))
		_exit(1);
	pause();
	_exit(0);
}

static struct holder start_holder(const char *folder)
{
	int ends[2];
	struct holder holder;
	assert_int_equal(pipe(ends), 0);
	holder.pid = fork();
	if (holder.pid == 0)
		hold(folder, ends[1]);
	close(ends[1]);
	assert_int_equal(read(ends[0], &holder.child, sizeof(holder.child)), sizeof(holder.child));
	close(ends[0]);
	return holder;
}

static void test_held_lease_names_its_holder(void **state)
{
	struct holder holder = start_holder(*state);
	struct error err = {0};
	char process[32];
	snprintf(process, sizeof(process), "process %ld on", (long)holder.pid);
	assert_int_equal(lease_take(*state, &err), -EBUSY);
	assert_non_null(strstr(err.text, process));
	kill(holder.child, SIGKILL);
	kill(holder.pid, SIGKILL);
	waitpid(holder.pid, NULL, 0);
}

static void test_killed_daemon_leaves_nothing_to_its_children(void **state)
{
	struct holder holder = start_holder(*state);
	kill(holder.pid, SIGKILL);
	waitpid(holder.pid, NULL, 0);
	int fd = lease_take(*state, NULL);
	kill(holder.child, SIGKILL);
	assert_true(fd >= 0);
	lease_give(fd);
}

static void test_given_lease_can_be_taken(void **state)
{
	int fd = lease_take(*state, NULL);
	assert_true(fd >= 0);
	lease_give(fd);
	struct holder holder = start_holder(*state);
	assert_int_equal(lease_take(*state, NULL), -EBUSY);
	kill(holder.child, SIGKILL);
	kill(holder.pid, SIGKILL);
	waitpid(holder.pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		unit_test_in_folder(test_held_lease_names_its_holder),
		unit_test_in_folder(test_killed_daemon_leaves_nothing_to_its_children),
		unit_test_in_folder(test_given_lease_can_be_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
