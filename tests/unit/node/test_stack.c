/* The stack of a process that waits, by the real py-spy and gdb where they are installed and may look. */
#include "../unit.h"

#include "base/clock.h"
#include "base/fs.h"
#include "node/stack.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 120000

static pid_t start(const char *const *argv)
{
	pid_t pid = fork();
	if (pid == 0) {
		execvp(argv[0], (char **)argv);
		_exit(127);
	}
	return pid;
}

/* It has come to its end of work: asleep in every look for a while. */
static void wait_until_it_sleeps(pid_t pid)
{
	char path[64], state = 0;
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	int64_t until = clock_mono_ms() + PATIENCE_MS;
	for (int seen = 0; seen < 20 && clock_mono_ms() < until; usleep(20000)) {
		struct buf text = buf_make(4096);
		assert_int_equal(fs_read(path, 4096, &text, NULL), 0);
		state = strrchr(buf_text(&text), ')')[2];
		seen = state == 'S' ? seen + 1 : 0;
		buf_free(&text);
	}
	assert_int_equal(state, 'S');
}

/* What is found of the process by programs in the folders; false and a message where there are none, or they may not look. */
static bool look(pid_t pid, const char *search, const char *what, struct buf *out)
{
	char file[] = "/tmp/sluice-stack-XXXXXX";
	struct stack stack = {0};
	int status, fd = mkstemp(file);
	assert_true(fd >= 0);
	close(fd);
	bool there = stack_start(&stack, pid, search, file, clock_mono_ms());
	if (!there) {
		print_message("# left out: %s is not installed\n", what);
		unlink(file);
		return false;
	}
	assert_int_equal(waitpid(stack.pid, &status, 0), stack.pid);
	struct buf text = buf_make(1 << 20);
	assert_int_equal(fs_read(file, 1 << 20, &text, NULL), 0);
	bool refused = strstr(buf_text(&text), "not permitted") || strstr(buf_text(&text), "Permission denied");
	bool found = stack_ended(&stack, file, out);
	if (!found && !refused)
		fail_msg("%s found nothing: %s", what, buf_text(&text));
	if (!found)
		print_message("# left out: %s may not look into a process here\n", what);
	buf_free(&text);
	unlink(file);
	return found;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_py_spy_names_the_line_of_a_script(void **state)
{
	static const char *const argv[] = {
		"python3", "-c", "import time\ndef waits_for_ever():\n    time.sleep(1000)\nwaits_for_ever()\n", NULL};
	(void)state;
	struct buf out = buf_make(BUF_UNLIMITED);
	/* Only where py-spy is: gdb may be beside Python's own programs. */
	const char *folder = getenv("PY_SPY_DIR");
	pid_t pid = start(argv);
	wait_until_it_sleeps(pid);
	if (look(pid, folder ? folder : getenv("PATH"), "py-spy", &out) && strstr(buf_text(&out), "by py-spy"))
		assert_non_null(strstr(buf_text(&out), "waits_for_ever (<string>:3)"));
	end(pid);
	buf_free(&out);
}

/* gdb sees the interpreter, not the script: the user learns what to install. */
static void test_gdb_says_that_it_does_not_know_the_lines_of_a_script(void **state)
{
	static const char *const argv[] = {"python3", "-c", "import time; time.sleep(1000)", NULL};
	(void)state;
	struct buf out = buf_make(BUF_UNLIMITED);
	pid_t pid = start(argv);
	wait_until_it_sleeps(pid);
	if (look(pid, "/usr/bin", "gdb", &out) && !strstr(buf_text(&out), "by py-spy"))
		assert_non_null(strstr(buf_text(&out), "stack by gdb (py-spy in the script's PATH would name"));
	end(pid);
	buf_free(&out);
}

static void test_gdb_names_the_function_of_a_program(void **state)
{
	static const char *const argv[] = {"sleep", "1000", NULL};
	(void)state;
	struct buf out = buf_make(BUF_UNLIMITED);
	pid_t pid = start(argv);
	wait_until_it_sleeps(pid);
	if (look(pid, getenv("PATH"), "gdb", &out)) {
		assert_non_null(strstr(buf_text(&out), "stack by gdb: "));
		assert_non_null(strstr(buf_text(&out), "nanosleep"));
	}
	end(pid);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_py_spy_names_the_line_of_a_script),
		cmocka_unit_test(test_gdb_names_the_function_of_a_program),
		cmocka_unit_test(test_gdb_says_that_it_does_not_know_the_lines_of_a_script),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
