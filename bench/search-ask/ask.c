/* How long one ask and one tell take, for every strategy, as the history grows: the daemon's loop may
 * not block for more than 10 ms. CPU time, so that a busy machine does not show in it.
 *
 *	search-ask [--tasks N] [--strategy NAME] */
#include "search/search.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#define PARALLEL 16

static const char parameters[] = "lr: {min: 1e-5, max: 1e-1, scale: log}\nbatch: {min: 4, max: 256}\n"
				 "units: {min: 16, max: 512, step: 16}\noptimizer: [adam, sgd, rmsprop]\n"
				 "momentum: {min: 0.0, max: 0.99, when: {optimizer: sgd}}\ndropout: {min: 0.0, max: 0.5}\n"
				 "decay: {min: 1e-6, max: 1e-2, scale: log}\nlayers: {min: 1, max: 5}\n"
				 "act: [relu, gelu, tanh]\nwarmup: {min: 0.0, max: 0.2}\nepochs: 81\n";

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void measure(const struct strategy *strategy, uint64_t tasks)
{
	struct node *map, *fidelity;
	struct problems problems = {0};
	struct space *space = NULL;
	struct search_spec *spec = NULL;
	struct search *search = NULL;
	char text[200];
	snprintf(text, sizeof(text), "{parameter: epochs, min: 1}");
	if (node_parse_yaml(parameters, sizeof(parameters) - 1, &map, NULL) < 0 ||
	    node_parse_yaml(text, strlen(text), &fidelity, NULL) < 0 || space_parse(map, NULL, &problems, &space) < 0)
		abort();
	node_free(map);
	snprintf(text, sizeof(text), "{strategy: %s, tasks: %llu, parallel: %d}", strategy->name,
		 (unsigned long long)tasks, PARALLEL);
	if (node_parse_yaml(text, strlen(text), &map, NULL) < 0)
		abort();
	if (search_spec_parse(map, fidelity, space, 1, 1, &problems, &spec) == 0 &&
	    search_open(spec, space, &search, NULL) == 0) {
		struct space_value *values = mem_alloc(space->count * sizeof(*values));
		double asked = 0, told = 0, worst = 0, begin;
		int64_t id = 0, done = 0;
		for (;;) {
			struct search_proposal p = {.values = values};
			begin = now_us();
			enum search_answer answer = search_ask(search, id + 1, &p);
			double took = now_us() - begin;
			asked += took;
			worst = took > worst ? took : worst;
			id += answer == SEARCH_PROPOSED;
			if (answer == SEARCH_DONE && done == id)
				break;
			if (answer == SEARCH_PROPOSED && id - done < PARALLEL)
				continue;
			double value = 0;
			done++;
			value = fabs(sin((double)done * 12.9898) * 43758.5453);
			value -= floor(value);
			begin = now_us();
			search_tell(search, done, SEARCH_FINISHED, &value);
			took = now_us() - begin;
			told += took;
			worst = took > worst ? took : worst;
		}
		printf("%-12s %8lld tasks  ask %9.2f us  tell %9.2f us  worst %10.1f us\n", strategy->name, (long long)id,
		       asked / (double)id, told / (double)id, worst);
		fflush(stdout);
		free(values);
	}
	search_free(search);
	search_spec_free(spec);
	space_free(space);
	problems_free(&problems);
	node_free(map);
	node_free(fidelity);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"tasks", required_argument, NULL, 't'}, {"strategy", required_argument, NULL, 's'}, {0}};
	const char *only = NULL;
	uint64_t tasks = 0;
	int c;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't': tasks = strtoull(optarg, NULL, 10); break;
		case 's': only = optarg; break;
		default: return 2;
		}
	}
	static const uint64_t sizes[] = {100, 1000, 10000};
	for (const struct strategy *s = search_strategies; s->name; s++)
		for (size_t i = 0; i < COUNT_OF(sizes) && (!only || strcmp(only, s->name) == 0); i++)
			if (!tasks || i == 0)
				measure(s, tasks ? tasks : sizes[i]);
	return 0;
}
