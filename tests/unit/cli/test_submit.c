/* From the command line to the request: values, flags, files, and the words for what is wrong. */
#include "cli/submit.h"

#include "base/fs.h"
#include "base/json.h"

#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static const struct verb_option table[] = {SUBMIT_OPTIONS, {0}};

static char folder[] = "/tmp/sluice-test-XXXXXX";

static void put(const char *name, const char *text, size_t len)
{
	struct error err;
	char *path = mem_printf("%s/%s", folder, name);
	assert_int_equal(fs_write(path, text, len, 0600, false, &err), 0);
	free(path);
}

static int enter_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || chdir(folder) < 0)
		return -1;
	struct error err;
	if (fs_make_dirs("data/deep", 0700, &err) < 0 || fs_make_dirs("data/__pycache__", 0700, &err) < 0)
		return -1;
	put("model.py", "print(1)\n", 9);
	put("data/a.csv", "1\n", 2);
	put("data/deep/b.bin", "\0\1\xff", 3);
	put("data/__pycache__/c", "x", 1);
	return 0;
}

static int leave_folder(void **state)
{
	(void)state;
	struct error err;
	return chdir("/") < 0 ? -1 : fs_remove_tree(folder, &err);
}

#define LOAD(submit, err, ...) load(submit, err, (const char *[]){"run", __VA_ARGS__, NULL})

static int load(struct submit *submit, struct error *err, const char **argv)
{
	struct options options;
	int argc = 0;
	while (argv[argc])
		argc++;
	*submit = (struct submit){0};
	int rc = options_parse(table, argc, (char **)argv, &options, err);
	assert_int_equal(rc, 0);
	rc = submit_load(submit, &options, err);
	options_free(&options);
	return rc;
}

static void assert_request(struct submit *submit, const char *expected)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	struct error err;
	assert_int_equal(submit_write_request(submit, NULL, &out, &err), 0);
	assert_string_equal(buf_text(&out), expected);
	buf_free(&out);
}

static void a_script_with_values_becomes_an_experiment(void **state)
{
	(void)state;
	struct submit submit;
	struct error err;
	assert_int_equal(LOAD(&submit, &err, "./model.py", "batch_size=64,32", "lr=1e-5..1e-1:log", "epochs=100",
			      "--tasks=8", "--objective", "val_loss", "--pass", "positional", "--gpus", "1", "--time",
			      "2h", "--setup", "a b", "--setup", "c", "--env", "X=1", "--retry", "lost=2",
			      "--option=--nice=5"),
			 0);
	assert_request(
		&submit,
		"{\"experiment\":{\"script\":\"model.py\",\"parameters\":"
		"{\"batch_size\":[64,32],\"lr\":{\"min\":1e-05,\"max\":0.1,\"scale\":\"log\"},\"epochs\":100},"
		"\"search\":{\"tasks\":8},\"pass\":\"positional\",\"resources\":{\"gpus\":1,\"time\":\"2h\",\"options\":[\"--nice=5\"]},"
		"\"environment\":{\"setup\":[\"a b\",\"c\"],\"vars\":{\"X\":\"1\"}},\"retry\":{\"lost\":2},"
		"\"objective\":{\"metric\":\"val_loss\"}},\"files\":[{\"path\":\"model.py\",\"mode\":\"600\",\"text\":\"print(1)\\n\"}]}");
	submit_free(&submit);
}

static void several_objectives_keep_their_goals(void **state)
{
	(void)state;
	struct submit submit;
	struct error err;
	assert_int_equal(
		LOAD(&submit, &err, "model.py", "--objective=loss", "--goal=min", "--objective=acc", "--goal=max"), 0);
	struct node *objective = node_get(submit.tree, "objective");
	assert_int_equal(objective->count, 2);
	assert_string_equal(node_get_string(objective->items[1], "metric"), "acc");
	assert_string_equal(node_get_string(objective->items[1], "goal"), "max");
	submit_free(&submit);
	assert_int_equal(LOAD(&submit, &err, "model.py", "--goal=min"), -EINVAL);
	assert_non_null(strstr(err.text, "--objective"));
	submit_free(&submit);
}

static void a_file_is_sent_as_it_was_written(void **state)
{
	(void)state;
	static const char text[] = "# mine\nscript: model.py\nfiles: [data]\n";
	struct submit submit;
	struct error err;
	put("exp.yaml", text, sizeof(text) - 1);
	assert_int_equal(LOAD(&submit, &err, "exp.yaml"), 0);
	assert_request(
		&submit,
		"{\"source\":{\"name\":\"exp.yaml\",\"text\":\"# mine\\nscript: model.py\\nfiles: [data]\\n\"},"
		"\"files\":[{\"path\":\"model.py\",\"mode\":\"600\",\"text\":\"print(1)\\n\"},{\"path\":\"data/a.csv\",\"mode\":\"600\",\"text\":\"1\\n\"},"
		"{\"path\":\"data/deep/b.bin\",\"mode\":\"600\",\"base64\":\"AAH/\"}]}");
	submit_free(&submit);
}

static void flags_and_values_change_what_a_file_says(void **state)
{
	(void)state;
	static const char text[] =
		"script: ../elsewhere/../data/../model.py\nsearch: {strategy: tpe, tasks: 60}\nparameters: {lr: 1}\n";
	struct submit submit;
	struct error err;
	put("data/exp.yaml", text, sizeof(text) - 1);
	char *elsewhere = mem_printf("%s/elsewhere", folder);
	assert_int_equal(fs_make_dirs(elsewhere, 0700, &err), 0);
	assert_int_equal(LOAD(&submit, &err, "data/exp.yaml", "lr=3", "--tasks", "5"), 0);
	assert_true(submit.changed);
	assert_int_equal(node_get_int(node_get(submit.tree, "search"), "tasks", 0), 5);
	assert_string_equal(node_get_string(node_get(submit.tree, "search"), "strategy"), "tpe");
	assert_int_equal(node_get_int(node_get(submit.tree, "parameters"), "lr", 0), 3);
	/* a path that leaves the folder goes under its last name */
	assert_string_equal(node_get_string(submit.tree, "script"), "model.py");
	assert_string_equal(submit.files.at[0].path, "model.py");
	submit_free(&submit);
	free(elsewhere);
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
	(void)state;
	struct submit submit;
	struct error err;
	static const struct {
		const char *argument, *expected;
	} cases[] = {
		{"nope.yaml", "nope.yaml: there is no such file"},
		{"data", "data is a folder: give the experiment file or the script inside it"},
		{"list.yaml", "list.yaml: expected an experiment: keys such as script: and parameters:"},
	};
	put("missing.yaml", "name: x\nscript: gone.py\nfiles: [a.csv, b.csv]\n", 46);
	put("list.yaml", "[1]\n", 4);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		assert_true(LOAD(&submit, &err, cases[i].argument) < 0);
		assert_string_equal(err.text, cases[i].expected);
		submit_free(&submit);
	}
	/* All that is missing at once: whoever corrects one thing should not find the next. */
	assert_int_equal(LOAD(&submit, &err, "missing.yaml"), 0);
	assert_string_equal(buf_text(&submit.missing),
			    "missing.yaml:2:1: script: gone.py: there is no such file\n"
			    "missing.yaml:3:9: files: a.csv: there is no such file\n"
			    "missing.yaml:3:16: files: b.csv: there is no such file\n");
	submit_free(&submit);
	put("broken.yaml", "a: [1\n", 6);
	assert_true(LOAD(&submit, &err, "broken.yaml") < 0);
	assert_true(strncmp(err.text, "broken.yaml:1:4: ", 17) == 0);
	submit_free(&submit);
	assert_int_equal(LOAD(&submit, &err, "model.py", "lr=1", "lr"), -EINVAL);
	assert_string_equal(err.text, "'lr': expected name=values, such as learning_rate=0.1,0.01");
	submit_free(&submit);
	assert_int_equal(LOAD(&submit, &err, "model.py", "--env", "nothing"), -EINVAL);
	assert_string_equal(err.text, "--env: expected NAME=VALUE, got 'nothing'");
	submit_free(&submit);
}

static void problems_show_the_line_and_a_mark(void **state)
{
	(void)state;
	static const char answer[] =
		"{\"status\":400,\"errors\":[{\"field\":\"/parameters/units\",\"line\":2,\"column\":14,"
		"\"message\":\"min 512 is above max 16\",\"remedy\":\"swap them\"},"
		"{\"field\":\"/search\",\"message\":\"no \\u001b[2J such\"}]}";
	static const char text[] = "script: model.py\nparameters: {units: {min: 512, max: 16}}\nsearch: x\n";
	const struct term file = {.width = 80}, terminal = {.tty = true, .width = 80};
	struct submit submit;
	struct error err;
	struct reply reply;
	struct buf out = buf_make(65536);
	put("exp.yaml", text, sizeof(text) - 1);
	assert_int_equal(LOAD(&submit, &err, "exp.yaml"), 0);
	reply_init(&reply, 65536);
	buf_add_text(&reply.body, answer);
	assert_true(submit_add_problems(&submit, &reply, &file, &out));
	assert_string_equal(buf_text(&out),
			    "exp.yaml:2:14: parameters.units: min 512 is above max 16; swap them\n"
			    "exp.yaml:3:1: search: no ^[[2J such\n");
	buf_clear(&out);
	assert_true(submit_add_problems(&submit, &reply, &terminal, &out));
	assert_string_equal(buf_text(&out),
			    "exp.yaml:2:14: parameters.units: min 512 is above max 16; swap them\n"
			    "    parameters: {units: {min: 512, max: 16}}\n"
			    "                 ^\n"
			    "exp.yaml:3:1: search: no ^[[2J such\n"
			    "    search: x\n"
			    "    ^\n");
	buf_clear(&reply.body);
	buf_add_text(&reply.body, "{\"status\":500}");
	assert_false(submit_add_problems(&submit, &reply, &file, &out));
	buf_free(&out);
	reply_free(&reply);
	submit_free(&submit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_script_with_values_becomes_an_experiment),
		cmocka_unit_test(several_objectives_keep_their_goals),
		cmocka_unit_test(a_file_is_sent_as_it_was_written),
		cmocka_unit_test(flags_and_values_change_what_a_file_says),
		cmocka_unit_test(what_is_wrong_is_said_with_its_place),
		cmocka_unit_test(problems_show_the_line_and_a_mark),
	};
	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
