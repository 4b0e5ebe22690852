/* A space of real, logarithmic, whole and categorical parameters in turn: see history.h. */
#include "history.h"

#include <math.h>
#include <stdio.h>

static const char *const kinds[] = {"{min: 0.0, max: 1.0}", "{min: 0.0, max: 1.0}", "{min: 1e-5, max: 0.1, scale: log}",
				    "{min: 1, max: 64}", "[a, b, c, d]"};
/* The same for a grid, which needs a finite space. */
static const char *const finite_kinds[] = {"{min: 0.0, max: 1.0, step: 0.01}", "{min: 0.0, max: 1.0, step: 0.01}",
					   "{min: 1e-5, max: 0.1, scale: log, points: 9}", "{min: 1, max: 64}",
					   "[a, b, c, d]"};

static struct node *parse(const char *text)
{
	struct node *node = NULL;
	struct error err;
	if (node_parse_yaml(text, strlen(text), &node, &err) < 0) {
		fprintf(stderr, "ask: %s\n", err.text);
		exit(2);
	}
	return node;
}

static bool is_any(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

struct history history_new(const char *strategy, size_t parameters)
{
	static const char *const several[] = {"motpe", "nsga2", "gde3"}, *const heavy[] = {"tpe", "motpe", "gp"};
	struct history p = {.strategy = search_find(strategy), .parameters = parameters, .objectives = 1};
	struct problems problems = {0};
	if (!p.strategy) {
		fprintf(stderr, "ask: there is no strategy %s\n", strategy);
		exit(2);
	}
	p.objectives += is_any(strategy, several, COUNT_OF(several));
	p.heavy = is_any(strategy, heavy, COUNT_OF(heavy));
	p.slow = strcmp(strategy, "gp") == 0;
	p.fidelity = p.strategy->capabilities & SEARCH_MULTI_FIDELITY;
	rng_seed(&p.rng, 1);
	struct buf text = buf_make(BUF_UNLIMITED);
	history_write(&p, 1, &text);
	struct node *document = parse(buf_text(&text));
	if (space_parse(node_get(document, "parameters"), NULL, &problems, &p.space) < 0) {
		fprintf(stderr, "ask: %s\n", problems.list.at[0].message);
		exit(2);
	}
	node_free(document);
	buf_free(&text);
	return p;
}

void history_free(struct history *p)
{
	space_free(p->space);
}

void history_write(const struct history *p, uint64_t tasks, struct buf *out)
{
	bool grid = p->strategy->capabilities & SEARCH_FINITE_ONLY;
	buf_addf(out, "parameters:\n");
	for (size_t i = 0; i < p->parameters; i++)
		buf_addf(out, "  p%zu: %s\n", i, (grid ? finite_kinds : kinds)[i % COUNT_OF(kinds)]);
	if (p->fidelity)
		buf_addf(out, "  epochs: 81\n");
	buf_addf(out, "search: {strategy: %s, tasks: %llu, parallel: %d, seed: 1}\n", p->strategy->name,
		 (unsigned long long)tasks, HISTORY_PARALLEL);
	if (p->fidelity)
		buf_addf(out, "fidelity: {parameter: epochs, min: 1}\n");
}

struct search_spec *history_spec(const struct history *p, uint64_t tasks)
{
	struct problems problems = {0};
	struct search_spec *spec = NULL;
	struct buf text = buf_make(BUF_UNLIMITED);
	history_write(p, tasks, &text);
	struct node *document = parse(buf_text(&text));
	if (search_spec_parse(node_get(document, "search"), node_get(document, "fidelity"), p->space, 1, p->objectives,
			      &problems, &spec) < 0) {
		fprintf(stderr, "ask: %s\n", problems.list.at[0].message);
		exit(2);
	}
	node_free(document);
	buf_free(&text);
	return spec;
}

void history_draw(struct history *p, struct space_value *values)
{
	double *unit = mem_array(p->space->dim_count + 1, sizeof(*unit));
	for (size_t d = 0; d < p->space->dim_count; d++)
		unit[d] = rng_unit(&p->rng);
	space_decode(p->space, unit, values);
	free(unit);
}

void history_result(const struct history *p, const struct space_value *values, double *ret)
{
	double *unit = mem_array(p->space->dim_count + 1, sizeof(*unit));
	space_encode(p->space, values, unit);
	for (size_t i = 0; i < p->objectives; i++) {
		ret[i] = 0;
		for (size_t d = 0; d < p->space->dim_count; d++)
			ret[i] += (unit[d] - 0.3 - 0.4 * (double)i) * (unit[d] - 0.3 - 0.4 * (double)i);
	}
	free(unit);
}

void history_tell_known(struct history *p, struct search *search, int64_t id)
{
	struct space_value *values = mem_array(p->space->count, sizeof(*values));
	double result[2];
	history_draw(p, values);
	history_result(p, values, result);
	search_add(search, id, values, NAN, false);
	search_tell(search, id, SEARCH_FINISHED, result);
	free(values);
}
