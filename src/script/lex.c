/* See lex.h. */
#include "script/lex.h"

#include "base/limits.h"

#include <ctype.h>
#include <string.h>

struct cut {
	struct lex *lex;
	const char *at, *end;
	uint32_t line, indent;
	bool fresh; /* nothing of this line was read yet */
	char open[LIMIT_SCRIPT_DEPTH];
	uint32_t open_line[LIMIT_SCRIPT_DEPTH];
	size_t depth;
};

static void cut_wrong(struct cut *c, uint32_t line, char *give)
{
	if (c->lex->wrong) {
		free(give);
		return;
	}
	c->lex->wrong = give;
	c->lex->wrong_line = line;
}

static void cut_push(struct cut *c, struct lex_word word)
{
	struct lex *lex = c->lex;
	word.indent = c->indent;
	word.first = c->fresh && !c->depth && word.kind != LEX_NEWLINE;
	vec_push(lex, word);
	if (word.kind != LEX_NEWLINE)
		c->fresh = false;
}

static bool lex_is_name_start(char ch)
{
	return isalpha((unsigned char)ch) || ch == '_' || (unsigned char)ch >= 0x80;
}

static bool lex_is_name_part(char ch)
{
	return lex_is_name_start(ch) || isdigit((unsigned char)ch);
}

/* The prefix of a string literal (r, b, f, u, t in any case and order), or 0. */
static size_t lex_string_prefix(const char *at, const char *end)
{
	size_t n = 0;
	while (n < 3 && at + n < end && strchr("rRbBfFuUtT", at[n]) && at[n])
		n++;
	return at + n < end && (at[n] == '"' || at[n] == '\'') ? n : 0;
}

static void cut_string(struct cut *c, size_t prefix)
{
	const char *from = c->at;
	uint32_t line = c->line;
	struct lex_word word = {.kind = LEX_STRING, .at = from, .line = line, .plain = true};
	for (size_t i = 0; i < prefix; i++)
		if (strchr("bBfFtT", from[i]))
			word.plain = false;
	char quote = from[prefix];
	const char *p = from + prefix;
	bool three = c->end - p >= 3 && p[1] == quote && p[2] == quote;
	p += three ? 3 : 1;
	bool closed = false;
	while (p < c->end && !closed) {
		if (*p == '\\' && p + 1 < c->end) {
			c->line += p[1] == '\n';
			p += 2;
		} else if (*p == '\n' && !three) {
			break;
		} else if (*p == quote && (!three || (c->end - p >= 3 && p[1] == quote && p[2] == quote))) {
			p += three ? 3 : 1;
			closed = true;
		} else {
			c->line += *p == '\n';
			p++;
		}
	}
	if (!closed)
		cut_wrong(c, line, mem_printf("a string is not closed"));
	word.len = (uint32_t)(p - from);
	c->at = p;
	cut_push(c, word);
}

static void cut_number(struct cut *c)
{
	const char *from = c->at, *p = from;
	while (p < c->end &&
	       (isalnum((unsigned char)*p) || *p == '.' || *p == '_' ||
		((*p == '-' || *p == '+') && (p[-1] == 'e' || p[-1] == 'E') && from[1] != 'x' && from[1] != 'X')))
		p++;
	c->at = p;
	cut_push(c, (struct lex_word){.kind = LEX_NUMBER, .at = from, .len = (uint32_t)(p - from), .line = c->line});
}

static void cut_bracket(struct cut *c, char sign)
{
	static const char opens[] = "([{", closes[] = ")]}";
	if (strchr(opens, sign)) {
		if (c->depth < LIMIT_SCRIPT_DEPTH) {
			c->open[c->depth] = sign;
			c->open_line[c->depth] = c->line;
		}
		c->depth++;
		return;
	}
	size_t kind = (size_t)(strchr(closes, sign) - closes);
	if (!c->depth)
		cut_wrong(c, c->line, mem_printf("'%c' closes nothing", sign));
	else if (c->depth <= LIMIT_SCRIPT_DEPTH && c->open[c->depth - 1] != opens[kind])
		cut_wrong(c, c->line,
			  mem_printf("'%c' does not close the '%c' of line %u", sign, c->open[c->depth - 1],
				     (unsigned)c->open_line[c->depth - 1]));
	if (c->depth)
		c->depth--;
}

static void cut_newline(struct cut *c)
{
	if (!c->depth && !c->fresh)
		cut_push(c, (struct lex_word){.kind = LEX_NEWLINE, .at = c->at, .len = 1, .line = c->line});
	c->at++;
	c->line++;
	if (c->depth)
		return;
	c->fresh = true;
	c->indent = 0;
	for (; c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\f'); c->at++)
		c->indent = *c->at == '\t' ? (c->indent / 8 + 1) * 8 : c->indent + 1;
}

static void cut_one(struct cut *c)
{
	char ch = *c->at;
	size_t prefix = lex_is_name_start(ch) ? lex_string_prefix(c->at, c->end) : 0;
	if (ch == '\n') {
		cut_newline(c);
	} else if (ch == '#') {
		while (c->at < c->end && *c->at != '\n')
			c->at++;
	} else if (ch == '\\' && c->at + 1 < c->end && (c->at[1] == '\n' || c->at[1] == '\r')) {
		c->at += c->at[1] == '\r' && c->at + 2 < c->end && c->at[2] == '\n' ? 3 : 2;
		c->line++;
	} else if (isspace((unsigned char)ch) || !ch) {
		if (!ch)
			cut_wrong(c, c->line, mem_printf("there is a zero byte"));
		c->at++;
	} else if (ch == '"' || ch == '\'' || prefix) {
		cut_string(c, prefix);
	} else if (lex_is_name_start(ch)) {
		const char *from = c->at;
		while (c->at < c->end && lex_is_name_part(*c->at))
			c->at++;
		cut_push(c,
			 (struct lex_word){
				 .kind = LEX_NAME, .at = from, .len = (uint32_t)(c->at - from), .line = c->line});
	} else if (isdigit((unsigned char)ch) ||
		   (ch == '.' && c->at + 1 < c->end && isdigit((unsigned char)c->at[1]))) {
		cut_number(c);
	} else {
		cut_push(c, (struct lex_word){.kind = LEX_SIGN, .sign = ch, .at = c->at, .len = 1, .line = c->line});
		if (strchr("()[]{}", ch))
			cut_bracket(c, ch);
		c->at++;
	}
}

void lex_read(const char *text, size_t len, struct lex *ret)
{
	*ret = (struct lex){0};
	struct cut c = {.lex = ret, .at = text, .end = text + len, .line = 1, .fresh = true};
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		c.at += 3;
	while (c.at < c.end && (*c.at == ' ' || *c.at == '\t')) {
		c.at++;
		c.indent++;
	}
	while (c.at < c.end && ret->len < LIMIT_SCRIPT_WORDS)
		cut_one(&c);
	if (c.at >= c.end && c.depth && c.depth <= LIMIT_SCRIPT_DEPTH)
		cut_wrong(&c, c.open_line[c.depth - 1], mem_printf("'%c' is never closed", c.open[c.depth - 1]));
	c.depth = 0;
	if (!c.fresh)
		cut_push(&c, (struct lex_word){.kind = LEX_NEWLINE, .at = c.at, .line = c.line});
	cut_push(&c, (struct lex_word){.kind = LEX_END, .at = c.at, .line = c.line});
}

void lex_free(struct lex *lex)
{
	free(lex->at);
	free(lex->wrong);
	*lex = (struct lex){0};
}

bool lex_is(const struct lex_word *word, const char *text)
{
	return (word->kind == LEX_NAME || word->kind == LEX_SIGN) && strlen(text) == word->len &&
		memcmp(word->at, text, word->len) == 0;
}

static size_t lex_add_escape(const char *p, const char *end, struct buf *out)
{
	static const char from[] = "nrt\\'\"0", to[] = "\n\r\t\\'\"";
	if (p + 1 >= end)
		return 1;
	const char *found = p[1] && p[1] != '0' ? strchr(from, p[1]) : NULL;
	if (p[1] == '\n')
		return 2;
	if (found)
		buf_add_char(out, to[found - from]);
	else
		buf_add(out, p, 2);
	return 2;
}

void lex_add_string(const struct lex_word *word, struct buf *out)
{
	const char *p = word->at, *end = word->at + word->len;
	bool raw = false;
	while (p < end && *p != '"' && *p != '\'')
		raw |= *p == 'r' || *p == 'R', p++;
	size_t quotes = end - p >= 6 && p[1] == p[0] && p[2] == p[0] ? 3 : 1;
	if ((size_t)(end - p) < 2 * quotes)
		return;
	p += quotes;
	end -= quotes;
	while (p < end) {
		if (*p == '\\' && !raw) {
			p += lex_add_escape(p, end, out);
		} else {
			buf_add_char(out, *p);
			p++;
		}
	}
}

size_t lex_skip(const struct lex *lex, size_t open)
{
	size_t depth = 0, i = open;
	for (; i + 1 < lex->len; i++) {
		if (lex->at[i].kind != LEX_SIGN)
			continue;
		if (strchr("([{", lex->at[i].sign))
			depth++;
		else if (strchr(")]}", lex->at[i].sign) && --depth == 0)
			return i + 1;
	}
	return i;
}
