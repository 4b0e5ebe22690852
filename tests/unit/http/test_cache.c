/* Rendered answers: never one of another version, never too many of them. */
#include "base/clock.h"
#include "http/cache.h"
#include "unit.h"

#include <stdio.h>

static int64_t fake_ms = 1000;
static int64_t fake_clock(void)
{
	return fake_ms;
}

static void put(struct cache *cache, const char *target, uint64_t version, size_t len)
{
	struct buf data = buf_make(BUF_UNLIMITED);
	for (size_t i = 0; i < len; i++)
		buf_add(&data, "x", 1);
	struct blob *blob = blob_take(&data);
	cache_put(cache, target, version, blob);
	blob_unref(blob);
}

static void test_answer_is_found_under_its_version_only(void **state)
{
	(void)state;
	struct cache *cache = cache_new();
	put(cache, "/a", 1, 10);
	put(cache, "/a?b", 1, 20);
	assert_int_equal(cache_find(cache, "/a", 1, 0)->len, 10);
	assert_int_equal(cache_find(cache, "/a?b", 1, 0)->len, 20);
	assert_null(cache_find(cache, "/a", 2, 0));
	assert_null(cache_find(cache, "/a", 1, 0)); /* it went when a newer one was asked for */
	put(cache, "/a?b", 2, 30);
	assert_int_equal(cache_find(cache, "/a?b", 2, 0)->len, 30);
	cache_free(cache);
}

static void test_answer_with_a_clock_in_it_ages(void **state)
{
	(void)state;
	struct cache *cache = cache_new();
	clock_replace(fake_clock);
	put(cache, "/a", 1, 10);
	fake_ms += 999;
	assert_non_null(cache_find(cache, "/a", 1, 1000));
	fake_ms += 1;
	assert_null(cache_find(cache, "/a", 1, 1000));
	clock_replace(NULL);
	cache_free(cache);
}

static void test_longest_unused_goes_first(void **state)
{
	(void)state;
	struct cache *cache = cache_new();
	char target[20];
	put(cache, "/kept", 1, 10);
	for (int i = 0; i < 100; i++) {
		snprintf(target, sizeof(target), "/%d", i);
		put(cache, target, 1, 10);
		assert_non_null(cache_find(cache, "/kept", 1, 0));
		assert_non_null(cache_find(cache, target, 1, 0));
	}
	assert_null(cache_find(cache, "/0", 1, 0));
	/* large ones push the small ones out, and one that is too large does not come in */
	put(cache, "/big1", 1, 2500000);
	put(cache, "/big2", 1, 2500000);
	put(cache, "/big3", 1, 2500000);
	assert_null(cache_find(cache, "/big1", 1, 0));
	assert_non_null(cache_find(cache, "/big3", 1, 0));
	put(cache, "/huge", 1, 5000000);
	assert_null(cache_find(cache, "/huge", 1, 0));
	cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer_is_found_under_its_version_only),
		cmocka_unit_test(test_answer_with_a_clock_in_it_ages),
		cmocka_unit_test(test_longest_unused_goes_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
