/* The growing buffer, the growing array and memory. */
#include "base/buf.h"

#include "../unit.h"

static void add_grows_and_stays_terminated(void **state)
{
	(void)state;
	struct buf buf = buf_make(BUF_UNLIMITED);
	assert_string_equal(buf_text(&buf), "");
	for (int i = 0; i < 10000; i++) {
		buf_addf(&buf, "%d,", i % 10);
		assert_int_equal(buf.data[buf.len], 0);
	}
	assert_int_equal(buf.len, 20000);
	assert_int_equal(strlen(buf_text(&buf)), 20000);
	assert_false(buf.full);
	buf_free(&buf);
	assert_string_equal(buf_text(&buf), "");
}

static void maximum_is_never_passed(void **state)
{
	(void)state;
	struct buf buf = buf_make(10);
	buf_add_text(&buf, "0123456789");
	assert_false(buf.full);
	buf_add_char(&buf, 'x');
	assert_true(buf.full);
	assert_string_equal(buf_text(&buf), "0123456789");
	buf_addf(&buf, "%s", "more");
	buf_add(&buf, "more", 4);
	assert_null(buf_reserve(&buf, 1));
	assert_null(buf_reserve(&buf, SIZE_MAX));
	assert_int_equal(buf.len, 10);
	buf_clear(&buf);
	assert_false(buf.full);
	buf_add_text(&buf, "again");
	assert_string_equal(buf_text(&buf), "again");
	buf_free(&buf);
}

static void consume_takes_from_the_front(void **state)
{
	(void)state;
	struct buf buf = buf_make(100);
	buf_consume(&buf, 5);
	buf_add_text(&buf, "abcdef");
	buf_consume(&buf, 2);
	assert_string_equal(buf_text(&buf), "cdef");
	buf_consume(&buf, 100);
	assert_string_equal(buf_text(&buf), "");
	assert_int_equal(buf.len, 0);
	buf_free(&buf);
}

static void reserve_then_add_by_hand(void **state)
{
	(void)state;
	struct buf buf = buf_make(100);
	char *to = buf_reserve(&buf, 3);
	memcpy(to, "abc", 3);
	buf.len += 3;
	buf_add_text(&buf, "d");
	assert_string_equal(buf_text(&buf), "abcd");
	char *taken = buf_take(&buf);
	assert_string_equal(taken, "abcd");
	assert_int_equal(buf.len, 0);
	assert_int_equal(buf.max, 100);
	free(taken);
	taken = buf_take(&buf);
	assert_string_equal(taken, "");
	free(taken);
}

static void bytes_may_be_anything(void **state)
{
	(void)state;
	struct buf buf = buf_make(100);
	buf_add(&buf, "a\0b", 3);
	buf_add(&buf, NULL, 0);
	assert_int_equal(buf.len, 3);
	assert_memory_equal(buf.data, "a\0b", 4);
	buf_free(&buf);
}

static void array_keeps_order_while_it_grows(void **state)
{
	(void)state;
	VEC(int) list = {0};
	for (int i = 0; i < 1000; i++)
		vec_push(&list, i * 3);
	assert_int_equal(list.len, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(list.at[i], i * 3);
	free(list.at);
}

static void memory_helpers(void **state)
{
	(void)state;
	char *zeroed = mem_alloc(64);
	for (int i = 0; i < 64; i++)
		assert_int_equal(zeroed[i], 0);
	free(zeroed);
	free(mem_alloc(0));
	char *copy = mem_copy("abcdef", 3);
	assert_string_equal(copy, "abc");
	free(copy);
	assert_null(mem_strdup(NULL));
	char *text = mem_printf("%s-%d", "x", 7);
	assert_string_equal(text, "x-7");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(add_grows_and_stays_terminated),
		cmocka_unit_test(maximum_is_never_passed),
		cmocka_unit_test(consume_takes_from_the_front),
		cmocka_unit_test(reserve_then_add_by_hand),
		cmocka_unit_test(bytes_may_be_anything),
		cmocka_unit_test(array_keeps_order_while_it_grows),
		cmocka_unit_test(memory_helpers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
