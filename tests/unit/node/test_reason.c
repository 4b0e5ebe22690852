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
	{"warnings behind an exception, and another exit code",
	 "Traceback (most recent call last):\n  File \"a\"\nKeyError: 'x'\nWARNING a\nWARNING b\nWARNING c\nWARNING d\n"
	 "WARNING e\nWARNING f\nx.py:1: UserWarning: leaked\n  warnings.warn('leaked')\n",
	 3, "KeyError: 'x'"},
	{"a warning behind the message", "the data set is empty\nx.py:1: UserWarning: leaked\n", 1,
	 "the data set is empty"},
	{"only a warning", "x.py:1: UserWarning: slow\n", 1, "x.py:1: UserWarning: slow"},
	{"a group of exceptions",
	 "  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\", line 1, in <module>\n"
	 "  | ExceptionGroup: two went wrong (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n"
	 "    | ValueError: a\n    +------------------------------------\n",
	 1, "ExceptionGroup: two went wrong (2 sub-exceptions)"},
	{"a message on two lines",
	 "Traceback (most recent call last):\n  File \"a\"\nRuntimeError: Error(s) in loading state_dict for Net:\n\tsize "
	 "mismatch for fc.weight\n",
	 1, "RuntimeError: Error(s) in loading state_dict for Net: size mismatch for fc.weight"},
	{"a process that torchrun started",
	 "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"a\"\n[rank0]: ValueError: batch is empty\n"
	 "Traceback (most recent call last):\n  File \"torchrun\"\ntorch.distributed.elastic.ChildFailedError: \n=====\n"
	 "train.py FAILED\n",
	 1, "ValueError: batch is empty"},
	{"a command that failed, and said why in a traceback",
	 "Traceback (most recent call last):\n  File \"a\"\nKeyError: 'x'\nTraceback (most recent call last):\n  File "
	 "\"launch\"\nsubprocess.CalledProcessError: Command 'a' returned non-zero exit status 1.\n",
	 1, "KeyError: 'x'"},
	{"a command that failed",
	 "Traceback (most recent call last):\n  File \"a\"\nsubprocess.CalledProcessError: Command 'a' returned non-zero "
	 "exit status 1.\n",
	 1, "subprocess.CalledProcessError: Command 'a' returned non-zero exit status 1."},
	{"the frame that rich draws",
	 "╭──── Traceback (most recent call last) ────╮\n│ a.py:3 in <module> │\n╰───────╯\nValueError: bad\n", 1,
	 "ValueError: bad"},
	{"R", "Error in f(x) : object 'lr' not found\nCalls: f\nExecution halted\n", 1,
	 "Error in f(x) : object 'lr' not found"},
	{"Julia",
	 "ERROR: LoadError: UndefVarError: `lr` not defined\nStacktrace:\n [1] top-level scope\nin expression starting at "
	 "train.jl:3\n",
	 1, "ERROR: LoadError: UndefVarError: `lr` not defined"},
	{"Rust",
	 "thread 'main' panicked at src/main.rs:4:5:\nno data\nnote: run with `RUST_BACKTRACE=1` environment variable\n",
	 101, "thread 'main' panicked at src/main.rs:4:5: no data"},
	{"Go", "panic: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:9\nexit status 2\n", 2,
	 "panic: index out of range"},
	{"Java",
	 "Exception in thread \"main\" java.lang.IllegalStateException: no data\n\tat Train.main(Train.java:3)\n", 1,
	 "Exception in thread \"main\" java.lang.IllegalStateException: no data"},
	{"Perl",
	 "Can't locate AI/X.pm in @INC (you may need to install the AI::X module)\nBEGIN failed--compilation aborted at a.pl "
	 "line 2.\n",
	 2, "Can't locate AI/X.pm in @INC (you may need to install the AI::X module)"},
	{"a compiler",
	 "cc1: fatal error: a.c: No such file\ncompilation terminated.\nmake: *** [Makefile:2: a] Error 1\n", 2,
	 "cc1: fatal error: a.c: No such file"},
	{"make below make", "cc: fatal error: no input files\nmake[2]: *** [Makefile:2: all] Error 1\n", 2,
	 "cc: fatal error: no input files"},
	{"make alone", "make: *** No rule to make target 'model'.  Stop.\n", 2,
	 "make: *** No rule to make target 'model'.  Stop."},
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

static void test_an_exception_is_found_where_the_script_ended_well(void **state)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	(void)state;
	assert_true(reason_find_exception(
		"Exception in thread Thread-1:\nTraceback (most recent call last):\n  File \"a\"\n"
		"ValueError: the worker broke\n",
		&out));
	assert_string_equal(buf_text(&out), "ValueError: the worker broke");
	assert_false(reason_find_exception("epoch 1\nfoo.SomeError\n", &out));
	assert_false(
		reason_find_exception("Traceback (most recent call last):\n  File \"a\"\nKeyError: 'x'\na\nb\nc\nd\ne\n"
				      "f\ng\n",
				      &out));
	assert_false(reason_find_exception("", &out));
	buf_free(&out);
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
		cmocka_unit_test(test_an_exception_is_found_where_the_script_ended_well),
		cmocka_unit_test(test_a_long_line_is_cut_between_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
