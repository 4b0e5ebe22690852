/* The space itself: how values map to the unit cube and back, what applies where, and when two
 * configurations are the same. Parsing is in space_parse.c, constraints in space_expr.c, counting
 * in space_grid.c, JSON in space_json.c. */
#include "space/space_internal.h"

#include "base/num.h"
#include "base/text.h"

#include <math.h>

void space_free(struct space *space)
{
	if (!space)
		return;
	for (size_t i = 0; i < space->count; i++) {
		struct space_param *p = &space->params[i];
		for (size_t k = 0; k < p->choice_count; k++)
			free((char *)p->choices[k].text);
		for (size_t k = 0; k < p->condition_count; k++)
			free(p->conditions[k].values);
		free(p->name);
		free(p->choices);
		free(p->ranks);
		free(p->conditions);
	}
	for (size_t i = 0; i < space->constraint_count; i++)
		space_expr_free(space->constraints[i]);
	free(space->params);
	free(space->dims);
	free(space->constraints);
	free(space->order);
	free(space);
}

long space_find(const struct space *space, const char *name)
{
	for (size_t i = 0; i < space->count; i++)
		if (strcmp(space->params[i].name, name) == 0)
			return (long)i;
	return -1;
}

uint64_t space_cardinality(const struct space_param *param)
{
	return param->cardinality;
}

static double value_number(const struct space_value *value)
{
	return value->kind == SPACE_VALUE_INT || value->kind == SPACE_VALUE_REAL ? value->real : NAN;
}

/* Choices by ascending number: insertion sort keeps equal ones in order and lists are short, but a
 * list may hold thousands, so this is a merge from the bottom up. */
static size_t *space_rank_choices(const struct space_value *choices, size_t count)
{
	size_t *from = mem_resize(NULL, count, sizeof(*from));
	size_t *to = mem_resize(NULL, count, sizeof(*to));
	for (size_t i = 0; i < count; i++)
		from[i] = i;
	for (size_t width = 1; width < count; width *= 2) {
		for (size_t start = 0; start < count; start += 2 * width) {
			size_t middle = start + width < count ? start + width : count;
			size_t end = start + 2 * width < count ? start + 2 * width : count;
			size_t a = start, b = middle;
			for (size_t k = start; k < end; k++) {
				bool left = a < middle && (b >= end || choices[from[a]].real <= choices[from[b]].real);
				to[k] = left ? from[a++] : from[b++];
			}
		}
		size_t *swap = from;
		from = to;
		to = swap;
	}
	free(to);
	return from;
}

void space_param_finish(struct space_param *p)
{
	if (p->kind == SPACE_CONSTANT || p->kind == SPACE_CHOICE || p->points) {
		p->cardinality = p->choice_count;
		p->ordered = !p->categorical;
		for (size_t i = 0; i < p->choice_count; i++)
			p->ordered = p->ordered && !isnan(value_number(&p->choices[i]));
		if (p->kind == SPACE_CHOICE && p->ordered)
			p->ranks = space_rank_choices(p->choices, p->choice_count);
		return;
	}
	p->ordered = true;
	if (p->step > 0)
		p->cardinality = (uint64_t)floor((p->max - p->min) / p->step * (1 + 1e-12) + 1e-9) + 1;
	double low = p->min, high = p->max;
	if (p->step > 0 && p->log) {
		/* Half a step on either side, so that the outer cells are as wide as the inner ones. */
		low = p->min - p->step / 2 > 0 ? p->min - p->step / 2 : p->min / 2;
		high = p->min + (double)(p->cardinality - 1) * p->step + p->step / 2;
	}
	p->low = p->log ? log(low) : low;
	p->span = (p->log ? log(high) : high) - p->low;
}

/* 0.1 + 2 * 0.1 should read 0.3: people look at these values. */
static double space_tidy(double value)
{
	return num_round(value, 12);
}

static struct space_value space_number_value(const struct space_param *p, double real)
{
	if (p->kind == SPACE_INT)
		return (struct space_value){.kind = SPACE_VALUE_INT, .integer = (int64_t)real, .real = real};
	return (struct space_value){.kind = SPACE_VALUE_REAL, .real = real};
}

static double space_clamp(double value, double min, double max)
{
	return value < min ? min : value > max ? max : value;
}

struct space_value space_value_at(const struct space_param *p, uint64_t k)
{
	if (p->choice_count)
		return p->choices[k];
	double real = p->min + (double)k * p->step;
	if (p->kind == SPACE_REAL)
		real = space_clamp(space_tidy(real), p->min, p->max);
	return space_number_value(p, real);
}

uint64_t space_index_of(const struct space_param *p, const struct space_value *value)
{
	if (p->choice_count) {
		for (size_t k = 0; k < p->choice_count; k++)
			if (space_value_equal(&p->choices[k], value))
				return k;
		return 0;
	}
	double k = floor((value->real - p->min) / p->step + 0.5);
	return (uint64_t)space_clamp(k, 0, (double)(p->cardinality - 1));
}

static uint64_t space_cell_of(double unit, uint64_t cells)
{
	uint64_t k = (uint64_t)(unit * (double)cells);
	return k < cells ? k : cells - 1;
}

static struct space_value value_of_unit(const struct space_param *p, double unit)
{
	unit = unit > 0 ? (unit < 1 ? unit : 1) : 0; /* NaN becomes 0 */
	if (p->choice_count) {
		uint64_t k = space_cell_of(unit, p->choice_count);
		return p->choices[p->ranks ? p->ranks[k] : k];
	}
	if (p->step > 0 && !p->log)
		return space_value_at(p, space_cell_of(unit, p->cardinality));
	double real = p->low + unit * p->span;
	if (p->log)
		real = exp(real);
	if (p->step > 0) {
		double k = floor((real - p->min) / p->step + 0.5);
		return space_value_at(p, (uint64_t)space_clamp(k, 0, (double)(p->cardinality - 1)));
	}
	return space_number_value(p, space_clamp(real, p->min, p->max));
}

static double space_unit_of_value(const struct space_param *p, const struct space_value *value)
{
	if (value->kind == SPACE_VALUE_NONE)
		return 0.5;
	if (p->choice_count || (p->step > 0 && !p->log)) {
		uint64_t k = space_index_of(p, value);
		for (size_t r = 0; p->ranks && r < p->choice_count; r++) {
			if (p->ranks[r] == k) {
				k = r;
				break;
			}
		}
		return ((double)k + 0.5) / (double)p->cardinality;
	}
	if (p->step > 0) {
		double low = value->real - p->step / 2, high = value->real + p->step / 2;
		double from = low > 0 && log(low) > p->low ? log(low) : p->low;
		return space_clamp(((from + log(high)) / 2 - p->low) / p->span, 0, 1);
	}
	return space_clamp(((p->log ? log(value->real) : value->real) - p->low) / p->span, 0, 1);
}

bool space_value_equal(const struct space_value *a, const struct space_value *b)
{
	if (a->kind != b->kind) {
		double x = value_number(a), y = value_number(b);
		return x == y; /* 1 and 1.0; false where either is no number */
	}
	switch (a->kind) {
	case SPACE_VALUE_NONE: return true;
	case SPACE_VALUE_BOOL: return a->boolean == b->boolean;
	case SPACE_VALUE_INT: return a->integer == b->integer;
	case SPACE_VALUE_REAL: return a->real == b->real;
	case SPACE_VALUE_TEXT: return a->text == b->text || strcmp(a->text, b->text) == 0;
	}
	return false;
}

bool space_applies(const struct space *space, size_t param, const struct space_value *values)
{
	const struct space_param *p = &space->params[param];
	for (size_t i = 0; i < p->condition_count; i++) {
		const struct space_condition *c = &p->conditions[i];
		bool met = false;
		for (size_t k = 0; k < c->count && !met; k++)
			met = space_value_equal(&values[c->parent], &c->values[k]);
		if (!met)
			return false;
	}
	return true;
}

void space_decode(const struct space *space, const double *unit, struct space_value *values)
{
	for (size_t i = 0; i < space->count; i++)
		if (space->params[i].cardinality == 1)
			values[i] = space_value_at(&space->params[i], 0);
	for (size_t d = 0; d < space->dim_count; d++)
		values[space->dims[d]] = value_of_unit(&space->params[space->dims[d]], unit[d]);
	for (size_t i = 0; i < space->count; i++) {
		size_t at = space->order[i];
		if (space->params[at].condition_count && !space_applies(space, at, values))
			values[at] = (struct space_value){.kind = SPACE_VALUE_NONE};
	}
}

void space_encode(const struct space *space, const struct space_value *values, double *unit)
{
	for (size_t d = 0; d < space->dim_count; d++)
		unit[d] = space_unit_of_value(&space->params[space->dims[d]], &values[space->dims[d]]);
}

bool space_allows(const struct space *space, const struct space_value *values)
{
	for (size_t i = 0; i < space->constraint_count; i++)
		if (!space_expr_holds(space->constraints[i], values))
			return false;
	return true;
}

bool space_equal(const struct space *space, const struct space_value *a, const struct space_value *b)
{
	for (size_t i = 0; i < space->count; i++)
		if (!space_value_equal(&a[i], &b[i]))
			return false;
	return true;
}

static uint64_t space_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	hash = (hash ^ (hash >> 29)) * 0xbf58476d1ce4e5b9u;
	return hash ^ (hash >> 32);
}

uint64_t space_hash(const struct space *space, const struct space_value *values)
{
	uint64_t hash = 0x243f6a8885a308d3u;
	for (size_t i = 0; i < space->count; i++) {
		const struct space_value *v = &values[i];
		uint64_t word = 0;
		double real = v->real + 0.0; /* -0.0 equals 0.0 */
		switch (v->kind) {
		case SPACE_VALUE_NONE: word = 0x6e6f6e65; break;
		case SPACE_VALUE_BOOL: word = v->boolean ? 0x74727565 : 0x66616c73; break;
		case SPACE_VALUE_INT: /* by value, as space_value_equal compares 1 with 1.0 */
		case SPACE_VALUE_REAL: memcpy(&word, &real, sizeof(word)); break;
		case SPACE_VALUE_TEXT:
			for (const char *c = v->text; *c; c++)
				word = space_mix(word, (unsigned char)*c);
			break;
		}
		hash = space_mix(hash, word);
	}
	return hash;
}

char *space_unknown_remedy(const char *word, const char *const *words)
{
	unsigned nearest = 4;
	const char *found = NULL;
	for (size_t i = 0; words[i]; i++) {
		unsigned far = text_distance(word, words[i]);
		if (far < nearest && far * 2 <= strlen(words[i])) {
			nearest = far;
			found = words[i];
		}
	}
	if (found)
		return mem_printf("did you mean '%s'?", found);
	if (!words[0]) /* only of parameters there may be none */
		return mem_strdup("add it to the parameters");
	struct buf out = buf_make(512);
	buf_add_text(&out, "one of:");
	for (size_t i = 0; words[i]; i++)
		buf_addf(&out, "%s %s", i ? "," : "", words[i]);
	return buf_take(&out);
}
