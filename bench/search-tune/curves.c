/* How good a search with a fidelity is on random learning curves.
 *
 *	search-curves [--epochs N] [--parallel N] [--seeds FIRST:COUNT] [--strategy NAME] [--cross SHARE]
 *
 * The loss at the end is a function of world.c; height and speed of the fall follow two others. --cross: what ends better
 * is slower. Prints KIND@N, seed and log10 of the regret of what looked best after the epochs of N = 4, 8, 16, 32 whole
 * trainings. compare.py sets two such outputs side by side. --strategy gp trains everything to the end. */
#include "world.h"

#include "search/search.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>

#define TRAININGS 32
#define TASKS_MOST 2048
#define RUNNING_MOST 64
#define PARAMS_MOST 64
#define DRAWS 300 /* of a function, for its mean and deviation */
#define NOISE 0.01
#define FLOOR 0.1 /* the least loss */

struct wish {
	unsigned epochs, parallel, first, count;
	const char *strategy;
	double cross;
};

struct part {
	struct world world;
	double mean, deviation;
};

struct family {
	struct part end, height, speed;
	const struct wish *wish;
};

static struct node *parse(char *text)
{
	struct node *map;
	if (node_parse_yaml(text, strlen(text), &map, NULL) < 0)
		abort();
	free(text);
	return map;
}

static void part_make(struct part *part, const struct world_kind *kind, uint64_t seed, const struct space *space,
		      struct rng *rng)
{
	struct space_value values[PARAMS_MOST];
	double unit[PARAMS_MOST], sum = 0, square = 0;
	world_make(&part->world, kind, seed);
	for (int i = 0; i < DRAWS; i++) {
		for (size_t d = 0; d < space->dim_count; d++)
			unit[d] = rng_unit(rng);
		space_decode(space, unit, values);
		double value = fmin(world_value(&part->world, values), 20);
		sum += value;
		square += value * value;
	}
	part->mean = sum / DRAWS;
	part->deviation = sqrt(fmax(square / DRAWS - part->mean * part->mean, 1e-9));
}

/* Deviations from the mean, bent into 0..1. */
static double part_share(const struct part *part, const struct space_value *values, double steep)
{
	double z = (world_value(&part->world, values) - part->mean) / part->deviation;
	return 1 / (1 + exp(-fmin(fmax(steep * z, -30), 30)));
}

static double family_loss(const struct family *f, const struct space_value *values, double epoch)
{
	double end = (world_value(&f->end.world, values) - f->end.world.least) / f->end.deviation;
	double cross = f->wish->cross;
	double speed = (1 - cross) * part_share(&f->speed, values, 1) + cross * part_share(&f->end, values, 1.5);
	double height = 0.3 + 2 * part_share(&f->height, values, 1), power = 0.2 + 1.3 * speed;
	return FLOOR + 0.6 * end + height * (pow(epoch, -power) - pow(f->wish->epochs, -power));
}

struct task {
	struct space_value values[PARAMS_MOST];
	char texts[PARAMS_MOST][8];
	double level;
};

struct running {
	double end;
	int64_t id;
};

/* Returns the epochs to pay for, or 0: nothing can begin. */
static double begin(struct search *search, const struct space *space, const struct wish *wish, int64_t id,
		    struct task *tasks)
{
	struct task *t = &tasks[id];
	struct search_proposal p = {.values = t->values, .fidelity = NAN, .continues = -1};
	if (search_ask(search, id, &p) != SEARCH_PROPOSED)
		return 0;
	for (size_t i = 0; i < space->count; i++)
		if (t->values[i].kind == SPACE_VALUE_TEXT) {
			snprintf(t->texts[i], sizeof(t->texts[i]), "%s", t->values[i].text);
			t->values[i].text = t->texts[i];
		}
	t->level = isnan(p.fidelity) ? wish->epochs : p.fidelity;
	return t->level - (p.continues >= 0 ? tasks[p.continues].level : 0);
}

static void drive(const struct family *f, const struct space *space, struct search *search, unsigned seed)
{
	static const unsigned marks[] = {4, 8, 16, TRAININGS};
	struct task *tasks = mem_array(TASKS_MOST, sizeof(*tasks));
	struct running running[RUNNING_MOST];
	struct rng rng;
	unsigned busy = 0, mark = 0;
	double clock = 0, spent = 0, least = INFINITY, regret = 2.5, epochs = f->wish->epochs;
	int64_t id = 1;
	rng_seed(&rng, seed);
	for (bool over = false; !over;) {
		double paid = 0;
		if (busy < f->wish->parallel && spent < TRAININGS * epochs && id < TASKS_MOST)
			paid = begin(search, space, f->wish, id, tasks);
		spent += paid;
		over = !busy && paid == 0;
		for (; mark < COUNT_OF(marks) && (over || spent > marks[mark] * epochs + 1e-9); mark++)
			printf("%s@%u %u %.4f 0\n", f->end.world.kind->name, marks[mark], seed,
			       log10(fmax(regret, 1e-6)));
		if (paid > 0)
			running[busy++] = (struct running){clock + paid * (0.5 + rng_unit(&rng)), id++};
		if (paid > 0 || over)
			continue;
		unsigned at = 0;
		for (unsigned i = 1; i < busy; i++)
			at = running[i].end < running[at].end ? i : at;
		const struct task *t = &tasks[running[at].id];
		double told = family_loss(f, t->values, t->level) + NOISE * rng_normal(&rng);
		clock = running[at].end;
		search_tell(search, running[at].id, SEARCH_FINISHED, &told);
		running[at] = running[--busy];
		if (told < least) {
			least = told;
			regret = family_loss(f, t->values, epochs) - FLOOR;
		}
	}
	fflush(stdout);
	free(tasks);
}

static void run(const struct world_kind *kind, const struct wish *wish, unsigned seed)
{
	struct family f = {.wish = wish};
	struct world_kind smooth = *kind;
	struct problems problems = {0};
	struct space *space = NULL;
	struct search_spec *spec = NULL;
	struct search *search = NULL;
	struct rng rng;
	smooth.shape = WORLD_SMOOTH;
	bool whole = strcmp(wish->strategy, "gp") == 0;
	char *parameters = world_parameters(kind);
	struct node *map = parse(mem_printf("%sepochs: %u\n", parameters, wish->epochs));
	if (space_parse(map, NULL, &problems, &space) < 0)
		abort();
	rng_seed(&rng, rng_derive(seed, 3));
	part_make(&f.end, kind, seed, space, &rng);
	part_make(&f.height, &smooth, rng_derive(seed, 1), space, &rng);
	part_make(&f.speed, &smooth, rng_derive(seed, 2), space, &rng);
	struct node *asked = parse(mem_printf("{strategy: %s, tasks: %d, parallel: %u, seed: %u}", wish->strategy,
					      whole ? TRAININGS : TASKS_MOST, wish->parallel, seed));
	struct node *fidelity = whole ? NULL : parse(mem_printf("{parameter: epochs, min: 1, max: %u}", wish->epochs));
	if (search_spec_parse(asked, fidelity, space, 1, 1, &problems, &spec) < 0 ||
	    search_open(spec, space, &search, NULL) < 0)
		abort();
	drive(&f, space, search, seed);
	search_free(search);
	search_spec_free(spec);
	space_free(space);
	node_free(map);
	node_free(asked);
	node_free(fidelity);
	free(parameters);
}

static bool read_options(int argc, char **argv, struct wish *w)
{
	static const struct option options[] = {
		{"epochs", required_argument, NULL, 'e'},   {"parallel", required_argument, NULL, 'p'},
		{"seeds", required_argument, NULL, 'i'},    {"cross", required_argument, NULL, 'c'},
		{"strategy", required_argument, NULL, 's'}, {0}};
	char *rest;
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 'e': w->epochs = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'p': w->parallel = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'c': w->cross = strtod(optarg, NULL); break;
		case 's': w->strategy = optarg; break;
		case 'i':
			w->first = (unsigned)strtoul(optarg, &rest, 10);
			w->count = *rest == ':' ? (unsigned)strtoul(rest + 1, NULL, 10) : 1;
			break;
		default: return false;
		}
	}
	return w->epochs && w->parallel && w->parallel <= RUNNING_MOST;
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = {"smooth4",   "smooth8", "mixed8", "skewed5",
					    "training8", "valley4", "slope7"};
	struct wish wish = {.epochs = 27, .parallel = 4, .first = 1, .count = 4, .strategy = "auto"};
	if (!read_options(argc, argv, &wish))
		return 2;
	for (unsigned seed = wish.first; seed < wish.first + wish.count; seed++)
		for (const struct world_kind *k = world_kinds; k->name; k++)
			for (size_t i = 0; i < COUNT_OF(kinds); i++)
				if (strcmp(kinds[i], k->name) == 0)
					run(k, &wish, seed);
	return 0;
}
