/* Which line of an error output is the reason: one row a kind of output. */
#include "../unit.h"

#include "base/text.h"
#include "node/reason.h"

static const struct row {
	const char *what, *tail;
	int exit_code;
	const char *reason; /* NULL: none */
} rows[] = {
	{"a traceback",
	 "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    import numpy\n"
	 "ModuleNotFoundError: No module named 'numpy'\n",
	 1, "ModuleNotFoundError: No module named 'numpy'"},
	{"an exception of the script's own, with a longer message",
	 "Traceback (most recent call last):\n  File \"train.py\", line 3\nmodel.Broken: first line\nsecond line\n", 1,
	 "model.Broken: first line"},
	{"one exception after another",
	 "Traceback (most recent call last):\n  File \"a\"\nKeyError: 'x'\n\nDuring handling of the above exception, "
	 "another exception occurred:\n\nTraceback (most recent call last):\n  File \"b\"\nRuntimeError: no x\n",
	 1, "RuntimeError: no x"},
	{"what the cluster adds",
	 "Traceback (most recent call last):\n  File \"a\"\nKeyError: 'x'\nsrun: error: n1: task 0: Exited with exit code 1\n",
	 1, "KeyError: 'x'"},
	{"the traceback's head is cut off",
	 "    return f(x)\n  File \"/usr/lib/python3/x.py\", line 7, in f\ntorch.OutOfMemoryError: CUDA out of memory. Tried to "
	 "allocate 2 GiB\nsome hint\n",
	 1, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"},
	{"a syntax error", "  File \"train.py\", line 1\n    def (:\n        ^\nSyntaxError: invalid syntax\n", 1,
	 "SyntaxError: invalid syntax"},
	{"argparse", "usage: train.py [-h] [--lr LR]\ntrain.py: error: unrecognized arguments: --learning-rate=0.1\n",
	 2, "train.py: error: unrecognized arguments: --learning-rate=0.1"},
	{"click", "Usage: train.py [OPTIONS]\nTry 'train.py --help' for help.\n\nError: No such option: --lrr\n", 2,
	 "Error: No such option: --lrr"},
	{"bash", "run.sh: line 3: nosuch: command not found\n", 127, "run.sh: line 3: nosuch: command not found"},
	{"make", "cc: fatal error: no input files\nmake: *** [Makefile:2: all] Error 1\n", 2,
	 "cc: fatal error: no input files"},
	{"C++ that terminates",
	 "terminate called after throwing an instance of 'std::runtime_error'\n  what():  cannot open data.bin\n", -1,
	 "std::runtime_error: cannot open data.bin"},
	{"C++ without a message", "terminate called after throwing an instance of 'int'\n", -1, "int"},
	{"an assertion", "train: main.c:12: main: Assertion `n > 0' failed.\n", -1,
	 "train: main.c:12: main: Assertion `n > 0' failed."},
	{"a signal explains itself, a warning does not", "UserWarning: slow\n", -1, NULL},
	{"an exception that was caught long ago",
	 "Traceback (most recent call last):\n  File \"a\"\nKeyError: 'x'\na\nb\nc\nd\ne\nf\ng\nfatal: the data set is empty\n",
	 3, "fatal: the data set is empty"},
	{"the last line", "loading\nno licence left\n\n\n", 4, "no licence left"},
	{"nothing", "\n  \n", 1, NULL},
};

static void test_the_reason_is_the_line_that_a_person_would_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct buf out = buf_make(BUF_UNLIMITED);
		bool found = reason_find(rows[i].tail, rows[i].exit_code, &out);
		if (found != (rows[i].reason != NULL) || (found && strcmp(buf_text(&out), rows[i].reason) != 0))
			fail_msg("%s: '%s'", rows[i].what, buf_text(&out));
		buf_free(&out);
	}
}

static void test_a_long_line_is_cut_between_characters(void **state)
{
	struct buf text = buf_make(BUF_UNLIMITED), out = buf_make(BUF_UNLIMITED);
	(void)state;
	for (int i = 0; i < 400; i++)
		buf_add_text(&text, "ä");
	assert_true(reason_last_line(buf_text(&text), &out));
	assert_true(out.len <= REASON_CHARS + 3);
	assert_int_equal(text_utf8_check(buf_text(&out), out.len), out.len);
	buf_free(&text);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_reason_is_the_line_that_a_person_would_read),
		cmocka_unit_test(test_a_long_line_is_cut_between_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
