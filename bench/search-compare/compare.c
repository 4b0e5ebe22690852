/* Which strategy finds more with few tasks, on functions that look like training runs: ranges on
 * logarithmic scales, whole numbers, categories, conditions, noise, plateaus of failure. The numbers
 * behind the thresholds of `auto`.
 *
 *	search-compare [--tasks N] [--parallel N] [--runs N] [--strategy NAME] [--function NAME]
 *
 * Prints the mean of log10(best - optimum) over the runs: smaller is better. */
#include "search/search.h"

#include "base/rng.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>

typedef double (*value_f)(const struct space_value *v);

#define SQUARE(x) ((x) * (x))
#define R(i) (v[i].real)

static double sphere(const struct space_value *v)
{
	return SQUARE(R(0) - .3) + SQUARE(R(1) - .7) + SQUARE(R(2) - .2) + SQUARE(R(3) - .6);
}

static double branin(const struct space_value *v)
{
	double x = R(0), y = R(1), b = 5.1 / (4 * M_PI * M_PI), c = 5 / M_PI;
	return SQUARE(y - b * x * x + c * x - 6) + 10 * (1 - 1 / (8 * M_PI)) * cos(x) + 10 - 0.397887;
}

static double rastrigin(const struct space_value *v)
{
	double sum = 0;
	for (int i = 0; i < 5; i++)
		sum += SQUARE(R(i)) + 10 - 10 * cos(2 * M_PI * R(i));
	return sum;
}

static double rosenbrock(const struct space_value *v)
{
	double sum = 0;
	for (int i = 0; i < 5; i++)
		sum += 100 * SQUARE(R(i + 1) - SQUARE(R(i))) + SQUARE(1 - R(i));
	return sum;
}

/* A validation loss: a bowl in the logarithm of the learning rate whose place depends on the optimizer
 * and the batch size, a little for everything else, and divergence far to the right. */
static double training(const struct space_value *v)
{
	bool sgd = v[3].text[0] == 's';
	double lr = log10(R(0)), best = (sgd ? -1.5 : -3) + 0.3 * log2(R(1) / 64);
	if (lr > best + 1.5)
		return NAN;
	double loss = 0.25 * SQUARE(lr - best) + 0.02 * SQUARE(log2(R(2)) - 7) + 0.5 * SQUARE(R(5) - 0.2);
	loss += sgd ? 0.4 * SQUARE(R(4) - 0.9) : v[3].text[0] == 'r' ? 0.05 : 0.02;
	loss += v[6].text[0] == 'g' ? 0 : v[6].text[0] == 'r' ? 0.01 : 0.1;
	return loss;
}

static double categories(const struct space_value *v)
{
	static const char best[] = "cabdacbd";
	double sum = 0;
	for (int i = 0; i < 8; i++)
		sum += v[i].text[0] != best[i];
	for (int i = 0; i + 1 < 8; i++)
		sum += 0.5 * (v[i].text[0] != best[i] && v[i + 1].text[0] != best[i + 1]);
	return sum;
}

#define UNIT(name) name ": {min: 0.0, max: 1.0}\n"
#define FIVE(name) name ": {min: -5.12, max: 5.12}\n"
#define LETTER(name) name ": [a, b, c, d]\n"

static const struct {
	const char *name, *parameters;
	value_f value;
} functions[] = {
	{"sphere4", UNIT("a") UNIT("b") UNIT("c") UNIT("d"), sphere},
	{"branin", "a: {min: -5.0, max: 10.0}\nb: {min: 0.0, max: 15.0}\n", branin},
	{"rastrigin5", FIVE("a") FIVE("b") FIVE("c") FIVE("d") FIVE("e"), rastrigin},
	{"rosenbrock6", FIVE("a") FIVE("b") FIVE("c") FIVE("d") FIVE("e") FIVE("f"), rosenbrock},
	{"training7",
	 "lr: {min: 1e-6, max: 1.0, scale: log}\nbatch: [8, 16, 32, 64, 128, 256]\nunits: {min: 16, max: 512, step: 16}\n"
	 "optimizer: [adam, sgd, rmsprop]\nmomentum: {min: 0.0, max: 0.99, when: {optimizer: sgd}}\n"
	 "dropout: {min: 0.0, max: 0.6}\nact: [relu, gelu, tanh]\n",
	 training},
	{"categories8", LETTER("a") LETTER("b") LETTER("c") LETTER("d") LETTER("e") LETTER("f") LETTER("g") LETTER("h"),
	 categories},
};

static double run_once(size_t f, const struct strategy *strategy, unsigned tasks, unsigned parallel, int seed)
{
	struct node *map;
	struct problems problems = {0};
	struct space *space = NULL;
	struct search_spec *spec = NULL;
	struct search *search = NULL;
	struct rng world;
	char text[200];
	double best = 1e3;
	rng_seed(&world, (uint64_t)seed);
	if (node_parse_yaml(functions[f].parameters, strlen(functions[f].parameters), &map, NULL) < 0 ||
	    space_parse(map, NULL, &problems, &space) < 0)
		abort();
	node_free(map);
	snprintf(text, sizeof(text), "{strategy: %s, tasks: %u, parallel: %u, seed: %d}", strategy ? strategy->name : "auto",
		 tasks, parallel, seed);
	if (node_parse_yaml(text, strlen(text), &map, NULL) < 0 ||
	    search_spec_parse(map, NULL, space, 1, 1, &problems, &spec) < 0 || search_open(spec, space, &search, NULL) < 0)
		abort();
	node_free(map);
	struct space_value *values = mem_alloc(space->count * sizeof(*values));
	struct {
		int64_t id;
		double value;
	} running[1024];
	size_t busy = 0;
	bool done = false;
	for (int64_t id = 1; !done || busy;) {
		struct search_proposal p = {.values = values};
		enum search_answer answer = busy < parallel && !done ? search_ask(search, id, &p) : SEARCH_WAIT;
		done = done || answer == SEARCH_DONE;
		if (answer == SEARCH_PROPOSED) {
			running[busy].id = id++;
			running[busy++].value = functions[f].value(values);
			continue;
		}
		if (!busy)
			break;
		size_t at = rng_below(&world, busy); /* whoever ends first */
		double value = running[at].value;
		search_tell(search, running[at].id, isnan(value) ? SEARCH_FAILED : SEARCH_FINISHED, isnan(value) ? NULL : &value);
		best = value < best ? value : best;
		running[at] = running[--busy];
	}
	free(values);
	search_free(search);
	search_spec_free(spec);
	space_free(space);
	return log10(best > 1e-12 ? best : 1e-12);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"tasks", required_argument, NULL, 't'},
						{"parallel", required_argument, NULL, 'p'},
						{"runs", required_argument, NULL, 'r'},
						{"strategy", required_argument, NULL, 's'},
						{"function", required_argument, NULL, 'f'},
						{0}};
	unsigned tasks = 100, parallel = 8;
	int runs = 21, c;
	const char *only = NULL, *function = NULL;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't': tasks = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'p': parallel = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'r': runs = (int)strtol(optarg, NULL, 10); break;
		case 's': only = optarg; break;
		case 'f': function = optarg; break;
		default: return 2;
		}
	}
	if (!tasks || !parallel || parallel > 1024 || runs < 1)
		return 2;
	printf("%u tasks, %u at once, %d runs\n%-12s", tasks, parallel, runs, "");
	for (size_t f = 0; f < COUNT_OF(functions); f++)
		if (!function || strcmp(function, functions[f].name) == 0)
			printf(" %12s", functions[f].name);
	printf("\n");
	for (const struct strategy *s = search_strategies;; s++) {
		bool automatic = !s->name;
		if (!automatic && ((s->capabilities & (SEARCH_MULTI_FIDELITY | SEARCH_FINITE_ONLY)) ||
				   (only && strcmp(only, s->name) != 0)))
			continue;
		printf("%-12s", automatic ? "auto" : s->name);
		for (size_t f = 0; f < COUNT_OF(functions); f++) {
			if (function && strcmp(function, functions[f].name) != 0)
				continue;
			double sum = 0;
			for (int seed = 1; seed <= runs; seed++)
				sum += run_once(f, automatic ? NULL : s, tasks, parallel, seed);
			printf(" %12.2f", sum / runs);
			fflush(stdout);
		}
		printf("\n");
		if (automatic)
			return 0;
	}
}
