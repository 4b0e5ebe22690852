/* Random parameters for property tests: every kind of parameter, conditions and constraints, written
 * as a tree so that the parser is part of what is tested. */
#ifndef RANDOM_SPACE_H
#define RANDOM_SPACE_H

#include "base/rng.h"
#include "space/space.h"

#include <stdio.h>

static inline struct node *random_range(struct rng *rng, bool finite)
{
	struct node *map = node_new(NODE_MAP);
	switch (rng_below(rng, finite ? 4 : 7)) {
	case 0: { /* whole numbers */
		int64_t min = (int64_t)rng_below(rng, 20) - 10;
		node_add(map, "min", node_new_int(min));
		node_add(map, "max", node_new_int(min + 1 + (int64_t)rng_below(rng, 6)));
		break;
	}
	case 1: { /* whole numbers with a step, at times on a logarithmic scale */
		int64_t step = 1 + (int64_t)rng_below(rng, 9);
		int64_t min = 1 + (int64_t)rng_below(rng, 9);
		node_add(map, "min", node_new_int(min));
		node_add(map, "max",
			 node_new_int(min + step * (1 + (int64_t)rng_below(rng, 5)) +
				      (int64_t)rng_below(rng, (uint64_t)step)));
		node_add(map, "step", node_new_int(step));
		if (rng_below(rng, 2))
			node_add(map, "scale", node_new_string("log"));
		break;
	}
	case 2: { /* reals with a step */
		double step = 0.05 + rng_unit(rng), min = rng_unit(rng);
		node_add(map, "min", node_new_real(min));
		node_add(map, "max", node_new_real(min + step * (1.001 + 4 * rng_unit(rng))));
		node_add(map, "step", node_new_real(step));
		break;
	}
	case 3: /* points */
		node_add(map, "min", node_new_real(1e-3 + rng_unit(rng)));
		node_add(map, "max", node_new_real(1.5 + rng_unit(rng)));
		node_add(map, "points", node_new_int(2 + (int64_t)rng_below(rng, 4)));
		if (rng_below(rng, 2))
			node_add(map, "scale", node_new_string("log"));
		break;
	case 4: {
		double min = 1e-6 * (1 + rng_unit(rng));
		node_add(map, "min", node_new_real(min));
		node_add(map, "max", node_new_real(min * (2 + 1e5 * rng_unit(rng))));
		node_add(map, "scale", node_new_string("log"));
		break;
	}
	case 5:
		node_add(map, "min", node_new_int(1));
		node_add(map, "max", node_new_int(2 + (int64_t)rng_below(rng, 1000)));
		node_add(map, "scale", node_new_string("log"));
		node_add(map, "type", node_new_string("int"));
		break;
	default: {
		double min = 100 * (rng_unit(rng) - 0.5);
		node_add(map, "min", node_new_real(min));
		node_add(map, "max", node_new_real(min + 1e-3 + 100 * rng_unit(rng)));
	}
	}
	return map;
}

static inline struct node *random_choices(struct rng *rng)
{
	struct node *list = node_new(NODE_LIST), *map;
	size_t n = 1 + rng_below(rng, 5);
	uint64_t how = rng_below(rng, 3);
	for (size_t i = 0; i < n; i++) {
		char text[24];
		snprintf(text, sizeof(text), "c%zu", i);
		if (how == 0)
			node_add(list, NULL, node_new_string(text));
		else if (how == 1) /* numbers out of order */
			node_add(list, NULL, node_new_int((int64_t)(i * 7 % 5)));
		else if (i < 2)
			node_add(list, NULL, node_new_bool(i));
	}
	if (how != 1 || rng_below(rng, 2))
		return list;
	map = node_new(NODE_MAP); /* the numbers are labels */
	node_add(map, "values", list);
	node_add(map, "categorical", node_new_bool(true));
	return map;
}

/* Conditions name earlier lists (c0, 0, false are always in them); constraints name two ranges. */
static inline struct space *random_space(struct rng *rng, bool finite, size_t most)
{
	struct node *root = node_new(NODE_MAP), *map = node_new(NODE_MAP), *list = node_new(NODE_LIST);
	node_add(root, "parameters", map);
	node_add(root, "constraints", list);
	size_t n = 1 + rng_below(rng, most);
	char last_range[24] = "", name[24];
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "p%zu", i);
		uint64_t what = rng_below(rng, 8);
		struct node *node = what == 0 ? node_new_int((int64_t)rng_below(rng, 100))
			: what < 4            ? random_choices(rng)
					      : random_range(rng, finite);
		const struct node *parent = i ? map->items[rng_below(rng, i)] : NULL;
		const struct node *values = parent && parent->type == NODE_MAP ? node_get(parent, "values") : parent;
		if (values && values->type == NODE_LIST && rng_below(rng, 2)) {
			struct node *when = node_new(NODE_MAP);
			struct node *one = node_clone(values->items[rng_below(rng, values->count)]);
			if (node->type != NODE_MAP) {
				struct node *wrapped = node_new(NODE_MAP);
				node_add(wrapped, node->type == NODE_LIST ? "values" : "value", node);
				node = wrapped;
			}
			node_add(when, parent->key, one);
			node_add(node, "when", when);
		}
		if (what >= 4 && last_range[0] && rng_below(rng, 6) == 0) {
			char *text = mem_printf("%s + 5 >= %s / 10 or %s > 0", name, last_range, name);
			node_add(list, NULL, node_new_string(text));
			free(text);
		}
		if (what >= 4)
			snprintf(last_range, sizeof(last_range), "%s", name);
		node_add(map, name, node);
	}
	struct problems problems = {0};
	struct space *space = NULL;
	int rc = space_parse(map, list, &problems, &space);
	if (rc < 0 && !strstr(problems.list.at[0].message, "the constraints")) {
		fprintf(stderr, "# %s: %s\n", problems.list.at[0].field, problems.list.at[0].message);
		abort();
	}
	problems_free(&problems);
	node_free(root);
	return rc < 0 ? random_space(rng, finite, most) : space;
}

#endif
