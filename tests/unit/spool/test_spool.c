/* What the daemon writes for the runner is what the runner reads; what is broken is refused with a reason. */
#include "../unit.h"

#include "base/fs.h"
#include "spool/batch.h"
#include "spool/claim.h"
#include "spool/descriptor.h"
#include "spool/interpreter.h"
#include "spool/logtimes.h"
#include "spool/paths.h"
#include "spool/slot.h"
#include "spool/stop.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct node *parse(const char *text)
{
	struct node *tree;
	assert_int_equal(node_parse_json(text, strlen(text), &tree, NULL), 0);
	return tree;
}

static void assert_same(const struct spool_descriptor *a, const struct spool_descriptor *b)
{
	assert_string_equal(a->token, b->token);
	assert_string_equal(a->experiment, b->experiment);
	assert_int_equal(a->index, b->index);
	assert_int_equal(a->task, b->task);
	assert_int_equal(a->attempt, b->attempt);
	assert_string_equal(a->files_dir, b->files_dir);
	assert_string_equal(a->task_dir, b->task_dir);
	assert_string_equal(a->attempt_dir, b->attempt_dir);
	assert_string_equal(a->results, b->results);
	assert_string_equal(a->warm_dir, b->warm_dir);
	assert_true(node_equal(a->argv, b->argv));
	assert_true(node_equal(a->setup, b->setup));
	assert_true(node_equal(a->env, b->env));
	assert_true(node_equal(a->params, b->params));
	assert_true(node_equal(a->metrics, b->metrics));
	assert_string_equal(a->gpus, b->gpus);
	assert_int_equal(a->fresh, b->fresh);
	assert_int_equal(a->grace_ms, b->grace_ms);
	assert_int_equal(a->checkpoint_signal, b->checkpoint_signal);
}

static void test_a_descriptor_reads_back_the_same(void **state)
{
	struct node *argv = parse("[\"python3\",\"mo\\ndel.py\",\"\",\"\\u00e4 'x'\"]");
	struct node *setup = parse("[\"module load cuda\"]"), *env = parse("{\"A\":\"1=2\",\"B\":\"\"}");
	struct node *params = parse("{\"rate\":1e-05,\"units\":64,\"flag\":true,\"name\":\"x\"}");
	struct node *metrics = parse("{\"csv\":\"results/*/*.csv\"}");
	struct spool_descriptor back,
		d = {
			.token = "0123456789abcdef0123456789abcdef",
			.experiment = "e12",
			.index = 4000000000u,
			.task = 7,
			.attempt = 3,
			.files_dir = "/s/e12/files",
			.task_dir = "/s/e12/tasks/7",
			.attempt_dir = "/s/e12/tasks/7/attempts/3",
			.results = "results/e12/7",
			.warm_dir = "/s/warm",
			.argv = argv,
			.setup = setup,
			.env = env,
			.params = params,
			.metrics = metrics,
			.gpus = "2,5",
			.fresh = true,
			.grace_ms = 1234,
			.checkpoint_signal = 12,
		};
	assert_int_equal(spool_descriptor_write(*state, &d, NULL), 0);
	assert_int_equal(spool_descriptor_read(*state, d.index, &back, NULL), 0);
	assert_same(&d, &back);
	assert_string_equal(back.work_dir, "/s/e12/tasks/7/work");
	assert_string_equal(back.checkpoint_dir, "/s/e12/tasks/7/checkpoint");
	assert_string_equal(back.params_path, "/s/e12/tasks/7/params.json");
	assert_string_equal(back.report_path, "/s/e12/tasks/7/attempts/3/report.jsonl");
	assert_string_equal(back.stop_path, "/s/e12/tasks/7/attempts/3/stop");
	spool_descriptor_free(&back);
	node_free(argv);
	node_free(setup);
	node_free(env);
	node_free(params);
	node_free(metrics);
}

#define FOLDERS "\"files_dir\":\"/f\",\"task_dir\":\"/t\",\"attempt_dir\":\"/a\""
#define WHO "\"experiment\":\"e1\",\"task\":1,\"attempt\":1"

static void test_a_descriptor_of_another_version_is_read(void **state)
{
	(void)state;
	static const char text[] = "{" WHO "," FOLDERS ",\"argv\":[\"x\"],\"push\":null,\"colour\":{\"a\":[1]}}";
	struct spool_descriptor d;
	assert_int_equal(spool_descriptor_parse("x", text, strlen(text), &d, NULL), 0);
	assert_int_equal(d.grace_ms, SPOOL_GRACE_MS);
	assert_null(d.results);
	assert_null(d.setup);
	assert_false(d.fresh);
	assert_false(spool_descriptor_resumes(&d));
	spool_descriptor_free(&d);
}

static void test_a_broken_descriptor_says_what_is_wrong(void **state)
{
	(void)state;
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"{", "x:1: "},
		{"[]", "argv"},
		{"{" WHO "," FOLDERS "}", "argv is not a list of texts"},
		{"{" WHO "," FOLDERS ",\"argv\":[]}", "argv is not a list of texts"},
		{"{" WHO "," FOLDERS ",\"argv\":[1]}", "argv is not a list of texts"},
		{"{" WHO "," FOLDERS ",\"argv\":[\"x\"],\"env\":{\"A\":1}}", "setup, env and objectives"},
		{"{" WHO ",\"files_dir\":\"f\",\"argv\":[\"x\"]}", "must be absolute"},
		{"{" WHO "," FOLDERS ",\"argv\":[\"x\"],\"results\":\"../x\"}", "leaves the work folder"},
		{"{" FOLDERS ",\"argv\":[\"x\"]}", "is missing"},
		{"{" WHO "," FOLDERS ",\"argv\":[\"x\"],\"grace_ms\":-1}", "negative"},
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct spool_descriptor d;
		struct error err = {0};
		assert_true(spool_descriptor_parse("x", cases[i].text, strlen(cases[i].text), &d, &err) < 0);
		if (!strstr(err.text, cases[i].why))
			fail_msg("case %zu: %s", i, err.text);
	}
}

static void test_a_slot_reads_back_the_same(void **state)
{
	struct spool_slot back,
		slot = {.cpus = 3,
			.memory_bytes = 5,
			.time_ms = 7,
			.signal_before_ms = 11,
			.checkpoint_signal = 10,
			.cores = "0,63,5000",
			.gpus = "GPU-1,GPU-2",
			.gpus_hidden = 13};
	assert_false(spool_slot_read(*state, 0, &back));
	assert_int_equal(back.cpus, 1);
	assert_int_equal(spool_slot_write(*state, 0, &slot, NULL), 0);
	assert_true(spool_slot_read(*state, 0, &back));
	assert_int_equal(back.cpus, slot.cpus);
	assert_int_equal(back.memory_bytes, slot.memory_bytes);
	assert_int_equal(back.time_ms, slot.time_ms);
	assert_int_equal(back.signal_before_ms, slot.signal_before_ms);
	assert_int_equal(back.checkpoint_signal, slot.checkpoint_signal);
	assert_string_equal(back.cores, slot.cores);
	cpu_set_t cores;
	CPU_ZERO(&cores);
	assert_true(spool_slot_add_cores(&back, &cores));
	assert_true(CPU_ISSET(0, &cores) && CPU_ISSET(63, &cores) && CPU_COUNT(&cores) == 2);
	assert_string_equal(back.gpus, slot.gpus);
	assert_int_equal(back.gpus_hidden, slot.gpus_hidden);
}

static void test_of_many_runners_one_gets_the_claim(void **state)
{
	int taken = 0;
	pid_t pids[16];
	struct spool_claim claim;
	assert_int_equal(spool_claim_look(*state, 5), 0);
	assert_int_equal(spool_claim_read(*state, 5, &claim), 0);
	for (size_t i = 0; i < COUNT_OF(pids); i++)
		if ((pids[i] = fork()) == 0)
			_exit(spool_claim_take(*state, 5, NULL) == 0 ? 1 : 0);
	for (size_t i = 0; i < COUNT_OF(pids); i++) {
		int status;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		if (WEXITSTATUS(status)) {
			assert_int_equal(spool_claim_read(*state, 5, &claim), 1);
			assert_int_equal(claim.pid, pids[i]);
			taken++;
		}
	}
	assert_int_equal(taken, 1);
	assert_int_equal(spool_claim_look(*state, 5), 1);
	assert_int_equal(spool_claim_take(*state, 5, NULL), -EEXIST);
}

/* A link to itself cannot be followed, also not by root: it stands for EIO, EMFILE and ESTALE. */
static void test_a_claim_that_cannot_be_read_is_unknown_and_not_absent(void **state)
{
	char *path = spool_item_path(*state, 6, SPOOL_CLAIM);
	struct spool_claim claim;
	assert_int_equal(symlink(path, path), 0);
	assert_int_equal(spool_claim_look(*state, 6), -ELOOP);
	assert_int_equal(spool_claim_read(*state, 6, &claim), -ELOOP);
	free(path);
}

static bool is_there(const char *batch_dir, uint32_t index, enum spool_item item)
{
	char *path = spool_item_path(batch_dir, index, item);
	bool there = access(path, F_OK) == 0;
	free(path);
	return there;
}

static void write_item(const char *batch_dir, uint32_t index, enum spool_item item, const char *text)
{
	char *path = spool_item_path(batch_dir, index, item);
	assert_int_equal(fs_write(path, text, strlen(text), SPOOL_FILE_MODE, false, NULL), 0);
	free(path);
}

static void test_an_attempt_that_is_over_leaves_nothing_in_its_batch(void **state)
{
	char *batch = mem_printf("%s/batch", (const char *)*state);
	assert_int_equal(mkdir(batch, SPOOL_FOLDER_MODE), 0);
	for (uint32_t i = 0; i < 2; i++) {
		write_item(batch, i, SPOOL_DESCRIPTOR, "{}");
		write_item(batch, i, SPOOL_SLOT, "{}");
		write_item(batch, i, SPOOL_OUTPUT, "");
		assert_int_equal(spool_claim_take(batch, i, NULL), 0);
	}
	spool_batch_forget(batch, 0);
	for (enum spool_item item = SPOOL_DESCRIPTOR; item <= SPOOL_OUTPUT; item++) {
		assert_false(is_there(batch, 0, item));
		assert_true(is_there(batch, 1, item)); /* others are not touched */
	}
	spool_batch_forget(batch, 1);
	assert_int_equal(access(batch, F_OK), -1);
	spool_batch_forget(batch, 1);
	assert_true(spool_batch_is_visible(batch));
	free(batch);
}

static void write_named(const char *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);
	assert_int_equal(fs_write(path, "{}", 2, SPOOL_FILE_MODE, false, NULL), 0);
	free(path);
}

static bool is_named(const char *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);
	bool is = access(path, F_OK) == 0;
	free(path);
	return is;
}

static bool is_seven_cb(void *ctx, uint32_t index)
{
	(void)ctx;
	return index == 7;
}

/* A daemon that is killed while it writes may be followed by one that hands the same items over again. */
static void test_what_killed_writers_left_is_removed_also_of_live_items(void **state)
{
	const char *batch = *state;
	char *own = mem_printf("7.json.%ld.tmp", (long)getpid());
	const char *gone[] = {"7.json.2147483000.tmp", "8.slot.2147483000.tmp", "7.claim.node1.77"};
	const char *stay[] = {"8.json", "8.claim.node1.77", "8.claim", own};
	for (size_t i = 0; i < 3; i++)
		write_named(batch, gone[i]);
	for (size_t i = 0; i < 4; i++)
		write_named(batch, stay[i]);
	spool_batch_look(batch, is_seven_cb, NULL);
	for (size_t i = 0; i < 3; i++)
		assert_false(is_named(batch, gone[i]));
	for (size_t i = 0; i < 4; i++)
		assert_true(is_named(batch, stay[i]));
	free(own);
}

static void test_what_the_runner_said_stays(void **state)
{
	write_item(*state, 0, SPOOL_OUTPUT, "no memory\n");
	write_item(*state, 0, SPOOL_CLAIM, "{}");
	spool_batch_forget(*state, 0);
	assert_true(is_there(*state, 0, SPOOL_OUTPUT));
	assert_false(is_there(*state, 0, SPOOL_CLAIM));
}

/* A folder cannot be unlinked, also not by root: it stands for a descriptor that cannot be removed now. */
static void test_a_claim_stays_while_its_descriptor_does(void **state)
{
	char *descriptor = spool_item_path(*state, 0, SPOOL_DESCRIPTOR);
	assert_int_equal(mkdir(descriptor, SPOOL_FOLDER_MODE), 0);
	assert_int_equal(spool_claim_take(*state, 0, NULL), 0);
	spool_batch_forget(*state, 0);
	assert_int_equal(spool_claim_look(*state, 0), 1);
	free(descriptor);
}

static void test_the_first_attempt_is_in_the_folder_of_its_task(void **state)
{
	char *task = spool_task_dir(*state, 7), *old = mem_printf("%s/attempts/1", task);
	char *first = spool_attempt_dir(task, 1), *second = spool_attempt_dir(task, 2);
	assert_string_equal(first, task);
	assert_true(strlen(second) == strlen(old) && strcmp(second + strlen(task), "/attempts/2") == 0);
	free(first);
	/* One that a version before this one started. */
	assert_int_equal(fs_make_dirs(old, SPOOL_FOLDER_MODE, NULL), 0);
	first = spool_attempt_dir(task, 1);
	assert_string_equal(first, old);
	free(first);
	free(second);
	free(old);
	free(task);
}

static void test_a_descriptor_says_where_its_attempt_is(void **state)
{
	static const char text[] =
		"{" WHO ",\"files_dir\":\"/f\",\"task_dir\":\"/t\",\"attempt_dir\":\"/t/attempts/1\",\"argv\":[\"x\"]}";
	char *dir = NULL, *path = spool_item_path(*state, 3, SPOOL_DESCRIPTOR);
	assert_int_equal(spool_descriptor_find(*state, 0, &dir, NULL), 0);
	assert_null(dir);
	write_item(*state, 1, SPOOL_DESCRIPTOR, "{");
	assert_int_equal(spool_descriptor_find(*state, 1, &dir, NULL), 0);
	assert_null(dir);
	write_item(*state, 2, SPOOL_DESCRIPTOR, text);
	assert_int_equal(spool_descriptor_find(*state, 2, &dir, NULL), 0);
	assert_string_equal(dir, "/attempts/1");
	free(dir);
	/* One that cannot be read is not one that is missing. */
	assert_int_equal(symlink(path, path), 0);
	assert_int_equal(spool_descriptor_find(*state, 3, &dir, NULL), -ELOOP);
	free(path);
}

static void test_a_stop_mark_makes_its_folder(void **state)
{
	char *task = spool_task_dir(*state, 1), *attempt = spool_attempt_dir(task, 1);
	assert_false(spool_stop_exists(attempt));
	assert_false(spool_stop_says(attempt, SPOOL_STOP_OVER));
	assert_int_equal(spool_stop_write(attempt, SPOOL_STOP_SILENT, NULL), 0);
	assert_true(spool_stop_exists(attempt) && spool_stop_says(attempt, SPOOL_STOP_SILENT));
	assert_int_equal(spool_stop_write(attempt, SPOOL_STOP_OVER, NULL), 0);
	assert_true(spool_stop_exists(attempt) && spool_stop_says(attempt, SPOOL_STOP_OVER));
	assert_false(spool_stop_says(attempt, SPOOL_STOP_SILENT));
	free(attempt);
	free(task);
}

static void test_interpreters_are_known_by_ending_and_by_name(void **state)
{
	(void)state;
	assert_string_equal(spool_interpreter_of("model.py"), "python3");
	assert_string_equal(spool_interpreter_of("a/b.jl"), "julia");
	assert_string_equal(spool_interpreter_of("train.r"), "Rscript");
	assert_string_equal(spool_interpreter_of("train.rb"), "ruby");
	assert_string_equal(spool_interpreter_of("train.lua"), "lua");
	assert_string_equal(spool_interpreter_of("train.js"), "node");
	assert_null(spool_interpreter_of("train"));
	assert_true(spool_is_interpreter(spool_interpreter_of("x.py")));
	assert_true(spool_is_interpreter("/usr/bin/python3.11"));
	assert_true(spool_is_interpreter("sh"));
	assert_false(spool_is_interpreter("pythonic"));
	assert_false(spool_is_interpreter("torchrun"));
}

static void write_output(const char *dir, const char *name, size_t bytes)
{
	char *path = mem_printf("%s/%s", dir, name);
	char *text = mem_alloc(bytes + 1);
	memset(text, 'x', bytes);
	assert_int_equal(fs_write(path, text, bytes, 0600, false, NULL), 0);
	free(text);
	free(path);
}

static void add_time_cb(void *ctx, int64_t bytes, int64_t time_ms)
{
	buf_addf(ctx, "%d@%d ", (int)bytes, (int)time_ms);
}

static const char *times_of(const char *dir, bool is_error, int64_t from, int64_t to, struct buf *out)
{
	buf_clear(out);
	logtimes_read(dir, is_error, from, to, add_time_cb, out);
	return buf_text(out);
}

static void test_the_times_of_lines_are_found_by_their_place(void **state)
{
	const char *dir = *state;
	struct buf out = buf_make(4000);
	struct logtimes times;
	logtimes_begin(&times, dir, 0);
	logtimes_poll(&times, 900, 1900); /* too soon for a look */
	write_output(dir, "stdout", 10);
	logtimes_poll(&times, 1000, 2000);
	logtimes_poll(&times, 2100, 3000); /* nothing is new */
	write_output(dir, "stderr", 5);
	logtimes_poll(&times, 3200, 4000);
	write_output(dir, "stdout", 30);
	assert_string_equal(times_of(dir, false, 0, 10, &out), ""); /* not written yet */
	logtimes_poll(&times, 6000, 7000);
	assert_string_equal(times_of(dir, false, 0, 30, &out), "10@2000 30@7000 ");
	write_output(dir, "stdout", 40);
	logtimes_end(&times, 8000);
	assert_string_equal(times_of(dir, false, 0, 40, &out), "10@2000 30@7000 40@8000 ");
	assert_string_equal(times_of(dir, false, 9, 10, &out), "10@2000 ");
	assert_string_equal(times_of(dir, false, 10, 30, &out), "30@7000 ");
	assert_string_equal(times_of(dir, false, 29, 31, &out), "30@7000 40@8000 ");
	assert_string_equal(times_of(dir, false, 40, 50, &out), "");
	assert_string_equal(times_of(dir, true, 0, 5, &out), "5@4000 ");
	/* A script that has ended before the first look leaves no file. */
	char *path = mem_printf("%s/logtimes", dir);
	assert_int_equal(unlink(path), 0);
	logtimes_begin(&times, dir, 0);
	logtimes_end(&times, 500);
	assert_int_not_equal(access(path, F_OK), 0);
	/* A damaged file says nothing. */
	assert_int_equal(fs_write(path, "nonsense that is longer than a single record of it is", 53, 0600, false, NULL),
			 0);
	assert_string_equal(times_of(dir, false, 0, 40, &out), "");
	free(path);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		unit_test_in_folder(test_a_descriptor_reads_back_the_same),
		cmocka_unit_test(test_a_descriptor_of_another_version_is_read),
		cmocka_unit_test(test_a_broken_descriptor_says_what_is_wrong),
		unit_test_in_folder(test_a_slot_reads_back_the_same),
		unit_test_in_folder(test_of_many_runners_one_gets_the_claim),
		unit_test_in_folder(test_a_claim_that_cannot_be_read_is_unknown_and_not_absent),
		unit_test_in_folder(test_an_attempt_that_is_over_leaves_nothing_in_its_batch),
		unit_test_in_folder(test_what_killed_writers_left_is_removed_also_of_live_items),
		unit_test_in_folder(test_what_the_runner_said_stays),
		unit_test_in_folder(test_a_claim_stays_while_its_descriptor_does),
		unit_test_in_folder(test_the_first_attempt_is_in_the_folder_of_its_task),
		unit_test_in_folder(test_a_descriptor_says_where_its_attempt_is),
		unit_test_in_folder(test_a_stop_mark_makes_its_folder),
		unit_test_in_folder(test_the_times_of_lines_are_found_by_their_place),
		cmocka_unit_test(test_interpreters_are_known_by_ending_and_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
