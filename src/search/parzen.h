/* A Parzen estimator: the density that TPE makes of the points of a group of axes. A product kernel on
 * every point and a wide one as the prior; widths from the neighbours on every axis. From 4,097 points on
 * the newest 2,048 and a sample of the older ones have kernels, so that it can follow a search of 100,000. */
#ifndef SEARCH_PARZEN_H
#define SEARCH_PARZEN_H

#include "base/rng.h"
#include "space/space.h"

enum parzen_kind {
	PARZEN_REAL, /* a truncated normal kernel on [0, 1] */
	PARZEN_CELLS, /* the same kernel's mass in each of the cells that [0, 1] is cut into */
	PARZEN_CHOICE, /* no order: the kernel's own choice against all others */
};

/* One axis of the unit cube. A coordinate is a number in [0, 1] for REAL, the number of the cell or of
 * the choice otherwise. */
struct parzen_axis {
	enum parzen_kind kind;
	const struct space_param *param;
	double cells;
	bool uneven; /* cells of a logarithmic scale */
	bool dense; /* even cells so narrow that density times width is their mass */
};

struct parzen_axis parzen_axis_of(const struct space_param *param);
double parzen_coordinate(const struct parzen_axis *axis, double unit);
/* The middle of the cell: parzen_coordinate gives the same cell again. */
double parzen_unit(const struct parzen_axis *axis, double coordinate);
void parzen_edges(const struct parzen_axis *axis, double cell, double *ret_low, double *ret_high);

struct parzen;

struct parzen *parzen_new(const struct parzen_axis *axes, size_t dims);
void parzen_free(struct parzen *parzen);
/* A point takes the next slot: 0, 1, ... It counts at once. */
size_t parzen_add(struct parzen *parzen, const double *point);
/* Whether the point in a slot counts. */
void parzen_set(struct parzen *parzen, size_t slot, bool counts);
/* Empties it. */
void parzen_clear(struct parzen *parzen);
size_t parzen_count(const struct parzen *parzen); /* of the points that count */
size_t parzen_kernels(const struct parzen *parzen); /* of the kernels that stand for them */
/* `recent`: older points weigh less, except the last 25 (the rule of hyperopt and Optuna); else all weigh the same. The
 * prior always weighs 1. */
void parzen_sample(struct parzen *parzen, bool recent, struct rng *rng, double *ret_points, size_t count);
/* The logarithm of the density (of the probability, where the axes are discrete) at `count` points. */
void parzen_log_density(struct parzen *parzen, bool recent, const double *points, size_t count, double *ret);

#endif
