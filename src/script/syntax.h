/* Finds common syntax errors without running Python: a header without its colon, a block that is not indented, an
 * indentation that does not match. It does not find all errors. */
#ifndef SCRIPT_SYNTAX_H
#define SCRIPT_SYNTAX_H

#include "script/lex.h"

/* Sets lex->wrong if it is not set yet. */
void syntax_check(struct lex *lex);

#endif
