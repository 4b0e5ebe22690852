/* The seeded generator against the authors' reference, and that it stays what it is: a changed
 * sequence would make every stored search unreplayable. */
#include "base/rng.h"

#include "../unit.h"

#include <math.h>

static void next_follows_the_reference(void **state)
{
	(void)state;
	/* xoshiro256++ from the state 1, 2, 3, 4. */
	static const uint64_t expected[] = {
		41943041u,
		58720359u,
		3588806011781223u,
		3591011842654386u,
		9228616714210784205u,
		9973669472204895162u,
		14011001112246962877u,
		12406186145184390807u,
		15849039046786891736u,
		10450023813501588000u,
	};
	struct rng rng = {.s = {1, 2, 3, 4}};
	for (size_t i = 0; i < COUNT_OF(expected); i++)
		assert_true(rng_next(&rng) == expected[i]);
}

static void seeding_is_splitmix64(void **state)
{
	(void)state;
	/* splitmix64 from 1234567. */
	static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
					    4593380528125082431u};
	struct rng rng;
	rng_seed(&rng, 1234567);
	for (size_t i = 0; i < 4; i++)
		assert_true(rng.s[i] == expected[i]);
}

static void same_seed_same_sequence(void **state)
{
	(void)state;
	struct rng a, b, c;
	rng_seed(&a, 42);
	rng_seed(&b, 42);
	rng_seed(&c, 43);
	int same = 0;
	for (int i = 0; i < 1000; i++) {
		uint64_t x = rng_next(&a);
		assert_true(x == rng_next(&b));
		same += x == rng_next(&c);
	}
	assert_int_equal(same, 0);
	rng_normal(&a); /* a spare value is left over */
	rng_seed(&a, 42);
	rng_seed(&b, 42);
	assert_true(rng_normal(&a) == rng_normal(&b));
}

static void parts_do_not_share_a_sequence(void **state)
{
	(void)state;
	uint64_t seen[1000];
	for (uint64_t part = 0; part < 1000; part++) {
		seen[part] = rng_derive(420, part);
		for (uint64_t other = 0; other < part; other++)
			assert_true(seen[other] != seen[part]);
	}
	assert_true(rng_derive(1, 2) != rng_derive(2, 1));
}

static void unit_and_below_are_uniform(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 7);
	double sum = 0;
	unsigned counts[7] = {0};
	for (int i = 0; i < 70000; i++) {
		double u = rng_unit(&rng);
		assert_true(u >= 0 && u < 1);
		sum += u;
		counts[rng_below(&rng, 7)]++;
	}
	assert_true(fabs(sum / 70000 - 0.5) < 0.01);
	double chi = 0;
	for (int i = 0; i < 7; i++)
		chi += (counts[i] - 10000.0) * (counts[i] - 10000.0) / 10000.0;
	assert_true(chi < 22.46); /* 6 degrees of freedom, p = 0.001; the seed is fixed */
	assert_int_equal(rng_below(&rng, 1), 0);
	assert_int_equal(rng_below(&rng, 0), 0);
	uint64_t bound = (1ull << 63) + 1; /* nearly half of all values must be drawn again */
	for (int i = 0; i < 1000; i++)
		assert_true(rng_below(&rng, bound) < bound);
}

static void normal_has_its_moments(void **state)
{
	(void)state;
	struct rng rng;
	rng_seed(&rng, 9);
	double sum = 0, squares = 0;
	int within = 0, cauchy_within = 0;
	for (int i = 0; i < 100000; i++) {
		double x = rng_normal(&rng);
		sum += x;
		squares += x * x;
		within += fabs(x) < 1;
		cauchy_within += fabs(rng_cauchy(&rng)) < 1;
	}
	assert_true(fabs(sum / 1e5) < 0.02);
	assert_true(fabs(squares / 1e5 - 1) < 0.02);
	assert_true(fabs(within / 1e5 - 0.6827) < 0.01);
	assert_true(fabs(cauchy_within / 1e5 - 0.5) < 0.01); /* the quartiles of Cauchy are -1 and 1 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(next_follows_the_reference), cmocka_unit_test(seeding_is_splitmix64),
		cmocka_unit_test(same_seed_same_sequence),    cmocka_unit_test(parts_do_not_share_a_sequence),
		cmocka_unit_test(unit_and_below_are_uniform), cmocka_unit_test(normal_has_its_moments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
