/* Grid: every configuration of a finite space once. In the order of the file unless shuffled; what
 * `auto` chooses under a budget is shuffled, so that the first results say something about all of it. */
#include "search/search_internal.h"

struct grid {
	uint64_t cursor;
	struct space_value *values; /* of the last one walked to */
	/* Shuffled: the cells of every configuration, and the order they come in. */
	uint32_t *order;
	double *points;
	size_t count, next;
};

const struct search_option grid_options[] = {
	{"shuffle", SEARCH_OPTION_BOOL, 0, 0, 1, NULL, "in random order instead of the file's"},
	{0},
};

static void grid_shuffle(struct search *s, struct grid *g)
{
	uint64_t size = search_space_size(s->space);
	g->points = mem_resize(NULL, (size_t)size * s->dims + 1, sizeof(*g->points));
	g->order = mem_resize(NULL, (size_t)size + 1, sizeof(*g->order));
	while (g->count < size && space_next(s->space, &g->cursor, g->values)) {
		space_encode(s->space, g->values, g->points + g->count * s->dims);
		g->order[g->count] = (uint32_t)g->count;
		g->count++;
	}
	for (size_t i = g->count; i > 1; i--) {
		size_t k = rng_below(&s->rng, i);
		uint32_t swap = g->order[i - 1];
		g->order[i - 1] = g->order[k];
		g->order[k] = swap;
	}
}

static int grid_open(struct search *s, struct error *err)
{
	(void)err;
	struct grid *g = s->state = mem_alloc(sizeof(*g));
	g->values = mem_array(s->space->count, sizeof(*g->values));
	/* Too large to shuffle (only with a budget): in order, from the start. */
	if (search_option(s->spec, "shuffle") != 0 && search_space_size(s->space) != UINT64_MAX)
		grid_shuffle(s, g);
	return 0;
}

static void grid_free(struct search *s)
{
	struct grid *g = s->state;
	if (!g)
		return;
	free(g->values);
	free(g->order);
	free(g->points);
	free(g);
}

static enum search_answer grid_ask(struct search *s, struct search_trial *trial)
{
	struct grid *g = s->state;
	if (g->order) {
		if (g->next == g->count)
			return SEARCH_DONE;
		memcpy(trial->unit, g->points + (size_t)g->order[g->next++] * s->dims, s->dims * sizeof(double));
		return SEARCH_PROPOSED;
	}
	if (!space_next(s->space, &g->cursor, g->values))
		return SEARCH_DONE;
	space_encode(s->space, g->values, trial->unit);
	return SEARCH_PROPOSED;
}

const struct strategy_ops grid_ops = {.open = grid_open, .free = grid_free, .ask = grid_ask};
