/* Only for the files of this folder. */
#ifndef SPACE_SPACE_INTERNAL_H
#define SPACE_SPACE_INTERNAL_H

#include "space/space.h"

/* Whole numbers that a double holds exactly, and cells of an axis that a double tells apart. */
#define SPACE_INT_MOST 9007199254740992.0
#define SPACE_CELLS_MOST 1e15

/* One constraint, parsed once. */
struct space_expr {
	char *text;
	struct space_term *root;
	size_t *uses; /* the parameters it names */
	size_t use_count;
};

/* Parses a constraint over the parameters of the space. What is wrong is added at the node `at`; 0 or
 * -EINVAL. */
int space_expr_parse(const struct space *space, const struct node *at, struct problems *problems,
		     struct space_expr **ret) MUST_USE;
void space_expr_free(struct space_expr *expr);
/* Does it hold? A constraint that names an inactive parameter holds. */
bool space_expr_holds(const struct space_expr *expr, const struct space_value *values);

/* The k-th value of a finite parameter, in the order of the file. */
struct space_value space_value_at(const struct space_param *param, uint64_t k);
/* The inverse for a value of that parameter. */
uint64_t space_index_of(const struct space_param *param, const struct space_value *value);
/* Same kind and same value (numbers by value). */
bool space_value_equal(const struct space_value *a, const struct space_value *b);
/* Is there any configuration that satisfies the constraints? 0: yes. -ENOENT: no, all were tried. N: none of N random
 * ones does; there were too many to try all. */
int space_look_empty(const struct space *space);
/* Fills in cardinality, ordered, ranks, low and span of a parameter that is otherwise complete. */
void space_param_finish(struct space_param *param);

#endif
