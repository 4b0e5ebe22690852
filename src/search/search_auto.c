/* `auto`: which strategy fits the space, the budget and the objectives, and why. The thresholds are estimates; the
 * benchmarks in bench/ test them. */
#include "search/search_internal.h"

#include "base/limits.h"

#include <inttypes.h>
#include <math.h>

/* The Gaussian process had the best mean rank of our strategies with 100 and 300 tasks
 * (docs/studies/search-quality.md). After 100 tasks it was lower on three of five problems than what was chosen before
 * is after 1,500 (docs/studies/search-models.md). It looks at 300 results at most and is asked the less often the more
 * there are, so that no budget is too large for it. */
#define AUTO_MODEL_DIMS 100
/* Up to here the model hears of nothing before the last task begins. */
#define AUTO_FEW_TASKS 5
/* Below this, a population has too little to learn from to beat TPE. */
#define AUTO_LONG_TASKS 250
/* Ageing evolution wants its population of 100 first. */
#define AUTO_ARCHITECTURE_TASKS 100
/* Evaluations per dimension from which differential evolution overtakes: its papers use 10,000. */
#define AUTO_EVOLUTION_TASKS 500

struct look {
	size_t dims, unordered, conditional;
	uint64_t size, tasks, parallel;
};

static struct look look_at(const struct search_spec *spec, const struct space *space)
{
	struct look l = {.dims = space->dim_count, .parallel = spec->parallel};
	for (size_t d = 0; d < space->dim_count; d++) {
		const struct space_param *p = &space->params[space->dims[d]];
		l.unordered += !p->ordered;
		l.conditional += p->condition_count > 0;
	}
	l.size = search_space_size(space);
	l.tasks = spec->tasks ? spec->tasks : search_default_tasks(space);
	return l;
}

/* The first of these that exists. */
static const struct strategy *auto_first_of(const char *const *names)
{
	for (; *names; names++) {
		const struct strategy *s = search_find(*names);
		if (s)
			return s;
	}
	return search_find("random");
}

#define FIRST_OF(...) auto_first_of((const char *const[]){__VA_ARGS__, NULL})

static const struct strategy *auto_choose_finite(const struct search_spec *spec, const struct look *l,
						 const char **ret_option, char **ret_reason)
{
	*ret_option = spec->tasks_given ? "shuffle" : NULL;
	*ret_reason = mem_printf("the space has %" PRIu64 " configuration%s%s: every one is tried, %s", l->size,
				 l->size == 1 ? "" : "s", spec->tasks_given ? " and the budget covers them" : "",
				 *ret_option ? "in random order" : "in order");
	return search_find("grid");
}

static const struct strategy *auto_choose_fidelity(char **ret_reason)
{
	*ret_reason = mem_strdup("short runs tell which configurations deserve long ones");
	return FIRST_OF("asha", "hyperband");
}

static const struct strategy *auto_choose_many(const struct look *l, size_t objectives, char **ret_reason)
{
	bool numeric = !l->unordered && !l->conditional;
	const struct strategy *s = l->dims <= AUTO_MODEL_DIMS ? FIRST_OF("gp", "motpe", "nsga2", "random")
		: l->tasks < AUTO_LONG_TASKS                  ? FIRST_OF("motpe", "nsga2", "random")
							      : FIRST_OF("nsga2", "gde3", "random");
	*ret_reason = mem_printf("%zu objectives, %" PRIu64 " tasks, %s", objectives, l->tasks,
				 numeric ? "all parameters are numbers" : "with categories or conditions");
	return s;
}

/* More parameters than the model is for. */
static const struct strategy *auto_choose_large(const struct look *l, bool numeric, const char **ret_option,
						char **ret_reason)
{
	if (4 * l->unordered >= 3 * l->dims) {
		*ret_reason = mem_printf("%zu parameters, mostly categories: an architecture search", l->dims);
		return l->tasks < AUTO_ARCHITECTURE_TASKS ? FIRST_OF("tpe", "evolution", "de")
							  : FIRST_OF("evolution", "tpe", "de");
	}
	if (numeric && l->tasks >= AUTO_EVOLUTION_TASKS * l->dims) {
		*ret_reason = mem_printf("%" PRIu64 " tasks for %zu numeric parameters: enough for evolution", l->tasks,
					 l->dims);
		return FIRST_OF("lshade", "dish", "de");
	}
	if (numeric && l->tasks >= AUTO_LONG_TASKS) {
		*ret_reason = mem_printf("%zu numeric parameters and %" PRIu64
					 " tasks: TPE first, then CMA-ES from there",
					 l->dims, l->tasks);
		*ret_option = "warm";
		return search_find("cmaes");
	}
	*ret_reason = mem_printf("%zu parameters, %" PRIu64 " tasks", l->dims, l->tasks);
	return FIRST_OF("tpe", "de");
}

static const struct strategy *auto_choose_one(const struct look *l, const char **ret_option, char **ret_reason)
{
	bool numeric = !l->unordered && !l->conditional;
	if (l->dims > AUTO_MODEL_DIMS)
		return auto_choose_large(l, numeric, ret_option, ret_reason);
	*ret_reason = mem_printf("one objective, %" PRIu64 " tasks, %s", l->tasks,
				 numeric ? "numeric parameters" : "with categories or conditions");
	return FIRST_OF("gp", "tpe", "de");
}

const struct strategy *search_choose(const struct search_spec *spec, const struct space *space, bool has_fidelity,
				     const char **ret_option, char **ret_reason)
{
	struct look l = look_at(spec, space);
	*ret_option = NULL;
	/* Where configurations may come again, there is no end to them. */
	bool ends = l.size != UINT64_MAX && !(spec->open && spec->duplicates);
	if (ends && !has_fidelity && (!spec->tasks || l.size <= spec->tasks))
		return auto_choose_finite(spec, &l, ret_option, ret_reason);
	if (has_fidelity && spec->objective_count == 1)
		return auto_choose_fidelity(ret_reason);
	if (ends && (!spec->tasks || l.size <= spec->tasks))
		return auto_choose_finite(spec, &l, ret_option, ret_reason);
	if (l.tasks <= AUTO_FEW_TASKS || l.parallel >= l.tasks) {
		*ret_reason = l.tasks <= AUTO_FEW_TASKS
			? mem_printf("%" PRIu64 " tasks for %zu parameters are too few to learn from", l.tasks, l.dims)
			: mem_printf("%" PRIu64 " of %" PRIu64
				     " tasks run at the same time: no result comes in time to learn from",
				     l.parallel, l.tasks);
		return search_find("sobol");
	}
	if (spec->objective_count > 1)
		return auto_choose_many(&l, spec->objective_count, ret_reason);
	return auto_choose_one(&l, ret_option, ret_reason);
}
