/* Decides whether to end a task early because its curve is bad. Pure: a rule over this task's value and those of the
 * others at the same place. Values are minimised (the caller turns the goal around). */
#ifndef SEARCH_PRUNE_H
#define SEARCH_PRUNE_H

#include "base/error.h"
#include "base/node.h"

enum prune_rule { PRUNE_NONE, PRUNE_MEDIAN, PRUNE_ASHA, PRUNE_THRESHOLD };

struct prune_spec {
	enum prune_rule rule;
	double warmup; /* epochs (steps, where no epoch is known) before which nothing is pruned */
	int64_t min_tasks; /* number of other tasks that must have come as far */
	int64_t reduction; /* ASHA: the best 1/reduction of a rung go on */
	double threshold; /* THRESHOLD: worse than this, as the script reports it */
};

/* `prune: median`, or a map with rule, warmup, min_tasks, reduction, threshold. */
int prune_parse(const struct node *node, struct problems *problems, struct prune_spec *ret) MUST_USE;
/* Is a decision due now? `reached` is how far the task is: in epochs where its rows have them, which are comparable
 * between tasks with other batch sizes, else in steps. The median rule looks at every row after the warm-up, ASHA at the
 * rungs warmup·reduction^k. `before` is how far it was at the last look, -1 at first. On true, *ret_at is where to
 * compare. */
bool prune_is_due(const struct prune_spec *spec, double before, double reached, double *ret_at);
/* value: the task's best up to there. others: the same for the other tasks that have reached it; for the median without
 * those that were pruned, as the more tasks are pruned the worse it would become. */
bool prune_decide(const struct prune_spec *spec, bool maximise, double value, const double *others, size_t count);

#endif
