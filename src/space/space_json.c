/* Values and parameters as JSON, as text for scripts, and back from a document. */
#include "space/space_internal.h"

#include "base/limits.h"
#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#define SPACE_NAMED_CHOICES 12 /* in an error: more are too long to read */

void space_write_value(const struct space_value *value, struct json *out)
{
	switch (value->kind) {
	case SPACE_VALUE_NONE: json_put_null(out); break;
	case SPACE_VALUE_BOOL: json_put_bool(out, value->boolean); break;
	case SPACE_VALUE_INT: json_put_int(out, value->integer); break;
	case SPACE_VALUE_REAL: json_put_float(out, value->real); break;
	case SPACE_VALUE_TEXT: json_put_string(out, value->text); break;
	}
}

void space_format_value(const struct space_value *value, struct buf *out)
{
	char text[NUM_REAL_CHARS];
	switch (value->kind) {
	case SPACE_VALUE_NONE: break;
	case SPACE_VALUE_BOOL: buf_add_text(out, value->boolean ? "true" : "false"); break;
	case SPACE_VALUE_INT: buf_addf(out, "%" PRId64, value->integer); break;
	case SPACE_VALUE_REAL:
		num_format_real(value->real, text);
		buf_add_text(out, text);
		break;
	case SPACE_VALUE_TEXT: buf_add_text(out, value->text); break;
	}
}

void space_write_values(const struct space *space, const struct space_value *values, struct json *out)
{
	json_map(out);
	for (size_t i = 0; i < space->count; i++) {
		if (values[i].kind == SPACE_VALUE_NONE)
			continue;
		json_key(out, space->params[i].name);
		space_write_value(&values[i], out);
	}
	json_end(out);
}

/* A number within rounding of one of the values of a finite range, or within a continuous one. */
static int space_match_number(const struct space_param *param, double real, struct space_value *ret)
{
	double slack = 1e-9 * (fabs(param->min) > fabs(param->max) ? fabs(param->min) : fabs(param->max));
	if (!isfinite(real) || real < param->min - slack || real > param->max + slack)
		return -ERANGE;
	if (!param->cardinality) {
		real = real < param->min ? param->min : real > param->max ? param->max : real;
		*ret = (struct space_value){.kind = SPACE_VALUE_REAL, .real = real};
		return 0;
	}
	struct space_value near = {.kind = SPACE_VALUE_REAL, .real = real};
	if (param->points) {
		uint64_t best = 0;
		for (size_t k = 1; k < param->choice_count; k++)
			if (fabs(param->choices[k].real - real) < fabs(param->choices[best].real - real))
				best = k;
		near = param->choices[best];
	} else {
		near = space_value_at(param, space_index_of(param, &near));
	}
	double apart = fabs(near.real - real), size = fabs(near.real);
	if (apart > 1e-9 * (param->step > 0 ? fmax(param->step, size) : size))
		return -ERANGE;
	*ret = near;
	return 0;
}

int space_match(const struct space_param *param, const struct node *scalar, struct space_value *ret)
{
	struct space_value value = {0};
	if (param->kind == SPACE_REAL || param->kind == SPACE_INT)
		return node_is_number(scalar) ? space_match_number(param, scalar->real, ret) : -EINVAL;
	switch (scalar->type) {
	case NODE_BOOL: value = (struct space_value){.kind = SPACE_VALUE_BOOL, .boolean = scalar->boolean}; break;
	case NODE_INT:
		value = (struct space_value){.kind = SPACE_VALUE_INT, .integer = scalar->integer, .real = scalar->real};
		break;
	case NODE_REAL: value = (struct space_value){.kind = SPACE_VALUE_REAL, .real = scalar->real}; break;
	case NODE_STRING: value = (struct space_value){.kind = SPACE_VALUE_TEXT, .text = scalar->string}; break;
	default: return -EINVAL;
	}
	for (size_t i = 0; i < param->choice_count; i++) {
		if (space_value_equal(&param->choices[i], &value)) {
			*ret = param->choices[i];
			return 0;
		}
	}
	return -ERANGE;
}

/* "one of: 0.1, 0.01", "a whole number from 1 to 9 in steps of 2": what a value must be. The caller frees it. */
static char *space_value_remedy(const struct space_param *param)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	if (param->choice_count) {
		buf_add_text(&text, "one of: ");
		for (size_t i = 0; i < param->choice_count && i < SPACE_NAMED_CHOICES; i++) {
			buf_add_text(&text, i ? ", " : "");
			space_format_value(&param->choices[i], &text);
		}
		buf_add_text(&text, param->choice_count > SPACE_NAMED_CHOICES ? ", ..." : "");
	} else {
		buf_addf(&text, "%s from %.6g to %.6g", param->kind == SPACE_INT ? "a whole number" : "a number",
			 param->min, param->max);
		if (param->step > (param->kind == SPACE_INT))
			buf_addf(&text, " in steps of %.6g", param->step);
	}
	char *remedy = mem_strdup(buf_text(&text));
	buf_free(&text);
	return remedy;
}

/* A value that the parameter was not declared with: of a range any number, of choices any value of their type. */
static int space_take_outside(const struct space_param *param, const struct node *node, struct space_value *ret)
{
	bool range = param->kind == SPACE_REAL || param->kind == SPACE_INT, numbers = true, booleans = true;
	for (size_t i = 0; i < param->choice_count; i++) {
		enum space_value_kind kind = param->choices[i].kind;
		numbers &= kind == SPACE_VALUE_INT || kind == SPACE_VALUE_REAL;
		booleans &= kind == SPACE_VALUE_BOOL;
	}
	if ((range || numbers) && (!node_is_number(node) || !isfinite(node->real)))
		return -EINVAL;
	if (param->kind == SPACE_INT && node->type != NODE_INT)
		return -EINVAL;
	if (!range && booleans && node->type != NODE_BOOL)
		return -EINVAL;
	switch (node->type) {
	case NODE_BOOL: *ret = (struct space_value){.kind = SPACE_VALUE_BOOL, .boolean = node->boolean}; return 0;
	case NODE_INT:
		*ret = (struct space_value){.kind = SPACE_VALUE_INT, .integer = node->integer, .real = node->real};
		return 0;
	case NODE_REAL: *ret = (struct space_value){.kind = SPACE_VALUE_REAL, .real = node->real}; return 0;
	case NODE_STRING: *ret = (struct space_value){.kind = SPACE_VALUE_TEXT, .text = node->string}; return 0;
	default: return -EINVAL;
	}
}

/* outside: set where the value is none of the declared ones; NULL: such a value is refused. */
static int space_read_value(const struct space_param *param, const struct node *node, struct space_value *ret,
			    bool *outside, struct problems *problems)
{
	int rc = space_match(param, node, ret);
	if (rc == -ERANGE && outside && (rc = space_take_outside(param, node, ret)) == 0)
		*outside = true;
	if (rc == 0)
		return 0;
	char *remedy = space_value_remedy(param);
	bool scalar = node->type != NODE_LIST && node->type != NODE_MAP && node->type != NODE_NULL;
	if (rc == -EINVAL && (!scalar || node->type == NODE_STRING))
		rc = problem_add(problems, node, remedy, "'%s' cannot be %s", param->name, node_type_name(node));
	else
		rc = problem_add(problems, node, remedy, "'%s' cannot be %.60s", param->name,
				 node->type == NODE_BOOL ? (node->boolean ? "true" : "false") : node->string);
	free(remedy);
	return rc;
}

static int space_read_unknown(const struct space *space, const struct node *map, struct problems *problems)
{
	int rc = 0;
	for (size_t i = 0; i < map->count; i++) {
		if (space_find(space, map->items[i]->key) >= 0)
			continue;
		const char *names[LIMIT_PARAMETERS + 1];
		for (size_t k = 0; k < space->count; k++)
			names[k] = space->params[k].name;
		names[space->count] = NULL;
		char *remedy = space_unknown_remedy(map->items[i]->key, names);
		rc = problem_add(problems, map->items[i], remedy, "there is no parameter '%.60s'", map->items[i]->key);
		free(remedy);
	}
	return rc;
}

static int space_read_map(const struct space *space, const struct node *map, struct space_value *ret_values,
			  bool *outside, struct problems *problems)
{
	if (!map || map->type != NODE_MAP)
		return problem_add(problems, map, "write {name: value}", "a configuration is a map, not %s",
				   node_type_name(map));
	struct space_value *values = mem_array(space->count, sizeof(*values));
	int rc = space_read_unknown(space, map, problems);
	for (size_t i = 0; i < space->count; i++) {
		size_t at = space->order[i];
		const struct space_param *param = &space->params[at];
		const struct node *node = node_get(map, param->name);
		int one = 0;
		if (!space_applies(space, at, values)) {
			if (node)
				one = problem_add(problems, node, "remove it", "'%s' does not apply with these values",
						  param->name);
		} else if (node) {
			one = space_read_value(param, node, &values[at], outside, problems);
		} else if (param->optional) {
			continue;
		} else if (param->cardinality == 1) {
			values[at] = space_value_at(param, 0);
		} else {
			one = problem_add_missing(problems, map, param->name, "give it a value");
		}
		if (one < 0)
			rc = one;
	}
	if (rc == 0 && space->count)
		memcpy(ret_values, values, space->count * sizeof(*values));
	free(values);
	return rc;
}

int space_read_values(const struct space *space, const struct node *map, struct space_value *ret_values,
		      struct problems *problems)
{
	return space_read_map(space, map, ret_values, NULL, problems);
}

int space_read_any(const struct space *space, const struct node *map, struct space_value *ret_values, bool *ret_outside,
		   struct problems *problems)
{
	bool outside = false;
	int rc = space_read_map(space, map, ret_values, &outside, problems);
	if (rc == 0)
		*ret_outside = outside;
	return rc;
}

static void space_write_when(const struct space *space, const struct space_param *param, struct json *out)
{
	json_key(out, "when");
	if (!param->condition_count) {
		json_put_null(out);
		return;
	}
	json_map(out);
	for (size_t i = 0; i < param->condition_count; i++) {
		const struct space_condition *c = &param->conditions[i];
		json_key(out, space->params[c->parent].name);
		json_list(out);
		for (size_t k = 0; k < c->count; k++)
			space_write_value(&c->values[k], out);
		json_end(out);
	}
	json_end(out);
}

static void space_write_range(const struct space_param *param, struct json *out)
{
	bool integer = param->kind == SPACE_INT;
	if (integer) {
		json_key_int(out, "min", (int64_t)param->min);
		json_key_int(out, "max", (int64_t)param->max);
	} else {
		json_key_real(out, "min", param->min);
		json_key_real(out, "max", param->max);
	}
	json_key_string(out, "scale", param->log ? "log" : "linear");
	json_key(out, "step");
	if (param->step <= 0)
		json_put_null(out);
	else if (integer)
		json_put_int(out, (int64_t)param->step);
	else
		json_put_real(out, param->step);
	json_key(out, "points");
	if (param->points)
		json_put_int(out, (int64_t)param->points);
	else
		json_put_null(out);
	json_key_bool(out, "integer", integer);
}

static void space_write_param(const struct space *space, const struct space_param *param, struct json *out)
{
	static const char *const kinds[] = {
		[SPACE_CONSTANT] = "constant",
		[SPACE_CHOICE] = "choice",
		[SPACE_REAL] = "range",
		[SPACE_INT] = "range",
	};
	json_map(out);
	json_key_string(out, "name", param->name);
	json_key_string(out, "kind", kinds[param->kind]);
	json_key(out, "values");
	if (param->choice_count) {
		json_list(out);
		for (size_t i = 0; i < param->choice_count; i++)
			space_write_value(&param->choices[i], out);
		json_end(out);
	} else {
		json_put_null(out);
	}
	if (param->kind == SPACE_REAL || param->kind == SPACE_INT)
		space_write_range(param, out);
	else
		json_key_bool(out, "categorical", !param->ordered);
	json_key(out, "default");
	space_write_value(param->has_default ? &param->fallback : &(struct space_value){0}, out);
	space_write_when(space, param, out);
	if (param->optional)
		json_key_bool(out, "optional", true);
	json_end(out);
}

void space_write_json(const struct space *space, struct json *out)
{
	json_list(out);
	for (size_t i = 0; i < space->count; i++)
		space_write_param(space, &space->params[i], out);
	json_end(out);
}
