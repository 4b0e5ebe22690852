/* What rows a script's files give, while they grow and are written over. */
#include "../unit.h"

#include "node/follow.h"

#include <stdio.h>
#include <unistd.h>

struct fixture {
	char dir[64];
	struct follow *follow;
	struct buf rows, notes; /* a line each */
};

static void row_cb(void *ctx, const struct metrics_row *row)
{
	struct fixture *f = ctx;
	buf_addf(&f->rows, "%s %s %d", row->source, row->step_name, (int)row->step);
	for (size_t i = 0; i < row->count; i++)
		buf_addf(&f->rows, " %s=%g", row->metrics[i].name, row->metrics[i].value);
	buf_add_char(&f->rows, '\n');
}

static void note_cb(void *ctx, const char *text)
{
	struct fixture *f = ctx;
	buf_addf(&f->notes, "%s\n", text);
}

static bool blocked_cb(void *ctx)
{
	(void)ctx;
	return false;
}

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/test_follow.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->rows = buf_make(BUF_UNLIMITED);
	f->notes = buf_make(BUF_UNLIMITED);
	struct follow_config config = {.work_dir = f->dir,
				       .row = row_cb,
				       .note = note_cb,
				       .renumbered = note_cb,
				       .blocked = blocked_cb,
				       .ctx = f};
	f->follow = follow_new(&config);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	follow_free(f->follow);
	buf_free(&f->rows);
	buf_free(&f->notes);
	char *command = mem_printf("rm -r %s", f->dir);
	assert_int_equal(system(command), 0);
	free(command);
	free(f);
	return 0;
}

/* `mode` as of fopen. */
static void put(struct fixture *f, const char *mode, const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", f->dir, name);
	FILE *file = fopen(path, mode);
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	free(path);
}

static void look(struct fixture *f)
{
	follow_poll(f->follow, true);
}

static void expect_rows(struct fixture *f, const char *wanted)
{
	assert_string_equal(buf_text(&f->rows), wanted);
	buf_clear(&f->rows);
}

static void test_the_first_object_of_a_file_that_grows_is_of_its_curve(void **state)
{
	struct fixture *f = *state;
	put(f, "a", "indented.json", "{\n  \"epoch\": 1,\n  \"loss\": 9\n}\n");
	put(f, "a", "open.json", "\n{\"epoch\": 1, \"loss\": 9}");
	look(f);
	expect_rows(f, "");
	put(f, "a", "indented.json", "{\n  \"epoch\": 2,\n  \"loss\": 8\n}\n");
	look(f);
	expect_rows(f, "json:indented.json epoch 1 loss=9\njson:indented.json epoch 2 loss=8\n");
	put(f, "a", "open.json", "\n{\"epoch\": 2, \"loss\": 8}");
	look(f);
	expect_rows(f, "json:open.json epoch 1 loss=9\njson:open.json epoch 2 loss=8\n");
	assert_true(follow_finish(f->follow, false));
	expect_rows(f, "");
}

static void test_a_file_that_is_written_over_is_a_result_if_its_step_stays(void **state)
{
	struct fixture *f = *state;
	put(f, "w", "state.json", "{\"epoch\": 1, \"loss\": 9}");
	put(f, "w", "result.json", "{\"epoch\": 3, \"loss\": 8}");
	put(f, "w", "final.json", "{\"loss\": 7}");
	look(f);
	expect_rows(f, "json:final.json row 1 loss=7\n");
	put(f, "w", "state.json", "{\"epoch\": 2, \"loss\": 5.5}");
	put(f, "w", "result.json", "{\"epoch\": 3, \"test_loss\": 6.5}");
	look(f);
	expect_rows(f, "json:state.json epoch 1 loss=9\njson:state.json epoch 2 loss=5.5\n");
	assert_true(follow_finish(f->follow, true));
	expect_rows(f, "result:result.json epoch 3 loss=8 test_loss=6.5\n");
}

/* There may be thousands of them: between two searches the file server is not asked about them. */
static void test_numbered_files_are_read_when_the_folder_is_searched(void **state)
{
	struct fixture *f = *state;
	put(f, "w", "metrics_epoch_1.json", "{\"val_loss\": 0.5}");
	put(f, "w", "last.json", "{\"epoch\": 1, \"val_loss\": 0.5}");
	look(f);
	buf_clear(&f->rows);
	put(f, "w", "metrics_epoch_1.json", "{\"val_loss\": 0.25}");
	put(f, "w", "last.json", "{\"epoch\": 2, \"val_loss\": 0.125}");
	follow_poll(f->follow, false);
	assert_null(strstr(buf_text(&f->rows), "0.25"));
	assert_non_null(strstr(buf_text(&f->rows), "0.125"));
	look(f);
	assert_non_null(strstr(buf_text(&f->rows), "0.25"));
}

static void test_numbered_files_and_equal_results_are_no_twins(void **state)
{
	struct fixture *f = *state;
	for (int i = 1; i <= 3; i++) {
		char name[32];
		snprintf(name, sizeof(name), "metrics_epoch_%d.json", i);
		put(f, "w", name, "{\"acc\": 0.5}");
		look(f);
	}
	put(f, "w", "seed_1.json", "{\"acc\": 0.5}");
	put(f, "w", "seed_2.json", "{\"acc\": 0.5}");
	look(f);
	assert_true(follow_finish(f->follow, false));
	for (int i = 1; i <= 3; i++) {
		char wanted[64];
		snprintf(wanted, sizeof(wanted), "json:metrics_epoch_*.json epoch %d acc=0.5\n", i);
		assert_non_null(strstr(buf_text(&f->rows), wanted));
	}
	assert_non_null(strstr(buf_text(&f->rows), "json:seed_1.json row "));
	assert_non_null(strstr(buf_text(&f->rows), "json:seed_2.json row "));
	assert_string_equal(buf_text(&f->notes), "");
}

static void test_a_second_copy_that_grows_is_read_once_and_few_are_noted(void **state)
{
	struct fixture *f = *state;
	char name[32];
	/* The first look sees one row in each. */
	for (int row = 1; row <= 3; row++) {
		for (int i = 0; i < 9; i++) {
			char text[64];
			snprintf(name, sizeof(name), "copy%d.json", i);
			snprintf(text, sizeof(text), "{\"step\": %d, \"loss\": 0.5}\n", row);
			put(f, "a", name, text);
		}
		look(f);
	}
	assert_true(follow_finish(f->follow, false));
	size_t rows = 0, notes = 0;
	for (const char *at = buf_text(&f->rows); *at; at++)
		rows += *at == '\n';
	for (const char *at = buf_text(&f->notes); *at; at++)
		notes += *at == '\n';
	assert_int_equal(rows, 3);
	assert_int_equal(notes, 3);
	assert_non_null(strstr(buf_text(&f->notes), "has the same bytes as"));
}

/* Both are equal at first, and each is written over: nothing of either is lost. */
static void test_states_that_are_equal_at_first_are_both_read(void **state)
{
	struct fixture *f = *state;
	put(f, "w", "a.json", "{\"epoch\": 1, \"loss\": 9}\n");
	put(f, "w", "b.json", "{\"epoch\": 1, \"loss\": 9}\n");
	look(f);
	put(f, "w", "a.json", "{\"epoch\": 2, \"loss\": 8.5}\n");
	put(f, "w", "b.json", "{\"epoch\": 2, \"loss\": 7}\n");
	look(f);
	assert_true(follow_finish(f->follow, false));
	const char *wanted[] = {"json:a.json epoch 1 loss=9\n", "json:a.json epoch 2 loss=8.5\n",
				"json:b.json epoch 1 loss=9\n", "json:b.json epoch 2 loss=7\n"};
	for (size_t i = 0; i < COUNT_OF(wanted); i++)
		assert_non_null(strstr(buf_text(&f->rows), wanted[i]));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_first_object_of_a_file_that_grows_is_of_its_curve),
		TEST(test_a_file_that_is_written_over_is_a_result_if_its_step_stays),
		TEST(test_numbered_files_are_read_when_the_folder_is_searched),
		TEST(test_numbered_files_and_equal_results_are_no_twins),
		TEST(test_a_second_copy_that_grows_is_read_once_and_few_are_noted),
		TEST(test_states_that_are_equal_at_first_are_both_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
