/* How good a search is on random functions (world.c), to try rules on before they are judged elsewhere.
 *
 *	search-tune [--tasks N] [--parallel N] [--seeds FIRST:COUNT] [--strategy NAME] [--kind NAME] [--budget N]
 *		[--marks]
 *
 * Prints a line for every run: kind, seed, log10 of the regret at the end, and the CPU of an ask and tell in
 * milliseconds. --kind takes all kinds whose names begin so. With --budget N the search expects N tasks. With --marks, a
 * line KIND@N too after N = 30, 100, 300, 1,000, ... results. compare.py sets two such outputs side by side. */
#include "world.h"

#include "search/search.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#define RUNNING_MOST 256

struct wish {
	unsigned tasks, parallel, budget, first, count;
	const char *strategy, *kind;
	bool marks;
};

struct result {
	double regret, cpu_ms;
};

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Is it 30, 100, 300, 1,000, ...? */
static bool is_mark(size_t told)
{
	while (told >= 100 && told % 10 == 0)
		told /= 10;
	return told == 10 || told == 30;
}

static void print_regret(const struct world *w, size_t mark, uint64_t seed, double regret, double cpu_ms)
{
	printf("%s", w->kind->name);
	if (mark)
		printf("@%zu", mark);
	printf(" %" PRIu64 " %.4f %.4f\n", seed, log10(fmax(regret, 1e-9)), cpu_ms);
	fflush(stdout);
}

static struct node *parse(char *text)
{
	struct node *map;
	if (node_parse_yaml(text, strlen(text), &map, NULL) < 0)
		abort();
	free(text);
	return map;
}

/* Asks and tells until the tasks are done. Returns the regret of what looked best. */
static double drive(const struct world *w, const struct space *space, struct search *search, const struct wish *wish,
		    uint64_t seed, double *ret_cpu)
{
	struct space_value *values = mem_array(space->count, sizeof(*values));
	struct {
		int64_t id;
		double value;
	} running[RUNNING_MOST];
	struct rng rng;
	double best = 10, best_told = INFINITY;
	size_t busy = 0, told_count = 0;
	bool done = false;
	rng_seed(&rng, seed);
	for (int64_t id = 1; !done || busy;) {
		struct search_proposal p = {.values = values, .fidelity = NAN, .continues = -1};
		double begin = cpu_s();
		done = done || id > wish->tasks;
		enum search_answer answer = busy < wish->parallel && !done ? search_ask(search, id, &p) : SEARCH_WAIT;
		*ret_cpu += cpu_s() - begin;
		done = done || answer == SEARCH_DONE;
		if (answer == SEARCH_PROPOSED) {
			running[busy].id = id++;
			running[busy++].value = world_value(w, values);
			continue;
		}
		if (!busy)
			break;
		size_t at = rng_below(&rng, busy);
		double value = running[at].value, told = value + w->kind->noise * rng_normal(&rng);
		begin = cpu_s();
		search_tell(search, running[at].id, isnan(told) ? SEARCH_FAILED : SEARCH_FINISHED,
			    isnan(told) ? NULL : &told);
		*ret_cpu += cpu_s() - begin;
		if (told < best_told) {
			best_told = told;
			best = value - w->least;
		}
		running[at] = running[--busy];
		told_count++;
		if (wish->marks && told_count >= 30 && told_count < wish->tasks && is_mark(told_count))
			print_regret(w, told_count, seed, best, *ret_cpu * 1000 / (double)told_count);
	}
	free(values);
	return best;
}

static struct result run(const struct world *w, const struct wish *wish, unsigned seed)
{
	struct problems problems = {0};
	struct space *space = NULL;
	struct search_spec *spec = NULL;
	struct search *search = NULL;
	struct node *map = parse(world_parameters(w->kind));
	struct result r = {0};
	if (space_parse(map, NULL, &problems, &space) < 0)
		abort();
	node_free(map);
	map = parse(mem_printf("{strategy: %s, tasks: %u, parallel: %u, seed: %u}", wish->strategy,
			       wish->budget ? wish->budget : wish->tasks, wish->parallel, seed));
	if (search_spec_parse(map, NULL, space, 1, 1, &problems, &spec) < 0 ||
	    search_open(spec, space, &search, NULL) < 0)
		abort();
	node_free(map);
	r.regret = drive(w, space, search, wish, seed, &r.cpu_ms);
	r.cpu_ms *= 1000.0 / wish->tasks;
	search_free(search);
	search_spec_free(spec);
	space_free(space);
	return r;
}

static bool read_options(int argc, char **argv, struct wish *w)
{
	static const struct option options[] = {
		{"tasks", required_argument, NULL, 't'}, {"parallel", required_argument, NULL, 'p'},
		{"seeds", required_argument, NULL, 'i'}, {"strategy", required_argument, NULL, 's'},
		{"kind", required_argument, NULL, 'k'},  {"budget", required_argument, NULL, 'b'},
		{"marks", no_argument, NULL, 'm'},       {0}};
	char *rest;
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 't': w->tasks = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'p': w->parallel = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'b': w->budget = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'm': w->marks = true; break;
		case 's': w->strategy = optarg; break;
		case 'k': w->kind = optarg; break;
		case 'i':
			w->first = (unsigned)strtoul(optarg, &rest, 10);
			w->count = *rest == ':' ? (unsigned)strtoul(rest + 1, NULL, 10) : 1;
			break;
		default: return false;
		}
	}
	return w->tasks && w->parallel && w->parallel <= RUNNING_MOST;
}

int main(int argc, char **argv)
{
	struct wish wish = {.tasks = 30, .parallel = 4, .first = 1, .count = 5, .strategy = "auto"};
	if (!read_options(argc, argv, &wish))
		return 2;
	for (unsigned seed = wish.first; seed < wish.first + wish.count; seed++)
		for (const struct world_kind *k = world_kinds; k->name; k++) {
			struct world w;
			if (wish.kind && strncmp(wish.kind, k->name, strlen(wish.kind)) != 0)
				continue;
			world_make(&w, k, seed);
			struct result r = run(&w, &wish, seed);
			print_regret(&w, 0, seed, r.regret, r.cpu_ms);
		}
	return 0;
}
