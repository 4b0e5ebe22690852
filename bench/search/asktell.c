/* A search spoken to over pipes, so that a benchmark in Python can drive it beside other libraries.
 *
 *	search-asktell PARAMETERS SEARCH [FIDELITY [OBJECTIVES]]	texts in YAML (FIDELITY may be ~), and how many
 *
 * Reads lines: "ask ID", answered by a line of JSON {"values": {...}, "fidelity": F, "continues": ID}, or "wait",
 * or "done"; "tell ID VALUE...", one for each objective, where a VALUE may be nan (it failed), not answered; "strategy", answered by its name (`auto`
 * has chosen one); "time", answered by the seconds of CPU spent in asks and tells since the last "time". */
#include "search/search.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define OBJECTIVES_MOST 8

static struct node *parse(const char *text)
{
	struct node *node = NULL;
	struct error err;
	if (node_parse_yaml(text, strlen(text), &node, &err) < 0) {
		fprintf(stderr, "search-asktell: %s\n", err.text);
		exit(2);
	}
	return node;
}

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double ask(struct search *search, const struct space *space, int64_t id)
{
	struct space_value *values = mem_array(space->count + 1, sizeof(*values));
	struct search_proposal p = {.values = values, .fidelity = NAN, .continues = -1};
	double begin = cpu_s();
	enum search_answer answer = search_ask(search, id, &p);
	double took = cpu_s() - begin;
	struct buf b = buf_make(BUF_UNLIMITED);
	struct json out = json_to(&b);
	json_map(&out);
	json_key(&out, "values");
	space_write_values(space, values, &out);
	json_key(&out, "fidelity");
	if (isnan(p.fidelity))
		json_put_null(&out);
	else
		json_put_real(&out, p.fidelity);
	json_key_int(&out, "continues", p.continues);
	json_end(&out);
	puts(answer == SEARCH_PROPOSED ? buf_text(&b) : answer == SEARCH_WAIT ? "wait" : "done");
	buf_free(&b);
	free(values);
	return took;
}

int main(int argc, char **argv)
{
	struct problems problems = {0};
	struct space *space = NULL;
	struct search_spec *spec = NULL;
	struct search *search = NULL;
	struct error err;
	if (argc < 3)
		return 2;
	struct node *parameters = parse(argv[1]), *map = parse(argv[2]), *fidelity = argc > 3 ? parse(argv[3]) : NULL;
	size_t objectives = argc > 4 ? strtoul(argv[4], NULL, 10) : 1;
	if (!objectives || objectives > OBJECTIVES_MOST)
		return 2;
	if (space_parse(parameters, NULL, &problems, &space) < 0 ||
	    search_spec_parse(map, fidelity && fidelity->type != NODE_NULL ? fidelity : NULL, space, 1, objectives,
			      &problems, &spec) < 0) {
		fprintf(stderr, "search-asktell: %s\n", problems.list.at[0].message);
		return 2;
	}
	if (search_open(spec, space, &search, &err) < 0)
		return 1;
	char line[256];
	double spent = 0;
	while (fgets(line, sizeof(line), stdin)) {
		char *rest = line;
		if (strncmp(line, "time", 4) == 0) {
			printf("%.9f\n", spent);
			spent = 0;
		} else if (strncmp(line, "strategy", 8) == 0) {
			puts(spec->strategy->name);
		} else if (strncmp(line, "ask ", 4) == 0) {
			spent += ask(search, space, strtoll(line + 4, NULL, 10));
		} else if (strncmp(line, "tell ", 5) == 0) {
			int64_t id = strtoll(line + 5, &rest, 10);
			double values[OBJECTIVES_MOST], begin = cpu_s();
			bool failed = false;
			for (size_t k = 0; k < objectives; k++) {
				values[k] = strtod(rest, &rest);
				failed = failed || isnan(values[k]);
			}
			search_tell(search, id, failed ? SEARCH_FAILED : SEARCH_FINISHED, failed ? NULL : values);
			spent += cpu_s() - begin;
			continue;
		}
		fflush(stdout);
	}
	search_free(search);
	search_spec_free(spec);
	space_free(space);
	problems_free(&problems);
	node_free(parameters);
	node_free(map);
	node_free(fidelity);
	return 0;
}
