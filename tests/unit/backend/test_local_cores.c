/* Which cores a task gets. */
#include "backend/local_cores.h"

#include "../unit.h"

static void a_task_gets_free_cores_that_were_least_used(void **state)
{
	(void)state;
	struct local_cores cores = {0};
	cpu_set_t taken;
	char list[32], little[4];
	CPU_ZERO(&taken);
	for (int i = 0; i < 8; i++)
		if (i != 4) /* not the daemon's */
			CPU_SET(i, &cores.own);
	local_cores_read(&cores, "cpu 9 9 9 9\ncpu0 0 0 0 0\ncpu1 5 0 0 100 50\ncpu2 0 0 0 7\ncpu7 0 0 0 0\nintr 5\n");
	local_cores_read(&cores, "cpu0 50 0 9 0\ncpu1 6 0 0 900 90 0 0 0\ncpu2 100 0 0 7\ncpu7 3\ncpu99999 1\ncpux\n");
	local_cores_choose(&cores, &taken, 3, list, sizeof(list));
	assert_string_equal(list, "3,5,6"); /* of the others nothing is known: not used */
	local_cores_choose(&cores, &taken, 5, list, sizeof(list));
	assert_string_equal(list, "1,3,5,6,7");
	CPU_SET(3, &taken);
	CPU_SET(4, &taken);
	CPU_SET(5, &taken);
	local_cores_choose(&cores, &taken, 3, list, sizeof(list));
	assert_string_equal(list, "1,6,7");
	local_cores_choose(&cores, &taken, 5, list, sizeof(list));
	assert_string_equal(list, "0,1,2,6,7");
	local_cores_choose(&cores, &taken, 6, list, sizeof(list));
	assert_string_equal(list, ""); /* too few are left */
	local_cores_choose(&cores, &taken, 3, little, sizeof(little));
	assert_string_equal(little, ""); /* half a list would be another one */
}

static void the_own_mask_is_the_limit(void **state)
{
	(void)state;
	struct local_cores cores;
	cpu_set_t mask, taken;
	char list[1024];
	CPU_ZERO(&taken);
	assert_int_equal(sched_getaffinity(0, sizeof(mask), &mask), 0);
	local_cores_open(&cores);
	assert_true(CPU_EQUAL(&mask, &cores.own));
	local_cores_choose(&cores, &taken, CPU_COUNT(&mask), list, sizeof(list));
	assert_true(*list != 0);
	local_cores_choose(&cores, &taken, CPU_COUNT(&mask) + 1, list, sizeof(list));
	assert_string_equal(list, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_task_gets_free_cores_that_were_least_used),
		cmocka_unit_test(the_own_mask_is_the_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
