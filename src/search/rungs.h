/* The fidelities from the shortest to the full run, and the tables of Hyperband and DEHB. All computed with whole
 * numbers: log(243) / log(3) is 4.999... in doubles and would lose a rung. */
#ifndef SEARCH_RUNGS_H
#define SEARCH_RUNGS_H

#include "search/search_internal.h"

#define RUNGS_MOST 32
#define RUNGS_OPTION_ETA                                                                                               \
	{                                                                                                              \
		"eta", SEARCH_OPTION_INT, 3, 2, 16, NULL, "one task in eta goes on, eta times as long"                 \
	}

/* s_max = floor(log_eta(most / least)); the levels are most * eta^(i - s_max), i = 0..s_max. Returns the
 * number of levels, s_max + 1. */
size_t rungs_levels(double least, double most, unsigned eta, double levels[static RUNGS_MOST]);
/* How many start in bracket s: ceil((s_max + 1) eta^s / (s + 1)) (L. Li et al., JMLR 18 (2018)). */
uint64_t rungs_hyperband(size_t s_max, size_t s, unsigned eta);
/* floor((s_max + 1) / (s + 1)) eta^s (DEHB, N. Awad, N. Mallik and F. Hutter, IJCAI 2021). */
uint64_t rungs_dehb(size_t s_max, size_t s, unsigned eta);
/* floor(n / eta^i): how many of them reach rung i. */
uint64_t rungs_left(uint64_t n, unsigned eta, size_t i);

/* Successive halving: one rung after the other, each asked for and then waited for. */
struct bracket {
	size_t s; /* starts at level s_max - s, has s + 1 rungs */
	uint64_t n; /* in rung 0 */
	size_t rung;
	uint64_t size; /* of the present rung: n / eta^rung, or fewer where too many failed */
	uint64_t asked, told;
	VEC(struct search_trial *) done, chosen; /* of this rung; what the rung below sent up */
	bool over;
};

/* How many start in bracket s: rungs_hyperband or rungs_dehb. */
typedef uint64_t (*rungs_start_f)(size_t s_max, size_t s, unsigned eta);

/* Brackets one after the other, from s_max down to 0 and again. While one waits for its rung the next begins. */
struct brackets {
	double levels[RUNGS_MOST];
	size_t s_max;
	unsigned eta;
	rungs_start_f start;
	VEC(struct bracket) at;
	size_t first; /* those before it have ended */
	uint64_t left; /* configurations that no bracket has */
};

void brackets_open(struct brackets *brackets, const struct search *s, rungs_start_f start);
void brackets_free(struct brackets *brackets);
/* Where the next trial belongs: fills its tag (the bracket's number), its fidelity and *ret_level. *ret is NULL
 * when a new bracket would begin. An answer other than SEARCH_PROPOSED: nothing can be asked for. */
enum search_answer brackets_ask(const struct brackets *brackets, const struct search *s, struct search_trial *trial,
				const struct bracket **ret, size_t *ret_level);
/* The bracket of a trial that was accepted, begun if it is new. The caller counts it as asked. */
struct bracket *brackets_accept(struct brackets *brackets, const struct search_trial *trial);
/* Takes the result of a trial. When that completes its rung, `chosen` of the bracket holds the best of it, best first,
 * and the next rung has begun (or the bracket has ended). */
void brackets_tell(struct brackets *brackets, struct search_trial *trial);
/* There are no more new configurations: continues with those that were asked for. False: this was already known. */
bool brackets_cut(struct brackets *brackets);
/* "brackets":[{"start","fidelity","rung","rungs","asked","told","size","over"}] of the open map. */
void brackets_write(const struct brackets *brackets, struct json *out);
/* The configurations of every bracket once. */
uint64_t brackets_planned(const struct search_spec *spec, rungs_start_f start);

#endif
