/* The fidelities between a first look and a full run, and the tables of Hyperband and DEHB. All in whole
 * numbers: log(243) / log(3) is 4.999... in doubles and would lose a rung. */
#ifndef SEARCH_RUNGS_H
#define SEARCH_RUNGS_H

#include "search/search_internal.h"

#define RUNGS_MOST 32
#define RUNGS_OPTION_ETA                                                                           \
	{"eta", SEARCH_OPTION_INT, 3, 2, 16, NULL, "one in so many goes on, for so many times as long"}

/* s_max = floor(log_eta(most / least)); the levels are most * eta^(i - s_max), i = 0..s_max. Returns the
 * number of levels, s_max + 1. */
size_t rungs_levels(double least, double most, unsigned eta, double levels[static RUNGS_MOST]);
/* How many start in bracket s: ceil((s_max + 1) eta^s / (s + 1)) (L. Li et al., JMLR 18 (2018)). */
uint64_t rungs_hyperband(size_t s_max, size_t s, unsigned eta);
/* floor((s_max + 1) / (s + 1)) eta^s (DEHB, N. Awad, N. Mallik and F. Hutter, IJCAI 2021). */
uint64_t rungs_dehb(size_t s_max, size_t s, unsigned eta);
/* floor(n / eta^i): how many of them reach rung i. */
uint64_t rungs_left(uint64_t n, unsigned eta, size_t i);

/* How many configurations there are besides the fidelity; UINT64_MAX for more than LIMIT_TASKS. A bracket
 * that waited for more than there are would wait for ever. Conditions, constraints or a fidelity that is a range may
 * leave fewer: then the strategy is told when they are exhausted. */
uint64_t rungs_space_size(const struct search *s);

/* Successive halving: one rung after the other, each asked for and then waited for. */
struct bracket {
	size_t s;      /* starts at level s_max - s, has s + 1 rungs */
	uint64_t n;    /* in rung 0 */
	size_t rung;
	uint64_t size; /* of the present rung: n / eta^rung, or fewer where too many failed */
	uint64_t asked, told;
	VEC(struct search_trial *) done, chosen; /* of this rung; what the rung below sent up */
	bool over;
};

/* The level of its present rung. */
size_t bracket_level(const struct bracket *b, size_t s_max);
/* Hears a trial of the present rung. True when that completed it: `chosen` then holds the best of it,
 * best first, and the next rung has begun (or the bracket is over). */
bool bracket_tell(struct bracket *b, struct search_trial *trial, unsigned eta);
/* There are no more configurations than those that were asked for: goes on with these. */
void bracket_cut(struct bracket *b, unsigned eta);
/* "brackets":[{"start","fidelity","rung","rungs","asked","told","size","over"}] of the open map. */
void brackets_write(const struct bracket *list, size_t count, const double *levels, size_t s_max, struct json *out);
void bracket_free(struct bracket *b);

#endif
