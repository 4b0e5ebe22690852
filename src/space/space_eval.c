/* Does a constraint hold? Arithmetic is that of doubles; a comparison with a NaN does not hold. */
#include "space/space_term.h"

#include <math.h>

static struct space_value eval_number(double value)
{
	return (struct space_value){.kind = SPACE_VALUE_REAL, .real = value};
}

static struct space_value eval_truth(bool value)
{
	return (struct space_value){.kind = SPACE_VALUE_BOOL, .boolean = value};
}

static bool eval_compare_holds(enum term_compare how, const struct space_value *a, const struct space_value *b)
{
	bool numbers = (a->kind == SPACE_VALUE_INT || a->kind == SPACE_VALUE_REAL) &&
		(b->kind == SPACE_VALUE_INT || b->kind == SPACE_VALUE_REAL);
	switch (how) {
	case CMP_LT: return numbers && a->real < b->real;
	case CMP_LE: return numbers && a->real <= b->real;
	case CMP_GT: return numbers && a->real > b->real;
	case CMP_GE: return numbers && a->real >= b->real;
	case CMP_EQ: return numbers ? a->real == b->real : space_value_equal(a, b);
	case CMP_NE: return numbers ? a->real != b->real : !space_value_equal(a, b);
	}
	return false;
}

static struct space_value eval_term(const struct space_term *t, const struct space_value *values);

static double eval_number_of(const struct space_term *term, const struct space_value *values)
{
	struct space_value v = eval_term(term, values);
	return v.kind == SPACE_VALUE_INT || v.kind == SPACE_VALUE_REAL ? v.real : NAN;
}

static bool eval_truth_of(const struct space_term *term, const struct space_value *values)
{
	struct space_value v = eval_term(term, values);
	return v.kind == SPACE_VALUE_BOOL && v.boolean;
}

static double eval_arithmetic(enum term_op op, double a, double b)
{
	switch (op) {
	case OP_ADD: return a + b;
	case OP_SUB: return a - b;
	case OP_MUL: return a * b;
	case OP_DIV: return a / b;
	case OP_MOD: /* the sign of the divisor, as in Python */ return a - b * floor(a / b);
	default: return pow(a, b);
	}
}

static struct space_value eval_extreme(const struct space_term *t, const struct space_value *values)
{
	double most = eval_number_of(t->args[0], values);
	for (size_t i = 1; i < t->count; i++) {
		double next = eval_number_of(t->args[i], values);
		if (isnan(next) || (t->op == OP_MIN ? next < most : next > most))
			most = next;
	}
	return eval_number(most);
}

static struct space_value eval_chain(const struct space_term *t, const struct space_value *values)
{
	struct space_value left = eval_term(t->args[0], values);
	for (size_t i = 1; i < t->count; i++) {
		struct space_value right = eval_term(t->args[i], values);
		if (!eval_compare_holds(t->compares[i - 1], &left, &right))
			return eval_truth(false);
		left = right;
	}
	return eval_truth(true);
}

static struct space_value eval_term(const struct space_term *t, const struct space_value *values)
{
	switch (t->op) {
	case OP_NUMBER: return eval_number(t->number);
	case OP_TEXT: return (struct space_value){.kind = SPACE_VALUE_TEXT, .text = t->text};
	case OP_BOOL: return eval_truth(t->boolean);
	case OP_PARAM: return values[t->param];
	case OP_NEG: return eval_number(-eval_number_of(t->args[0], values));
	case OP_NOT: return eval_truth(!eval_truth_of(t->args[0], values));
	case OP_AND:
	case OP_OR:
		for (size_t i = 0; i < t->count; i++)
			if (eval_truth_of(t->args[i], values) == (t->op == OP_OR))
				return eval_truth(t->op == OP_OR);
		return eval_truth(t->op == OP_AND);
	case OP_CHAIN: return eval_chain(t, values);
	case OP_MIN:
	case OP_MAX: return eval_extreme(t, values);
	case OP_ABS: return eval_number(fabs(eval_number_of(t->args[0], values)));
	case OP_LOG: return eval_number(log(eval_number_of(t->args[0], values)));
	case OP_SQRT: return eval_number(sqrt(eval_number_of(t->args[0], values)));
	default:
		return eval_number(
			eval_arithmetic(t->op, eval_number_of(t->args[0], values), eval_number_of(t->args[1], values)));
	}
}

bool space_expr_holds(const struct space_expr *expr, const struct space_value *values)
{
	for (size_t i = 0; i < expr->use_count; i++)
		if (values[expr->uses[i]].kind == SPACE_VALUE_NONE)
			return true;
	return eval_truth_of(expr->root, values);
}
