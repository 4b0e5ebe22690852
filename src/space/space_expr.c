/* Constraints: a small expression language over the parameters, parsed once to a tree and checked
 * for types, so that what is left at run time (space_eval.c) cannot fail. */
#include "space/space_term.h"

#include "base/limits.h"
#include "base/num.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#define EXPR_DEPTH_MOST 200 /* honest constraints nest to about 5 */

static const struct function {
	const char *name;
	enum term_op op;
	size_t least, most;
} functions[] = {
	{"min", OP_MIN, 1, 64}, {"max", OP_MAX, 1, 64},  {"abs", OP_ABS, 1, 1},
	{"log", OP_LOG, 1, 1},  {"sqrt", OP_SQRT, 1, 1},
};

struct parser {
	const struct space *space;
	const char *text;
	size_t at;
	unsigned nesting;
	char error[300], remedy[200];
	size_t error_column;
};

static void expr_term_free(struct space_term *term)
{
	if (!term)
		return;
	for (size_t i = 0; i < term->count; i++)
		expr_term_free(term->args[i]);
	free(term->args);
	free(term->compares);
	free(term->text);
	free(term);
}

/* Keeps the first error; returns NULL for the caller to return. */
static struct space_term *expr_fail(struct parser *p, size_t column, const char *remedy, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
static struct space_term *expr_fail(struct parser *p, size_t column, const char *remedy, const char *fmt, ...)
{
	if (p->error[0])
		return NULL;
	va_list args;
	va_start(args, fmt);
	vsnprintf(p->error, sizeof(p->error), fmt, args);
	va_end(args);
	snprintf(p->remedy, sizeof(p->remedy), "%s", remedy);
	p->error_column = column + 1;
	return NULL;
}

static struct space_term *expr_term_new(enum term_op op, enum term_type type, size_t column)
{
	struct space_term *term = mem_alloc(sizeof(*term));
	term->op = op;
	term->type = type;
	term->column = column;
	term->depth = 1;
	return term;
}

static void expr_term_add(struct space_term *to, struct space_term *give)
{
	to->args = mem_resize(to->args, to->count + 1, sizeof(struct space_term *));
	to->args[to->count++] = give;
	if (give->depth >= to->depth)
		to->depth = give->depth + 1;
}

static struct space_term *expr_check_depth(struct parser *p, struct space_term *term)
{
	if (term->depth <= EXPR_DEPTH_MOST)
		return term;
	expr_fail(p, term->column, "split it into several constraints", "the expression is nested too deeply");
	expr_term_free(term);
	return NULL;
}

static const char *expr_type_name(enum term_type type)
{
	static const char *const names[] = {"a number", "a text", "true or false", "a value"};
	return names[type];
}

/* Is the term of this type (or might it be)? Otherwise says so. */
static bool expr_want(struct parser *p, const struct space_term *term, enum term_type type, const char *by)
{
	if (term->type == type || term->type == TYPE_ANY)
		return true;
	expr_fail(p, term->column, type == TYPE_BOOL ? "compare it with something" : "use a number here",
		  "%s needs %s, but this is %s", by, expr_type_name(type), expr_type_name(term->type));
	return false;
}

static void expr_skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
}

static bool expr_is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Takes a symbol such as "<=" or a word such as "and". */
static bool expr_take(struct parser *p, const char *token)
{
	expr_skip_blanks(p);
	size_t len = strlen(token);
	if (strncmp(p->text + p->at, token, len) != 0)
		return false;
	if (isalpha((unsigned char)token[0]) && expr_is_name_char(p->text[p->at + len]))
		return false;
	p->at += len;
	return true;
}

static struct space_term *expr_parse_or(struct parser *p);

static struct space_term *expr_parse_number(struct parser *p)
{
	size_t start = p->at, end = start;
	const char *s = p->text;
	double number;
	while (isdigit((unsigned char)s[end]) || s[end] == '.')
		end++;
	if (s[end] == 'e' || s[end] == 'E') {
		end++;
		if (s[end] == '+' || s[end] == '-')
			end++;
		while (isdigit((unsigned char)s[end]))
			end++;
	}
	if (num_parse_real(s + start, end - start, &number) < 0 || !isfinite(number) || expr_is_name_char(s[end]))
		return expr_fail(p, start, "write numbers as 16, 0.5 or 1e-3", "this is not a number");
	p->at = end;
	struct space_term *term = expr_term_new(OP_NUMBER, TYPE_NUMBER, start);
	term->number = number;
	return term;
}

static struct space_term *expr_parse_text(struct parser *p)
{
	size_t start = p->at;
	char quote = p->text[p->at++];
	const char *end = strchr(p->text + p->at, quote);
	if (!end)
		return expr_fail(p, start, "close it with the same quote", "a quote is not closed");
	struct space_term *term = expr_term_new(OP_TEXT, TYPE_TEXT, start);
	term->text = mem_copy(p->text + p->at, (size_t)(end - p->text) - p->at);
	p->at = (size_t)(end - p->text) + 1;
	return term;
}

static enum term_type expr_param_type(const struct space_param *param)
{
	if (!param->choice_count)
		return TYPE_NUMBER;
	enum term_type type = TYPE_ANY;
	for (size_t i = 0; i < param->choice_count; i++) {
		enum space_value_kind kind = param->choices[i].kind;
		enum term_type one = kind == SPACE_VALUE_BOOL ? TYPE_BOOL
			: kind == SPACE_VALUE_TEXT            ? TYPE_TEXT
							      : TYPE_NUMBER;
		if (i && one != type)
			return TYPE_ANY;
		type = one;
	}
	return type;
}

static struct space_term *expr_parse_call(struct parser *p, const struct function *f, size_t start)
{
	struct space_term *term = expr_term_new(f->op, TYPE_NUMBER, start);
	do {
		struct space_term *arg = expr_parse_or(p);
		if (!arg)
			goto failed;
		expr_term_add(term, arg);
		if (!expr_want(p, arg, TYPE_NUMBER, f->name))
			goto failed;
	} while (expr_take(p, ","));
	if (!expr_take(p, ")")) {
		expr_fail(p, p->at, "close the parenthesis", "')' is missing after the values of %s", f->name);
		goto failed;
	}
	if (term->count < f->least || term->count > f->most) {
		expr_fail(p, start, "see the list of functions in the manual", "%s takes %zu value%s, not %zu", f->name,
			  f->most, f->most > 1 ? "s at most" : "", term->count);
		goto failed;
	}
	return expr_check_depth(p, term);
failed:
	expr_term_free(term);
	return NULL;
}

/* A parameter's name may hold dashes: the longest one that is known counts. */
static long expr_longest_param(const struct parser *p, size_t start, size_t *ret_end)
{
	long found = -1;
	for (size_t i = 0; i < p->space->count; i++) {
		const char *name = p->space->params[i].name;
		size_t len = strlen(name);
		if (strncmp(p->text + start, name, len) == 0 && !expr_is_name_char(p->text[start + len]) &&
		    (found < 0 || start + len > *ret_end)) {
			found = (long)i;
			*ret_end = start + len;
		}
	}
	return found;
}

static struct space_term *expr_parse_name(struct parser *p)
{
	size_t start = p->at, end = start;
	while (expr_is_name_char(p->text[end]))
		end++;
	size_t len = end - start, name_end = end;
	const char *word = p->text + start;
	long param = expr_longest_param(p, start, &name_end);

	if (param >= 0) {
		p->at = name_end;
		struct space_term *term = expr_term_new(OP_PARAM, expr_param_type(&p->space->params[param]), start);
		term->param = (size_t)param;
		return term;
	}
	p->at = end;
	if ((len == 4 && strncasecmp(word, "true", 4) == 0) || (len == 5 && strncasecmp(word, "false", 5) == 0)) {
		struct space_term *term = expr_term_new(OP_BOOL, TYPE_BOOL, start);
		term->boolean = len == 4;
		return term;
	}
	for (size_t i = 0; i < COUNT_OF(functions); i++)
		if (strlen(functions[i].name) == len && strncmp(functions[i].name, word, len) == 0 && expr_take(p, "("))
			return expr_parse_call(p, &functions[i], start);

	const char *names[LIMIT_PARAMETERS + COUNT_OF(functions) + 1];
	size_t n = 0;
	for (size_t i = 0; i < p->space->count && i < LIMIT_PARAMETERS; i++)
		names[n++] = p->space->params[i].name;
	for (size_t i = 0; i < COUNT_OF(functions); i++)
		names[n++] = functions[i].name;
	names[n] = NULL;
	char *shown = mem_copy(word, len < 60 ? len : 60);
	char *remedy = space_unknown_remedy(shown, names);
	expr_fail(p, start, remedy, "there is no parameter '%s'", shown);
	free(remedy);
	free(shown);
	return NULL;
}

static struct space_term *expr_parse_atom(struct parser *p)
{
	expr_skip_blanks(p);
	char c = p->text[p->at];
	if (isdigit((unsigned char)c) || c == '.')
		return expr_parse_number(p);
	if (c == '\'' || c == '"')
		return expr_parse_text(p);
	if (isalpha((unsigned char)c) || c == '_')
		return expr_parse_name(p);
	if (c != '(') {
		if (!c)
			return expr_fail(p, p->at, "finish the expression", "the expression ends too early");
		return expr_fail(p, p->at, "expected a number, a quoted text, a parameter or '('",
				 "'%c' does not belong here", c);
	}
	p->at++;
	struct space_term *inner = expr_parse_or(p);
	if (inner && !expr_take(p, ")")) {
		expr_fail(p, p->at, "close the parenthesis", "')' is missing");
		expr_term_free(inner);
		return NULL;
	}
	return inner;
}

/* One operator over terms of one type, all given away. */
static struct space_term *expr_combine(struct parser *p, enum term_op op, enum term_type operand, enum term_type result,
				       const char *by, size_t column, struct space_term *a, struct space_term *b)
{
	struct space_term *term = expr_term_new(op, result, column);
	if (a)
		expr_term_add(term, a);
	if (b)
		expr_term_add(term, b);
	if ((!a && !b) || (a && !expr_want(p, a, operand, by)) || (b && !expr_want(p, b, operand, by))) {
		expr_term_free(term);
		return NULL;
	}
	return expr_check_depth(p, term);
}

static struct space_term *expr_parse_unary(struct parser *p)
{
	expr_skip_blanks(p);
	size_t column = p->at;
	struct space_term *inner;
	if (++p->nesting > EXPR_DEPTH_MOST)
		return expr_fail(p, column, "split it into several constraints", "the expression is nested too deeply");
	if (expr_take(p, "-")) {
		inner = expr_parse_unary(p);
		if (inner)
			inner = expr_combine(p, OP_NEG, TYPE_NUMBER, TYPE_NUMBER, "-", column, inner, NULL);
	} else if (expr_take(p, "+")) {
		inner = expr_parse_unary(p);
	} else {
		inner = expr_parse_atom(p);
		column = p->at;
		if (inner && expr_take(p, "**")) {
			struct space_term *power = expr_parse_unary(p);
			if (power) {
				inner = expr_combine(p, OP_POW, TYPE_NUMBER, TYPE_NUMBER, "**", column, inner, power);
			} else {
				expr_term_free(inner);
				inner = NULL;
			}
		}
	}
	p->nesting--;
	return inner;
}

static struct space_term *expr_parse_binary(struct parser *p, bool product)
{
	static const struct {
		const char *token;
		enum term_op op;
		bool product;
	} table[] = {
		{"+", OP_ADD, false}, {"-", OP_SUB, false}, {"*", OP_MUL, true},
		{"/", OP_DIV, true},  {"%", OP_MOD, true},
	};
	struct space_term *left = product ? expr_parse_unary(p) : expr_parse_binary(p, true);
	while (left) {
		size_t i = 0;
		expr_skip_blanks(p);
		size_t column = p->at;
		while (i < COUNT_OF(table) && (table[i].product != product || !expr_take(p, table[i].token)))
			i++;
		if (i == COUNT_OF(table))
			break;
		struct space_term *right = product ? expr_parse_unary(p) : expr_parse_binary(p, true);
		if (!right) {
			expr_term_free(left);
			return NULL;
		}
		left = expr_combine(p, table[i].op, TYPE_NUMBER, TYPE_NUMBER, table[i].token, column, left, right);
	}
	return left;
}

static bool expr_take_compare(struct parser *p, enum term_compare *ret)
{
	static const char *const tokens[] = {
		[CMP_LE] = "<=", [CMP_GE] = ">=", [CMP_EQ] = "==", [CMP_NE] = "!=", [CMP_LT] = "<", [CMP_GT] = ">"};
	static const enum term_compare longest_first[] = {CMP_LE, CMP_GE, CMP_EQ, CMP_NE, CMP_LT, CMP_GT};
	for (size_t i = 0; i < COUNT_OF(longest_first); i++) {
		if (expr_take(p, tokens[longest_first[i]])) {
			*ret = longest_first[i];
			return true;
		}
	}
	if (p->text[p->at] == '=')
		expr_fail(p, p->at, "write == to compare", "'=' is no comparison");
	return false;
}

static bool expr_comparable(struct parser *p, enum term_compare how, const struct space_term *a,
			    const struct space_term *b)
{
	if (a->type == TYPE_ANY || b->type == TYPE_ANY)
		return true;
	if (a->type != b->type) {
		expr_fail(p, b->column, "compare a number with a number, or a text with a text",
			  "%s is compared with %s", expr_type_name(a->type), expr_type_name(b->type));
		return false;
	}
	if (a->type != TYPE_NUMBER && how < CMP_EQ) {
		expr_fail(p, a->column, "use == or !=", "only numbers can be larger or smaller");
		return false;
	}
	return true;
}

static struct space_term *expr_parse_comparison(struct parser *p)
{
	struct space_term *first = expr_parse_binary(p, false), *chain = NULL;
	enum term_compare how;
	while (first && expr_take_compare(p, &how)) {
		if (!chain) {
			chain = expr_term_new(OP_CHAIN, TYPE_BOOL, first->column);
			expr_term_add(chain, first);
		}
		struct space_term *next = expr_parse_binary(p, false);
		if (!next || !expr_comparable(p, how, chain->args[chain->count - 1], next)) {
			expr_term_free(next);
			expr_term_free(chain);
			return NULL;
		}
		chain->compares = mem_resize(chain->compares, chain->count, sizeof(enum term_compare));
		chain->compares[chain->count - 1] = how;
		expr_term_add(chain, next);
	}
	return chain ? expr_check_depth(p, chain) : first;
}

static struct space_term *expr_parse_not(struct parser *p)
{
	expr_skip_blanks(p);
	size_t column = p->at;
	if (!expr_take(p, "not"))
		return expr_parse_comparison(p);
	if (++p->nesting > EXPR_DEPTH_MOST)
		return expr_fail(p, column, "split it into several constraints", "the expression is nested too deeply");
	struct space_term *inner = expr_parse_not(p);
	p->nesting--;
	return inner ? expr_combine(p, OP_NOT, TYPE_BOOL, TYPE_BOOL, "not", column, inner, NULL) : NULL;
}

/* Terms joined by one word, kept flat: a long list is no deep tree. */
static struct space_term *expr_parse_joined(struct parser *p, enum term_op op, const char *word,
					    struct space_term *(*part)(struct parser *))
{
	struct space_term *first = part(p), *all = NULL;
	while (first && expr_take(p, word)) {
		if (!all) {
			all = expr_term_new(op, TYPE_BOOL, first->column);
			expr_term_add(all, first);
		}
		struct space_term *next = part(p);
		if (!next || !expr_want(p, all->args[0], TYPE_BOOL, word) || !expr_want(p, next, TYPE_BOOL, word)) {
			expr_term_free(next);
			expr_term_free(all);
			return NULL;
		}
		expr_term_add(all, next);
	}
	return all ? expr_check_depth(p, all) : first;
}

static struct space_term *expr_parse_and(struct parser *p)
{
	return expr_parse_joined(p, OP_AND, "and", expr_parse_not);
}

static struct space_term *expr_parse_or(struct parser *p)
{
	if (++p->nesting > EXPR_DEPTH_MOST)
		return expr_fail(p, p->at, "split it into several constraints", "the expression is nested too deeply");
	struct space_term *term = expr_parse_joined(p, OP_OR, "or", expr_parse_and);
	p->nesting--;
	return term;
}

static void expr_collect_uses(const struct space_term *term, struct space_expr *expr)
{
	if (term->op == OP_PARAM) {
		for (size_t i = 0; i < expr->use_count; i++)
			if (expr->uses[i] == term->param)
				return;
		expr->uses = mem_resize(expr->uses, expr->use_count + 1, sizeof(size_t));
		expr->uses[expr->use_count++] = term->param;
	}
	for (size_t i = 0; i < term->count; i++)
		expr_collect_uses(term->args[i], expr);
}

static struct space_term *expr_parse_all(struct parser *p)
{
	struct space_term *root = expr_parse_or(p);
	if (!root)
		return NULL;
	expr_skip_blanks(p);
	const char *rest = p->text + p->at;
	if (*rest) {
		const char *remedy = strncmp(rest, "&&", 2) == 0 ? "write 'and'"
			: strncmp(rest, "||", 2) == 0            ? "write 'or'"
			: *rest == '!'                           ? "write 'not'"
			: *rest == '^'                           ? "write ** for a power"
								 : "join conditions with 'and' or 'or'";
		expr_fail(p, p->at, remedy, "'%.20s' does not belong here", rest);
	} else if (root->type != TYPE_BOOL && root->type != TYPE_ANY) {
		expr_fail(p, 0, "compare it with something, such as '<= 16384'",
			  "a constraint is true or false, but this is %s", expr_type_name(root->type));
	}
	if (p->error[0]) {
		expr_term_free(root);
		return NULL;
	}
	return root;
}

int space_expr_parse(const struct space *space, const struct node *at, struct problems *problems,
		     struct space_expr **ret)
{
	const char *text = node_string(at);
	if (!text)
		return problem_add(problems, at, "write it in quotes, such as \"batch_size * units <= 16384\"",
				   "a constraint is a text, not %s", node_type_name(at));
	if (strlen(text) > LIMIT_TEXT_BYTES)
		return problem_add(problems, at, "split it into several constraints",
				   "the constraint is too long: %zu bytes, at most %d", strlen(text), LIMIT_TEXT_BYTES);
	struct parser p = {.space = space, .text = text};
	struct space_term *root = expr_parse_all(&p);
	if (!root)
		return problem_add(problems, at, p.remedy, "column %zu of the constraint: %s", p.error_column, p.error);
	struct space_expr *expr = mem_alloc(sizeof(*expr));
	expr->text = mem_strdup(text);
	expr->root = root;
	expr_collect_uses(root, expr);
	*ret = expr;
	return 0;
}

void space_expr_free(struct space_expr *expr)
{
	if (!expr)
		return;
	expr_term_free(expr->root);
	free(expr->uses);
	free(expr->text);
	free(expr);
}
