/* The table of causes: every row is whole, and a word that is not in it is an error. */
#include "base/cause.h"

#include "../unit.h"

#include <errno.h>

static void every_cause_has_a_word_that_reads_back(void **state)
{
	(void)state;
	for (enum cause cause = CAUSE_NONE + 1; cause < CAUSE_COUNT; cause++) {
		enum cause found;
		if (!cause_name(cause) || !cause_text(cause))
			fail_msg("cause %d has no word or no text", (int)cause);
		assert_int_equal(cause_parse(cause_name(cause), &found), 0);
		if (found != cause)
			fail_msg("'%s' is twice in the table", cause_name(cause));
		for (const char *p = cause_name(cause); *p; p++)
			assert_true((*p >= 'a' && *p <= 'z') || *p == '_');
	}
}

/* A retried cause is an error, and an error says what to do. */
static void every_error_has_a_remedy(void **state)
{
	(void)state;
	for (enum cause cause = CAUSE_NONE + 1; cause < CAUSE_COUNT; cause++) {
		bool good = cause == CAUSE_OK || cause == CAUSE_STOPPED || cause == CAUSE_PRUNED;
		if (good != !cause_remedy(cause))
			fail_msg("'%s' has %s remedy", cause_name(cause), good ? "a" : "no");
		if (cause_retry(cause) != RETRY_NEVER)
			assert_non_null(cause_remedy(cause));
	}
}

static void a_word_that_is_not_in_the_table_is_never_retried(void **state)
{
	(void)state;
	static const char *const words[] = {"", "los", "lostt", "LOST", "node_failure", "oom"};
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		enum cause cause = CAUSE_LOST;
		assert_int_equal(cause_parse(words[i], &cause), -EINVAL);
		assert_int_equal(cause, CAUSE_UNKNOWN);
		assert_int_equal(cause_retry(cause), RETRY_NEVER);
	}
}

static void nothing_said_is_no_cause(void **state)
{
	(void)state;
	enum cause cause = CAUSE_LOST;
	assert_int_equal(cause_parse(NULL, &cause), 0);
	assert_int_equal(cause, CAUSE_NONE);
	assert_null(cause_name(CAUSE_NONE));
	assert_int_equal(cause_retry(CAUSE_NONE), RETRY_NEVER);
}

static void every_retry_key_has_a_cause(void **state)
{
	(void)state;
	assert_null(retry_keys[RETRY_NEVER]);
	for (int retry = 0; retry < RETRY_COUNT; retry++) {
		unsigned used = 0;
		for (enum cause cause = CAUSE_NONE; cause < CAUSE_COUNT; cause++)
			used += cause_retry(cause) == (enum retry)retry;
		if (!used)
			fail_msg("no cause counts for '%s'", retry_keys[retry]);
		assert_true(retry_times[retry] >= 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cause_has_a_word_that_reads_back),
		cmocka_unit_test(every_error_has_a_remedy),
		cmocka_unit_test(a_word_that_is_not_in_the_table_is_never_retried),
		cmocka_unit_test(nothing_said_is_no_cause),
		cmocka_unit_test(every_retry_key_has_a_cause),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
