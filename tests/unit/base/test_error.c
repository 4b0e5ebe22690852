/* Texts for people, the list of problems, and the log that nobody's text can forge. */
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/node.h"

#include "../unit.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static void errorf_carries_text_and_code(void **state)
{
	(void)state;
	struct error err = {.line = 9};
	assert_int_equal(errorf(&err, -ENOENT, "%s: no", "x"), -ENOENT);
	assert_string_equal(err.text, "x: no");
	assert_int_equal(err.line, 0);
	assert_int_equal(errorf_at(&err, -EINVAL, 3, 4, "y"), -EINVAL);
	assert_int_equal(err.line, 3);
	assert_int_equal(err.column, 4);
	assert_int_equal(errorf(NULL, -EIO, "nobody listens"), -EIO);
	char *huge = mem_alloc(5000);
	memset(huge, 'x', 4999);
	errorf(&err, -EIO, "%s", huge);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	free(huge);
}

static void problems_have_places_and_remedies(void **state)
{
	(void)state;
	struct problems list = {0};
	struct node *doc;
	struct error err;
	static const char text[] = "name: x\nparameters:\n  units: {min: 5, max: 1}\n";
	assert_int_equal(node_parse_yaml(text, strlen(text), &doc, &err), 0);
	struct node *units = node_get(node_get(doc, "parameters"), "units");
	assert_int_equal(problem_add(&list, units, "swap them", "min %d is above max %d", 5, 1), -EINVAL);
	assert_int_equal(problem_add_missing(&list, doc, "script", NULL), -EINVAL);
	problem_add(&list, NULL, NULL, "everything");

	struct buf out = buf_make(10000);
	struct json w = json_to(&out);
	problems_write(&list, &w);
	assert_string_equal(
		buf_text(&out),
		"[{\"field\":\"/parameters/units\",\"line\":3,\"column\":3,\"message\":\"min 5 is above max 1\",\"remedy\":\"swap them\"},"
		"{\"field\":\"/script\",\"line\":1,\"column\":1,\"message\":\"'script' is missing\",\"remedy\":null},"
		"{\"field\":\"\",\"message\":\"everything\",\"remedy\":null}]");
	problems_summary(&list, &err);
	assert_string_equal(err.text, "parameters/units: min 5 is above max 1; swap them (and 2 more)");
	assert_int_equal(err.line, 3);
	buf_free(&out);
	problems_free(&list);
	assert_int_equal(list.list.len, 0);
	problem_add(&list, NULL, NULL, "everything");
	problems_summary(&list, &err);
	assert_string_equal(err.text, "experiment: everything");
	problems_free(&list);
	node_free(doc);
}

static void problems_are_limited(void **state)
{
	(void)state;
	struct problems list = {0};
	struct error err;
	problems_summary(&list, &err);
	assert_string_equal(err.text, "no problem found");
	for (int i = 0; i < 1000; i++)
		problem_add(&list, NULL, "fix it", "wrong %d", i);
	assert_int_equal(list.list.len, LIMIT_PROBLEMS);
	problems_free(&list);
}

static void log_line_cannot_be_forged(void **state)
{
	char *path = mem_printf("%s/log", (char *)*state);
	struct buf out = buf_make(100000);
	struct error err;
	int keep = dup(STDERR_FILENO);
	assert_non_null(freopen(path, "w", stderr));
	char *huge = mem_alloc(10000);
	memset(huge, 'y', 9999);
	log_info("a\nerror: forged\x1b[31m");
	log_debug("not shown");
	log_set_level(LOG_DEBUG);
	log_debug("shown");
	log_set_level(LOG_ERROR);
	log_warning("not shown");
	log_error("%s", huge);
	log_set_level(LOG_INFO);
	dup2(keep, STDERR_FILENO);
	close(keep);
	assert_int_equal(fs_read(path, 100000, &out, &err), 0);
	const char *text = buf_text(&out);
	assert_non_null(strstr(text, "Z info: a error: forged [31m\n"));
	assert_null(strstr(text, "not shown"));
	assert_non_null(strstr(text, "Z debug: shown\n"));
	assert_int_equal(text[out.len - 1], '\n');
	int lines = 0;
	for (size_t i = 0; i < out.len; i++)
		lines += text[i] == '\n';
	assert_int_equal(lines, 3);
	buf_free(&out);
	free(huge);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errorf_carries_text_and_code),
		cmocka_unit_test(problems_have_places_and_remedies),
		cmocka_unit_test(problems_are_limited),
		unit_test_in_folder(log_line_cannot_be_forged),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
