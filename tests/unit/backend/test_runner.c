/* The compute nodes' copy of the program: whole or absent at any moment, never changed afterwards, removed when nobody
 * uses it. */
#include "../unit.h"

#include "backend/runner.h"
#include "base/token.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Enough bytes that a copy takes several writes. */
#define PROGRAM_BYTES (3 << 20)

struct place {
	char *program, *state, *experiment;
	struct runner runner;
};

static char *program_text(char letter)
{
	char *text = mem_alloc(PROGRAM_BYTES + 1);
	memset(text, letter, PROGRAM_BYTES);
	memcpy(text, "#!/bin/sh\nexit 0\n", 17);
	return text;
}

static void write_program(const char *path, char letter)
{
	char *text = program_text(letter);
	assert_int_equal(fs_write(path, text, PROGRAM_BYTES, 0755, false, NULL), 0);
	free(text);
}

static struct place begin(void **state)
{
	const char *folder = *state;
	struct place p = {.program = mem_printf("%s/program", folder),
			  .state = mem_printf("%s/state", folder),
			  .experiment = mem_printf("%s/state/experiments/e1", folder)};
	assert_int_equal(token_init(), 0);
	write_program(p.program, 'a');
	runner_open(p.program, &p.runner);
	assert_int_equal(runner_identify(&p.runner, NULL), 0);
	return p;
}

static void end(struct place *p)
{
	runner_close(&p->runner);
	free(p->program);
	free(p->state);
	free(p->experiment);
}

static struct stat look(const struct place *p, const char *dir)
{
	struct stat st = {0};
	char *path = runner_path(&p->runner, dir);
	if (lstat(path, &st) < 0)
		st = (struct stat){0};
	free(path);
	return st;
}

static bool is_whole(const struct place *p, const char *dir, char letter)
{
	char *path = runner_path(&p->runner, dir), *want = program_text(letter);
	struct buf text = buf_make(PROGRAM_BYTES * 2);
	bool whole = fs_read(path, PROGRAM_BYTES * 2, &text, NULL) == 0 && text.len == PROGRAM_BYTES &&
		memcmp(text.data, want, PROGRAM_BYTES) == 0;
	buf_free(&text);
	free(want);
	free(path);
	return whole;
}

static bool has_part(const struct place *p, const char *dir)
{
	char *path = runner_path(&p->runner, dir), *part = mem_printf("%s.part", path);
	bool there = access(part, F_OK) == 0;
	free(part);
	free(path);
	return there;
}

static void a_copy_is_made_once_and_shared(void **state)
{
	struct place p = begin(state);
	char *second = mem_printf("%s/experiments/e2", p.state);
	mode_t before = umask(0077);
	assert_int_equal(runner_place(&p.runner, p.state, p.experiment, NULL), 0);
	umask(before);
	struct stat first = look(&p, p.experiment);
	assert_true(is_whole(&p, p.experiment, 'a'));
	assert_int_equal(first.st_mode & 07777, 0755);
	assert_int_equal(runner_place(&p.runner, p.state, p.experiment, NULL), 0);
	assert_int_equal(runner_place(&p.runner, p.state, second, NULL), 0);
	assert_int_equal(look(&p, p.experiment).st_ino, first.st_ino);
	assert_int_equal(look(&p, second).st_ino, first.st_ino);
	assert_int_equal(look(&p, second).st_nlink, 3);
	/* It is not the program itself, which others may overwrite. */
	struct stat program;
	assert_int_equal(stat(p.program, &program), 0);
	assert_int_not_equal(program.st_ino, first.st_ino);
	assert_int_equal(program.st_nlink, 1);
	free(second);
	end(&p);
}

static void a_program_replaced_afterwards_changes_nothing(void **state)
{
	struct place p = begin(state);
	assert_int_equal(unlink(p.program), 0);
	write_program(p.program, 'b');
	assert_int_equal(runner_place(&p.runner, p.state, p.experiment, NULL), 0);
	assert_true(is_whole(&p, p.experiment, 'a'));
	end(&p);
}

static void a_program_overwritten_in_place_is_not_taken_for_the_old_one(void **state)
{
	struct place p = begin(state);
	struct error err;
	int fd = open(p.program, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "other", 5, 100), 5);
	close(fd);
	assert_true(runner_place(&p.runner, p.state, p.experiment, &err) < 0);
	assert_non_null(strstr(err.text, "restart the daemon"));
	assert_int_equal(look(&p, p.experiment).st_size, 0);
	assert_false(has_part(&p, p.state));
	end(&p);
}

static void a_version_goes_when_no_experiment_uses_it(void **state)
{
	struct place p = begin(state);
	char *other = mem_printf("%s/experiments/e2", p.state);
	assert_int_equal(runner_place(&p.runner, p.state, p.experiment, NULL), 0);
	struct place next = p;
	assert_int_equal(unlink(p.program), 0);
	write_program(p.program, 'b');
	runner_open(p.program, &next.runner);
	assert_int_equal(runner_identify(&next.runner, NULL), 0);
	assert_string_not_equal(next.runner.name, p.runner.name);
	/* e1 still has jobs that wait for the old one. */
	assert_int_equal(runner_place(&next.runner, next.state, other, NULL), 0);
	assert_true(is_whole(&p, p.experiment, 'a') && is_whole(&p, p.state, 'a') && is_whole(&next, other, 'b'));
	/* e1 is removed; the next new version finds the old one unused. */
	assert_int_equal(fs_remove_tree(p.experiment, NULL), 0);
	struct place third = p;
	assert_int_equal(unlink(p.program), 0);
	write_program(p.program, 'c');
	runner_open(p.program, &third.runner);
	assert_int_equal(runner_identify(&third.runner, NULL), 0);
	assert_int_equal(runner_place(&third.runner, third.state, other, NULL), 0);
	assert_int_equal(look(&p, p.state).st_size, 0);
	assert_true(is_whole(&next, next.state, 'b') && is_whole(&third, third.state, 'c'));
	runner_close(&next.runner);
	runner_close(&third.runner);
	free(other);
	end(&p);
}

/* Killed between the link and the rename, the private name is a link to the copy that everybody uses. */
static void what_a_killed_daemon_left_is_not_written_through(void **state)
{
	struct place p = begin(state);
	assert_int_equal(runner_place(&p.runner, p.state, p.experiment, NULL), 0);
	char *other = mem_printf("%s/experiments/e2", p.state), *path = runner_path(&p.runner, p.state);
	char *part = mem_printf("%s.part", path);
	assert_int_equal(link(path, part), 0);
	assert_int_equal(unlink(path), 0); /* so that the copy is made anew, through that private name */
	assert_int_equal(runner_place(&p.runner, p.state, other, NULL), 0);
	assert_true(is_whole(&p, p.experiment, 'a') && is_whole(&p, other, 'a'));
	assert_int_not_equal(look(&p, p.experiment).st_ino, look(&p, other).st_ino);
	assert_false(has_part(&p, p.state));
	free(part);
	free(path);
	free(other);
	end(&p);
}

static void a_damaged_copy_is_replaced(void **state)
{
	struct place p = begin(state);
	assert_int_equal(runner_place(&p.runner, p.state, p.experiment, NULL), 0);
	char *path = runner_path(&p.runner, p.state);
	assert_int_equal(truncate(path, 100), 0); /* both names */
	assert_int_equal(runner_place(&p.runner, p.state, p.experiment, NULL), 0);
	assert_true(is_whole(&p, p.experiment, 'a') && is_whole(&p, p.state, 'a'));
	free(path);
	end(&p);
}

/* A limit on file sizes cuts the copy short wherever it is put, as a full disk does. */
static void a_full_disk_leaves_nothing_and_says_what_to_do(void **state)
{
	static const rlim_t limits[] = {0, 1, 65536, 1 << 20, PROGRAM_BYTES - 1};
	struct place p = begin(state);
	struct rlimit before;
	struct error err;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		struct rlimit small = {limits[i], before.rlim_max};
		setrlimit(RLIMIT_FSIZE, &small);
		int rc = runner_place(&p.runner, p.state, p.experiment, &err);
		setrlimit(RLIMIT_FSIZE, &before);
		assert_int_equal(rc, -EFBIG);
		assert_non_null(strstr(err.text, "copy of sluice cannot be made"));
		assert_int_equal(look(&p, p.experiment).st_size, 0);
		assert_int_equal(look(&p, p.state).st_size, 0);
		assert_false(has_part(&p, p.state));
	}
	assert_int_equal(runner_place(&p.runner, p.state, p.experiment, NULL), 0);
	assert_true(is_whole(&p, p.experiment, 'a'));
	end(&p);
}

static void killed_at_any_moment_it_is_whole_or_absent(void **state)
{
	struct place p = begin(state);
	unsigned absent = 0, there = 0;
	for (unsigned i = 0; i < 60; i++) {
		assert_int_equal(fs_remove_tree(p.state, NULL), 0);
		pid_t child = fork();
		if (child == 0)
			_exit(runner_place(&p.runner, p.state, p.experiment, NULL) == 0 ? 0 : 1);
		usleep(i * 700);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		bool exists = look(&p, p.experiment).st_size != 0;
		absent += !exists;
		there += exists;
		assert_true(!exists || is_whole(&p, p.experiment, 'a'));
		assert_true(look(&p, p.state).st_size == 0 || is_whole(&p, p.state, 'a'));
		assert_int_equal(runner_place(&p.runner, p.state, p.experiment, NULL), 0);
		assert_true(is_whole(&p, p.experiment, 'a'));
		assert_false(has_part(&p, p.state) || has_part(&p, p.experiment));
	}
	print_message("# %u times absent, %u times there\n", absent, there);
	end(&p);
}

static void a_program_that_cannot_be_read_is_said(void **state)
{
	char *path = mem_printf("%s/nothing", (char *)*state);
	struct runner runner;
	struct error err;
	runner_open(path, &runner);
	assert_int_equal(runner_identify(&runner, &err), -EBADF);
	runner_close(&runner);
	/* A folder opens and cannot be read. */
	runner_open(*state, &runner);
	assert_int_equal(runner_identify(&runner, &err), -EBADF);
	assert_int_equal(runner_identify(&runner, &err), -EBADF);
	runner_close(&runner);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		unit_test_in_folder(a_copy_is_made_once_and_shared),
		unit_test_in_folder(a_program_replaced_afterwards_changes_nothing),
		unit_test_in_folder(a_program_overwritten_in_place_is_not_taken_for_the_old_one),
		unit_test_in_folder(a_version_goes_when_no_experiment_uses_it),
		unit_test_in_folder(what_a_killed_daemon_left_is_not_written_through),
		unit_test_in_folder(a_damaged_copy_is_replaced),
		unit_test_in_folder(a_full_disk_leaves_nothing_and_says_what_to_do),
		unit_test_in_folder(killed_at_any_moment_it_is_whole_or_absent),
		unit_test_in_folder(a_program_that_cannot_be_read_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
