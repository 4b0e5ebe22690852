/* What the three files of the Parzen estimator share: its axes, its points, its density. */
#ifndef SEARCH_PARZEN_INTERNAL_H
#define SEARCH_PARZEN_INTERNAL_H

#include "search/parzen.h"

#define PARZEN_MAGIC_KERNELS 100.0 /* no kernel is narrower than a hundredth of the range */
#define PARZEN_PRIOR_SIGMA 1.0 /* of the range, at its middle */
/* In a cell this much narrower than the kernel, mass is density times width to 4 digits. */
#define PARZEN_NARROW_CELL 0.1
#define PARZEN_HALF_LOG_TWO_PI 0.91893853320467274178
/* Half of the kernels are the newest points, the other half stands for all older ones: see thin() in parzen.c. */
#define PARZEN_NEWEST 2048

/* Kernels worked on at a time: what is needed of them stays in the cache. Places come in whole blocks. */
#define PARZEN_BLOCK 64

/* What is kept of one axis for every place. */
struct parzen_column {
	double *x; /* the coordinate */
	double *mu; /* the kernel's middle in [0, 1]; the same array as x for REAL, NULL for CHOICE */
	double *sigma; /* not for CHOICE */
	double *half; /* 1 / (2 sigma^2) */
	double *norm; /* what is subtracted from the logarithm of the kernel */
	uint32_t *order; /* the places that count, by mu */
	/* Logarithms of masses, made when needed, NAN where not known yet. Even cells: a row for every width, which
	 * is a number of cells (row 0: the least width), by the distance of the cells. Uneven ones: a row for
	 * every cell of a point, by the kernel's cell, for the least width. */
	double **masses;
};

#define PARZEN_DROPPED UINT32_MAX

/* Points have slots, as the caller knows them, for ever; those that are held have places, by age. */
struct parzen {
	struct parzen_axis *axes;
	size_t dims;
	struct parzen_column *columns;
	uint32_t *slots; /* of every place */
	bool *counts; /* every place: it has a kernel */
	double *norms; /* every place: the sum of its norms */
	size_t held, cap;
	size_t kernels; /* how many places count */
	size_t dropped; /* places whose point is not held any more */
	uint32_t *places; /* of every slot, or PARZEN_DROPPED */
	size_t len, slots_cap;
	VEC(uint32_t) hidden; /* slots that the caller does not want to count, ascending */
	unsigned level; /* of the older points, one in 2^level is held */
	double min_sigma;
	bool stale; /* all widths are to be found again */
};

double parzen_middle(const struct parzen_axis *axis, double coordinate);
/* log of the mass that a normal distribution has between low and high, without loss in the tails. */
double parzen_log_mass(double low, double high);
/* Writes the weights of all places (0: does not count) and returns their sum, the prior's included. */
double parzen_weigh(const struct parzen *parzen, bool recent, double *weights);
/* Brings widths up to date. */
void parzen_settle(struct parzen *parzen);
/* Frees the tables of masses that hold for the least width, or all of them. */
void parzen_forget_masses(struct parzen *parzen, bool all);

#endif
