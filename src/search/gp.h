/* The Gaussian process as a model that a strategy can ask for proposals. It learns from the history of the search:
 * `gp` is this model alone, ASHA and Hyperband get their new configurations from it. With a fidelity, the model has one
 * axis more (its logarithm), and a proposal is where the full run promises an improvement. */
#ifndef SEARCH_GP_H
#define SEARCH_GP_H

#include "search/search_internal.h"

struct gp;

/* `startup` results (failures count too) come before it proposes. */
struct gp *gp_new(const struct search *search, size_t startup);
void gp_free(struct gp *gp);
/* Are there enough results for a model? */
bool gp_is_ready(const struct gp *gp);
/* Fills trial->unit. redraw > 0: the last proposal was refused, so this is the next best; nothing may be told in
 * between. Changes nothing that later proposals depend on. */
void gp_propose(struct gp *gp, struct search *search, struct search_trial *trial);
/* How much the full run of a configuration is expected to improve on the best (the logarithm), as the model of the last
 * gp_propose with redraw 0 sees it. */
double gp_promise(const struct gp *gp, const struct search *search, const double *unit);
/* The same of what gp_propose found; -INFINITY: it found nothing. */
double gp_promise_of_new(const struct gp *gp);
/* A trial of the history was told. */
void gp_tell(struct gp *gp, const struct search *search, const struct search_trial *trial);

#endif
