/* Splits Python source into words: names, numbers, strings, signs and ends of statements. Comments, continuation lines
 * and text inside strings are never read as code. Nothing is executed. */
#ifndef SCRIPT_LEX_H
#define SCRIPT_LEX_H

#include "base/buf.h"

enum lex_kind { LEX_END, LEX_NAME, LEX_NUMBER, LEX_STRING, LEX_SIGN, LEX_NEWLINE };

struct lex_word {
	enum lex_kind kind;
	char sign; /* LEX_SIGN: its first character */
	bool plain; /* LEX_STRING: a text; false for bytes and for f"…" */
	bool first; /* the first word of its statement's line */
	const char *at; /* into the source; a string's begins at its prefix */
	uint32_t len, line, indent; /* indent: columns before the first word of the line */
};

struct lex {
	struct lex_word *at; /* ends with LEX_END */
	size_t len, cap;
	char *wrong; /* a syntax error, in words; NULL: none was found */
	uint32_t wrong_line;
};

/* Splits the text. The part beyond the limits of base/limits.h is ignored. Free with lex_free. */
void lex_read(const char *text, size_t len, struct lex *ret);
void lex_free(struct lex *lex);

/* Is this word the name or sign `text`? */
bool lex_is(const struct lex_word *word, const char *text);
/* Adds the contents of a string, escapes decoded. */
void lex_add_string(const struct lex_word *word, struct buf *out);
/* The position after the bracket that closes the one at `open`; the last position if none does. */
size_t lex_skip(const struct lex *lex, size_t open);

#endif
