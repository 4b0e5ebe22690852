/* Checks the differential evolution family against what the authors' own programs were measured to
 * reach: 10^4 D evaluations, generational, through ask and tell. search-verify has D = 10 and 51 runs,
 * search-verify-30 has D = 30.
 *
 *	search-verify --data DIR [--runs N] [--strategy NAME] [--function N] [--seed N]
 *
 * First the test functions are compared with the suites' reference vectors (1e-9 relative). Then every
 * cell is compared by Welch's t with the reference mean and deviation; a reference of 0 asks for an
 * error below 1e-8 in every run. Exit status 1 when a cell is off. */
#include "cec.h"

#include "search/search.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>

#if CEC_DIMS == 30
#define REFERENCE_RUNS 15
#else
#define REFERENCE_RUNS 51
#endif
/* 32 cells: one of them by chance in 40 such tables. */
#define T_MOST 3.5
#define ZERO 1e-8

static const struct cell {
	const char *strategy;
	int year, function;
	double mean, deviation;
} cells[] = {
#if CEC_DIMS == 30
	/* SHADE 1.0 and L-SHADE 1.0.1 of the authors, built and run for this table. */
	{"shade", 2013, 1, 0, 0},
	{"shade", 2013, 2, 10798.4, 6151},
	{"shade", 2013, 4, 1.1015e-4, 1.619e-4},
	{"shade", 2013, 10, .108409, .06107},
	{"shade", 2013, 12, 22.2261, 4.404},
	{"shade", 2013, 15, 2948.97, 389.3},
	{"lshade", 2014, 1, 0, 0},
	{"lshade", 2014, 4, 0, 0},
	{"lshade", 2014, 9, 6.97947, 1.534},
	{"lshade", 2014, 12, .156446, .02505},
	{"lshade", 2014, 13, .120087, .01619},
#else
	{"shade", 2013, 1, 0, 0},
	{"shade", 2013, 2, 0, 0},
	{"shade", 2013, 4, 0, 0},
	{"shade", 2013, 6, 7.89, 3.90},
	{"shade", 2013, 10, .0111, .0078},
	{"shade", 2013, 11, 0, 0},
	{"shade", 2013, 12, 3.63, 1.03},
	{"shade", 2013, 15, 407, 121},
	{"spsrdemms", 2013, 1, 0, 0},
	{"spsrdemms", 2013, 2, 689, 1015},
	{"spsrdemms", 2013, 4, .039, .079},
	{"spsrdemms", 2013, 6, 8.66, 3.19},
	{"spsrdemms", 2013, 10, .103, .063},
	{"spsrdemms", 2013, 11, 0, 0},
	{"spsrdemms", 2013, 12, 7.58, 2.81},
	{"spsrdemms", 2013, 15, 763, 271},
	{"lshade", 2014, 1, 0, 0},
	{"lshade", 2014, 4, 31.5, 10.1},
	{"lshade", 2014, 8, 0, 0},
	{"lshade", 2014, 9, 2.77, .87},
	{"lshade", 2014, 11, 19.6, 19.8},
	{"lshade", 2014, 12, .065, .014},
	{"lshade", 2014, 13, .048, .015},
	{"lshade", 2014, 15, .384, .071},
	{"dish", 2014, 1, 0, 0},
	{"dish", 2014, 4, 28.7, 13.1},
	{"dish", 2014, 8, 0, 0},
	{"dish", 2014, 9, 1.70, .84},
	{"dish", 2014, 11, 43.6, 48.5},
	{"dish", 2014, 12, .192, .160},
	{"dish", 2014, 13, .067, .017},
	{"dish", 2014, 15, .398, .088},
#endif
};

static struct space *make_space(void)
{
	struct node *map = node_new(NODE_MAP);
	for (int i = 0; i < CEC_DIMS; i++) {
		char name[16];
		struct node *range = node_new(NODE_MAP);
		node_add(range, "min", node_new_real(-100));
		node_add(range, "max", node_new_real(100));
		snprintf(name, sizeof(name), "x%d", i);
		node_add(range, "type", node_new_string("real"));
		node_add(map, name, range);
	}
	struct problems problems = {0};
	struct space *space = NULL;
	if (space_parse(map, NULL, &problems, &space) < 0)
		abort();
	node_free(map);
	return space;
}

static struct search_spec *make_spec(const struct space *space, const char *strategy, const char *mode, int64_t seed)
{
	struct node *map = node_new(NODE_MAP);
	struct problems problems = {0};
	struct search_spec *spec = NULL;
	node_add(map, "strategy", node_new_string(strategy));
	node_add(map, "seed", node_new_int(seed));
	node_add(map, "mode", node_new_string(mode));
	/* The authors' programs evaluate a trial that equals its parent again. */
	node_add(map, "duplicates", node_new_bool(true));
	if (search_spec_parse(map, NULL, space, 1, 1, &problems, &spec) < 0) {
		fprintf(stderr, "%s: %s\n", strategy, problems.list.at[0].message);
		exit(2);
	}
	node_free(map);
	spec->tasks = 10000 * CEC_DIMS; /* an experiment may not have so many */
	return spec;
}

static double run_once(const struct cec *f, const struct space *space, const char *strategy, const char *mode,
		       int64_t seed)
{
	struct search_spec *spec = make_spec(space, strategy, mode, seed);
	struct search *search;
	struct error err;
	struct space_value values[CEC_DIMS];
	double best = INFINITY;
	if (search_open(spec, space, &search, &err) < 0)
		abort();
	for (int64_t id = 1;; id++) {
		struct search_proposal p = {.values = values};
		double x[CEC_DIMS];
		if (search_ask(search, id, &p) != SEARCH_PROPOSED)
			break;
		for (int i = 0; i < CEC_DIMS; i++)
			x[i] = values[i].real;
		double value = cec_value(f, x) - f->bias;
		best = value < best ? value : best;
		search_tell(search, id, SEARCH_FINISHED, &value);
	}
	search_free(search);
	search_spec_free(spec);
	return best < ZERO ? 0 : best;
}

static bool run_cell(const struct cell *cell, const char *data, const char *mode, int runs, int64_t seed)
{
	struct cec f;
	struct space *space = make_space();
	double sum = 0, squares = 0, most = 0;
	if (cec_open(&f, data, cell->year, cell->function) < 0)
		exit(2);
	for (int i = 0; i < runs; i++) {
		double error = run_once(&f, space, cell->strategy, mode, seed + i);
		sum += error;
		squares += error * error;
		most = error > most ? error : most;
	}
	space_free(space);
	double mean = sum / runs;
	double variance = runs > 1 ? (squares - runs * mean * mean) / (runs - 1) : 0;
	variance = variance > 0 ? variance : 0;
	double spread = sqrt(variance / runs + cell->deviation * cell->deviation / REFERENCE_RUNS);
	double t = spread > 0 ? (mean - cell->mean) / spread : 0;
	bool good = cell->mean > 0 ? fabs(t) <= T_MOST : most <= ZERO;
	printf("%-10s %d F%-3d %12.4g (%.3g) %12.4g (%.3g)  t %6.2f  %s\n", cell->strategy, cell->year, cell->function,
	       mean, sqrt(variance), cell->mean, cell->deviation, t, good ? "ok" : "OFF");
	fflush(stdout);
	return good;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"data", required_argument, NULL, 'd'},
		{"runs", required_argument, NULL, 'r'},
		{"strategy", required_argument, NULL, 's'},
		{"function", required_argument, NULL, 'f'},
		{"seed", required_argument, NULL, 'e'},
		{"mode", required_argument, NULL, 'm'},
		{0},
	};
	const char *data = NULL, *strategy = NULL, *mode = "generational";
	int runs = REFERENCE_RUNS, function = 0, off = 0, c;
	int64_t seed = 1;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'd': data = optarg; break;
		case 'r': runs = atoi(optarg); break;
		case 's': strategy = optarg; break;
		case 'f': function = atoi(optarg); break;
		case 'e': seed = atoi(optarg); break;
		case 'm': mode = optarg; break;
		default: return 2;
		}
	}
	if (!data) {
		fprintf(stderr, "search-verify: --data DIR is needed: the suites' shift and rotation data\n");
		return 2;
	}
	for (int year = 2013; year <= 2014; year++) {
		int count;
		double worst = cec_check(data, year, &count);
		printf("CEC %d: %d reference values, largest relative difference %.2g\n", year, count, worst);
		if (worst < 0 || worst > 1e-9)
			return 1;
	}
	printf("%-10s %-9s %18s %18s\n", "strategy", "function", "error (deviation)", "reference");
	for (size_t i = 0; i < COUNT_OF(cells); i++)
		if ((!strategy || strcmp(strategy, cells[i].strategy) == 0) &&
		    (!function || function == cells[i].function))
			off += !run_cell(&cells[i], data, mode, runs, seed);
	return off > 0;
}
