/* name=value arguments: what they become, and what is refused. */
#include "cli/pairs.h"

#include "../unit.h"

#include <errno.h>
#include <math.h>

static void each_kind_is_typed_as_it_should_be(void **state)
{
	(void)state;
	struct error err;
	struct node *map = node_new(NODE_MAP);
	assert_int_equal(pairs_add(map, "lr=1e-5..1e-1:log", PAIRS_VALUES, &err), 0);
	assert_int_equal(pairs_add(map, "size=64,32", PAIRS_VALUES, &err), 0);
	assert_int_equal(pairs_add(map, "one=64,32", PAIRS_SCALAR, &err), 0);
	assert_int_equal(pairs_add(map, "flag=true", PAIRS_SCALAR, &err), 0);
	assert_int_equal(pairs_add(map, "val/loss=inf", PAIRS_NUMBER, &err), 0);
	assert_int_equal(node_get(map, "lr")->type, NODE_MAP);
	assert_int_equal(node_get(map, "size")->type, NODE_LIST);
	assert_string_equal(node_get_string(map, "one"), "64,32");
	assert_true(node_get_bool(map, "flag", false));
	assert_true(isinf(node_get(map, "val/loss")->real));
	assert_int_equal(pairs_add(map, "one=7", PAIRS_SCALAR, &err), 0); /* the last one counts */
	assert_int_equal(node_get_int(map, "one", 0), 7);
	node_free(map);
}

static void what_is_no_pair_is_refused_with_its_text(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum pairs_kind kind;
	} bad[] = {{"lr", PAIRS_VALUES},
		   {"=3", PAIRS_SCALAR},
		   {"a b=3", PAIRS_SCALAR},
		   {"loss=much", PAIRS_NUMBER},
		   {"loss=", PAIRS_NUMBER}};
	struct node *map = node_new(NODE_MAP);
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct error err = {0};
		assert_int_equal(pairs_add(map, bad[i].text, bad[i].kind, &err), -EINVAL);
		assert_true(err.text[0]);
	}
	assert_int_equal(map->count, 0);
	node_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_is_typed_as_it_should_be),
		cmocka_unit_test(what_is_no_pair_is_refused_with_its_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
