/* Success-history memories and population size reduction: R. Tanabe and A. Fukunaga, CEC 2013
 * (SHADE) and CEC 2014 (L-SHADE). */
#include "search/evolve.h"

#include <math.h>

void evolve_memory_open(struct evolve_memory *m, size_t size, double F, double CR)
{
	m->size = size;
	m->F = mem_array(size, sizeof(double));
	m->CR = mem_array(size, sizeof(double));
	for (size_t i = 0; i < size; i++) {
		m->F[i] = F;
		m->CR[i] = CR;
	}
}

void evolve_memory_free(struct evolve_memory *m)
{
	free(m->F);
	free(m->CR);
	free(m->won_F.at);
	free(m->won_CR.at);
	free(m->weight.at);
}

void evolve_memory_add(struct evolve_memory *m, double F, double CR, double weight)
{
	vec_push(&m->won_F, F);
	vec_push(&m->won_CR, CR);
	vec_push(&m->weight, weight);
}

void evolve_remember(struct evolve *e, const struct evolve_member *parent, const struct search_trial *trial,
		     double weight)
{
	evolve_archive(e, parent->x);
	evolve_memory_add(&e->memory, trial->notes[EVOLVE_F], trial->notes[EVOLVE_CR], weight);
}

void evolve_win_by_gain(struct evolve *e, struct evolve_member *parent, const struct search_trial *trial, bool better)
{
	if (better)
		evolve_remember(e, parent, trial, parent->f - trial->score[0]);
}

void evolve_make_pbest(struct evolve *e, size_t target, double Fw, double F, double CR, double portion, bool not_itself,
		       struct search_trial *trial)
{
	double best = round(portion * (double)e->n);
	evolve_current_to_pbest(e, target, Fw, F, best > 2 ? (size_t)best : 2, not_itself, trial->unit);
	evolve_cross(e, e->at[target].x, CR, trial->unit);
	evolve_repair(e, e->at[target].x, trial->unit);
	trial->notes[EVOLVE_F] = F;
	trial->notes[EVOLVE_CR] = CR;
}

/* Weights that add up to 1. A parent that had failed gives an infinite gain: it counts as the largest
 * finite one. No gain at all (0/0 for distances): all alike. */
static void memory_normalise(double *w, size_t n)
{
	double sum = 0, most = 0;
	for (size_t i = 0; i < n; i++)
		if (isfinite(w[i]) && w[i] > most)
			most = w[i];
	for (size_t i = 0; i < n; i++) {
		w[i] = isfinite(w[i]) ? w[i] : most > 0 ? most : 1;
		sum += w[i];
	}
	for (size_t i = 0; i < n; i++)
		w[i] = sum > 0 && isfinite(sum) ? w[i] / sum : 1 / (double)n;
}

/* sum w s^2 / sum w s */
static double memory_lehmer(const double *w, const double *s, size_t n)
{
	double over = 0, under = 0;
	for (size_t i = 0; i < n; i++) {
		over += w[i] * s[i] * s[i];
		under += w[i] * s[i];
	}
	return under > 0 ? over / under : 0;
}

static double memory_arithmetic(const double *w, const double *s, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += w[i] * s[i];
	return sum;
}

void evolve_memory_update(struct evolve_memory *m)
{
	size_t n = m->weight.len, k = m->next;
	if (!n)
		return;
	double *w = m->weight.at, most_CR = 0;
	memory_normalise(w, n);
	for (size_t i = 0; i < n; i++)
		most_CR = m->won_CR.at[i] > most_CR ? m->won_CR.at[i] : most_CR;
	double F = memory_lehmer(w, m->won_F.at, n);
	double CR = m->lehmer_CR ? memory_lehmer(w, m->won_CR.at, n) : memory_arithmetic(w, m->won_CR.at, n);
	m->F[k] = m->halve ? (m->F[k] + F) / 2 : F;
	if (m->terminal && (most_CR == 0 || m->CR[k] < 0))
		m->CR[k] = -1;
	else
		m->CR[k] = m->halve ? (m->CR[k] + CR) / 2 : CR;
	m->next = (k + 1) % m->size;
	m->won_F.len = m->won_CR.len = m->weight.len = 0;
}

double evolve_draw_CR(struct rng *rng, double mean)
{
	double CR = mean + 0.1 * rng_normal(rng);
	return CR < 0 ? 0 : CR > 1 ? 1 : CR;
}

double evolve_draw_F(struct rng *rng, double location)
{
	double F;
	do
		F = location + 0.1 * rng_cauchy(rng);
	while (F <= 0);
	return F > 1 ? 1 : F;
}

size_t evolve_linear_size(size_t n_start, size_t n_end, uint64_t fes, uint64_t most)
{
	double n = ((double)n_end - (double)n_start) / (double)most * (double)fes + (double)n_start;
	n = round(n);
	return n < (double)n_end ? n_end : (size_t)n;
}
