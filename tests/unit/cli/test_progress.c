/* The live view: what it draws, what it estimates, and that it always fits. */
#include "cli/progress.h"

#include "../unit.h"

#include <stdio.h>

#define START_MS INT64_C(1794752597000) /* 2026-11-15T14:23:17Z */

static struct node *json(const char *text)
{
	struct node *node = NULL;
	struct error err = {0};
	if (node_parse_json(text, strlen(text), &node, &err) < 0)
		fail_msg("%s", err.text);
	return node;
}

static const char experiment_text[] =
	"{\"id\":\"e1\",\"name\":\"a \\u001b[2J name\",\"state\":\"running\",\"started\":\"2026-11-15T14:23:17.000Z\","
	"\"finished\":null,\"objective\":[{\"metric\":\"val_loss\",\"goal\":\"min\"}],\"varying\":[\"lr\"],"
	"\"tasks\":{\"total\":10,\"waiting\":2,\"submitted\":2,\"running\":2,\"finished\":3,\"error\":1,\"stopped\":0,\"pruned\":0},"
	"\"best\":{\"task\":3,\"value\":0.25,\"epoch\":7,\"parameters\":{\"lr\":0.01,\"epochs\":20}},\"note\":null}";

static struct node *task(int number, const char *state, const char *epoch)
{
	char *text = mem_printf(
		"{\"id\":\"e1/%d\",\"experiment\":\"e1\",\"number\":%d,\"state\":\"%s\",\"epoch\":%s,\"epochs\":20,"
		"\"parameters\":{\"lr\":0.5,\"epochs\":20},\"best\":null}",
		number, number, state, epoch);
	struct node *node = json(text);
	free(text);
	return node;
}

static void running_tasks_come_and_go_in_order(void **state)
{
	(void)state;
	struct progress progress = {0};
	progress_give_task(&progress, task(5, "running", "1"));
	progress_give_task(&progress, task(2, "running", "1"));
	progress_give_task(&progress, task(9, "submitted", "null"));
	progress_give_task(&progress, task(3, "running", "1"));
	progress_give_task(&progress, task(5, "running", "4"));
	assert_int_equal(progress.running.len, 3);
	assert_int_equal(node_get_int(progress.running.at[0], "number", 0), 2);
	assert_int_equal(node_get_int(progress.running.at[1], "number", 0), 3);
	assert_int_equal(node_get_int(progress.running.at[2], "number", 0), 5);
	assert_int_equal(node_get_int(progress.running.at[2], "epoch", 0), 4);
	progress_give_task(&progress, task(2, "finished", "20"));
	progress_give_task(&progress, task(8, "error", "20"));
	assert_int_equal(progress.running.len, 2);
	assert_int_equal(node_get_int(progress.running.at[0], "number", 0), 3);
	progress_free(&progress);
}

static void metrics_move_the_epoch_forward_only(void **state)
{
	(void)state;
	struct progress progress = {0};
	progress_give_task(&progress, task(3, "running", "5"));
	struct node *event = json(
		"{\"experiment\":\"e1\",\"task\":3,\"rows\":[{\"step\":80,\"epoch\":8.5,\"values\":{}},"
		"{\"step\":90,\"epoch\":2,\"values\":{}},{\"step\":150,\"values\":{}}]}"); /* 150: a batch */
	progress_take_metrics(&progress, event);
	assert_int_equal(node_get_int(progress.running.at[0], "epoch", 0), 8);
	node_free(event);
	event = json("{\"experiment\":\"e1\",\"task\":4,\"rows\":[{\"step\":9}]}"); /* a task that is not shown */
	progress_take_metrics(&progress, event);
	node_free(event);
	progress_free(&progress);
}

static void the_estimate_counts_what_is_done(void **state)
{
	(void)state;
	struct progress progress = {0};
	assert_int_equal(progress_estimate_ms(&progress, START_MS), -1);
	progress_give_experiment(&progress, json(experiment_text));
	assert_int_equal(progress_estimate_ms(&progress, START_MS), -1); /* no time has passed */
	/* 4 of 10 in 40 s: 60 s for the rest */
	assert_int_equal(progress_estimate_ms(&progress, START_MS + 40000), 60000);
	progress_give_task(&progress, task(5, "running", "10"));
	progress_give_task(&progress, task(6, "running", "10"));
	/* and two halves: 5 of 10 */
	assert_int_equal(progress_estimate_ms(&progress, START_MS + 40000), 40000);
	progress_free(&progress);
}

static void a_frame_says_what_is_known(void **state)
{
	(void)state;
	const struct term term = {.tty = true, .width = 100, .height = 20};
	struct progress progress = {0};
	struct buf out = buf_make(65536);
	progress_give_experiment(&progress, json(experiment_text));
	progress_give_task(&progress, task(5, "running", "10"));
	progress_give_task(&progress, task(6, "running", "null"));
	progress_render(&progress, &term, START_MS + 45000, &out);
	assert_string_equal(buf_text(&out),
			    "e1  a ^[[2J name  running  45 s, about 55 s left\n"
			    "###################==========................... 4/10\n"
			    "3 finished, 1 error, 2 running, 2 submitted, 2 waiting\n"
			    "  e1/5     ========--------     10/20  none yet    lr=0.5\n"
			    "  e1/6     ----------------      0/20  none yet    lr=0.5\n"
			    "best  val_loss 0.25 at epoch 7 in e1/3: lr=0.01\n");
	/* Short tasks: nobody waits "about 0 ms". */
	buf_clear(&out);
	progress_render(&progress, &term, START_MS + 10, &out);
	assert_non_null(strstr(buf_text(&out), ", less than a second left\n"));
	buf_free(&out);
	progress_free(&progress);
}

static void a_frame_fits_any_terminal(void **state)
{
	(void)state;
	struct progress progress = {.trouble = "waiting for the daemon"};
	progress_give_experiment(&progress, json(experiment_text));
	for (int i = 1; i <= 40; i++)
		progress_give_task(&progress, task(i, "running", "3"));
	for (int width = 20; width <= 200; width += 7) {
		for (int height = 8; height <= 60; height += 13) {
			const struct term term = {
				.tty = true, .colour = true, .utf8 = true, .width = width, .height = height};
			struct buf out = buf_make(1 << 20);
			progress_render(&progress, &term, START_MS + 45000, &out);
			int lines = 0;
			for (const char *p = buf_text(&out); (p = strchr(p, '\n')); p++)
				lines++;
			assert_true(lines < height);
			assert_int_equal(progress_rows(buf_text(&out), width), lines);
			buf_free(&out);
		}
	}
	progress_free(&progress);
}

static void rows_of_a_narrower_terminal_are_counted_as_they_wrap(void **state)
{
	(void)state;
	assert_int_equal(progress_rows("", 80), 0);
	assert_int_equal(progress_rows("abc\n\nabcdefghij\n", 80), 3);
	assert_int_equal(progress_rows("abc\n\nabcdefghij\n", 5), 4);
	assert_int_equal(progress_rows("\033[31mabcde\033[0m\n", 5), 1);
	assert_int_equal(progress_rows("日本語\n", 5), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(running_tasks_come_and_go_in_order),
		cmocka_unit_test(metrics_move_the_epoch_forward_only),
		cmocka_unit_test(the_estimate_counts_what_is_done),
		cmocka_unit_test(a_frame_says_what_is_known),
		cmocka_unit_test(a_frame_fits_any_terminal),
		cmocka_unit_test(rows_of_a_narrower_terminal_are_counted_as_they_wrap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
