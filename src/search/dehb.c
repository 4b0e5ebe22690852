/* DEHB: N. Awad, N. Mallik and F. Hutter, DEHB: evolutionary Hyperband for scalable, robust and efficient
 * hyperparameter optimization, IJCAI 2021. One subpopulation per fidelity; brackets of successive
 * halving say how many are tried at which; differential evolution (rand/1/bin) says what. In the first
 * round of brackets the best of a rung go up as they are, later the lower fidelity's best are what
 * mutants are made of. */
#include "search/rungs.h"

#include <math.h>

#define DEHB_F 0.5
#define DEHB_CR 0.5
#define DEHB_POOL 3 /* a difference and a base */

const struct search_option dehb_options[] = {
	RUNGS_OPTION_ETA,
	{0},
};

struct member {
	double *x;
	double f; /* +INFINITY: not tried yet, or failed */
	int64_t id; /* of the task that tried it; -1 */
};

struct subpop {
	struct member *at;
	size_t n, parent; /* the rolling index of the next target */
};

struct dehb {
	struct brackets brackets;
	size_t s_max;
	struct subpop pops[RUNGS_MOST]; /* by level */
	double *mutant; /* scratch: DEHB_POOL + 1 rows */
};

#define NOTE_LEVEL 0
#define NOTE_PARENT 1

static size_t dehb_size(const struct dehb *h, size_t s)
{
	return (size_t)rungs_dehb(h->s_max, s, h->brackets.eta);
}

/* Each subpopulation holds the most that any bracket wants there. */
static void dehb_make_pops(struct search *s, struct dehb *h)
{
	for (size_t level = 0; level <= h->s_max; level++) {
		struct subpop *pop = &h->pops[level];
		for (size_t b = h->s_max - level; b <= h->s_max; b++) {
			size_t n = (size_t)rungs_left(dehb_size(h, b), h->brackets.eta, level - (h->s_max - b));
			pop->n = n > pop->n ? n : pop->n;
		}
		pop->n = pop->n ? pop->n : 1;
		pop->at = mem_array(pop->n, sizeof(*pop->at));
		for (size_t i = 0; i < pop->n; i++) {
			pop->at[i] = (struct member){.x = mem_array(s->dims, sizeof(double)), .f = INFINITY, .id = -1};
			search_random_point(s, pop->at[i].x);
		}
	}
}

static int dehb_open(struct search *s, struct error *err)
{
	(void)err;
	struct dehb *h = s->state = mem_alloc(sizeof(*h));
	brackets_open(&h->brackets, s, rungs_dehb);
	h->s_max = h->brackets.s_max;
	h->mutant = mem_array((DEHB_POOL + 1) * s->dims, sizeof(double));
	dehb_make_pops(s, h);
	return 0;
}

static void dehb_free(struct search *s)
{
	struct dehb *h = s->state;
	if (!h)
		return;
	for (size_t level = 0; level <= h->s_max; level++) {
		for (size_t i = 0; i < h->pops[level].n; i++)
			free(h->pops[level].at[i].x);
		free(h->pops[level].at);
	}
	brackets_free(&h->brackets);
	free(h->mutant);
	free(h);
}

/* v = a + F (b - c) over three different rows of a pool. */
static void dehb_mutate(struct search *s, const double *const *pool, size_t count, double *v)
{
	size_t r[3];
	for (size_t i = 0; i < 3; i++) {
		bool taken;
		do {
			r[i] = rng_below(&s->rng, count);
			taken = false;
			for (size_t k = 0; k < i; k++)
				taken = taken || r[k] == r[i];
		} while (taken);
	}
	for (size_t j = 0; j < s->dims; j++)
		v[j] = pool[r[0]][j] + DEHB_F * (pool[r[1]][j] - pool[r[2]][j]);
}

/* The rows of the best `most` of a subpopulation (all of it when most is larger). */
static size_t dehb_best_rows(const struct subpop *pop, size_t most, const double **rows)
{
	size_t *order = mem_array(pop->n, sizeof(*order));
	for (size_t i = 0; i < pop->n; i++) {
		size_t k = i;
		for (; k && pop->at[order[k - 1]].f > pop->at[i].f; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	most = most < pop->n ? most : pop->n;
	for (size_t i = 0; i < most; i++)
		rows[i] = pop->at[order[i]].x;
	free(order);
	return most;
}

static size_t dehb_all_rows(const struct dehb *h, const double **rows)
{
	size_t n = 0;
	for (size_t level = 0; level <= h->s_max; level++)
		for (size_t i = 0; i < h->pops[level].n; i++)
			rows[n++] = h->pops[level].at[i].x;
	return n;
}

static size_t dehb_count_rows(const struct dehb *h)
{
	size_t n = 0;
	for (size_t level = 0; level <= h->s_max; level++)
		n += h->pops[level].n;
	return n;
}

/* A child of the target: mutants come from `pool_level`'s best `most`; a pool of fewer than three is
 * filled up with mutants of everybody. Genes out of range are drawn anew. */
static void dehb_evolve_child(struct search *s, const double *target, size_t pool_level, size_t most, double *u)
{
	struct dehb *h = s->state;
	size_t everybody = dehb_count_rows(h);
	const double **rows = mem_array(everybody + DEHB_POOL + 1, sizeof(*rows));
	const double **pool = mem_array(h->pops[pool_level].n + DEHB_POOL + 1, sizeof(*pool));
	size_t count = dehb_best_rows(&h->pops[pool_level], most, pool);
	dehb_all_rows(h, rows);
	if (everybody < DEHB_POOL) { /* one member in all: nothing to make a difference of */
		search_random_point(s, u);
	} else {
		for (size_t i = 0; count < DEHB_POOL; i++, count++) {
			dehb_mutate(s, rows, everybody, h->mutant + i * s->dims);
			pool[count] = h->mutant + i * s->dims;
		}
		dehb_mutate(s, pool, count, u);
		size_t always = rng_below(&s->rng, s->dims);
		for (size_t j = 0; j < s->dims; j++)
			if (j != always && !(rng_unit(&s->rng) < DEHB_CR))
				u[j] = target[j];
	}
	for (size_t j = 0; j < s->dims; j++)
		if (!(u[j] >= 0 && u[j] <= 1))
			u[j] = rng_unit(&s->rng);
	free(rows);
	free(pool);
}

static bool dehb_is_member(const struct search *s, const struct subpop *pop, const double *x)
{
	for (size_t i = 0; i < pop->n; i++)
		if (pop->at[i].id >= 0 && memcmp(pop->at[i].x, x, s->dims * sizeof(double)) == 0)
			return true;
	return false;
}

/* What the rung below sends up and is not in the subpopulation yet: the one to go up next. */
static const struct search_trial *dehb_promotion(const struct search *s, const struct bracket *b,
						 const struct subpop *pop)
{
	const struct search_trial *next = b->chosen.at[b->asked];
	if (!dehb_is_member(s, pop, next->unit))
		return next;
	for (size_t i = b->asked + 1; i < b->chosen.len; i++)
		if (!dehb_is_member(s, pop, b->chosen.at[i]->unit))
			return b->chosen.at[i];
	return next;
}

static enum search_answer dehb_ask(struct search *s, struct search_trial *trial)
{
	struct dehb *h = s->state;
	const struct bracket *b;
	size_t level;
	enum search_answer answer = brackets_ask(&h->brackets, s, trial, &b, &level);
	if (answer != SEARCH_PROPOSED)
		return answer;
	struct subpop *pop = &h->pops[level];
	bool first_round = (size_t)trial->tag <= h->s_max;
	trial->notes[NOTE_LEVEL] = (double)level;
	trial->notes[NOTE_PARENT] = (double)pop->parent;
	if (b && b->rung && first_round) {
		const struct search_trial *from = dehb_promotion(s, b, pop);
		memcpy(trial->unit, from->unit, s->dims * sizeof(double));
		trial->continues = from->id;
		return SEARCH_PROPOSED;
	}
	bool rung_0 = !b || !b->rung;
	size_t size = b ? (size_t)b->size : dehb_size(h, h->s_max - level);
	bool own = rung_0 && first_round;
	if (s->dims)
		dehb_evolve_child(s, pop->at[pop->parent].x, rung_0 ? level : level - 1, own ? pop->n : size,
				  trial->unit);
	return SEARCH_PROPOSED;
}

static void dehb_accepted(struct search *s, struct search_trial *trial)
{
	struct dehb *h = s->state;
	brackets_accept(&h->brackets, trial)->asked++;
	struct subpop *pop = &h->pops[(size_t)trial->notes[NOTE_LEVEL]];
	pop->parent = (pop->parent + 1) % pop->n;
}

static void dehb_tell(struct search *s, struct search_trial *trial)
{
	struct dehb *h = s->state;
	struct subpop *pop = &h->pops[(size_t)trial->notes[NOTE_LEVEL]];
	struct member *parent = &pop->at[(size_t)trial->notes[NOTE_PARENT]];
	if (search_has_score(trial) && trial->score[0] <= parent->f) {
		memcpy(parent->x, trial->unit, s->dims * sizeof(double));
		parent->f = trial->score[0];
		parent->id = trial->id;
	}
	brackets_tell(&h->brackets, trial);
}

static bool dehb_exhausted(struct search *s)
{
	struct dehb *h = s->state;
	return brackets_cut(&h->brackets);
}

static uint64_t dehb_planned(const struct search_spec *spec, const struct space *space)
{
	(void)space;
	return brackets_planned(spec, rungs_dehb);
}

static void dehb_write_state(const struct search *s, struct json *out)
{
	const struct dehb *h = s->state;
	brackets_write(&h->brackets, out);
	json_key(out, "subpopulations");
	json_list(out);
	for (size_t level = 0; level <= h->s_max; level++) {
		size_t tried = 0;
		for (size_t i = 0; i < h->pops[level].n; i++)
			tried += h->pops[level].at[i].id >= 0;
		json_map(out);
		json_key_real(out, "fidelity", h->brackets.levels[level]);
		json_key_int(out, "size", (int64_t)h->pops[level].n);
		json_key_int(out, "tried", (int64_t)tried);
		json_end(out);
	}
	json_end(out);
}

const struct strategy_ops dehb_ops = {.open = dehb_open,
				      .free = dehb_free,
				      .ask = dehb_ask,
				      .accepted = dehb_accepted,
				      .tell = dehb_tell,
				      .exhausted = dehb_exhausted,
				      .write_state = dehb_write_state,
				      .planned = dehb_planned};
