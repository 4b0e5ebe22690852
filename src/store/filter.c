/* The filter of a list of tasks: see filter.h. Parsed once to a tree; names are resolved while it is parsed, so that a
 * misspelt one is an error and not an empty list. */
#include "store/filter.h"

#include "base/buf.h"
#include "base/num.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define FILTER_DEPTH_MOST 100

enum filter_op { OP_AND, OP_OR, OP_NOT, OP_WORD, OP_LE, OP_GE, OP_NE, OP_EQ, OP_LT, OP_GT, OP_CONTAINS };

struct filter {
	enum filter_op op;
	struct filter *left, *right;
	size_t column;
	char *text; /* what is compared with, or the word */
	double number; /* the same as a number; NAN where it is none */
	bool none; /* compared with the unquoted word none */
};

struct parser {
	const char *text;
	size_t at;
	const struct filter_column *columns;
	size_t count;
	unsigned depth;
	struct error *err;
};

/* Longer ones first. */
static const struct {
	const char *token;
	enum filter_op op;
} comparisons[] = {
	{"<=", OP_LE}, {">=", OP_GE}, {"!=", OP_NE}, {"==", OP_EQ},
	{"=", OP_EQ},  {"<", OP_LT},  {">", OP_GT},  {"~", OP_CONTAINS},
};

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	filter_free(filter->left);
	filter_free(filter->right);
	free(filter->text);
	free(filter);
}

static void filter_skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
}

static struct filter *filter_fail(struct parser *p, const char *what, const char *word)
{
	errorf(p->err, -EINVAL, "filter, character %zu: %s%s%s%s", p->at + 1, what, word ? " '" : "", word ? word : "",
	       word ? "'" : "");
	return NULL;
}

/* How far a column is from what was written: one wrong letter, then a name that begins what was written (lr in lrate) or
 * stands in it or around it (rate and learning_rate), then two wrong letters. */
enum filter_far { FAR_LETTER, FAR_BEGINS, FAR_WITHIN, FAR_LETTERS, FAR_OTHER };

static enum filter_far filter_far(const char *column, const char *name)
{
	size_t len = strlen(column), asked = strlen(name);
	unsigned letters = text_distance(column, name);
	if (letters < 2)
		return FAR_LETTER;
	if (len > 1 && strncasecmp(column, name, len) == 0)
		return FAR_BEGINS;
	if ((len > 2 && strcasestr(name, column)) || (asked > 2 && strcasestr(column, name)))
		return FAR_WITHIN;
	return letters == 2 && asked > 3 ? FAR_LETTERS : FAR_OTHER;
}

static const char *filter_nearest(const struct filter_column *columns, size_t count, const char *name)
{
	const char *best = NULL;
	enum filter_far least = FAR_OTHER;
	for (size_t i = 0; i < count; i++) {
		enum filter_far far = filter_far(columns[i].name, name);
		if (far < least) {
			least = far;
			best = columns[i].name;
		}
	}
	return best;
}

int filter_find_column(const struct filter_column *columns, size_t count, const char *name, size_t *ret,
		       struct error *err)
{
	size_t begins = 0, len = strlen(name);
	for (size_t i = 0; i < count; i++) {
		if (!strcmp(columns[i].name, name)) {
			*ret = i;
			return 0;
		}
	}
	for (size_t i = 0; len && i < count; i++) {
		if (strncasecmp(columns[i].name, name, len) != 0)
			continue;
		begins++;
		*ret = i;
	}
	if (begins == 1)
		return 0;
	if (begins > 1)
		return errorf(err, -EINVAL, "'%.60s' is the beginning of %zu columns; write the whole name", name,
			      begins);
	const char *meant = filter_nearest(columns, count, name);
	return errorf(err, -EINVAL, "there is no column '%.60s'%s%s%s", name, meant ? "; did you mean '" : "",
		      meant ? meant
			    : ". Parameters, metrics, state, cause, time, energy, epoch, best, node and job are there",
		      meant ? "'?" : "");
}

/* A quoted text, or everything up to a blank, a bracket, a comma or an operator. NULL with an error, or where there is
 * nothing. */
static char *filter_take_token(struct parser *p, bool *ret_quoted)
{
	filter_skip_blanks(p);
	const char *from = p->text + p->at;
	*ret_quoted = *from == '"' || *from == '\'';
	if (*ret_quoted) {
		const char *end = strchr(from + 1, *from);
		if (!end) {
			filter_fail(p, "a quote is not closed", NULL);
			return NULL;
		}
		p->at = (size_t)(end - p->text) + 1;
		return mem_copy(from + 1, (size_t)(end - from) - 1);
	}
	size_t len = strcspn(from, " \t\r\n(),<>=!~&|\"'");
	if (!len) {
		char found[2] = {*from, 0};
		filter_fail(p, *from ? "a name or a word is missing before" : "it ends too early",
			    *from ? found : NULL);
		return NULL;
	}
	p->at += len;
	return mem_copy(from, len);
}

static bool filter_take(struct parser *p, const char *symbol, const char *word)
{
	filter_skip_blanks(p);
	const char *at = p->text + p->at;
	if (strncmp(at, symbol, strlen(symbol)) == 0) {
		p->at += strlen(symbol);
		return true;
	}
	size_t len = strlen(word);
	if (!len || strncasecmp(at, word, len) != 0 || (at[len] && !strchr(" \t\r\n(\"'", at[len])))
		return false;
	p->at += len;
	return true;
}

static double filter_read_number(const char *text, enum filter_unit unit)
{
	double number;
	int64_t whole;
	if (num_parse_real(text, strlen(text), &number) == 0)
		return number;
	if (unit == FILTER_DURATION && text_parse_duration(text, &whole) == 0)
		return (double)whole / 1000;
	if (unit == FILTER_BYTES && text_parse_bytes(text, &whole) == 0)
		return (double)whole;
	if (unit == FILTER_ENERGY && text_parse_energy(text, &number) == 0)
		return number;
	return NAN;
}

/* A misspelt state is an error and not an empty list. */
static bool filter_check_word(struct parser *p, const struct filter_column *column, const char *text)
{
	struct buf words = buf_make(300);
	const char *word = NULL, *meant = NULL;
	for (size_t i = 0; column->word && (word = column->word(i)) && strcasecmp(word, text) != 0; i++) {
		buf_addf(&words, "%s%s", i ? ", " : "", word);
		meant = text_distance(word, text) < 3 ? word : meant;
	}
	if (column->word && !word)
		errorf(p->err, -EINVAL, "there is no %s '%.60s'%s%s%s", column->name, text,
		       meant ? "; did you mean '" : "; it is one of ", meant ? meant : buf_text(&words),
		       meant ? "'?" : "");
	buf_free(&words);
	return !column->word || word;
}

/* What stands right of a comparison. Takes the name. */
static struct filter *filter_parse_value(struct parser *p, char *name, enum filter_op op)
{
	struct filter *filter = mem_alloc(sizeof(*filter));
	bool quoted;
	filter->op = op;
	int rc = filter_find_column(p->columns, p->count, name, &filter->column, p->err);
	free(name);
	if (rc == 0)
		filter->text = filter_take_token(p, &quoted);
	if (!filter->text) {
		filter_free(filter);
		return NULL;
	}
	filter->number = filter_read_number(filter->text, p->columns[filter->column].unit);
	filter->none = !quoted && !strcasecmp(filter->text, "none");
	bool equal = op == OP_EQ || op == OP_NE;
	if (equal && !filter->none && !filter_check_word(p, &p->columns[filter->column], filter->text)) {
		filter_free(filter);
		return NULL;
	}
	bool sized = op == OP_LE || op == OP_GE || op == OP_LT || op == OP_GT;
	if (sized && isnan(filter->number)) {
		filter_fail(p, "this is not a number:", filter->text);
		filter_free(filter);
		return NULL;
	}
	return filter;
}

static struct filter *filter_parse_or(struct parser *p);

static struct filter *filter_parse_term(struct parser *p)
{
	bool quoted;
	if (filter_take(p, "(", "")) {
		struct filter *inner = filter_parse_or(p);
		if (inner && !filter_take(p, ")", "")) {
			filter_fail(p, "')' is missing", NULL);
			filter_free(inner);
			return NULL;
		}
		return inner;
	}
	size_t start = p->at;
	char *token = filter_take_token(p, &quoted);
	if (!token)
		return NULL;
	if (!quoted && (!strcasecmp(token, "or") || !strcasecmp(token, "and"))) {
		p->at = start;
		filter_fail(p, "a name or a word is missing before", token);
		free(token);
		return NULL;
	}
	filter_skip_blanks(p);
	for (size_t i = 0; i < COUNT_OF(comparisons); i++)
		if (filter_take(p, comparisons[i].token, ""))
			return filter_parse_value(p, token, comparisons[i].op);
	struct filter *word = mem_alloc(sizeof(*word));
	word->op = OP_WORD;
	word->text = token;
	return word;
}

static struct filter *filter_parse_not(struct parser *p)
{
	struct filter *inner;
	if (++p->depth > FILTER_DEPTH_MOST)
		return filter_fail(p, "it is nested too deeply", NULL);
	filter_skip_blanks(p);
	bool unequal = p->text[p->at] == '!' && p->text[p->at + 1] == '=';
	if (!unequal && filter_take(p, "!", "not")) {
		inner = filter_parse_not(p);
		if (inner) {
			struct filter *filter = mem_alloc(sizeof(*filter));
			*filter = (struct filter){.op = OP_NOT, .left = inner};
			inner = filter;
		}
	} else {
		inner = filter_parse_term(p);
	}
	p->depth--;
	return inner;
}

/* Takes both; either may be NULL after an error. */
static struct filter *filter_join(enum filter_op op, struct filter *left, struct filter *right)
{
	if (!left || !right) {
		filter_free(left);
		filter_free(right);
		return NULL;
	}
	struct filter *filter = mem_alloc(sizeof(*filter));
	*filter = (struct filter){.op = op, .left = left, .right = right};
	return filter;
}

static bool filter_at_or(const struct parser *p)
{
	struct parser ahead = *p;
	return filter_take(&ahead, "||", "or");
}

/* Terms side by side, with or without a word between them, must all hold. */
static struct filter *filter_parse_and(struct parser *p)
{
	struct filter *left = filter_parse_not(p);
	while (left) {
		bool said = filter_take(p, "&&", "and") || filter_take(p, ",", "");
		filter_skip_blanks(p);
		if (!said && (!p->text[p->at] || p->text[p->at] == ')' || filter_at_or(p)))
			break;
		/* A comma or "and" at the end: it is still being typed. */
		if (said && !p->text[p->at])
			break;
		left = filter_join(OP_AND, left, filter_parse_not(p));
	}
	return left;
}

static struct filter *filter_parse_or(struct parser *p)
{
	struct filter *left = filter_parse_and(p);
	while (left && filter_take(p, "||", "or"))
		left = filter_join(OP_OR, left, filter_parse_and(p));
	return left;
}

int filter_parse(const char *text, const struct filter_column *columns, size_t count, struct filter **ret,
		 struct error *err)
{
	struct parser p = {.text = text, .columns = columns, .count = count, .err = err};
	filter_skip_blanks(&p);
	if (!text[p.at]) {
		*ret = NULL;
		return 0;
	}
	struct filter *filter = filter_parse_or(&p);
	filter_skip_blanks(&p);
	if (filter && text[p.at]) {
		filter_fail(&p, "this does not belong here:", text + p.at);
		filter_free(filter);
		filter = NULL;
	}
	if (!filter)
		return -EINVAL;
	*ret = filter;
	return 0;
}

static bool filter_compare_numbers(enum filter_op op, double a, double b)
{
	switch (op) {
	case OP_LE: return a <= b;
	case OP_GE: return a >= b;
	case OP_LT: return a < b;
	case OP_GT: return a > b;
	case OP_NE: return isnan(b) ? !isnan(a) : a != b;
	default: return isnan(b) ? isnan(a) : a == b;
	}
}

static bool filter_compare_texts(enum filter_op op, const char *a, const char *b)
{
	if (op == OP_CONTAINS)
		return strcasestr(a, b) != NULL;
	if (op == OP_EQ || op == OP_NE)
		return (strcasecmp(a, b) == 0) == (op == OP_EQ);
	double left = filter_read_number(a, FILTER_PLAIN);
	return !isnan(left) && filter_compare_numbers(op, left, filter_read_number(b, FILTER_PLAIN));
}

static bool filter_list_has(const char *list, const char *text)
{
	size_t len = strlen(text);
	for (;; list++) {
		size_t line = strcspn(list, "\n");
		if (line == len && strncasecmp(list, text, len) == 0)
			return true;
		list += line;
		if (!*list)
			return false;
	}
}

static bool filter_compare(const struct filter *filter, struct filter_value value)
{
	if (filter->none && (filter->op == OP_EQ || filter->op == OP_NE))
		return (value.kind == FILTER_NONE) == (filter->op == OP_EQ);
	if (value.kind == FILTER_NONE)
		return value.list && filter->op == OP_NE;
	if (value.list && (filter->op == OP_EQ || filter->op == OP_NE))
		return filter_list_has(value.text, filter->text) == (filter->op == OP_EQ);
	if (value.kind == FILTER_TEXT)
		return filter_compare_texts(filter->op, value.text, filter->text);
	if (filter->op == OP_CONTAINS) {
		char text[NUM_REAL_CHARS];
		num_format_real(value.number, text);
		return strcasestr(text, filter->text) != NULL;
	}
	if (isnan(filter->number) && strcasecmp(filter->text, "nan") != 0)
		return filter->op == OP_NE;
	return filter_compare_numbers(filter->op, value.number, filter->number);
}

bool filter_holds(const struct filter *filter, const struct filter_row *row)
{
	if (!filter)
		return true;
	switch (filter->op) {
	case OP_AND: return filter_holds(filter->left, row) && filter_holds(filter->right, row);
	case OP_OR: return filter_holds(filter->left, row) || filter_holds(filter->right, row);
	case OP_NOT: return !filter_holds(filter->left, row);
	case OP_WORD: return row->word(row->ctx, filter->text);
	default: return filter_compare(filter, row->value(row->ctx, filter->column));
	}
}
