/* Reads `parameters` and `constraints` of an experiment file into a space. Everything that is wrong
 * is reported with its place and what to do about it; parsing goes on, so that people see all of it
 * at once. */
#include "space/space_hint.h"
#include "space/space_internal.h"
#include "space/space_parse.h"

#include "base/limits.h"
#include "base/num.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>

static const char *const parse_param_keys[] = {"min",   "max",     "scale", "step",        "points",   "type", "values",
					       "value", "default", "when",  "categorical", "optional", NULL};

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

int space_parse_constant(struct parse *p, struct space_param *param, const struct node *node)
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

static int parse_compare_values(const void *a, const void *b)
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
static int parse_check_duplicates(struct parse *p, const struct space_param *param, const struct node *list)
{
	size_t n = param->choice_count;
	const struct space_value **sorted = mem_resize(NULL, n, sizeof(*sorted));
	int rc = 0;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &param->choices[i];
	qsort(sorted, n, sizeof(*sorted), parse_compare_values);
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
	return rc < 0 ? rc : parse_check_duplicates(p, param, list);
}

/* `categorical: true`: the numbers of a list are labels, and 7 is no nearer to 8 than to 3. */
static int parse_categorical(struct parse *p, struct space_param *param, const struct node *map)
{
	const struct node *node = node_get(map, "categorical");
	if (!node)
		return 0;
	if (node->type != NODE_BOOL)
		return FAIL(p, node, "write categorical: true", "'categorical' is true or false, not %s",
			    node->string ? node->string : node_type_name(node));
	if (!node_get(map, "values"))
		return FAIL(p, node, "write {values: [3, 5, 9], categorical: true}",
			    "'categorical' belongs to a list of values");
	param->categorical = node->boolean;
	return 0;
}

/* `optional: true`: a worker's own task may do without it. */
static int parse_optional(struct parse *p, struct space_param *param, const struct node *map)
{
	const struct node *node = node_get(map, "optional");
	if (node && node->type != NODE_BOOL)
		return FAIL(p, node, "write optional: true", "'optional' is true or false, not %s",
			    node->string ? node->string : node_type_name(node));
	param->optional = node && node->boolean;
	return 0;
}

static int parse_unknown_param_key(struct parse *p, const struct node *member)
{
	/* W&B's word for all of scale, type and list: its value says which. */
	bool distribution = strcmp(member->key, "distribution") == 0;
	const char *word = distribution && node_string(member) ? member->string : member->key;
	const struct space_hint *hints = distribution ? space_type_hints : space_key_hints;
	char *remedy = space_word_remedy(word, parse_param_keys, hints);
	int rc = FAIL(p, member, remedy, "a parameter has no key '%s'", member->key);
	free(remedy);
	return rc;
}

static int parse_check_param_keys(struct parse *p, const struct node *map)
{
	int rc = 0;
	bool listed = node_get(map, "values") || node_get(map, "value");
	for (size_t i = 0; i < map->count; i++) {
		const struct node *member = map->items[i];
		size_t k = 0;
		while (parse_param_keys[k] && strcmp(parse_param_keys[k], member->key) != 0)
			k++;
		if (!parse_param_keys[k]) {
			rc = parse_unknown_param_key(p, member);
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
		return space_parse_constant(p, param, node);
	if (!node->count)
		return FAIL(p, node, "write a value, a list [a, b] or a range {min: 1, max: 10}",
			    "the parameter is empty");
	if (parse_check_param_keys(p, node) < 0) {
		int type;
		if (!node_get(node, "values") && !node_get(node, "value"))
			space_parse_range_words(p, node, &param->log, &type); /* so that all is seen at once */
		return -EINVAL;
	}
	if (parse_categorical(p, param, node) < 0 || parse_optional(p, param, node) < 0)
		return -EINVAL;
	if (node_get(node, "values"))
		return parse_choices(p, param, node_get(node, "values"));
	if (node_get(node, "value"))
		return space_parse_constant(p, param, node_get(node, "value"));
	return space_parse_range(p, param, node);
}

/* Both become one environment variable, so that a script would see only one of them. */
static bool parse_same_variable(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		int x = isalnum((unsigned char)*a) ? toupper((unsigned char)*a) : '_';
		int y = isalnum((unsigned char)*b) ? toupper((unsigned char)*b) : '_';
		if (x != y)
			return false;
	}
	return *a == *b;
}

static int parse_check_name(struct parse *p, const struct node *node, size_t index)
{
	if (!text_is_identifier(node->key, LIMIT_NAME_BYTES))
		return FAIL(p, node, "start with a letter; use letters without accents, digits and _ . - (at most 200)",
			    "'%.60s' is not a name for a parameter", node->key);
	for (size_t i = 0; i < index; i++)
		if (parse_same_variable(p->space->params[i].name, node->key))
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
static void parse_make_order(struct parse *p)
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
		if (parse_check_name(p, node, i) < 0)
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
	parse_make_order(p);
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
