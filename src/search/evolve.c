/* The shared part of the differential evolution family: see evolve.h. */
#include "search/evolve.h"

#include <math.h>

#define EVOLVE_GENERATIONS 20 /* a population that lives shorter learns nothing */
#define EVOLVE_NEEDED 4 /* target and three others */
#define EVOLVE_FULL 100000.0 /* tasks of the published results, for ten dimensions */

const struct search_option evolve_options[] = {EVOLVE_OPTIONS, {0}};

size_t evolve_population(const struct search_spec *spec, size_t published)
{
	size_t asked = (size_t)search_option(spec, "population");
	if (asked)
		return asked < EVOLVE_NEEDED ? EVOLVE_NEEDED : asked;
	size_t fits = (size_t)(spec->tasks / EVOLVE_GENERATIONS);
	size_t n = published < fits ? published : fits;
	return n < EVOLVE_LEAST ? EVOLVE_LEAST : n;
}

size_t evolve_population_root(const struct search_spec *spec, size_t published, size_t full, size_t least)
{
	if (search_option(spec, "population") != 0 || search_option(spec, "mode") != 0)
		return evolve_population(spec, published);
	double fits = round((double)full * sqrt((double)spec->tasks / EVOLVE_FULL));
	size_t n = fits < (double)published ? (size_t)fits : published;
	return n < least ? least : n;
}

struct evolve *evolve_open(struct search *s, const struct evolve_rules *rules, size_t n)
{
	struct evolve *e = s->state = mem_alloc(sizeof(*e));
	e->search = s;
	e->rules = rules;
	e->n = e->n_start = n;
	e->generational = search_option(s->spec, "mode") != 0;
	e->at = mem_array(n, sizeof(*e->at));
	e->ranking = mem_array(n, sizeof(*e->ranking));
	e->ranking_stale = true;
	for (size_t i = 0; i < n; i++) {
		e->at[i].x = mem_array(s->dims, sizeof(double));
		e->at[i].f = INFINITY;
		e->at[i].key = (int64_t)i;
		e->ranking[i] = i;
	}
	return e;
}

void evolve_free(struct search *s)
{
	struct evolve *e = s->state;
	if (!e)
		return;
	for (size_t i = 0; i < e->n; i++)
		free(e->at[i].x);
	for (size_t i = 0; i < e->archive_count; i++)
		free(e->archive[i]);
	free(e->archive);
	free(e->at);
	free(e->ranking);
	evolve_memory_free(&e->memory);
	free(e->own);
	free(e);
}

double evolve_progress(const struct evolve *e)
{
	return e->search->spec->tasks ? (double)e->fes / (double)e->search->spec->tasks : 0;
}

/* Best first. Valid until the next replacement. */
static const size_t *evolve_rank(struct evolve *e)
{
	if (!e->ranking_stale)
		return e->ranking;
	for (size_t i = 1; i < e->n; i++) { /* nearly sorted from the last time */
		size_t moved = e->ranking[i], k = i;
		for (; k && e->at[e->ranking[k - 1]].f > e->at[moved].f; k--)
			e->ranking[k] = e->ranking[k - 1];
		e->ranking[k] = moved;
	}
	e->ranking_stale = false;
	return e->ranking;
}

size_t evolve_pick(struct evolve *e, const size_t * not, size_t count)
{
	for (;;) {
		size_t r = rng_below(&e->search->rng, e->n);
		bool free_to_take = e->at[r].known;
		for (size_t i = 0; i < count; i++)
			free_to_take = free_to_take && r != not [i];
		if (free_to_take)
			return r;
	}
}

/* A row of the population or the archive that is neither member a nor b. */
static const double *evolve_pick_archived(struct evolve *e, size_t a, size_t b)
{
	for (;;) {
		size_t r = rng_below(&e->search->rng, e->n + e->archive_count);
		if (r >= e->n)
			return e->archive[r - e->n];
		if (e->at[r].known && r != a && r != b)
			return e->at[r].x;
	}
}

void evolve_archive(struct evolve *e, const double *x)
{
	size_t bytes = e->search->dims * sizeof(double);
	if (!e->archive_most)
		return;
	if (e->archive_count < e->archive_most) {
		e->archive = mem_resize(e->archive, e->archive_count + 1, sizeof(*e->archive));
		e->archive[e->archive_count++] = memcpy(mem_alloc(bytes + 1), x, bytes);
	} else {
		memcpy(e->archive[rng_below(&e->search->rng, e->archive_count)], x, bytes);
	}
}

void evolve_remove(struct evolve *e, size_t at)
{
	size_t k = 0;
	free(e->at[at].x);
	e->known -= e->at[at].known;
	memmove(e->at + at, e->at + at + 1, (e->n - at - 1) * sizeof(*e->at));
	for (size_t i = 0; i < e->n; i++)
		if (e->ranking[i] != at)
			e->ranking[k++] = e->ranking[i] - (e->ranking[i] > at);
	e->n--;
	e->cursor -= e->cursor > at;
	e->begun -= e->begun > at;
}

void evolve_shrink(struct evolve *e, size_t n, size_t archive_most)
{
	while (e->n > n)
		evolve_remove(e, evolve_rank(e)[e->n - 1]);
	e->archive_most = archive_most;
	while (e->archive_count > archive_most)
		free(e->archive[--e->archive_count]);
}

void evolve_cross(struct evolve *e, const double *target, double CR, double *u)
{
	struct rng *rng = &e->search->rng;
	size_t always = rng_below(rng, e->search->dims);
	for (size_t j = 0; j < e->search->dims; j++)
		if (j != always && !(rng_unit(rng) < CR))
			u[j] = target[j];
}

void evolve_repair(const struct evolve *e, const double *target, double *u)
{
	for (size_t j = 0; j < e->search->dims; j++) {
		if (u[j] < 0)
			u[j] = target[j] / 2;
		else if (u[j] > 1)
			u[j] = (1 + target[j]) / 2;
	}
}

void evolve_rand_1(struct evolve *e, size_t target, double F, double *v)
{
	size_t r[4] = {target};
	for (size_t i = 1; i < 4; i++)
		r[i] = evolve_pick(e, r, i);
	const double *a = e->at[r[1]].x, *b = e->at[r[2]].x, *c = e->at[r[3]].x;
	for (size_t j = 0; j < e->search->dims; j++)
		v[j] = a[j] + F * (b[j] - c[j]);
}

void evolve_current_to_pbest(struct evolve *e, size_t target, double Fw, double F, size_t best, bool not_itself,
			     double *v)
{
	const size_t *rank = evolve_rank(e);
	if (best > e->known)
		best = e->known;
	size_t pb;
	do
		pb = rank[rng_below(&e->search->rng, best)];
	while (!e->at[pb].known || (not_itself && pb == target && best > 1));
	size_t r1 = evolve_pick(e, &target, 1);
	const double *x = e->at[target].x, *b = e->at[pb].x, *p = e->at[r1].x;
	const double *q = evolve_pick_archived(e, target, r1);
	for (size_t j = 0; j < e->search->dims; j++)
		v[j] = x[j] + Fw * (b[j] - x[j]) + F * (p[j] - q[j]);
}

/* The next target: in a first pass everybody's own random point, then those that are known, in turn. */
static size_t evolve_next_target(const struct evolve *e)
{
	if (e->begun < e->n)
		return e->begun;
	for (size_t k = 0; k < e->n; k++)
		if (e->at[(e->cursor + k) % e->n].known)
			return (e->cursor + k) % e->n;
	return e->cursor % e->n;
}

enum search_answer evolve_ask(struct search *s, struct search_trial *trial)
{
	struct evolve *e = s->state;
	if (e->generational && e->cursor == e->n)
		return SEARCH_WAIT;
	size_t target = e->generational ? e->cursor : evolve_next_target(e);
	trial->tag = e->at[target].key;
	if (!e->at[target].known || e->known < EVOLVE_NEEDED || !s->dims)
		search_random_point(s, trial->unit);
	else
		e->rules->make(e, target, trial);
	return SEARCH_PROPOSED;
}

static size_t evolve_find_member(const struct evolve *e, int64_t key)
{
	size_t i = 0;
	while (i < e->n && e->at[i].key != key)
		i++;
	return i;
}

void evolve_accepted(struct search *s, struct search_trial *trial)
{
	struct evolve *e = s->state;
	size_t at = evolve_find_member(e, trial->tag);
	if (at == e->begun)
		e->begun++;
	e->cursor = at + 1;
	if (!e->generational && e->cursor >= e->n)
		e->cursor = 0;
}

static void evolve_replace(struct evolve *e, struct evolve_member *m, const struct search_trial *trial)
{
	memcpy(m->x, trial->unit, e->search->dims * sizeof(double));
	m->f = trial->score[0];
	e->ranking_stale = true;
}

static void evolve_select_one(struct evolve *e, struct evolve_member *m, const struct search_trial *trial)
{
	double f = trial->score[0];
	if (!m->known) {
		evolve_replace(e, m, trial);
		m->known = true;
		e->known++;
	} else if (f < m->f || (e->rules->ties_win && f == m->f)) {
		e->rules->win(e, m, trial, f < m->f);
		evolve_replace(e, m, trial);
	}
}

static void evolve_end_generation(struct evolve *e)
{
	for (size_t i = 0; i < e->n && e->generational; i++) {
		evolve_select_one(e, &e->at[i], e->at[i].child);
		e->at[i].child = NULL;
	}
	e->told = 0;
	if (e->generational || e->cursor >= e->n)
		e->cursor = 0;
	if (e->generation++ > 0 || !e->generational)
		e->rules->generation(e);
}

/* A configuration that the search did not choose takes the place of the worst known member it beats; it says nothing
 * about any member's F and CR, and it is no part of a generation. */
static void evolve_immigrate(struct evolve *e, const struct search_trial *trial)
{
	const size_t *rank = evolve_rank(e);
	for (size_t i = e->n; i-- > 0;) {
		struct evolve_member *m = &e->at[rank[i]];
		if (!m->known)
			continue;
		if (trial->score[0] < m->f)
			evolve_replace(e, m, trial);
		return;
	}
}

void evolve_tell(struct search *s, struct search_trial *trial)
{
	struct evolve *e = s->state;
	if (trial->foreign) {
		evolve_immigrate(e, trial);
		return;
	}
	size_t at = evolve_find_member(e, trial->tag);
	e->fes++;
	e->told++;
	if (e->rules->told)
		e->rules->told(e, trial);
	if (at == e->n) /* its target is gone: it may take the place of the worst */
		at = evolve_rank(e)[e->n - 1];
	if (e->generational)
		e->at[at].child = trial;
	else
		evolve_select_one(e, &e->at[at], trial);
	if (e->told >= e->n)
		evolve_end_generation(e);
}

void evolve_write_state(const struct search *s, struct json *out)
{
	const struct evolve *e = s->state;
	double best = INFINITY;
	for (size_t i = 0; i < e->n; i++)
		best = e->at[i].known && e->at[i].f < best ? e->at[i].f : best;
	json_key_string(out, "mode", e->generational ? "generational" : "steady");
	json_key_int(out, "population", (int64_t)e->n);
	json_key_int(out, "population_start", (int64_t)e->n_start);
	json_key_int(out, "generation", (int64_t)e->generation);
	json_key_int(out, "archive", (int64_t)e->archive_count);
	json_key(out, "best");
	if (isfinite(best))
		json_put_real(out, s->spec->maximise[0] ? -best : best);
	else
		json_put_null(out);
}
