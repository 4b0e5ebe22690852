/* xoshiro256++ seeded by splitmix64: see rng.h. */
#include "base/rng.h"

#include <math.h>

static uint64_t rng_splitmix(uint64_t *x)
{
	uint64_t z = (*x += 0x9e3779b97f4a7c15u);
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		rng->s[i] = rng_splitmix(&seed);
	rng->has_spare = 0;
	rng->spare_normal = 0;
}

uint64_t rng_derive(uint64_t seed, uint64_t part)
{
	uint64_t x = seed ^ (part * 0xd1342543de82ef95u);
	rng_splitmix(&x);
	return rng_splitmix(&x);
}

static uint64_t rng_rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rng_rotate(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rng_rotate(s[3], 45);
	return result;
}

double rng_unit(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
	if (bound < 2)
		return 0;
	uint64_t skip = -bound % bound; /* 2^64 mod bound: the values that would be favoured */
	uint64_t x;
	do
		x = rng_next(rng);
	while (x < skip);
	return x % bound;
}

double rng_normal(struct rng *rng)
{
	if (rng->has_spare) {
		rng->has_spare = 0;
		return rng->spare_normal;
	}
	double radius = sqrt(-2 * log(1 - rng_unit(rng)));
	double angle = 2 * M_PI * rng_unit(rng);
	rng->spare_normal = radius * sin(angle);
	rng->has_spare = 1;
	return radius * cos(angle);
}

double rng_cauchy(struct rng *rng)
{
	return tan(M_PI * (rng_unit(rng) - 0.5));
}
