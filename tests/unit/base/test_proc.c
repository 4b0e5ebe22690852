/* Child processes: output and its limit, input, timeouts, detached children, who a pid is. */
#include "base/num.h"
#include "base/proc.h"

#include "../unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct proc_result run(struct proc_spec spec)
{
	struct proc_result result = {0};
	struct error err = {0};
	if (proc_run(&spec, &result, &err) < 0)
		fail_msg("%s", err.text);
	return result;
}

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static void output_and_status_come_back(void **state)
{
	(void)state;
	struct proc_result r = run((struct proc_spec){.argv = ARGV("sh", "-c", "echo out; echo err >&2; exit 3")});
	assert_int_equal(r.exit_code, 3);
	assert_int_equal(r.signal, 0);
	assert_string_equal(buf_text(&r.out), "out\n");
	assert_string_equal(buf_text(&r.err), "err\n");
	assert_false(r.timed_out || r.overflow);
	proc_result_free(&r);

	r = run((struct proc_spec){.argv = ARGV("sh", "-c", "kill -9 $$")});
	assert_int_equal(r.exit_code, -1);
	assert_int_equal(r.signal, SIGKILL);
	proc_result_free(&r);
}

static void arguments_reach_the_child_untouched(void **state)
{
	(void)state;
	const char *odd = "a b;$(touch canary)`x`'\"\n*";
	struct proc_result r = run((struct proc_spec){.argv = ARGV("printf", "%s", odd)});
	assert_string_equal(buf_text(&r.out), odd);
	proc_result_free(&r);
}

static void environment_and_folder(void **state)
{
	setenv("SLUICE_UNIT_KEPT", "kept", 1);
	setenv("SLUICE_UNIT", "old", 1);
	struct proc_result r = run((struct proc_spec){
		.argv = ARGV("sh", "-c",
			     "echo $SLUICE_UNIT $SLUICE_UNIT_KEPT $SLUICE_UNIT_X; env | grep -c ^SLUICE_UNIT=; pwd"),
		.env = ARGV("SLUICE_UNIT=new", "SLUICE_UNIT_X=x"),
		.cwd = *state,
	});
	char *real = realpath(*state, NULL), *expected = mem_printf("new kept x\n1\n%s\n", real);
	assert_string_equal(buf_text(&r.out), expected);
	free(real);
	free(expected);
	proc_result_free(&r);
}

static void input_is_written_and_closed(void **state)
{
	(void)state;
	char *big = mem_alloc(1000001);
	memset(big, 'x', 1000000);
	struct proc_result r = run((struct proc_spec){.argv = ARGV("wc", "-c"), .input = big, .input_len = 1000000});
	assert_string_equal(buf_text(&r.out), "1000000\n");
	proc_result_free(&r);
	r = run((struct proc_spec){.argv = ARGV("true"), .input = big, .input_len = 1000000}); /* never reads it */
	assert_int_equal(r.exit_code, 0);
	proc_result_free(&r);
	r = run((struct proc_spec){.argv = ARGV("sh", "-c", "kill -PIPE $$")}); /* children keep the default */
	assert_int_equal(r.signal, SIGPIPE);
	proc_result_free(&r);
	r = run((struct proc_spec){.argv = ARGV("cat")}); /* /dev/null */
	assert_int_equal(r.out.len, 0);
	proc_result_free(&r);
	free(big);
}

static void output_is_capped(void **state)
{
	(void)state;
	struct proc_result r = run((struct proc_spec){
		.argv = ARGV("sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; echo e >&2"), .output_max = 100000});
	assert_true(r.overflow);
	assert_true(r.out.len <= 100000);
	assert_int_equal(r.exit_code, 0);
	assert_string_equal(buf_text(&r.err), "e\n");
	proc_result_free(&r);
}

/* A shell that hangs after it has said a line. On a busy machine it may not come as far in the time it has: then it gets
 * more. */
static struct proc_result run_until_it_hangs(const char *line)
{
	for (int ms = 300;; ms *= 4) {
		struct proc_result r = run((struct proc_spec){.argv = ARGV("sh", "-c", line), .timeout_ms = ms});
		assert_true(r.timed_out);
		assert_int_equal(r.signal, SIGKILL);
		if (r.out.len || ms > 60000)
			return r;
		proc_result_free(&r);
	}
}

static void child_that_hangs_is_killed(void **state)
{
	(void)state;
	struct proc_result r = run_until_it_hangs("echo begun; exec sleep 1000");
	assert_string_equal(buf_text(&r.out), "begun\n");
	proc_result_free(&r);
}

static void grandchild_holding_the_pipe_does_not_hang_us(void **state)
{
	(void)state;
	struct proc_result r = run_until_it_hangs("sleep 1000 & echo $!; wait");
	uint64_t left;
	assert_int_equal(num_parse_unsigned(buf_text(&r.out), strcspn(buf_text(&r.out), "\n"), 1u << 30, &left), 0);
	kill((pid_t)left, SIGKILL);
	proc_result_free(&r);
}

static void missing_program_is_an_error(void **state)
{
	(void)state;
	struct proc_spec spec = {.argv = ARGV("/nonexistent/program")};
	struct proc_result result = {0};
	struct error err = {0};
	assert_int_equal(proc_run(&spec, &result, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/program"));
	proc_result_free(&result);
}

static void count_done_cb(void *ctx, const struct proc_result *result)
{
	int *kills = ctx;
	*kills += result->signal == SIGKILL;
}

static void killed_child_is_over_although_its_child_holds_the_pipe(void **state)
{
	(void)state;
	char path[] = "/tmp/sl-proc-XXXXXX", *line;
	int fd = mkstemp(path), kills = 0;
	uv_loop_t loop;
	struct proc *proc;
	struct buf text = buf_make(100);
	uint64_t left;
	assert_true(fd >= 0);
	close(fd);
	line = mem_printf("sleep 1000 & echo $! >%s; wait", path);
	uv_loop_init(&loop);
	struct proc_spec spec = {.argv = ARGV("sh", "-c", line)};
	assert_int_equal(proc_start(&loop, &spec, count_done_cb, &kills, &proc, NULL), 0);
	while (!strchr(buf_text(&text), '\n')) {
		usleep(1000);
		buf_clear(&text);
		assert_int_equal(fs_read(path, 100, &text, NULL), 0);
	}
	proc_kill(proc);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(kills, 1);
	assert_int_equal(num_parse_unsigned(buf_text(&text), strcspn(buf_text(&text), "\n"), 1u << 30, &left), 0);
	assert_int_equal(kill((pid_t)left, SIGKILL), 0);
	assert_int_equal(uv_loop_close(&loop), 0);
	unlink(path);
	buf_free(&text);
	free(line);
}

static void kill_ends_it_and_still_reports(void **state)
{
	(void)state;
	uv_loop_t loop;
	uv_loop_init(&loop);
	int kills = 0;
	struct proc *proc[20];
	struct error err;
	for (int i = 0; i < 20; i++) {
		struct proc_spec spec = {.argv = ARGV("sleep", "1000")};
		assert_int_equal(proc_start(&loop, &spec, count_done_cb, &kills, &proc[i], &err), 0);
	}
	for (int i = 0; i < 20; i++)
		proc_kill(proc[i]);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(kills, 20);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static void wait_ended(pid_t pid, int *ret_code, int *ret_signal)
{
	while (!proc_ended(pid, ret_code, ret_signal))
		usleep(1000);
}

static void detached_child_has_its_own_session(void **state)
{
	char *log = mem_printf("%s/log", (char *)*state);
	struct error err;
	pid_t pid;
	int code = 0, number = 0;
	struct buf out = buf_make(1000);
	int rc = proc_detach(ARGV("sh", "-c", "cut -d' ' -f6 /proc/$$/stat; echo $X >&2; pwd; read line; exit 4"),
			     ARGV("X=env"), *state, log, &pid, &err);
	assert_int_equal(rc, 0);
	wait_ended(pid, &code, &number);
	assert_int_equal(code, 4);
	assert_int_equal(number, 0);
	assert_int_equal(fs_read(log, 1000, &out, &err), 0);
	char *expected = mem_printf("%ld\nenv\n%s\n", (long)pid, (char *)*state);
	assert_string_equal(buf_text(&out), expected);
	free(expected);
	buf_free(&out);
	free(log);
}

/* What we ignore or block would be ignored or blocked in a script for ever. */
static void detached_child_has_no_signal_of_ours(void **state)
{
	char *log = mem_printf("%s/log", (char *)*state);
	struct error err;
	struct buf out = buf_make(1000);
	sigset_t blocked, before;
	pid_t pid;
	int code = 0, number = 0;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	void (*was)(int) = signal(SIGUSR1, SIG_IGN);
	int rc = proc_detach(ARGV("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"), NULL, NULL, log, &pid, &err);
	signal(SIGUSR1, was);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_int_equal(rc, 0);
	wait_ended(pid, &code, &number);
	assert_int_equal(code, 0);
	assert_int_equal(fs_read(log, 1000, &out, &err), 0);
	/* The two that the C library keeps for itself (32 and 33) are left of the last seven digits. */
	const char *ignored = strstr(buf_text(&out), "SigIgn:\t");
	assert_non_null(ignored);
	assert_non_null(strstr(buf_text(&out), "SigBlk:\t0000000000000000\n"));
	assert_memory_equal(ignored + strlen("SigIgn:\t012345678"), "0000000\n", 8);
	buf_free(&out);
	free(log);
}

static void detached_child_is_asked_whether_it_ended(void **state)
{
	(void)state;
	struct error err;
	pid_t pid;
	int code = 0, number = 0;
	assert_int_equal(proc_detach(ARGV("sleep", "1000"), NULL, NULL, NULL, &pid, &err), 0);
	assert_false(proc_ended(pid, &code, &number));
	kill(pid, SIGKILL);
	wait_ended(pid, &code, &number);
	assert_int_equal(code, -1);
	assert_int_equal(number, SIGKILL);
	assert_int_equal(proc_detach(ARGV("/no/such/program"), NULL, NULL, NULL, &pid, &err), -ENOENT);
	assert_string_equal(err.text, "/no/such/program: No such file or directory");
	assert_int_equal(proc_detach(ARGV("true"), NULL, NULL, "/no/such/log", &pid, &err), -ENOENT);
}

static void pid_is_told_by_its_start(void **state)
{
	(void)state;
	uint64_t mine, again, init;
	assert_int_equal(proc_start_time(getpid(), &mine), 0);
	assert_int_equal(proc_start_time(getpid(), &again), 0);
	assert_true(mine == again);
	assert_int_equal(proc_start_time(1, &init), 0);
	assert_true(init <= mine);
	pid_t zombie = fork();
	if (zombie == 0)
		_exit(0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_start_time(zombie, &init), -ESRCH);
	assert_int_equal(waitid(P_PID, (id_t)zombie, &info, WEXITED), 0);
	assert_int_equal(proc_start_time(zombie, &init), -ESRCH);
	assert_int_equal(strlen(proc_boot_id()), 36);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_and_status_come_back),
		cmocka_unit_test(arguments_reach_the_child_untouched),
		unit_test_in_folder(environment_and_folder),
		cmocka_unit_test(input_is_written_and_closed),
		cmocka_unit_test(output_is_capped),
		cmocka_unit_test(child_that_hangs_is_killed),
		cmocka_unit_test(grandchild_holding_the_pipe_does_not_hang_us),
		cmocka_unit_test(missing_program_is_an_error),
		cmocka_unit_test(killed_child_is_over_although_its_child_holds_the_pipe),
		cmocka_unit_test(kill_ends_it_and_still_reports),
		unit_test_in_folder(detached_child_has_its_own_session),
		unit_test_in_folder(detached_child_has_no_signal_of_ours),
		cmocka_unit_test(detached_child_is_asked_whether_it_ended),
		cmocka_unit_test(pid_is_told_by_its_start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
