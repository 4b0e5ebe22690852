/* A seeded random generator (xoshiro256++, Blackman and Vigna 2019), for everything that must be
 * replayable. Secrets come from token.h instead. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
	double spare_normal; /* second value of the last Box-Muller pair */
	int has_spare;
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
double rng_unit(struct rng *rng); /* uniform on [0, 1) */
uint64_t rng_below(struct rng *rng, uint64_t bound); /* uniform on 0..bound-1, without bias */
double rng_normal(struct rng *rng); /* mean 0, standard deviation 1 */
double rng_cauchy(struct rng *rng); /* location 0, scale 1 */
/* A seed for a part of the work, so that parts do not share a sequence. */
uint64_t rng_derive(uint64_t seed, uint64_t part);

#endif
