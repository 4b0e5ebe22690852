/* Reads those Python expressions that need not be run: literals, lists of literals, names of constants that are set
 * once, and the arguments of a call. */
#ifndef SCRIPT_VALUE_H
#define SCRIPT_VALUE_H

#include "base/node.h"
#include "script/lex.h"

/* One argument of a call: words [from, to); key is the word of `key=`, NULL without. */
struct value_slot {
	const struct lex_word *key;
	size_t from, to;
};

struct value_call {
	VEC(struct value_slot) slots;
	size_t end; /* the position after the closing bracket */
};

/* The arguments between the bracket at `open` and the one that closes it. Free slots.at. */
void value_read_call(const struct lex *lex, size_t open, struct value_call *ret);
/* The argument `key=`, or the n-th without a key (place < 0: only by key); NULL. */
const struct value_slot *value_find(const struct value_call *call, const char *key, int place);

/* The words [from, to) as a node, if they are a literal: a scalar, a list, a map of literals, or null for None. NULL:
 * an expression that must be run. The caller frees it. */
struct node *value_read(const struct lex *lex, size_t from, size_t to);
/* The text of a plain string literal; NULL: it is none. The caller frees it. */
char *value_read_text(const struct lex *lex, const struct value_slot *slot);
/* Does the argument consist of this name, or end with .name? */
bool value_is_name(const struct lex *lex, const struct value_slot *slot, const char *name);

#endif
