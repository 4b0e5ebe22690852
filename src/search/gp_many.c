/* Several objectives for the Gaussian process, as ParEGO does (J. Knowles, ParEGO, 2006): every proposal weighs the
 * objectives anew and looks for an improvement of the weighed value. The weights come from the randomness of the ask, so
 * that a replay weighs the same. */
#include "search/gp_internal.h"

#include "base/num.h"

#include <math.h>

#define MANY_SUM 0.05 /* rho of the augmented Tchebycheff function */

/* The least of an objective, and how far above it three quarters of the results are: a few that are far off say nothing
 * about its scale. */
static void many_find_scale(const struct search *s, size_t objective, double *sorted, double *ret_least,
			    double *ret_span)
{
	size_t count = 0;
	for (size_t i = 0; i < s->trials.len; i++)
		if (search_has_score(s->trials.at[i]))
			sorted[count++] = s->trials.at[i]->measured[objective];
	qsort(sorted, count, sizeof(*sorted), num_compare_reals);
	double span = count ? sorted[3 * (count - 1) / 4] - sorted[0] : 0;
	*ret_least = count ? sorted[0] : 0;
	*ret_span = span > 0 ? span : count && sorted[count - 1] > sorted[0] ? sorted[count - 1] - sorted[0] : 1;
}

/* Evenly on the simplex. */
static void many_draw_weights(struct search *s, double *ret)
{
	double sum = 0;
	for (size_t k = 0; k < s->objectives; k++)
		sum += ret[k] = -log(1 - rng_unit(&s->rng));
	for (size_t k = 0; k < s->objectives; k++)
		ret[k] /= fmax(sum, 1e-300);
}

void gp_weigh(struct gp *g, struct search *s)
{
	size_t n = s->objectives;
	double *weights = mem_array(3 * n, sizeof(double)), *least = weights + n, *span = least + n;
	double *sorted = mem_array(s->trials.len + 1, sizeof(double));
	many_draw_weights(s, weights);
	for (size_t k = 0; k < n; k++)
		many_find_scale(s, k, sorted, &least[k], &span[k]);
	g->weighed = mem_resize(g->weighed, s->trials.len + 1, sizeof(double));
	for (size_t i = 0; i < s->trials.len; i++) {
		const struct search_trial *t = s->trials.at[i];
		double most = 0, sum = 0;
		for (size_t k = 0; k < n && search_has_score(t); k++) {
			double part = weights[k] * (t->measured[k] - least[k]) / span[k];
			most = fmax(most, part);
			sum += part;
		}
		g->weighed[i] = most + MANY_SUM * sum;
	}
	free(sorted);
	free(weights);
}
