/* The tree-structured Parzen estimator as a model that any strategy can ask for proposals: it gets running trials and
 * their results, and proposes points where good results are dense and other results are not. `tpe` is this model alone;
 * ASHA and CMA-ES may start from it. */
#ifndef SEARCH_TPE_H
#define SEARCH_TPE_H

#include "base/rng.h"
#include "space/space.h"

struct tpe;

/* `startup` results come before it proposes by itself; the best of `candidates` draws is taken. multivariate: parameters
 * that apply together have one density; else each has its own. */
struct tpe *tpe_new(const struct space *space, size_t objectives, size_t startup, size_t candidates, bool multivariate);
void tpe_free(struct tpe *tpe);
/* A trial begins at a point of the cube; returns its number: 0, 1, ... Until its result is told it counts as bad, so
 * that no other trial goes to the same place. */
size_t tpe_add(struct tpe *tpe, const double *unit);
/* The trial runs at another point than was added. Ignored where its result is known. */
void tpe_correct(struct tpe *tpe, size_t trial, const double *unit);
/* Sets its result, smaller is better; NULL when it failed, which always counts as bad. A pruned trial is worse than any
 * that finished. Told again, the later score counts where there is one objective. */
void tpe_tell(struct tpe *tpe, size_t trial, const double *score, bool pruned);
/* The result of one objective where some results count for more than any score: a smaller rank is better
 * (a longer run). May be told again for the same trial; a larger rank than before is ignored. */
void tpe_tell_rank(struct tpe *tpe, size_t trial, double score, unsigned rank);
/* Makes the next proposal. Changes nothing except for the next redraw. redraw > 0: the last proposal was refused, so
 * this returns the next best of the same draws; nothing may be added or told in between. */
void tpe_propose(struct tpe *tpe, struct rng *rng, unsigned redraw, double *ret_unit);
size_t tpe_results(const struct tpe *tpe); /* with a score */

#endif
