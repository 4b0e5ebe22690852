/* SPSRDEMMS: structured population size reduction with multiple mutation strategies. A. Zamuda, J. Brest
 * and E. Mezura-Montes, CEC 2013. Most of the population runs jDE's rand/1; the last few search around
 * the best of their own, which is handed over when it has moved away. */
#include "search/evolve.h"

#include <math.h>

#define SPSR_POPULATION 100
#define SPSR_STAGES 4 /* pmax */
#define SPSR_LEAST 10
#define SPSR_BEST 6
#define SPSR_CHANGE 0.1

struct spsr {
	double *xbb, *xchg; /* the best of the last few, and where it was when it last changed hands */
	double fbb;
};

static size_t spsr_rand_part(const struct evolve *e)
{
	return e->n > SPSR_BEST + 3 ? e->n - SPSR_BEST : e->n;
}

/* The best of the rand part, as far as its results are known. */
static size_t spsr_best_of_rand(const struct evolve *e, const double **ret_x, double *ret_f)
{
	size_t found = e->n;
	*ret_f = INFINITY;
	for (size_t i = 0; i < spsr_rand_part(e); i++) {
		const struct search_trial *child = e->at[i].child;
		bool won = child && child->score[0] < e->at[i].f;
		double f = won ? child->score[0] : e->at[i].f;
		if (e->at[i].known && f < *ret_f) {
			found = i;
			*ret_f = f;
			*ret_x = won ? child->unit : e->at[i].x;
		}
	}
	return found;
}

/* On entering the last few (or while they have none): a better one from the others becomes theirs. */
static bool spsr_takes_over(const struct evolve *e, size_t target, const double **ret_x, double *ret_f)
{
	const struct spsr *own = e->own;
	bool due = target == spsr_rand_part(e) || (target > spsr_rand_part(e) && isinf(own->fbb));
	return due && spsr_best_of_rand(e, ret_x, ret_f) < e->n && *ret_f < own->fbb;
}

static void spsr_make(struct evolve *e, size_t target, struct search_trial *trial)
{
	struct search *s = e->search;
	const struct evolve_member *m = &e->at[target];
	const struct spsr *own = e->own;
	double F = rng_unit(&s->rng) < SPSR_CHANGE ? 0.1 + 0.9 * rng_unit(&s->rng) : m->F;
	double CR = rng_unit(&s->rng) < SPSR_CHANGE ? rng_unit(&s->rng) : m->CR;
	double *u = trial->unit;
	if (target < spsr_rand_part(e)) {
		evolve_rand_1(e, target, F, u);
	} else {
		const double *better = NULL;
		double f;
		const double *base = spsr_takes_over(e, target, &better, &f) ? better : own->xbb;
		size_t r[3] = {target};
		r[1] = evolve_pick(e, r, 1);
		r[2] = evolve_pick(e, r, 2);
		for (size_t j = 0; j < s->dims; j++)
			u[j] = base[j] + F * (e->at[r[1]].x[j] - e->at[r[2]].x[j]);
	}
	for (size_t j = 0; j < s->dims; j++) {
		if (rng_unit(&s->rng) > CR)
			u[j] = m->x[j];
		u[j] = u[j] < 0 ? 0 : u[j] > 1 ? 1 : u[j];
	}
	trial->notes[EVOLVE_F] = F;
	trial->notes[EVOLVE_CR] = CR;
}

static void spsr_accepted(struct search *s, struct search_trial *trial)
{
	struct evolve *e = s->state;
	struct spsr *own = e->own;
	const double *x = NULL;
	double f;
	size_t at = 0;
	while (at < e->n && e->at[at].key != trial->tag)
		at++;
	if (at < e->n && e->at[at].known && spsr_takes_over(e, at, &x, &f)) {
		memcpy(own->xbb, x, s->dims * sizeof(double));
		memcpy(own->xchg, x, s->dims * sizeof(double));
		own->fbb = f;
	}
	evolve_accepted(s, trial);
}

static void spsr_told(struct evolve *e, const struct search_trial *trial)
{
	struct spsr *own = e->own;
	size_t at = 0;
	while (at < e->n && e->at[at].key != trial->tag)
		at++;
	if (at >= spsr_rand_part(e) && at < e->n && trial->score[0] < own->fbb) {
		memcpy(own->xbb, trial->unit, e->search->dims * sizeof(double));
		own->fbb = trial->score[0];
	}
}

static void spsr_win(struct evolve *e, struct evolve_member *parent, const struct search_trial *trial, bool better)
{
	(void)e, (void)better;
	parent->F = trial->notes[EVOLVE_F];
	parent->CR = trial->notes[EVOLVE_CR];
}

/* Has the best of the last few moved to another place? The mean ratio of its coordinates to those at
 * the last change is then far from 1. */
static bool spsr_has_moved(const struct evolve *e)
{
	const struct spsr *own = e->own;
	double sum = 0;
	for (size_t j = 0; j < e->search->dims; j++)
		if (own->xchg[j] > 0)
			sum += own->xbb[j] / own->xchg[j];
	double mean = sum / (double)e->search->dims;
	return mean < 0.5 || mean > 1.5;
}

/* Half the population: slot i keeps the better of i and n + i. */
static void spsr_halve(struct evolve *e)
{
	size_t n = (e->n + 1) / 2;
	for (size_t i = 0; i + n < e->n; i++) {
		if (e->at[i + n].f < e->at[i].f) {
			struct evolve_member swap = e->at[i];
			e->at[i] = e->at[i + n];
			e->at[i + n] = swap;
		}
	}
	e->ranking_stale = true;
	while (e->n > n)
		evolve_remove(e, e->n - 1);
}

static void spsr_generation(struct evolve *e)
{
	struct spsr *own = e->own;
	const double *x = NULL;
	double f;
	size_t best = spsr_best_of_rand(e, &x, &f);
	if (best < e->n && own->fbb < f && spsr_has_moved(e)) {
		memcpy(e->at[best].x, own->xbb, e->search->dims * sizeof(double));
		memcpy(own->xchg, own->xbb, e->search->dims * sizeof(double));
		e->at[best].f = own->fbb;
		e->ranking_stale = true;
	}
	if (e->generation > e->search->spec->tasks / (SPSR_STAGES * e->n) && (e->n + 1) / 2 >= SPSR_LEAST)
		spsr_halve(e);
}

static const struct evolve_rules spsr_rules = {
	.make = spsr_make, .win = spsr_win, .generation = spsr_generation, .told = spsr_told};

static int spsrdemms_open(struct search *s, struct error *err)
{
	(void)err;
	struct evolve *e = evolve_open(s, &spsr_rules, evolve_population(s->spec, SPSR_POPULATION));
	for (size_t i = 0; i < e->n; i++) {
		e->at[i].F = 0.1 + 0.9 * rng_unit(&s->rng);
		e->at[i].CR = rng_unit(&s->rng);
	}
	struct spsr *own = e->own = mem_alloc(sizeof(*own));
	own->xbb = mem_array(s->dims, sizeof(double));
	own->xchg = mem_array(s->dims, sizeof(double));
	own->fbb = INFINITY;
	return 0;
}

static void spsrdemms_free(struct search *s)
{
	struct evolve *e = s->state;
	if (e && e->own) {
		free(((struct spsr *)e->own)->xbb);
		free(((struct spsr *)e->own)->xchg);
	}
	evolve_free(s);
}

const struct strategy_ops spsrdemms_ops = {.open = spsrdemms_open,
					   .free = spsrdemms_free,
					   .ask = evolve_ask,
					   .accepted = spsr_accepted,
					   .tell = evolve_tell,
					   .write_state = evolve_write_state};
