/* jSO, and DISH which differs from it in one weight. */
#ifndef SEARCH_JSO_H
#define SEARCH_JSO_H

#include "search/evolve.h"

/* What a success weighs: the gain for jSO, the way it went for DISH. */
typedef double (*jso_weight_f)(const struct evolve *e, const struct evolve_member *parent,
			       const struct search_trial *trial);

/* A search->state whose rules call `weight`. */
void jso_start(struct search *s, jso_weight_f weight);

#endif
