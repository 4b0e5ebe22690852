/* Counting and walking the configurations of a finite space. The walk is an odometer over the
 * parameters that apply, in an order in which parents come first; parameters that do not apply are
 * skipped, so that no configuration comes twice. */
#include "space/space_internal.h"

#include "base/limits.h"
#include "base/rng.h"

#include <errno.h>
#include <string.h>

/* Work of the walk over the parameters that conditions and constraints name before counting gives up: about a tenth of
 * a second. It is counted and not timed, so that the same space always has the same answer. */
#define COUNT_WORK_MOST 1000000
/* Text of the constraints that is as much work as a step of the walk. */
#define COUNT_WORK_TEXT 64
/* Draws before an infinite space counts as empty: a search that redraws as often would be stuck. At least so many are
 * made, however long the constraints are. */
#define EMPTY_DRAWS_MOST 20000
#define EMPTY_DRAWS_LEAST 50

/* Sets the parameters from `from` on (in order) to the first value they can take. */
static void grid_set_first(const struct space *space, size_t from, struct space_value *values)
{
	for (size_t i = from; i < space->count; i++) {
		size_t at = space->order[i];
		values[at] = space_applies(space, at, values) ? space_value_at(&space->params[at], 0)
							      : (struct space_value){.kind = SPACE_VALUE_NONE};
	}
}

/* Moves to the next configuration, allowed or not. */
static bool grid_advance(const struct space *space, struct space_value *values)
{
	for (size_t i = space->count; i-- > 0;) {
		size_t at = space->order[i];
		const struct space_param *param = &space->params[at];
		if (values[at].kind == SPACE_VALUE_NONE || param->cardinality == 1)
			continue;
		uint64_t k = space_index_of(param, &values[at]) + 1;
		if (k < param->cardinality) {
			values[at] = space_value_at(param, k);
			grid_set_first(space, i + 1, values);
			return true;
		}
	}
	return false;
}

static bool grid_is_finite(const struct space *space)
{
	for (size_t i = 0; i < space->count; i++)
		if (!space->params[i].cardinality)
			return false;
	return true;
}

bool space_next(const struct space *space, uint64_t *cursor, struct space_value *values)
{
	if (*cursor == 0) {
		if (!grid_is_finite(space))
			return false;
		grid_set_first(space, 0, values);
	} else if (!grid_advance(space, values)) {
		return false;
	}
	while (!space_allows(space, values))
		if (!grid_advance(space, values))
			return false;
	++*cursor;
	return true;
}

struct count {
	const struct space *space;
	bool *core; /* parents and what constraints name: only these are walked, the rest multiplies */
	struct space_value *values;
	uint64_t total, most, work, step_work;
};

/* The work of looking at one configuration. */
static uint64_t grid_step_work(const struct space *space)
{
	size_t text = 0;
	for (size_t i = 0; i < space->constraint_count; i++)
		text += strlen(space->constraints[i]->text);
	return 1 + text / COUNT_WORK_TEXT;
}

/* Adds factor * (the number of configurations from place i on). False when it is too many. */
static bool count_from(struct count *c, size_t i, uint64_t factor)
{
	const struct space *space = c->space;
	for (; i < space->count; i++) {
		size_t at = space->order[i];
		const struct space_param *param = &space->params[at];
		if (!space_applies(space, at, c->values)) {
			c->values[at] = (struct space_value){.kind = SPACE_VALUE_NONE};
			continue;
		}
		if (c->core[at])
			break;
		c->values[at] = space_value_at(param, 0);
		if (param->cardinality > UINT64_MAX / factor)
			return false;
		factor *= param->cardinality;
	}
	if ((c->work += i == space->count ? c->step_work : 1) > COUNT_WORK_MOST)
		return false;
	if (i == space->count) {
		if (!space_allows(space, c->values))
			return true;
		if (factor > c->most - c->total)
			return false;
		c->total += factor;
		return true;
	}
	size_t at = space->order[i];
	for (uint64_t k = 0; k < space->params[at].cardinality; k++) {
		c->values[at] = space_value_at(&space->params[at], k);
		if (!count_from(c, i + 1, factor))
			return false;
	}
	return true;
}

uint64_t space_count(const struct space *space, uint64_t most)
{
	if (!grid_is_finite(space))
		return UINT64_MAX;
	struct count c = {
		.space = space, .most = most < UINT64_MAX ? most : UINT64_MAX - 1, .step_work = grid_step_work(space)};
	c.core = mem_alloc(space->count + 1);
	c.values = mem_array(space->count, sizeof(*c.values));
	for (size_t i = 0; i < space->count; i++)
		for (size_t k = 0; k < space->params[i].condition_count; k++)
			c.core[space->params[i].conditions[k].parent] = true;
	for (size_t i = 0; i < space->constraint_count; i++)
		for (size_t k = 0; k < space->constraints[i]->use_count; k++)
			c.core[space->constraints[i]->uses[k]] = true;
	bool counted = count_from(&c, 0, 1);
	free(c.core);
	free(c.values);
	return counted ? c.total : UINT64_MAX;
}

int space_look_empty(const struct space *space)
{
	if (!space->constraint_count)
		return 0;
	uint64_t count = space_count(space, LIMIT_TASKS);
	if (count != UINT64_MAX)
		return count == 0 ? -ENOENT : 0;
	uint64_t most = COUNT_WORK_MOST / grid_step_work(space);
	int draws = most > EMPTY_DRAWS_MOST ? EMPTY_DRAWS_MOST
		: most < EMPTY_DRAWS_LEAST  ? EMPTY_DRAWS_LEAST
					    : (int)most;
	struct rng rng;
	rng_seed(&rng, 1);
	double *unit = mem_array(space->dim_count, sizeof(*unit));
	struct space_value *values = mem_array(space->count, sizeof(*values));
	bool found = false;
	for (int i = 0; i < draws && !found; i++) {
		for (size_t d = 0; d < space->dim_count; d++)
			unit[d] = rng_unit(&rng);
		space_decode(space, unit, values);
		found = space_allows(space, values);
	}
	free(unit);
	free(values);
	return found ? 0 : draws;
}
