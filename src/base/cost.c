/* The table of figures, and one attempt's figures. See cost.h. */
#include "base/cost.h"

#include "base/json.h"

#include <math.h>

#define COST_COUNTED(name, key, column, with, per, unit, label, source)                                                \
	[FIGURE_##name] = {key, column, true, per, unit, label, source},
#define COST_OTHER(name, key, over, unit, label, source) [FIGURE_##name] = {key, key, false, 1, unit, label, source},

const struct cost_figure cost_figures[FIGURE_COUNT] = {COST_FIGURES(COST_COUNTED, COST_OTHER)};

_Static_assert(FIGURE_COUNT <= 64, "struct cost has one bit for each figure");

static bool cost_is_possible(double value)
{
	return value >= 0 && value <= COST_MOST;
}

void cost_set(struct cost *cost, enum figure figure, double value)
{
	uint64_t bit = (uint64_t)1 << figure;
	bool possible = cost_is_possible(value);
	cost->known = possible ? cost->known | bit : cost->known & ~bit;
	cost->value[figure] = possible ? value : 0;
}

void cost_raise(struct cost *cost, enum figure figure, double value)
{
	if (cost_is_possible(value) && !(cost_get(cost, figure) >= value))
		cost_set(cost, figure, value);
}

void cost_write_value(double value, struct json *out)
{
	if (value == floor(value) && fabs(value) <= COST_MOST)
		json_put_int(out, (int64_t)value);
	else
		json_put_real(out, value);
}

void cost_write(const struct cost *cost, struct json *out)
{
	for (enum figure f = 0; f < FIGURE_COUNT; f++) {
		if (!cost_has(cost, f))
			continue;
		json_key(out, cost_figures[f].stored);
		cost_write_value(cost->value[f], out);
	}
	if (cost->source)
		json_key_string(out, "energy_source", cost->source);
}

void cost_write_figures(struct json *out)
{
	json_list(out);
	for (enum figure f = 0; f < FIGURE_COUNT; f++) {
		json_map(out);
		json_key_string(out, "key", cost_figures[f].key);
		json_key_string(out, "label", cost_figures[f].label);
		json_key_string(out, "unit", cost_figures[f].unit);
		json_key_string(out, "source", cost_figures[f].source);
		json_end(out);
	}
	json_end(out);
}
