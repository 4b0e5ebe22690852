/* --objective and --goal of `run`, `check` and `change`. */
#ifndef CLI_SUBMIT_OBJECTIVE_H
#define CLI_SUBMIT_OBJECTIVE_H

#include "base/node.h"
#include "cli/options.h"

/* Puts the objectives into the tree: --objective accuracy,loss is the same as the option twice, and the first goal is
 * that of the first objective. A goal alone is that of the tree's only objective. 1 if the tree was changed, 0 if there
 * was nothing to put, or a negative errno with err. */
int submit_apply_objective(struct node *tree, const struct options *options, struct error *err) MUST_USE;

#endif
