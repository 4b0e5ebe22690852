/* See syntax.h. */
#include "script/syntax.h"

#include "base/limits.h"

#include <stdio.h>
#include <string.h>

struct levels {
	uint32_t at[LIMIT_SCRIPT_DEPTH];
	size_t count;
	bool expect; /* the line before ended with a colon: this one is deeper */
	uint32_t header_line;
};

static void syntax_wrong(struct lex *lex, uint32_t line, const char *what)
{
	if (lex->wrong)
		return;
	lex->wrong = mem_strdup(what);
	lex->wrong_line = line;
}

static bool syntax_is_header(const struct lex_word *word)
{
	static const char *const words[] = {"if",  "elif", "else",  "for",    "while",  "try",
					    "def", "with", "class", "except", "finally"};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (lex_is(word, words[i]))
			return true;
	return lex_is(word, "async") && word[1].kind == LEX_NAME;
}

/* The colon that ends the header of a block, outside of brackets and of lambda; 0: there is none. */
static size_t syntax_colon(const struct lex *lex, size_t from, size_t to)
{
	size_t lambdas = 0;
	for (size_t i = from; i < to; i++) {
		const struct lex_word *word = &lex->at[i];
		if (word->kind == LEX_SIGN && strchr("([{", word->sign)) {
			i = lex_skip(lex, i) - 1;
		} else if (lex_is(word, "lambda")) {
			lambdas++;
		} else if (lex_is(word, ":")) {
			if (!lambdas)
				return i;
			lambdas--;
		}
	}
	return 0;
}

/* The words [from, to) are one statement, without its end. */
static void syntax_statement(struct lex *lex, size_t from, size_t to, struct levels *levels)
{
	const struct lex_word *first = &lex->at[from];
	uint32_t top = levels->at[levels->count - 1];
	if (levels->expect && first->indent <= top) {
		char text[100];
		snprintf(text, sizeof(text), "the block that line %u begins is not indented",
			 (unsigned)levels->header_line);
		syntax_wrong(lex, first->line, text);
	} else if (!levels->expect && first->indent > top) {
		syntax_wrong(lex, first->line, "the line is indented and no block begins before it");
	}
	if (first->indent > top && levels->count < LIMIT_SCRIPT_DEPTH)
		levels->at[levels->count++] = first->indent;
	while (levels->count > 1 && first->indent < levels->at[levels->count - 1])
		levels->count--;
	if (first->indent != levels->at[levels->count - 1] && levels->count < LIMIT_SCRIPT_DEPTH)
		syntax_wrong(lex, first->line, "the indentation fits no block above");
	const struct lex_word *last = &lex->at[to - 1];
	levels->expect = lex_is(last, ":");
	levels->header_line = first->line;
	if (syntax_is_header(first) && !syntax_colon(lex, from, to))
		syntax_wrong(lex, first->line, "':' is missing at the end");
	if (lex_is(first, "print") && to - from > 1 && lex->at[from + 1].kind == LEX_STRING)
		syntax_wrong(lex, first->line, "print without brackets: that is Python 2");
}

void syntax_check(struct lex *lex)
{
	struct levels levels = {.count = 1};
	for (size_t i = 0; i < lex->len && !lex->wrong;) {
		size_t end = i;
		while (lex->at[end].kind != LEX_NEWLINE && lex->at[end].kind != LEX_END)
			end++;
		if (end > i)
			syntax_statement(lex, i, end, &levels);
		i = end + 1;
	}
}
