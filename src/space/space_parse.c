/* Reads `parameters` and `constraints` of an experiment file into a space. Everything that is wrong
 * is reported with its place and what to do about it; parsing goes on, so that people see all of it
 * at once. */
#include "space/space_hint.h"
#include "space/space_internal.h"

#include "base/limits.h"
#include "base/num.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>

struct parse {
	struct space *space;
	struct problems *problems;
	const struct node **nodes; /* of each parameter */
	bool *bad;
	bool failed;
};

static const char *const param_keys[] = {"min",    "max",   "scale",   "step", "points", "type",
					 "values", "value", "default", "when", NULL};

#define FAIL(p, ...) ((p)->failed = true, problem_add((p)->problems, __VA_ARGS__))

/* A scalar as a value; texts are copied. */
static int parse_scalar(struct parse *p, const struct node *node, struct space_value *ret)
{
	switch (node->type) {
	case NODE_BOOL: *ret = (struct space_value){.kind = SPACE_VALUE_BOOL, .boolean = node->boolean}; return 0;
	case NODE_INT:
		*ret = (struct space_value){.kind = SPACE_VALUE_INT, .integer = node->integer, .real = node->real};
		return 0;
	case NODE_REAL:
		if (!isfinite(node->real))
			return FAIL(p, node, "give a finite number", "%s is not a finite number",
				    node->string ? node->string : "this");
		*ret = (struct space_value){.kind = SPACE_VALUE_REAL, .real = node->real};
		return 0;
	case NODE_STRING:
		if (strlen(node->string) > LIMIT_TEXT_BYTES)
			return FAIL(p, node, "put it into a file and pass the file's name",
				    "the text is too long: at most %d bytes", LIMIT_TEXT_BYTES);
		*ret = (struct space_value){.kind = SPACE_VALUE_TEXT, .text = mem_strdup(node->string)};
		return 0;
	case NODE_NULL: return FAIL(p, node, "write the value, or \"\" for an empty text", "the value is empty");
	default:
		return FAIL(p, node, "lists of choices hold single values only",
			    "a value is a number, a text, true or false, not %s", node_type_name(node));
	}
}

static int parse_constant(struct parse *p, struct space_param *param, const struct node *node)
{
	struct space_value value;
	int rc = parse_scalar(p, node, &value);
	if (rc < 0)
		return rc;
	param->kind = SPACE_CONSTANT;
	param->choices = mem_alloc(sizeof(value));
	param->choices[0] = value;
	param->choice_count = 1;
	return 0;
}

static int compare_texts(const void *a, const void *b)
{
	const struct space_value *x = *(const struct space_value *const *)a;
	const struct space_value *y = *(const struct space_value *const *)b;
	bool nx = x->kind == SPACE_VALUE_INT || x->kind == SPACE_VALUE_REAL;
	bool ny = y->kind == SPACE_VALUE_INT || y->kind == SPACE_VALUE_REAL;
	if (nx != ny)
		return nx ? -1 : 1;
	if (nx)
		return x->real < y->real ? -1 : x->real > y->real;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kind == SPACE_VALUE_TEXT)
		return strcmp(x->text, y->text);
	return (int)x->boolean - (int)y->boolean;
}

/* Two equal choices would be two tasks that are the same. */
static int check_duplicates(struct parse *p, const struct space_param *param, const struct node *list)
{
	size_t n = param->choice_count;
	const struct space_value **sorted = mem_resize(NULL, n, sizeof(*sorted));
	int rc = 0;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &param->choices[i];
	qsort(sorted, n, sizeof(*sorted), compare_texts);
	for (size_t i = 1; i < n && rc == 0; i++) {
		if (!space_value_equal(sorted[i - 1], sorted[i]))
			continue;
		const struct space_value *later = sorted[i - 1] > sorted[i] ? sorted[i - 1] : sorted[i];
		struct buf text = buf_make(80);
		space_format_value(later, &text);
		rc = FAIL(p, list->items[later - param->choices], "remove it; `repeats` runs things again",
			  "%s is in the list twice", buf_text(&text));
		buf_free(&text);
	}
	free(sorted);
	return rc;
}

static int parse_choices(struct parse *p, struct space_param *param, const struct node *list)
{
	if (list->type != NODE_LIST)
		return FAIL(p, list, "write [a, b, c]", "'values' is a list, not %s", node_type_name(list));
	if (!list->count)
		return FAIL(p, list, "give at least one value", "the list of choices is empty");
	if (list->count > LIMIT_CHOICES)
		return FAIL(p, list, "use a range {min, max} instead", "%zu choices: at most %d", list->count,
			    LIMIT_CHOICES);
	int rc = 0;
	param->kind = list->count == 1 ? SPACE_CONSTANT : SPACE_CHOICE;
	param->choices = mem_resize(NULL, list->count, sizeof(*param->choices));
	for (size_t i = 0; i < list->count; i++) {
		int one = parse_scalar(p, list->items[i], &param->choices[param->choice_count]);
		if (one == 0)
			param->choice_count++;
		else
			rc = one;
	}
	return rc < 0 ? rc : check_duplicates(p, param, list);
}

/* A finite number under a key of a range. 1 when it is there, 0 when it is not, or an error. */
static int range_number(struct parse *p, const struct node *map, const char *key, double *ret)
{
	const struct node *node = node_get(map, key);
	if (!node)
		return 0;
	if (!node_is_number(node))
		return FAIL(p, node, "give a number", "'%s' is a number, not %s", key, node_type_name(node));
	if (!isfinite(node->real))
		return FAIL(p, node, "give a finite number", "'%s' is not a finite number", key);
	*ret = node->real;
	return 1;
}

/* What to write instead of a word that is none of `words`. The caller frees it. */
static char *word_remedy(const char *word, const char *const *words, const struct space_hint *hints)
{
	const char *hint = space_find_hint(hints, word);
	return hint ? mem_strdup(hint) : space_unknown_remedy(word, words);
}

/* The word under a key, as its place in words (0 when absent). */
static int range_word(struct parse *p, const struct node *map, const char *key, const char *const *words,
		      const struct space_hint *hints, int *ret)
{
	const struct node *node = node_get(map, key);
	const char *word = node_string(node);
	*ret = 0;
	if (!node)
		return 0;
	for (int i = 0; word && words[i]; i++) {
		if (words[i][0] && strcmp(word, words[i]) == 0) {
			*ret = i;
			return 0;
		}
	}
	char *remedy = word_remedy(word ? word : "", words[0][0] ? words : words + 1, hints);
	int rc = FAIL(p, node, remedy, "'%s' cannot be %s", key, word ? word : node_type_name(node));
	free(remedy);
	return rc;
}

static bool is_whole(double x)
{
	return x == floor(x) && fabs(x) <= SPACE_INT_MOST;
}

static double point_at(const struct space_param *param, uint64_t k)
{
	double t = (double)k / (double)(param->points - 1);
	double x = param->log ? exp(log(param->min) + t * (log(param->max) - log(param->min)))
			      : param->min + t * (param->max - param->min);
	x = num_round(x, 12); /* 0.1, not 0.10000000000000002 */
	return k == 0 ? param->min : k == param->points - 1 ? param->max : x;
}

static int make_points(struct parse *p, struct space_param *param, const struct node *map, int type)
{
	bool whole = true;
	for (uint64_t k = 0; k < param->points; k++)
		whole = whole && is_whole(point_at(param, k));
	param->kind = type == 1 || (type == 0 && whole) ? SPACE_INT : SPACE_REAL;
	param->choices = mem_resize(NULL, param->points, sizeof(*param->choices));
	for (uint64_t k = 0; k < param->points; k++) {
		double x = point_at(param, k);
		if (param->kind == SPACE_INT)
			x = round(x);
		if (k && x <= param->choices[k - 1].real)
			return FAIL(p, node_get(map, "points"), "ask for fewer points",
				    "%" PRIu64 " points between %g and %g are not all different", param->points,
				    param->min, param->max);
		param->choices[k] = (struct space_value){.kind = param->kind == SPACE_INT ? SPACE_VALUE_INT
											  : SPACE_VALUE_REAL,
							 .integer = param->kind == SPACE_INT ? (int64_t)x : 0,
							 .real = x};
		param->choice_count = k + 1;
	}
	return 0;
}

static int parse_points(struct parse *p, struct space_param *param, const struct node *map, int type)
{
	const struct node *points = node_get(map, "points");
	if (points->type != NODE_INT || points->integer < 2 || points->integer > LIMIT_CHOICES)
		return FAIL(p, points, "give a whole number from 2 to 10000", "'points' cannot be %s",
			    points->string ? points->string : node_type_name(points));
	if (param->step > 0)
		return FAIL(p, points, "give one of the two", "a range has 'step' or 'points', not both");
	param->points = (uint64_t)points->integer;
	return make_points(p, param, map, type);
}

static int check_range_size(struct parse *p, const struct space_param *param, const struct node *map)
{
	if (!isfinite(param->max - param->min))
		return FAIL(p, map, "use scale: log, or a smaller range", "the range is too wide");
	if (param->kind == SPACE_INT && (fabs(param->min) > SPACE_INT_MOST || fabs(param->max) > SPACE_INT_MOST))
		return FAIL(p, map, "use type: real", "whole numbers go to 9007199254740992 at most");
	if (param->step > 0 && (param->max - param->min) / param->step > SPACE_CELLS_MOST)
		return FAIL(p, map, "use a larger step", "the range has more than 1e15 steps");
	return 0;
}

static int parse_step(struct parse *p, struct space_param *param, const struct node *map)
{
	int there = range_number(p, map, "step", &param->step);
	if (there <= 0)
		return there;
	const struct node *step = node_get(map, "step");
	if (param->step <= 0)
		return FAIL(p, step, "give a step above 0", "step %s is not above 0", step->string);
	if (param->step > param->max - param->min)
		return FAIL(p, step, "use a smaller step", "step %s is larger than the range from %g to %g",
			    step->string, param->min, param->max);
	return 0;
}

/* Whole or real? Two whole numbers mean whole numbers, unless the step is not whole, the scale is
 * logarithmic without a whole step, or `type` says so. */
static int decide_kind(struct parse *p, struct space_param *param, const struct node *map, int type)
{
	bool whole = node_get(map, "min")->type == NODE_INT && node_get(map, "max")->type == NODE_INT &&
		is_whole(param->step) && (!param->log || param->step > 0);
	param->kind = type == 1 || (type == 0 && whole) ? SPACE_INT : SPACE_REAL;
	if (param->kind == SPACE_INT && (!is_whole(param->min) || !is_whole(param->max) || !is_whole(param->step)))
		return FAIL(p, map, "use whole numbers, or type: real",
			    "a range of whole numbers needs whole min, max and step (at most 9007199254740992)");
	if (param->kind == SPACE_INT && param->step <= 0)
		param->step = 1;
	return check_range_size(p, param, map);
}

/* `scale` and `type` of a range. */
static int range_words(struct parse *p, const struct node *map, bool *ret_log, int *ret_type)
{
	static const char *const scales[] = {"linear", "log", NULL};
	static const char *const types[] = {"", "int", "real", "float", NULL};
	int scale, rc = range_word(p, map, "scale", scales, space_scale_hints, &scale);
	*ret_log = scale == 1;
	if (range_word(p, map, "type", types, space_type_hints, ret_type) < 0)
		return -EINVAL;
	*ret_type = *ret_type == 3 ? 2 : *ret_type; /* float is real */
	return rc;
}

static int parse_range(struct parse *p, struct space_param *param, const struct node *map)
{
	int type;
	int min = range_number(p, map, "min", &param->min);
	int max = range_number(p, map, "max", &param->max);
	for (int i = 0; i < 2; i++) {
		if ((i ? max : min) == 0) {
			p->failed = true;
			problem_add_missing(p->problems, map, i ? "max" : "min",
					    "a range is {min: 1, max: 10}; choices are [a, b] or {values: [a, b]}");
		}
	}
	if (range_words(p, map, &param->log, &type) < 0 || min <= 0 || max <= 0)
		return -EINVAL;
	if (param->min > param->max)
		return FAIL(p, map, "swap them", "min %s is above max %s", node_get(map, "min")->string,
			    node_get(map, "max")->string);
	if (param->log && param->min <= 0)
		return FAIL(p, map, "give a min above 0, or scale: linear", "a logarithmic range cannot start at %s",
			    node_get(map, "min")->string);
	if (param->min == param->max) { /* nothing varies */
		const struct node *value = node_get(map, "min");
		return parse_constant(p, param, value);
	}
	if (parse_step(p, param, map) < 0)
		return -EINVAL;
	if (!node_get(map, "points"))
		return decide_kind(p, param, map, type);
	if (!isfinite(param->max - param->min) && !param->log)
		return check_range_size(p, param, map);
	return parse_points(p, param, map, type);
}

static int unknown_param_key(struct parse *p, const struct node *member)
{
	/* W&B's word for all of scale, type and list: its value says which. */
	bool distribution = strcmp(member->key, "distribution") == 0;
	const char *word = distribution && node_string(member) ? member->string : member->key;
	const struct space_hint *hints = distribution ? space_type_hints : space_key_hints;
	char *remedy = word_remedy(word, param_keys, hints);
	int rc = FAIL(p, member, remedy, "a parameter has no key '%s'", member->key);
	free(remedy);
	return rc;
}

static int check_param_keys(struct parse *p, const struct node *map)
{
	int rc = 0;
	bool listed = node_get(map, "values") || node_get(map, "value");
	for (size_t i = 0; i < map->count; i++) {
		const struct node *member = map->items[i];
		size_t k = 0;
		while (param_keys[k] && strcmp(param_keys[k], member->key) != 0)
			k++;
		if (!param_keys[k]) {
			rc = unknown_param_key(p, member);
		} else if (listed && k < 6) {
			rc = FAIL(p, member, "remove it", "'%s' belongs to a range, not to a list of values",
				  member->key);
		}
	}
	if (node_get(map, "values") && node_get(map, "value"))
		rc = FAIL(p, map, "give one of the two", "a parameter has 'value' or 'values', not both");
	return rc;
}

static int parse_param(struct parse *p, struct space_param *param, const struct node *node)
{
	if (node->type == NODE_LIST)
		return parse_choices(p, param, node);
	if (node->type != NODE_MAP)
		return parse_constant(p, param, node);
	if (!node->count)
		return FAIL(p, node, "write a value, a list [a, b] or a range {min: 1, max: 10}",
			    "the parameter is empty");
	if (check_param_keys(p, node) < 0) {
		int type;
		if (!node_get(node, "values") && !node_get(node, "value"))
			range_words(p, node, &param->log, &type); /* so that all is seen at once */
		return -EINVAL;
	}
	if (node_get(node, "values"))
		return parse_choices(p, param, node_get(node, "values"));
	if (node_get(node, "value"))
		return parse_constant(p, param, node_get(node, "value"));
	return parse_range(p, param, node);
}

/* Both become one environment variable, so that a script would see only one of them. */
static bool same_variable(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		int x = isalnum((unsigned char)*a) ? toupper((unsigned char)*a) : '_';
		int y = isalnum((unsigned char)*b) ? toupper((unsigned char)*b) : '_';
		if (x != y)
			return false;
	}
	return *a == *b;
}

static int check_name(struct parse *p, const struct node *node, size_t index)
{
	if (!text_is_identifier(node->key, LIMIT_NAME_BYTES))
		return FAIL(p, node, "start with a letter; use letters, digits and _ . - (at most 200)",
			    "'%.60s' is not a name for a parameter", node->key);
	for (size_t i = 0; i < index; i++)
		if (same_variable(p->space->params[i].name, node->key))
			return FAIL(p, node, "rename one of them",
				    "'%s' and '%s' would be the same environment variable", p->space->params[i].name,
				    node->key);
	return 0;
}

static int parse_condition_values(struct parse *p, struct space_condition *condition, const struct space_param *parent,
				  const struct node *node)
{
	bool list = node->type == NODE_LIST;
	size_t count = list ? node->count : 1;
	if (!count)
		return FAIL(p, node, "give at least one value", "the list of values is empty");
	condition->values = mem_resize(NULL, count, sizeof(*condition->values));
	for (size_t i = 0; i < count; i++) {
		const struct node *item = list ? node->items[i] : node;
		if (space_match(parent, item, &condition->values[condition->count]) == 0) {
			condition->count++;
			continue;
		}
		const char *words[LIMIT_PARAMETERS + 1];
		size_t n = 0;
		for (size_t k = 0; k < parent->choice_count && n < LIMIT_PARAMETERS; k++)
			if (parent->choices[k].kind == SPACE_VALUE_TEXT)
				words[n++] = parent->choices[k].text;
		words[n] = NULL;
		char *remedy = n && item->string ? space_unknown_remedy(item->string, words) : NULL;
		FAIL(p, item, remedy ? remedy : "use a value that it can take", "'%s' is never %.60s", parent->name,
		     item->type == NODE_BOOL ? (item->boolean ? "true" : "false")
			     : item->string  ? item->string
					     : node_type_name(item));
		free(remedy);
		return -EINVAL;
	}
	return 0;
}

static int parse_condition(struct parse *p, size_t index, const struct node *node)
{
	struct space_param *param = &p->space->params[index];
	long parent = space_find(p->space, node->key);
	if (parent < 0) {
		const char *names[LIMIT_PARAMETERS + 1];
		for (size_t i = 0; i < p->space->count; i++)
			names[i] = p->space->params[i].name;
		names[p->space->count] = NULL;
		char *remedy = space_unknown_remedy(node->key, names);
		FAIL(p, node, remedy, "there is no parameter '%.60s'", node->key);
		free(remedy);
		return -EINVAL;
	}
	if ((size_t)parent == index)
		return FAIL(p, node, "name another parameter", "'%s' depends on itself", param->name);
	if (p->bad[parent])
		return -EINVAL; /* reported already */
	if (!p->space->params[parent].cardinality)
		return FAIL(p, node, "give it a step, points or a list of values, or use a constraint",
			    "'%s' is a continuous range: a condition on one of its values never holds", node->key);
	param->conditions = mem_resize(param->conditions, param->condition_count + 1, sizeof(*param->conditions));
	struct space_condition *c = &param->conditions[param->condition_count++];
	*c = (struct space_condition){.parent = (size_t)parent};
	return parse_condition_values(p, c, &p->space->params[parent], node);
}

static void parse_when(struct parse *p, size_t index)
{
	const struct node *when = node_get(p->nodes[index], "when");
	if (!when)
		return;
	if (when->type != NODE_MAP || !when->count) {
		FAIL(p, when, "write when: {optimizer: sgd}", "'when' is a map of parameter and value, not %s",
		     when->type == NODE_MAP ? "empty" : node_type_name(when));
		return;
	}
	for (size_t i = 0; i < when->count; i++)
		if (parse_condition(p, index, when->items[i]) < 0)
			p->bad[index] = true;
}

static void parse_default(struct parse *p, size_t index)
{
	struct space_param *param = &p->space->params[index];
	const struct node *node = node_get(p->nodes[index], "default");
	if (!node || p->bad[index])
		return;
	param->has_default = space_match(param, node, &param->fallback) == 0;
	if (!param->has_default)
		FAIL(p, node, "use one of its values", "'%s' cannot be %.60s", param->name,
		     node->string ? node->string : node_type_name(node));
}

/* Parents before children, otherwise as in the file; what cannot be placed hangs on itself. */
static void make_order(struct parse *p)
{
	struct space *space = p->space;
	bool *placed = mem_array(space->count, sizeof(*placed));
	size_t n = 0, before;
	space->order = mem_array(space->count, sizeof(*space->order));
	do {
		before = n;
		for (size_t i = 0; i < space->count; i++) {
			bool ready = !placed[i];
			const struct space_param *param = &space->params[i];
			for (size_t k = 0; k < param->condition_count && ready; k++)
				ready = placed[param->conditions[k].parent];
			if (ready) {
				placed[i] = true;
				space->order[n++] = i;
				break; /* from the start again, so that the order stays the file's */
			}
		}
	} while (n > before);
	for (size_t i = 0; i < space->count && n < space->count; i++)
		if (!placed[i])
			FAIL(p, node_get(p->nodes[i], "when"), "remove one of the conditions",
			     "the conditions of '%s' depend on each other in a circle", space->params[i].name);
	free(placed);
}

static void parse_constraints(struct parse *p, const struct node *list)
{
	if (!list)
		return;
	if (list->type != NODE_LIST && list->type != NODE_STRING) {
		FAIL(p, list, "write constraints: [\"a * b <= 100\"]", "'constraints' is a list, not %s",
		     node_type_name(list));
		return;
	}
	size_t count = list->type == NODE_LIST ? list->count : 1;
	if (count > LIMIT_PARAMETERS) {
		FAIL(p, list, "join some with 'and'", "%zu constraints: at most %d", count, LIMIT_PARAMETERS);
		return;
	}
	p->space->constraints = mem_array(count, sizeof(struct space_expr *));
	for (size_t i = 0; i < count; i++) {
		struct space_expr *expr;
		const struct node *item = list->type == NODE_LIST ? list->items[i] : list;
		if (space_expr_parse(p->space, item, p->problems, &expr) == 0)
			p->space->constraints[p->space->constraint_count++] = expr;
		else
			p->failed = true;
	}
}

static void parse_params(struct parse *p, const struct node *map)
{
	struct space *space = p->space;
	for (size_t i = 0; i < map->count; i++) {
		const struct node *node = map->items[i];
		struct space_param *param = &space->params[i];
		p->nodes[i] = node;
		if (check_name(p, node, i) < 0)
			p->bad[i] = true;
		param->name = mem_strdup(node->key);
		space->count = i + 1;
		if (parse_param(p, param, node) < 0)
			p->bad[i] = true;
		else
			space_param_finish(param);
	}
	for (size_t i = 0; i < space->count; i++) {
		parse_when(p, i);
		parse_default(p, i);
	}
	make_order(p);
	space->dims = mem_array(space->count, sizeof(*space->dims));
	for (size_t i = 0; i < space->count; i++)
		if (space->params[i].cardinality != 1)
			space->dims[space->dim_count++] = i;
}

int space_parse(const struct node *parameters, const struct node *constraints, struct problems *problems,
		struct space **ret)
{
	if (parameters && parameters->type != NODE_MAP)
		return problem_add(problems, parameters, "write name: value, a line each",
				   "'parameters' is a map, not %s", node_type_name(parameters));
	size_t count = parameters ? parameters->count : 0;
	if (count > LIMIT_PARAMETERS)
		return problem_add(problems, parameters, "pass the fixed ones in a file of your own",
				   "%zu parameters: at most %d", count, LIMIT_PARAMETERS);
	struct parse p = {.problems = problems};
	p.space = mem_alloc(sizeof(*p.space));
	p.space->params = mem_array(count, sizeof(*p.space->params));
	p.nodes = mem_array(count, sizeof(*p.nodes));
	p.bad = mem_alloc(count + 1);
	static const struct node no_parameters = {.type = NODE_MAP};
	parse_params(&p, parameters ? parameters : &no_parameters);
	if (!p.failed)
		parse_constraints(&p, constraints);
	int looked = p.failed ? 0 : space_look_empty(p.space);
	if (looked < 0)
		FAIL(&p, constraints, "loosen one of them", "no configuration satisfies the constraints");
	else if (looked)
		FAIL(&p, constraints, "loosen one of them, or leave out a parameter that follows from the others",
		     "none of %d random configurations satisfies the constraints", looked);
	free(p.nodes);
	free(p.bad);
	if (p.failed) {
		space_free(p.space);
		return -EINVAL;
	}
	*ret = p.space;
	return 0;
}
