/* The argument vector given to sbatch, the batch script and its template. */
#include "backend/slurm_command.h"

#include "../unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define TOKEN "0123456789abcdef0123456789abcdef"

static struct backend_batch batch_of(const struct backend_resources *r, const struct backend_item *items, size_t count)
{
	return (struct backend_batch){.token = TOKEN,
				      .experiment = 3,
				      .batch_dir = "/state/b",
				      .resources = r,
				      .items = items,
				      .count = count};
}

/* Everything from "sbatch" on, joined by blanks. */
static char *joined(const struct slurm_args *args)
{
	struct buf out = buf_make(65536);
	bool on = false;
	for (size_t i = 0; i < args->words.len; i++) {
		on |= strcmp(args->words.at[i], "sbatch") == 0;
		if (on)
			buf_addf(&out, "%s%s", out.len ? " " : "", args->words.at[i]);
	}
	return buf_take(&out);
}

static void a_plain_batch_asks_for_nothing_more(void **state)
{
	(void)state;
	struct backend_resources r = {.cpus = 1};
	struct backend_item items[] = {{.index = 0}, {.index = 1}, {.index = 2}, {.index = 5}};
	struct backend_batch batch = batch_of(&r, items, 4);
	struct slurm_args args = {0};
	struct error err;
	assert_int_equal(slurm_submit_args(&batch, &args, &err), 0);
	char *text = joined(&args);
	assert_string_equal(
		text,
		"sbatch --cpus-per-task=1 --comment=sluice e3 4 tasks --parsable --job-name=e3-sluice-" TOKEN
		" --array=0-2,5 --no-requeue --open-mode=append --output=/state/b/%a.out");
	free(text);
	slurm_args_free(&args);
}

static void everything_asked_for_becomes_an_argument(void **state)
{
	(void)state;
	char *options[] = {(char *)"--mail-type=END", (char *)"-wn1", NULL};
	struct backend_resources r = {
		.cpus = 4,
		.memory_bytes = (16ll << 30) + 1,
		.gpus = 2,
		.gpu_type = (char *)"volta",
		.time_ms = 3600001,
		.nodes = 2,
		.exclusive = true,
		.partition = (char *)"gpu; rm -rf",
		.account = (char *)"ml",
		.qos = (char *)"high",
		.constraint = (char *)"a|b",
		.options = options,
		.signal_before_ms = 120500,
		.checkpoint_signal = SIGUSR2,
	};
	struct backend_item item = {.index = 3};
	struct backend_batch batch = batch_of(&r, &item, 1);
	batch.parallel = 8;
	batch.batch_dir = "/st%te/b";
	struct slurm_args args = {0};
	struct error err;
	assert_int_equal(slurm_submit_args(&batch, &args, &err), 0);
	char *text = joined(&args);
	assert_string_equal(
		text,
		"sbatch --partition=gpu; rm -rf --account=ml --qos=high --constraint=a|b --nodes=2 "
		"--ntasks-per-node=1 --cpus-per-task=4 --mem=16385M --gres=gpu:volta:2 --time=61 "
		"--exclusive --signal=B:USR2@121 --comment=sluice e3 1 task --mail-type=END -wn1 --parsable --job-name=e3-sluice-" TOKEN
		" --array=3%8 --no-requeue --open-mode=append --output=/st%%te/b/%a.out");
	free(text);
	slurm_args_free(&args);
}

static void nodes_to_leave_out_join_those_of_the_user(void **state)
{
	(void)state;
	char *options[] = {(char *)"--exclude=n1,n2", (char *)"-xn3", NULL};
	struct backend_resources r = {.options = options};
	struct backend_item item = {.index = 3};
	struct backend_batch batch = batch_of(&r, &item, 1);
	struct slurm_args args = {0};
	struct error err;
	batch.exclude = "cpu2,cpu3";
	assert_int_equal(slurm_submit_args(&batch, &args, &err), 0);
	char *text = joined(&args);
	assert_non_null(strstr(
		text, "--exclude=n1,n2 -xn3 --parsable --job-name=e3-sluice-" TOKEN " --exclude=cpu2,cpu3,n1,n2,n3 "));
	free(text);
	slurm_args_free(&args);
}

/* The runner passes on what the script wants; it would take any other signal than these two as the wish to stop. */
static void the_limit_is_announced_to_the_runner_by_a_user_signal(void **state)
{
	static const struct {
		int wanted;
		const char *option;
	} rows[] = {{0, "--signal=B:USR1@60"},
		    {SIGUSR1, "--signal=B:USR1@60"},
		    {SIGUSR2, "--signal=B:USR2@60"},
		    {SIGTERM, "--signal=B:USR1@60"},
		    {SIGINT, "--signal=B:USR1@60"}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct backend_resources r = {
			.time_ms = 3600000, .signal_before_ms = 60000, .checkpoint_signal = rows[i].wanted};
		struct backend_item item = {.index = 0};
		struct backend_batch batch = batch_of(&r, &item, 1);
		struct slurm_args args = {0};
		struct error err;
		assert_int_equal(slurm_submit_args(&batch, &args, &err), 0);
		char *text = joined(&args);
		assert_non_null(strstr(text, rows[i].option));
		free(text);
		slurm_args_free(&args);
	}
}

/* sbatch's environment becomes the job's, so no locale is forced on it; what would make it wait or take on the shape of
 * an allocation around us is taken away. The others get a locale and times that we can read. */
static void each_program_has_the_environment_it_needs(void **state)
{
	(void)state;
	struct slurm_args sbatch = {0}, squeue = {0}, scancel = {0};
	slurm_args_program(&sbatch, "sbatch");
	slurm_args_program(&squeue, "squeue");
	slurm_args_program(&scancel, "scancel");
	bool unset_wait = false, locale = false, states = false, interactive = false;
	for (size_t i = 0; i < sbatch.words.len; i++) {
		unset_wait |= strcmp(sbatch.words.at[i], "SBATCH_WAIT") == 0;
		assert_int_not_equal(strncmp(sbatch.words.at[i], "LC_ALL", 6), 0);
	}
	for (size_t i = 0; i < squeue.words.len; i++) {
		locale |= strcmp(squeue.words.at[i], "LC_ALL=C") == 0;
		states |= strcmp(squeue.words.at[i], "SQUEUE_STATES") == 0;
	}
	for (size_t i = 0; i < scancel.words.len; i++)
		interactive |= strcmp(scancel.words.at[i], "SCANCEL_INTERACTIVE") == 0;
	assert_true(unset_wait && locale && states && interactive);
	slurm_args_free(&sbatch);
	slurm_args_free(&squeue);
	slurm_args_free(&scancel);
}

static void options_that_are_ours_are_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"--array=0-5", "-a0-5",     "--arr=1",      "--job-name=x",   "-Jx",      "--wait",
		"-W",          "--wrap=ls", "--requeue",    "--output=x",     "-ox",      "--test-only",
		"--parsable",  "--help",    "-M",           "--clusters=b",   "foo",      "",
		"-",           "--",        "--account ml", "--comment=a\nb", "--version"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		char *options[] = {(char *)bad[i], NULL};
		struct backend_resources r = {.cpus = 1, .options = options};
		struct backend_item item = {0};
		struct backend_batch batch = batch_of(&r, &item, 1);
		struct slurm_args args = {0};
		struct error err;
		if (slurm_submit_args(&batch, &args, &err) != -EINVAL)
			fail_msg("taken: '%s'", bad[i]);
		slurm_args_free(&args);
	}
}

static void other_options_are_passed_on(void **state)
{
	(void)state;
	static const char *const good[] = {"--account=ml",       "-Aml",           "--exclude=n1",     "--export=NONE",
					   "--wait-all-nodes=1", "--hold",         "--mem-per-cpu=2G", "--comment=a b",
					   "--no-kill",          "--reservation=r"};
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		char *options[] = {(char *)good[i], NULL};
		struct backend_resources r = {.cpus = 1, .options = options};
		struct problems problems = {0};
		slurm_check_words(&r, NULL, &problems);
		if (problems.list.len)
			fail_msg("refused: '%s': %s", good[i], problems.list.at[0].message);
		problems_free(&problems);
	}
}

static void line_breaks_are_refused_everywhere(void **state)
{
	(void)state;
	char text[] = "a\n#SBATCH --uid=0";
	struct backend_resources rs[] = {{.partition = text},        {.account = text},  {.qos = text},
					 {.constraint = text},       {.gpu_type = text}, {.partition = (char *)""},
					 {.gpu_type = (char *)"a:9"}};
	for (size_t i = 0; i < COUNT_OF(rs); i++) {
		struct problems problems = {0};
		slurm_check_words(&rs[i], NULL, &problems);
		assert_true(problems.list.len > 0);
		problems_free(&problems);
	}
}

static char *script_of(const char *template, const char *folder, struct error *err)
{
	struct backend_resources r = {
		.cpus = 2, .gpus = 1, .memory_bytes = 1 << 20, .time_ms = 60000, .template = (char *)template};
	struct backend_item item = {.index = 7};
	struct backend_batch batch = batch_of(&r, &item, 1);
	batch.batch_dir = folder;
	return slurm_batch_script(&batch, "/opt/it's/sluice", err);
}

/* What a shell makes of it, with the program replaced by one that prints its arguments. */
static void paths_reach_the_program_byte_for_byte(void **state)
{
	struct error err;
	char *folder = mem_printf("%s/a 'b' $(touch canary) \"c\" `d` \\ %%", (const char *)*state);
	char *script = script_of(NULL, folder, &err);
	assert_non_null(script);
	char *line = strstr(script, "exec env ");
	assert_non_null(line);
	char *command = mem_printf("cd '%s' && SLURM_ARRAY_JOB_ID=12 SLURMD_NODENAME=n1 SLURM_ARRAY_TASK_ID=7 && "
				   "printf '%%s|' %s",
				   (const char *)*state, line + strlen("exec "));
	FILE *pipe = popen(command, "r");
	char got[4096] = "";
	size_t n = fread(got, 1, sizeof(got) - 1, pipe);
	got[n] = '\0';
	assert_int_equal(WEXITSTATUS(pclose(pipe)), 0);
	char *expected = mem_printf("env|SLUICE_JOB=12_7|SLUICE_NODE=n1|/opt/it's/sluice|exec|%s|7|", folder);
	assert_string_equal(got, expected);
	char *canary = mem_printf("%s/canary", (const char *)*state);
	struct stat st;
	assert_int_equal(stat(canary, &st), -1);
	free(canary);
	free(expected);
	free(command);
	free(script);
	free(folder);
}

static void a_template_is_filled(void **state)
{
	(void)state;
	struct error err;
	char *script = script_of(
		"#!/bin/bash\n#SBATCH --mem={memory_mb}\nmodule load ${X} {{cpus}} {cpus} {a,b} { x; }\n{run}\n", "/b",
		&err);
	assert_non_null(script);
	assert_string_equal(script,
			    "#!/bin/bash\n#SBATCH --mem=1\nmodule load ${X} {cpus} 2 {a,b} { x; }\n"
			    "exec env SLUICE_JOB=\"${SLURM_ARRAY_JOB_ID-}_${SLURM_ARRAY_TASK_ID-}\" "
			    "SLUICE_NODE=\"${SLURMD_NODENAME-}\" '/opt/it'\\''s/sluice' exec '/b' "
			    "\"$SLURM_ARRAY_TASK_ID\"\n");
	free(script);
}

static void a_wrong_template_says_what_there_is(void **state)
{
	(void)state;
	struct error err;
	assert_null(script_of("#!/bin/bash\n{memory}\n{run}\n", "/b", &err));
	assert_non_null(strstr(err.text, "{memory}"));
	assert_non_null(strstr(err.text, "{memory_mb}"));
	assert_null(script_of("#!/bin/bash\necho\n", "/b", &err));
	assert_non_null(strstr(err.text, "{run}"));
	assert_null(script_of("{run}\n", "/b", &err));
	assert_non_null(strstr(err.text, "#!"));
}

static void the_kept_script_is_the_script_with_comments(void **state)
{
	(void)state;
	struct slurm_args args = {0};
	slurm_args_program(&args, "sbatch");
	slurm_args_add(&args, "--comment=a b");
	slurm_args_add(&args, "--x=1\n#SBATCH --uid=0");
	char *text = slurm_describe_script("#!/bin/bash\nrun\n", &args, "Submitted with");
	assert_string_equal(
		text, "#!/bin/bash\n# Submitted with:\n#   sbatch '--comment=a b' '--x=1?#SBATCH --uid=0'\nrun\n");
	free(text);
	slurm_args_free(&args);
}

static void the_comment_names_the_experiment_and_cannot_hurt(void **state)
{
	static const struct {
		const char *name, *comment;
	} cases[] = {
		{"resnet", "--comment=sluice e3 resnet, 1 task"},
		{"a \"b\"\n#SBATCH --uid=0", "--comment=sluice e3 a -b-SBATCH --uid-0, 1 task"},
		{"gr\xc3\xb6\xc3\x9f\x1f|e;$(x)", "--comment=sluice e3 gr-e-x-, 1 task"},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
		 "--comment=sluice e3 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, 1 task"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char *options[] = {(char *)"--comment=mine", NULL};
		struct backend_resources r = {.name = cases[i].name, .options = options};
		struct backend_item item = {.index = 0};
		struct backend_batch batch = batch_of(&r, &item, 1);
		struct slurm_args args = {0};
		struct error err;
		size_t ours = 0;
		assert_int_equal(slurm_submit_args(&batch, &args, &err), 0);
		while (ours < args.words.len && strncmp(args.words.at[ours], "--comment=", 10) != 0)
			ours++;
		assert_in_range(ours, 1, args.words.len - 2);
		assert_string_equal(args.words.at[ours], cases[i].comment);
		assert_string_equal(args.words.at[ours + 1], "--comment=mine"); /* the last one wins */
		slurm_args_free(&args);
	}
}

static void a_comment_in_the_template_is_kept(void **state)
{
	(void)state;
	struct backend_resources r = {.template = (char *)"#!/bin/bash\n#SBATCH --comment=mine\n{run}\n"};
	struct backend_item item = {.index = 0};
	struct backend_batch batch = batch_of(&r, &item, 1);
	struct slurm_args args = {0};
	struct error err;
	assert_int_equal(slurm_submit_args(&batch, &args, &err), 0);
	char *text = joined(&args);
	assert_null(strstr(text, "--comment"));
	free(text);
	slurm_args_free(&args);
}

static void indices_become_ranges(void **state)
{
	(void)state;
	uint32_t indices[] = {9, 1, 2, 3, 2, 7};
	char *text = slurm_format_indices(indices, COUNT_OF(indices));
	assert_string_equal(text, "1-3,7,9");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_batch_asks_for_nothing_more),
		cmocka_unit_test(everything_asked_for_becomes_an_argument),
		cmocka_unit_test(nodes_to_leave_out_join_those_of_the_user),
		cmocka_unit_test(the_limit_is_announced_to_the_runner_by_a_user_signal),
		cmocka_unit_test(each_program_has_the_environment_it_needs),
		cmocka_unit_test(options_that_are_ours_are_refused),
		cmocka_unit_test(other_options_are_passed_on),
		cmocka_unit_test(line_breaks_are_refused_everywhere),
		unit_test_in_folder(paths_reach_the_program_byte_for_byte),
		cmocka_unit_test(a_template_is_filled),
		cmocka_unit_test(a_wrong_template_says_what_there_is),
		cmocka_unit_test(the_kept_script_is_the_script_with_comments),
		cmocka_unit_test(the_comment_names_the_experiment_and_cannot_hurt),
		cmocka_unit_test(a_comment_in_the_template_is_kept),
		cmocka_unit_test(indices_become_ranges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
