/* What the Gaussian process learns from: see gp_internal.h. */
#include "search/gp_internal.h"
#include "search/gp_values.h"

#include <math.h>

#define GP_MARGIN_MOST 3.0 /* deviations */
#define GP_STEPS_LEAST 4 /* pairs of neighbours that tell something */
#define GP_STEPS_AGAINST 3 /* pairs of equals that one of others outweighs */

/* The same without the way over the configuration, where no parameter depends on another. */
static void gp_see_quickly(const struct gp *g, const struct search *s, const double *unit, double *ret)
{
	for (size_t d = 0; d < s->dims; d++) {
		double at = unit[d] > 0 ? unit[d] < 1 ? unit[d] : 1 : 0, cells = g->axes[d].cells;
		if (g->axes[d].kind != PARZEN_REAL) {
			double cell = (double)(uint64_t)(at * cells);
			at = ((cell < cells ? cell : cells - 1) + 0.5) / cells;
		}
		ret[d] = at;
	}
}

void gp_see(const struct gp *g, const struct search *s, const double *unit, double level, double *ret)
{
	if (g->quick) {
		gp_see_quickly(g, s, unit, ret);
	} else {
		space_decode(s->space, unit, g->values);
		space_encode(s->space, g->values, ret);
	}
	if (g->fidelity_axis >= 0)
		ret[g->fidelity_axis] = 0.5;
	if (g->fidelity)
		ret[s->dims] = level;
}

double gp_level(const struct gp *g, const struct search *s, const struct search_trial *t)
{
	const struct search_spec *spec = s->spec;
	if (!g->fidelity || isnan(t->fidelity))
		return 1;
	return log(t->fidelity / spec->fidelity_min) / log(spec->fidelity_max / spec->fidelity_min);
}

bool gp_is_better(const struct gp *g, const struct search *s, const struct search_trial *a,
		  const struct search_trial *b)
{
	double x = gp_level(g, s, a), y = gp_level(g, s, b);
	if (x != y)
		return x > y;
	if (a->beyond || b->beyond)
		return a->score[0] < b->score[0];
	return gp_score(g, s, a) < gp_score(g, s, b);
}

/* All of them, or the better half of the most and the newest. */
size_t gp_choose_results(const struct gp *g, const struct search *s, const struct search_trial **ret)
{
	const struct search_trial *best[GP_RESULTS_MOST / 2]; /* best first */
	size_t known = 0, taken = 0, count = 0;
	for (size_t i = 0; i < s->trials.len; i++)
		known += search_has_score(s->trials.at[i]);
	for (size_t i = 0; i < s->trials.len && known > GP_RESULTS_MOST; i++) {
		const struct search_trial *t = s->trials.at[i];
		size_t at = count;
		while (search_has_score(t) && at > 0 && gp_is_better(g, s, t, best[at - 1]))
			at--;
		if (!search_has_score(t) || at == COUNT_OF(best))
			continue;
		count += count < COUNT_OF(best);
		memmove(best + at + 1, best + at, (count - 1 - at) * sizeof(*best));
		best[at] = t;
	}
	const struct search_trial *last = count ? best[count - 1] : NULL;
	size_t old = known > GP_RESULTS_MOST ? known - GP_RESULTS_MOST / 2 : 0, good = 0;
	for (size_t i = 0, k = 0; i < s->trials.len; i++) {
		const struct search_trial *t = s->trials.at[i];
		if (!search_has_score(t))
			continue;
		bool is_new = k++ >= old;
		bool is_good = !is_new && last && !gp_is_better(g, s, last, t) && good < COUNT_OF(best);
		good += is_good;
		if (is_new || is_good)
			ret[taken++] = t;
	}
	return taken;
}

/* Of earlier experiments only results are known. One without a value has lost it when the objective was changed. */
static bool gp_has_outcome(const struct search_trial *t)
{
	return t->state != SEARCH_TRIAL_PENDING && (!t->earlier || search_has_score(t));
}

size_t gp_choose_outcomes(const struct search *s, const struct search_trial **ret, double *ret_labels)
{
	size_t from = s->trials.len, count = 0;
	while (from > 0 && count < GP_OUTCOMES_MOST)
		count += gp_has_outcome(s->trials.at[--from]);
	for (size_t i = from, at = 0; i < s->trials.len; i++) {
		if (!gp_has_outcome(s->trials.at[i]))
			continue;
		ret_labels[at] = search_has_score(s->trials.at[i]) ? 1 : -1;
		ret[at++] = s->trials.at[i];
	}
	return count;
}

double *gp_see_all(const struct gp *g, const struct search *s, const struct search_trial *const *trials, size_t count)
{
	double *x = mem_resize(NULL, count * g->dims + 1, sizeof(double));
	for (size_t i = 0; i < count; i++)
		gp_see(g, s, trials[i]->unit, 1, x + i * g->dims);
	return x;
}

double gp_collect(const struct gp *g, const struct search *s, const struct search_trial *const *chosen, size_t n,
		  bool bent, double **ret_x, double **ret_y)
{
	size_t room = n + GP_RUNNING_MOST;
	double *x = mem_resize(NULL, room * (g->dims + 1), sizeof(double)), *y = mem_resize(NULL, room, sizeof(double));
	for (size_t i = 0; i < n; i++) {
		gp_see(g, s, chosen[i]->unit, gp_level(g, s, chosen[i]), x + i * g->dims);
		y[i] = gp_score(g, s, chosen[i]);
	}
	*ret_x = x;
	*ret_y = y;
	return gp_values_even_out(y, n, bent);
}

size_t gp_thin(double *x, double *y, size_t count, size_t dims)
{
	size_t few = count < GP_FIT_FEW ? count : GP_FIT_FEW;
	for (size_t i = 0; i < few; i++) {
		memmove(x + i * dims, x + i * count / few * dims, dims * sizeof(double));
		y[i] = y[i * count / few];
	}
	return few;
}

double *gp_margins(const struct gp *g, const struct search *s, const struct search_trial *const *trials, size_t count,
		   size_t limit, double *ret_margins, size_t *ret_count)
{
	double *x = mem_resize(NULL, count * g->dims + 1, sizeof(double)), sum = 0, square = 0;
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		double margin = -trials[i]->excess[limit];
		if (!search_has_score(trials[i]) || !isfinite(margin))
			continue;
		gp_see(g, s, trials[i]->unit, gp_level(g, s, trials[i]), x + n * g->dims);
		sum += margin;
		square += margin * margin;
		ret_margins[n++] = margin;
	}
	double mean = sum / (double)n, spread = sqrt(fmax(square / (double)n - mean * mean, 0));
	/* What is far inside says little about the border: a few such results must not set the scale. */
	for (size_t i = 0; i < n && spread > 0; i++)
		ret_margins[i] = fmin(fmax(ret_margins[i] / spread, -GP_MARGIN_MOST), GP_MARGIN_MOST);
	*ret_count = n;
	return x;
}

struct neighbour {
	double distance;
	bool same; /* it has exactly the same value */
};

static int gp_compare_neighbours(const void *a, const void *b)
{
	const struct neighbour *x = a, *y = b;
	return x->distance < y->distance ? -1 : x->distance > y->distance ? 1 : x->same - y->same;
}

/* How far around a result its value most likely repeats. No smooth model can know, and it would go on refining
 * where nothing changes. The distance up to which results and their nearest neighbours have exactly the same value,
 * three of four; 0 where too few have. */
double gp_find_steps(const struct gp *g, const struct search *s, const struct search_trial *const *chosen,
		     const double *x, size_t n)
{
	struct neighbour *nearest = mem_resize(NULL, n + 1, sizeof(*nearest));
	double reach = 0, sum = 0, most = GP_STEPS_LEAST - 1;
	for (size_t i = 0; i < n; i++) {
		nearest[i] = (struct neighbour){INFINITY, false};
		for (size_t j = 0; j < n; j++) {
			double distance = i == j ? INFINITY : gp_distance(g, x + i * g->dims, x + j * g->dims);
			if (distance < nearest[i].distance)
				nearest[i] = (struct neighbour){distance,
								gp_score(g, s, chosen[i]) == gp_score(g, s, chosen[j])};
		}
	}
	qsort(nearest, n, sizeof(*nearest), gp_compare_neighbours);
	for (size_t i = 0; i < n && nearest[i].distance < INFINITY; i++) {
		sum += nearest[i].same ? 1 : -GP_STEPS_AGAINST;
		if (sum > most) {
			most = sum;
			reach = nearest[i].distance;
		}
	}
	free(nearest);
	return reach;
}
