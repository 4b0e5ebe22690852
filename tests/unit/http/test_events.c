/* The ring behind GET /events: what a client that comes back gets. */
#include "base/token.h"
#include "http/events.h"
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>

/* The text a client would remember after the event before `from`. */
static char *id_before(const struct events *events, uint64_t from)
{
	struct buf text = buf_make(200);
	events_format_id(events, from, &text);
	assert_true(!strncmp(buf_text(&text), "id: ", 4));
	char *id = mem_copy(text.data + 4, text.len - 5);
	buf_free(&text);
	return id;
}

static void test_client_goes_on_after_the_event_it_saw(void **state)
{
	(void)state;
	struct events *events = events_new();
	struct blob *got[8];
	uint64_t from;
	char *before_all = id_before(events, events_end(events));
	for (int i = 0; i < 5; i++)
		events_add(events, "task", "{\"n\":1}", 7);
	assert_true(events_resume(events, before_all, &from));
	assert_int_equal(events_collect(events, from, got, 8), 5);
	char *third = id_before(events, from + 3);
	assert_true(events_resume(events, third, &from));
	assert_int_equal(events_collect(events, from, got, 8), 2);
	char expected[200];
	char *fourth = id_before(events, from + 1);
	snprintf(expected, sizeof(expected), "id: %s\nevent: task\ndata: {\"n\":1}\n\n", fourth);
	assert_string_equal(got[0]->data, expected);
	char *last = id_before(events, events_end(events));
	assert_true(events_resume(events, last, &from));
	assert_int_equal(events_collect(events, from, got, 8), 0);
	free(before_all);
	free(third);
	free(fourth);
	free(last);
	events_free(events);
}

static void test_unknown_ids_do_not_resume(void **state)
{
	(void)state;
	struct events *events = events_new(), *other = events_new();
	uint64_t from = 77;
	events_add(events, "task", "{}", 2);
	events_add(other, "task", "{}", 2);
	char *foreign = id_before(other, events_end(other));
	char *future = mem_printf("%.*s-999", (int)strcspn(foreign, "-"), foreign);
	assert_false(events_resume(events, foreign, &from));
	assert_false(events_resume(other, future, &from));
	assert_false(events_resume(events, "", &from));
	assert_false(events_resume(events, "-1", &from));
	assert_false(events_resume(events, "nonsense", &from));
	assert_int_equal(from, 77);
	free(foreign);
	free(future);
	events_free(events);
	events_free(other);
}

static void test_old_events_go_by_number_and_by_bytes(void **state)
{
	(void)state;
	struct events *events = events_new();
	struct blob *got[1];
	uint64_t from;
	char *start = id_before(events, events_end(events));
	for (int i = 0; i < EVENTS_MAX + 10; i++)
		events_add(events, "task", "{}", 2);
	assert_false(events_resume(events, start, &from));
	assert_int_equal(events_collect(events, 1, got, 1), -1);
	assert_int_equal(events_collect(events, events_end(events) - EVENTS_MAX, got, 1), 1);
	free(start);

	char *big = mem_alloc(EVENTS_BYTES_MAX / 4);
	memset(big, 'x', EVENTS_BYTES_MAX / 4);
	uint64_t first_big = events_end(events);
	for (int i = 0; i < 5; i++)
		events_add(events, "log", big, EVENTS_BYTES_MAX / 4);
	assert_int_equal(events_collect(events, first_big, got, 1), -1);
	assert_true(events_bytes_after(events, first_big + 2) <= EVENTS_BYTES_MAX);
	assert_int_equal(events_bytes_after(events, events_end(events)), 0);
	free(big);
	events_free(events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_goes_on_after_the_event_it_saw),
		cmocka_unit_test(test_unknown_ids_do_not_resume),
		cmocka_unit_test(test_old_events_go_by_number_and_by_bytes),
	};
	if (token_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
