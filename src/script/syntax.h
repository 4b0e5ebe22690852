/* Errors of Python's grammar that a person makes in a hurry, found without running Python: a header without its colon,
 * a block that is not indented, an indentation that fits nothing. What is not listed here may still be wrong. */
#ifndef SCRIPT_SYNTAX_H
#define SCRIPT_SYNTAX_H

#include "script/lex.h"

/* Sets lex->wrong where it is not set yet. */
void syntax_check(struct lex *lex);

#endif
