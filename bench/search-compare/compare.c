/* Which strategy finds more with few tasks, on the functions of functions.c. The numbers behind the
 * thresholds of `auto`.
 *
 *	search-compare [--tasks N] [--parallel N] [--runs N] [--seed FIRST] [--strategy NAME] [--function NAME]
 *		[--each] [--budget N] [--options TEXT]
 *
 * Prints the mean of log10(best - optimum) over the runs: smaller is better; with --each every run's, one a line.
 * --budget is what the search is told, where it is more than is run; --options are of the strategy, as "startup: 5".
 * With noise the best is what looked best, and counts with its value without noise. */
#include "functions.h"

#include "base/rng.h"
#include "search/search.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>

/* What was asked for on the command line. */
struct wish {
	unsigned tasks, parallel, budget;
	int runs, first;
	const char *strategy, *function; /* NULL: all */
	const char *options;
	bool each;
};

static double run_once(const struct function *f, const struct strategy *strategy, const struct wish *w, int seed)
{
	struct node *map;
	struct problems problems = {0};
	struct space *space = NULL;
	struct search_spec *spec = NULL;
	struct search *search = NULL;
	struct rng world;
	char text[200];
	double best = 1e3, told_best = INFINITY;
	rng_seed(&world, (uint64_t)seed);
	if (node_parse_yaml(f->parameters, strlen(f->parameters), &map, NULL) < 0 ||
	    space_parse(map, NULL, &problems, &space) < 0)
		abort();
	node_free(map);
	snprintf(text, sizeof(text), "{strategy: %s, tasks: %u, parallel: %u, seed: %d%s%s}",
		 strategy ? strategy->name : "auto", w->budget > w->tasks ? w->budget : w->tasks, w->parallel, seed,
		 w->options ? ", " : "", w->options ? w->options : "");
	if (node_parse_yaml(text, strlen(text), &map, NULL) < 0 ||
	    search_spec_parse(map, NULL, space, 1, 1, &problems, &spec) < 0 ||
	    search_open(spec, space, &search, NULL) < 0)
		abort();
	node_free(map);
	struct space_value *values = mem_array(space->count, sizeof(*values));
	struct {
		int64_t id;
		double value;
	} running[1024];
	size_t busy = 0;
	bool done = false;
	for (int64_t id = 1; !done || busy;) {
		struct search_proposal p = {.values = values};
		done = done || id > w->tasks;
		enum search_answer answer = busy < w->parallel && !done ? search_ask(search, id, &p) : SEARCH_WAIT;
		done = done || answer == SEARCH_DONE;
		if (answer == SEARCH_PROPOSED) {
			running[busy].id = id++;
			running[busy++].value = f->value(values);
			continue;
		}
		if (!busy)
			break;
		size_t at = rng_below(&world, busy); /* the one that ends first */
		double value = running[at].value, told = f->noise ? value + f->noise * rng_normal(&world) : value;
		search_tell(search, running[at].id, isnan(told) ? SEARCH_FAILED : SEARCH_FINISHED,
			    isnan(told) ? NULL : &told);
		if (told < told_best) {
			told_best = told;
			best = value;
		}
		running[at] = running[--busy];
	}
	free(values);
	search_free(search);
	search_spec_free(spec);
	space_free(space);
	return log10(best > 1e-12 ? best : 1e-12);
}

static bool is_wanted(const char *only, const char *name)
{
	return !only || strcmp(only, name) == 0;
}

/* One row of the table. */
static void run_all(const struct strategy *strategy, const struct wish *w)
{
	const char *name = strategy ? strategy->name : "auto";
	if (!w->each)
		printf("%-12s", name);
	for (const struct function *f = functions; f->name; f++) {
		double sum = 0;
		if (!is_wanted(w->function, f->name))
			continue;
		for (int i = 0; i < w->runs; i++) {
			double value = run_once(f, strategy, w, w->first + i);
			sum += value;
			if (w->each)
				printf("%s %s %d %.4f\n", name, f->name, w->first + i, value);
			fflush(stdout);
		}
		if (!w->each)
			printf(" %12.2f", sum / w->runs);
	}
	if (!w->each)
		printf("\n");
}

static void print_head(const struct wish *w)
{
	printf("%u tasks, %u at once, %d runs\n%-12s", w->tasks, w->parallel, w->runs, "");
	for (const struct function *f = functions; f->name; f++)
		if (is_wanted(w->function, f->name))
			printf(" %12s", f->name);
	printf("\n");
}

static bool read_options(int argc, char **argv, struct wish *w)
{
	static const struct option options[] = {
		{"tasks", required_argument, NULL, 't'},    {"parallel", required_argument, NULL, 'p'},
		{"runs", required_argument, NULL, 'r'},     {"seed", required_argument, NULL, 'i'},
		{"strategy", required_argument, NULL, 's'}, {"function", required_argument, NULL, 'f'},
		{"budget", required_argument, NULL, 'b'},   {"options", required_argument, NULL, 'o'},
		{"each", no_argument, NULL, 'e'},           {0}};
	int c;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't': w->tasks = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'p': w->parallel = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'r': w->runs = (int)strtol(optarg, NULL, 10); break;
		case 'i': w->first = (int)strtol(optarg, NULL, 10); break;
		case 's': w->strategy = optarg; break;
		case 'f': w->function = optarg; break;
		case 'b': w->budget = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'o': w->options = optarg; break;
		case 'e': w->each = true; break;
		default: return false;
		}
	}
	return w->tasks && w->parallel && w->parallel <= 1024 && w->runs > 0;
}

int main(int argc, char **argv)
{
	struct wish wish = {.tasks = 100, .parallel = 8, .runs = 21, .first = 1};
	if (!read_options(argc, argv, &wish))
		return 2;
	if (!wish.each)
		print_head(&wish);
	for (const struct strategy *s = search_strategies; s->name; s++)
		if (!(s->capabilities & (SEARCH_MULTI_FIDELITY | SEARCH_FINITE_ONLY)) &&
		    is_wanted(wish.strategy, s->name))
			run_all(s, &wish);
	if (is_wanted(wish.strategy, "auto"))
		run_all(NULL, &wish);
	return 0;
}
