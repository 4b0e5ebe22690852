/* The tree of a constraint: made by space_expr.c, walked by space_eval.c. */
#ifndef SPACE_SPACE_TERM_H
#define SPACE_SPACE_TERM_H

#include "space/space_internal.h"

enum term_type { TYPE_NUMBER, TYPE_TEXT, TYPE_BOOL, TYPE_ANY };

enum term_op {
	OP_NUMBER,
	OP_TEXT,
	OP_BOOL,
	OP_PARAM,
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_POW,
	OP_NEG,
	OP_CHAIN,
	OP_AND,
	OP_OR,
	OP_NOT,
	OP_MIN,
	OP_MAX,
	OP_ABS,
	OP_LOG,
	OP_SQRT,
};

enum term_compare { CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_EQ, CMP_NE };

struct space_term {
	enum term_op op;
	enum term_type type;
	size_t column; /* 0-based */
	unsigned depth;
	double number;
	bool boolean;
	char *text;
	size_t param;
	struct space_term **args;
	enum term_compare *compares; /* CHAIN: count - 1 of them */
	size_t count;
};

#endif
