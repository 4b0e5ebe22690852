/* Sobol: points that cover the cube evenly, scrambled so that every seed gives another set of them.
 *
 * Direction numbers: S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional
 * projections, SIAM J. Sci. Comput. 30 (2008), set new-joe-kuo-6. Scrambling: nested uniform (A. B. Owen
 * 1995) by hashing, B. Burley, Practical hash-based Owen scrambling, JCGT 9 (2020). */
#include "search/search_internal.h"

#define SOBOL_BITS 32

/* Dimensions 2 to 64: a primitive polynomial over GF(2) with all its coefficients as bits, and as
 * many initial odd numbers m_1, m_2, ... as its degree. Dimension 1 is van der Corput's. */
static const struct {
	uint16_t polynomial, initial[9];
} sobol_table[SOBOL_DIMS - 1] = {
	{3, {1}},
	{7, {1, 3}},
	{11, {1, 3, 1}},
	{13, {1, 1, 1}},
	{19, {1, 1, 3, 3}},
	{25, {1, 3, 5, 13}},
	{37, {1, 1, 5, 5, 17}},
	{41, {1, 1, 5, 5, 5}},
	{47, {1, 1, 7, 11, 19}},
	{55, {1, 1, 5, 1, 1}},
	{59, {1, 1, 1, 3, 11}},
	{61, {1, 3, 5, 5, 31}},
	{67, {1, 3, 3, 9, 7, 49}},
	{91, {1, 1, 1, 15, 21, 21}},
	{97, {1, 3, 1, 13, 27, 49}},
	{103, {1, 1, 1, 15, 7, 5}},
	{109, {1, 3, 1, 15, 13, 25}},
	{115, {1, 1, 5, 5, 19, 61}},
	{131, {1, 3, 7, 11, 23, 15, 103}},
	{137, {1, 3, 7, 13, 13, 15, 69}},
	{143, {1, 1, 3, 13, 7, 35, 63}},
	{145, {1, 3, 5, 9, 1, 25, 53}},
	{157, {1, 3, 1, 13, 9, 35, 107}},
	{167, {1, 3, 1, 5, 27, 61, 31}},
	{171, {1, 1, 5, 11, 19, 41, 61}},
	{185, {1, 3, 5, 3, 3, 13, 69}},
	{191, {1, 1, 7, 13, 1, 19, 1}},
	{193, {1, 3, 7, 5, 13, 19, 59}},
	{203, {1, 1, 3, 9, 25, 29, 41}},
	{211, {1, 3, 5, 13, 23, 1, 55}},
	{213, {1, 3, 7, 3, 13, 59, 17}},
	{229, {1, 3, 1, 3, 5, 53, 69}},
	{239, {1, 1, 5, 5, 23, 33, 13}},
	{241, {1, 1, 7, 7, 1, 61, 123}},
	{247, {1, 1, 7, 9, 13, 61, 49}},
	{253, {1, 3, 3, 5, 3, 55, 33}},
	{285, {1, 3, 1, 15, 31, 13, 49, 245}},
	{299, {1, 3, 5, 15, 31, 59, 63, 97}},
	{301, {1, 3, 1, 11, 11, 11, 77, 249}},
	{333, {1, 3, 1, 11, 27, 43, 71, 9}},
	{351, {1, 1, 7, 15, 21, 11, 81, 45}},
	{355, {1, 3, 7, 3, 25, 31, 65, 79}},
	{357, {1, 3, 1, 1, 19, 11, 3, 205}},
	{361, {1, 1, 5, 9, 19, 21, 29, 157}},
	{369, {1, 3, 7, 11, 1, 33, 89, 185}},
	{391, {1, 3, 3, 3, 15, 9, 79, 71}},
	{397, {1, 3, 7, 11, 15, 39, 119, 27}},
	{425, {1, 1, 3, 1, 11, 31, 97, 225}},
	{451, {1, 1, 1, 3, 23, 43, 57, 177}},
	{463, {1, 3, 7, 7, 17, 17, 37, 71}},
	{487, {1, 3, 1, 5, 27, 63, 123, 213}},
	{501, {1, 1, 3, 5, 11, 43, 53, 133}},
	{529, {1, 3, 5, 5, 29, 17, 47, 173, 479}},
	{539, {1, 3, 3, 11, 3, 1, 109, 9, 69}},
	{545, {1, 1, 1, 5, 17, 39, 23, 5, 343}},
	{557, {1, 3, 1, 5, 25, 15, 31, 103, 499}},
	{563, {1, 1, 1, 11, 11, 17, 63, 105, 183}},
	{601, {1, 1, 5, 11, 9, 29, 97, 231, 363}},
	{607, {1, 1, 5, 15, 19, 45, 41, 7, 383}},
	{617, {1, 3, 7, 7, 31, 19, 83, 137, 221}},
	{623, {1, 1, 1, 3, 23, 15, 111, 223, 83}},
	{631, {1, 1, 5, 13, 31, 15, 55, 25, 161}},
	{637, {1, 1, 3, 13, 25, 47, 39, 87, 257}},
};

const struct search_option sobol_options[] = {
	{"scramble", SEARCH_OPTION_BOOL, 1, 0, 1, NULL, "another set of points for every seed"},
	{0},
};

struct sobol {
	uint32_t next;
	bool scramble;
};

static int sobol_degree_of(unsigned polynomial)
{
	int degree = 0;
	while (polynomial >> (degree + 1))
		degree++;
	return degree;
}

/* v_k = m_k / 2^k as a 32-bit fraction, by the recurrence of Joe and Kuo's equation 2. */
static void sobol_directions(size_t dim, uint32_t v[static SOBOL_BITS])
{
	if (dim == 0) {
		for (int k = 0; k < SOBOL_BITS; k++)
			v[k] = 1u << (SOBOL_BITS - 1 - k);
		return;
	}
	unsigned polynomial = sobol_table[dim - 1].polynomial;
	int degree = sobol_degree_of(polynomial);
	for (int k = 0; k < SOBOL_BITS; k++) {
		if (k < degree) {
			v[k] = (uint32_t)sobol_table[dim - 1].initial[k] << (SOBOL_BITS - 1 - k);
			continue;
		}
		v[k] = v[k - degree] ^ (v[k - degree] >> degree);
		for (int i = 1; i < degree; i++)
			if (polynomial >> (degree - i) & 1)
				v[k] ^= v[k - i];
	}
}

static uint32_t sobol_reverse_bits(uint32_t x)
{
	x = (x >> 16) | (x << 16);
	x = ((x & 0x00ff00ffu) << 8) | ((x >> 8) & 0x00ff00ffu);
	x = ((x & 0x0f0f0f0fu) << 4) | ((x >> 4) & 0x0f0f0f0fu);
	x = ((x & 0x33333333u) << 2) | ((x >> 2) & 0x33333333u);
	return ((x & 0x55555555u) << 1) | ((x >> 1) & 0x55555555u);
}

/* A random permutation in which a bit is changed by the bits above it only (Burley, section 3). */
static uint32_t sobol_scrambled(uint32_t x, uint32_t seed)
{
	x = sobol_reverse_bits(x);
	x += seed;
	x ^= x * 0x6c50b47cu;
	x ^= x * 0xb82f1e52u;
	x ^= x * 0xc7afe638u;
	x ^= x * 0x8d22f6e6u;
	return sobol_reverse_bits(x);
}

void sobol_point(uint32_t index, uint64_t scramble, size_t dims, double *unit)
{
	uint32_t gray = index ^ (index >> 1);
	for (size_t d = 0; d < dims && d < SOBOL_DIMS; d++) {
		uint32_t v[SOBOL_BITS], x = 0;
		sobol_directions(d, v);
		for (int k = 0; k < SOBOL_BITS; k++)
			if (gray >> k & 1)
				x ^= v[k];
		if (scramble)
			x = sobol_scrambled(x, (uint32_t)rng_derive(scramble, d));
		unit[d] = x * 0x1p-32;
	}
}

void sobol_points(uint32_t count, uint64_t scramble, size_t dims, double *units)
{
	for (size_t d = 0; d < dims && d < SOBOL_DIMS; d++) {
		uint32_t v[SOBOL_BITS], x = 0, seed = scramble ? (uint32_t)rng_derive(scramble, d) : 0;
		sobol_directions(d, v);
		for (uint32_t i = 0; i < count; i++) {
			units[i * dims + d] = (scramble ? sobol_scrambled(x, seed) : x) * 0x1p-32;
			x ^= v[__builtin_ctz(i + 1)]; /* the only bit in which the Gray codes of i and i + 1 differ */
		}
	}
}

static int sobol_open(struct search *s, struct error *err)
{
	(void)err;
	struct sobol *state = s->state = mem_alloc(sizeof(*state));
	state->scramble = search_option(s->spec, "scramble") != 0;
	return 0;
}

static void sobol_free(struct search *s)
{
	free(s->state);
}

static enum search_answer sobol_ask(struct search *s, struct search_trial *trial)
{
	struct sobol *state = s->state;
	search_random_point(s, trial->unit); /* the dimensions past the table */
	uint64_t seed = state->scramble ? rng_derive(s->spec->seed, 1) | 1 : 0;
	sobol_point(state->next++, seed, s->dims, trial->unit);
	return SEARCH_PROPOSED;
}

const struct strategy_ops sobol_ops = {.open = sobol_open, .free = sobol_free, .ask = sobol_ask};
