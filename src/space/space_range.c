/* Reads a range, {min: 1, max: 10} with its step, points, scale and type, into a parameter. */
#include "space/space_parse.h"

#include "base/limits.h"
#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

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

char *space_word_remedy(const char *word, const char *const *words, const struct space_hint *hints)
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
	char *remedy = space_word_remedy(word ? word : "", words[0][0] ? words : words + 1, hints);
	int rc = FAIL(p, node, remedy, "'%s' cannot be %s", key, word ? word : node_type_name(node));
	free(remedy);
	return rc;
}

static bool range_is_whole(double x)
{
	return x == floor(x) && fabs(x) <= SPACE_INT_MOST;
}

static double range_point_at(const struct space_param *param, uint64_t k)
{
	double t = (double)k / (double)(param->points - 1);
	double x = param->log ? exp(log(param->min) + t * (log(param->max) - log(param->min)))
			      : param->min + t * (param->max - param->min);
	x = num_round(x, 12); /* 0.1, not 0.10000000000000002 */
	return k == 0 ? param->min : k == param->points - 1 ? param->max : x;
}

static int range_make_points(struct parse *p, struct space_param *param, const struct node *map, int type)
{
	bool whole = true;
	for (uint64_t k = 0; k < param->points; k++)
		whole = whole && range_is_whole(range_point_at(param, k));
	param->kind = type == 1 || (type == 0 && whole) ? SPACE_INT : SPACE_REAL;
	param->choices = mem_resize(NULL, param->points, sizeof(*param->choices));
	for (uint64_t k = 0; k < param->points; k++) {
		double x = range_point_at(param, k);
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

static int range_points(struct parse *p, struct space_param *param, const struct node *map, int type)
{
	const struct node *points = node_get(map, "points");
	if (points->type != NODE_INT || points->integer < 2 || points->integer > LIMIT_CHOICES)
		return FAIL(p, points, "give a whole number from 2 to 10000", "'points' cannot be %s",
			    points->string ? points->string : node_type_name(points));
	if (param->step > 0)
		return FAIL(p, points, "give one of the two", "a range has 'step' or 'points', not both");
	param->points = (uint64_t)points->integer;
	return range_make_points(p, param, map, type);
}

static int range_check_size(struct parse *p, const struct space_param *param, const struct node *map)
{
	if (!isfinite(param->max - param->min))
		return FAIL(p, map, "use scale: log, or a smaller range", "the range is too wide");
	if (param->kind == SPACE_INT && (fabs(param->min) > SPACE_INT_MOST || fabs(param->max) > SPACE_INT_MOST))
		return FAIL(p, map, "use type: real", "whole numbers go to 9007199254740992 at most");
	if (param->step > 0 && (param->max - param->min) / param->step > SPACE_CELLS_MOST)
		return FAIL(p, map, "use a larger step", "the range has more than 1e15 steps");
	return 0;
}

static int range_step(struct parse *p, struct space_param *param, const struct node *map)
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
static int range_decide_kind(struct parse *p, struct space_param *param, const struct node *map, int type)
{
	bool whole = node_get(map, "min")->type == NODE_INT && node_get(map, "max")->type == NODE_INT &&
		range_is_whole(param->step) && (!param->log || param->step > 0);
	param->kind = type == 1 || (type == 0 && whole) ? SPACE_INT : SPACE_REAL;
	if (param->kind == SPACE_INT &&
	    (!range_is_whole(param->min) || !range_is_whole(param->max) || !range_is_whole(param->step)))
		return FAIL(p, map, "use whole numbers, or type: real",
			    "a range of whole numbers needs whole min, max and step (at most 9007199254740992)");
	if (param->kind == SPACE_INT && param->step <= 0)
		param->step = 1;
	return range_check_size(p, param, map);
}

int space_parse_range_words(struct parse *p, const struct node *map, bool *ret_log, int *ret_type)
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

int space_parse_range(struct parse *p, struct space_param *param, const struct node *map)
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
	if (space_parse_range_words(p, map, &param->log, &type) < 0 || min <= 0 || max <= 0)
		return -EINVAL;
	if (param->min > param->max)
		return FAIL(p, map, "swap them", "min %s is above max %s", node_get(map, "min")->string,
			    node_get(map, "max")->string);
	if (param->log && param->min <= 0)
		return FAIL(p, map, "give a min above 0, or scale: linear", "a logarithmic range cannot start at %s",
			    node_get(map, "min")->string);
	if (param->min == param->max) { /* nothing varies */
		const struct node *value = node_get(map, "min");
		return space_parse_constant(p, param, value);
	}
	if (range_step(p, param, map) < 0)
		return -EINVAL;
	if (!node_get(map, "points"))
		return range_decide_kind(p, param, map, type);
	if (!isfinite(param->max - param->min) && !param->log)
		return range_check_size(p, param, map);
	return range_points(p, param, map, type);
}
