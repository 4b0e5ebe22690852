/* How much of a machine a strategy keeps busy when tasks take very different times: a simulated clock, 64 slots, task
 * durations log-uniform over a factor of 20. A strategy that waits for a generation leaves the slots of its short
 * tasks empty until its longest has ended.
 *
 *	search-async [--tasks N] [--runs N] [--strategy NAME]
 *
 * Utilisation is busy slot-time / (slots x time) until the last task was begun: the drain after it is not counted.
 * Fidelities: the duration is that of the whole task times fidelity / most, from scratch. */
#include "search/search.h"

#include "base/rng.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>

#define SLOTS 64
#define FACTOR 20
#define EPOCHS 81

static const char ranges[] =
	"lr: {min: 1e-5, max: 1e-1, scale: log}\nbatch: {min: 4, max: 256}\nmomentum: {min: 0.0, max: 0.99}\n"
	"dropout: {min: 0.0, max: 0.5}\ndecay: {min: 1e-6, max: 1e-2, scale: log}\nwarmup: {min: 0.0, max: 0.2}\n"
	"epochs: 81\n";
/* More than any budget, for what needs a finite space. */
static const char lists[] = "a: {min: 1, max: 100}\nb: {min: 1, max: 100}\nepochs: 81\n";

struct slot {
	int64_t id; /* 0: free */
	double begin, end, value;
};

struct outcome {
	double busy, last, end; /* slot-time until the last task was begun; when that was; when all was over */
	double total; /* slot-time in all */
	int64_t tasks, waits; /* waits: asks answered with nothing to do yet */
};

static struct node *parse(const char *text)
{
	struct node *node;
	if (node_parse_yaml(text, strlen(text), &node, NULL) < 0)
		abort();
	return node;
}

/* A bowl: the strategies must have something to converge to. */
static double measure(const struct space *space, const struct space_value *values)
{
	double sum = 0;
	for (size_t d = 0; d < space->dim_count; d++) {
		double x = values[space->dims[d]].real;
		sum += (x - 0.3) * (x - 0.3);
	}
	return sum;
}

static void slot_begin(struct slot *slot, double now, double takes, struct outcome *out)
{
	slot->begin = now;
	slot->end = now + takes;
	out->tasks++;
	out->total += takes;
	out->last = now;
}

static void simulate(struct search *search, const struct space *space, uint64_t seed, struct outcome *out)
{
	struct slot slots[SLOTS] = {0};
	struct space_value *values = mem_array(space->count, sizeof(*values));
	VEC(struct slot) ran = {0};
	struct rng rng;
	double now = 0;
	rng_seed(&rng, seed);
	for (;;) {
		struct slot *next = NULL;
		for (size_t i = 0; i < SLOTS; i++) {
			struct search_proposal p = {.values = values, .repeat = 1, .fidelity = NAN, .continues = -1};
			if (slots[i].id)
				continue;
			enum search_answer answer = search_ask(search, out->tasks + 1, &p);
			out->waits += answer == SEARCH_WAIT;
			if (answer != SEARCH_PROPOSED)
				break;
			double share = isnan(p.fidelity) ? 1 : p.fidelity / EPOCHS;
			slots[i].id = out->tasks + 1;
			slots[i].value = measure(space, values);
			slot_begin(&slots[i], now, share * pow(FACTOR, rng_unit(&rng)), out);
			vec_push(&ran, slots[i]);
		}
		for (size_t i = 0; i < SLOTS; i++)
			if (slots[i].id && (!next || slots[i].end < next->end))
				next = &slots[i];
		if (!next)
			break;
		now = next->end;
		search_tell(search, next->id, SEARCH_FINISHED, (double[]){next->value, 1 - next->value});
		next->id = 0;
	}
	out->end = now;
	for (size_t i = 0; i < ran.len; i++)
		out->busy += fmin(ran.at[i].end, out->last) - ran.at[i].begin;
	free(ran.at);
	free(values);
}

static bool run(const struct strategy *strategy, const char *more, uint64_t tasks, uint64_t seed, struct outcome *out)
{
	struct node *fidelity = parse("{parameter: epochs, min: 1, max: 81}"), *map, *search_map;
	bool finite = strategy->capabilities & SEARCH_FINITE_ONLY,
	     levels = strategy->capabilities & SEARCH_MULTI_FIDELITY;
	struct problems problems = {0};
	struct space *space = NULL;
	struct search_spec *spec = NULL;
	struct search *search = NULL;
	char text[200];
	map = parse(finite ? lists : ranges);
	snprintf(text, sizeof(text), "{strategy: %s, tasks: %llu, parallel: %d, seed: %llu%s}", strategy->name,
		 (unsigned long long)tasks, SLOTS, (unsigned long long)seed, more);
	search_map = parse(text);
	size_t objectives = strcmp(strategy->name, "motpe") == 0 || strcmp(strategy->name, "nsga2") == 0 ||
			strcmp(strategy->name, "gde3") == 0
		? 2
		: 1;
	bool good = space_parse(map, NULL, &problems, &space) == 0 &&
		search_spec_parse(search_map, levels ? fidelity : NULL, space, 1, objectives, &problems, &spec) == 0 &&
		search_open(spec, space, &search, NULL) == 0;
	if (good)
		simulate(search, space, seed, out);
	else if (problems.list.len)
		fprintf(stderr, "%s: %s\n", strategy->name, problems.list.at[0].message);
	search_free(search);
	search_spec_free(spec);
	space_free(space);
	problems_free(&problems);
	node_free(search_map);
	node_free(map);
	node_free(fidelity);
	return good;
}

/* Returns the least utilisation. */
static double row(const struct strategy *strategy, const char *mode, const char *more, uint64_t tasks, uint64_t runs)
{
	double mean = 0, least = INFINITY, whole = 0;
	int64_t waits = 0, count = 0;
	for (uint64_t seed = 1; seed <= runs; seed++) {
		struct outcome out = {0};
		if (!run(strategy, more, tasks, seed, &out))
			return 0;
		double used = out.busy / (SLOTS * out.last);
		mean += used / (double)runs;
		whole += out.total / (SLOTS * out.end) / (double)runs;
		least = used < least ? used : least;
		waits += out.waits;
		count += out.tasks;
	}
	printf("| `%s` | %s | %lld | %lld | %.1f %% | %.1f %% | %.1f %% |\n", strategy->name, mode,
	       (long long)count / (long long)runs, (long long)waits / (long long)runs, 100 * mean, 100 * least,
	       100 * whole);
	fflush(stdout);
	return least;
}

static bool has_option(const struct strategy *strategy, const char *name)
{
	for (const struct search_option *o = strategy->options; o && o->name; o++)
		if (strcmp(o->name, name) == 0)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"tasks", required_argument, NULL, 't'},
						{"runs", required_argument, NULL, 'r'},
						{"strategy", required_argument, NULL, 's'},
						{0}};
	const char *only = NULL;
	uint64_t tasks = 2000, runs = 3;
	int c;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't': tasks = strtoull(optarg, NULL, 10); break;
		case 'r': runs = strtoull(optarg, NULL, 10); break;
		case 's': only = optarg; break;
		default: return 2;
		}
	}
	double least = 1;
	printf("| strategy | mode | tasks | waits | utilisation | least | with the drain |\n| --- | --- | --- | --- | --- | --- | --- |\n");
	for (const struct strategy *s = search_strategies; s->name; s++) {
		if (only && strcmp(only, s->name) != 0)
			continue;
		/* Minutes for the models that look at everything at each ask. */
		bool slow = strcmp(s->name, "gp") == 0 || strcmp(s->name, "motpe") == 0;
		double used = row(s, has_option(s, "mode") ? "steady" : "", "", tasks, slow ? 1 : runs);
		least = used < least ? used : least;
		if (has_option(s, "mode"))
			row(s, "generational", ", mode: generational", tasks, runs);
		if (strcmp(s->name, "de") == 0)
			row(s, "generational, population 64", ", mode: generational, population: 64", tasks, runs);
	}
	printf("\nThe least of all that claim to be asynchronous: %.1f %% (97 %% wanted).\n", 100 * least);
	return least < 0.97;
}
