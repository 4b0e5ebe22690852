/* An axis of a Parzen estimator: how a coordinate of the unit cube becomes a place on it, and what a normal
 * distribution weighs there. See parzen.h. */
#include "search/parzen_internal.h"

#include <math.h>

struct parzen_axis parzen_axis_of(const struct space_param *p)
{
	struct parzen_axis axis = {.kind = PARZEN_REAL, .param = p, .cells = (double)p->cardinality};
	if (!p->ordered)
		axis.kind = PARZEN_CHOICE;
	else if (p->cardinality)
		axis.kind = PARZEN_CELLS;
	axis.uneven = axis.kind == PARZEN_CELLS && !p->choice_count && p->log;
	axis.dense = axis.kind == PARZEN_CELLS && !axis.uneven &&
		axis.cells >= PARZEN_MAGIC_KERNELS / PARZEN_NARROW_CELL;
	return axis;
}

static double axis_clip(double value, double min, double max)
{
	return value < min ? min : value > max ? max : value;
}

double parzen_coordinate(const struct parzen_axis *axis, double unit)
{
	unit = axis_clip(unit, 0, 1);
	if (axis->kind == PARZEN_REAL)
		return unit;
	double cell = unit * axis->cells;
	if (axis->uneven) {
		const struct space_param *p = axis->param;
		cell = (exp(p->low + unit * p->span) - p->min) / p->step + 0.5;
	}
	return axis_clip(floor(cell), 0, axis->cells - 1);
}

void parzen_edges(const struct parzen_axis *axis, double cell, double *ret_low, double *ret_high)
{
	*ret_low = cell / axis->cells;
	*ret_high = (cell + 1) / axis->cells;
	if (axis->uneven) {
		const struct space_param *p = axis->param;
		double value = p->min + cell * p->step;
		*ret_low = cell > 0 ? (log(value - p->step / 2) - p->low) / p->span : 0;
		*ret_high = cell < axis->cells - 1 ? (log(value + p->step / 2) - p->low) / p->span : 1;
	}
}

double parzen_unit(const struct parzen_axis *axis, double coordinate)
{
	if (axis->kind == PARZEN_REAL)
		return coordinate;
	double low, high;
	parzen_edges(axis, coordinate, &low, &high);
	return (low + high) / 2;
}

/* Where the kernel of a coordinate sits. */
double parzen_middle(const struct parzen_axis *axis, double coordinate)
{
	if (!axis->uneven)
		return parzen_unit(axis, coordinate);
	const struct space_param *p = axis->param;
	return axis_clip((log(p->min + coordinate * p->step) - p->low) / p->span, 0, 1);
}

double parzen_log_mass(double low, double high)
{
	if (low < -9 && high > 9)
		return 0; /* all of it, to the last digit */
	double a = low * M_SQRT1_2, b = high * M_SQRT1_2;
	double mass = a > 0 ? erfc(a) - erfc(b) : b < 0 ? erfc(-b) - erfc(-a) : erf(b) - erf(a);
	return log(mass / 2);
}
