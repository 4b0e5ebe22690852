/* See tokens.h. */
#include "metrics/tokens.h"

#include "base/mem.h"
#include "base/text.h"
#include "metrics/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static bool tokens_is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '@' || c == '.' || c == '/' || c == '-' || c == '\'' ||
		c == '#';
}

/* The length of a letter outside of ASCII, as names have them: é, μ, R², 损. Signs, bars and borders are none. */
static inline size_t tokens_length_of_letter(const char *at, const char *end)
{
	unsigned char c = (unsigned char)*at, next;
	if (c < 0x80)
		return 0;
	next = at + 1 < end ? (unsigned char)at[1] : 0;
	if (c == 0xc2 && (next == 0xb2 || next == 0xb3 || next == 0xb9)) /* ² ³ ¹ */
		return 2;
	if (c >= 0xc3 && c <= 0xdf && (next & 0xc0) == 0x80)
		return c == 0xc3 && (next == 0x97 || next == 0xb7) ? 0 : 2; /* × ÷ */
	return c >= 0xe3 && c <= 0xed && end - at >= 3 && text_utf8_check(at, 3) == 3 ? 3 : 0;
}

static bool tokens_is_number_byte(char c)
{
	return isdigit((unsigned char)c) || c == '.';
}

/* nan and inf stand for numbers, too. */
static size_t tokens_length_of_special(const char *at, const char *end)
{
	static const char *const words[] = {"nan", "inf", "infinity", "-inf", "-nan"};
	size_t best = 0;
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		size_t n = strlen(words[i]);
		if ((size_t)(end - at) >= n && strncasecmp(at, words[i], n) == 0 &&
		    (at + n == end || !tokens_is_name_byte(at[n])) && n > best)
			best = n;
	}
	return best;
}

/* "1,200" and "1,234,567": the length of the whole groups behind the first one, 0 when these are not thousands. */
static size_t tokens_length_of_thousands(const char *digits, const char *p, const char *end)
{
	const char *from = p;
	if (p == digits || p - digits > 3 || *digits == '0' || memchr(digits, '.', (size_t)(p - digits)))
		return 0;
	while (end - p >= 4 && *p == ',' && isdigit((unsigned char)p[1]) && isdigit((unsigned char)p[2]) &&
	       isdigit((unsigned char)p[3]))
		p += 4;
	return p < end && (isdigit((unsigned char)*p) || *p == ',') ? 0 : (size_t)(p - from);
}

/* "0,25": the length of the comma and the digits behind it. Thousands and lists ("1,2,3") are none. */
static size_t tokens_length_of_fraction(const char *digits, const char *p, const char *end)
{
	const char *q = p + 1;
	if (p == digits || p >= end || *p != ',')
		return 0;
	while (q < end && isdigit((unsigned char)*q))
		q++;
	bool whole = q < end &&
		(*q == '.' || *q == '_' || isalpha((unsigned char)*q) ||
		 (*q == ',' && q + 1 < end && isdigit((unsigned char)q[1])));
	bool grouped = q - p == 4 && !(*digits == '0' && p - digits == 1);
	return q == p + 1 || whole || grouped ? 0 : (size_t)(q - p);
}

static size_t tokens_length_of_real(const char *at, const char *end)
{
	const char *p = at;
	if (p < end && (*p == '-' || *p == '+'))
		p++;
	const char *digits = p;
	while (p < end && isdigit((unsigned char)*p))
		p++;
	size_t comma = tokens_length_of_fraction(digits, p, end);
	if (comma)
		return (size_t)(p + comma - at);
	p += tokens_length_of_thousands(digits, p, end);
	while (p < end && tokens_is_number_byte(*p))
		p++;
	if (p > digits && p[-1] == '.' && p - digits > 1 && (p == end || isspace((unsigned char)*p)))
		p--; /* the end of a sentence */
	if (p == digits || !isdigit((unsigned char)digits[*digits == '.' && p - digits > 1]))
		return 0;
	bool julia = p < end && *p == 'f' && memchr(digits, '.', (size_t)(p - digits)); /* 0.5f0 */
	if (p < end && *p && (julia || strchr("eEdD", *p))) {
		const char *e = p + 1;
		if (e < end && (*e == '-' || *e == '+'))
			e++;
		if (e < end && isdigit((unsigned char)*e)) {
			while (e < end && isdigit((unsigned char)*e))
				e++;
			p = e;
		}
	}
	return (size_t)(p - at);
}

/* A number stands alone when what follows does not make it a date, a clock, a version, a size or half of a longer one. */
static bool tokens_ends_number(const char *p, const char *end)
{
	if (p == end || isspace((unsigned char)*p))
		return true;
	if (*p == ',' || *p == ':')
		return p + 1 == end || !isdigit((unsigned char)p[1]);
	if (*p == '+') /* 0.60000+0.00123 of xgboost.cv: the deviation follows */
		return end - p > 2 && isdigit((unsigned char)p[1]) && p[2] == '.';
	if (*p == '(') /* Loss: 0.5123(0.5301): the average follows */
		return end - p > 2 && (isdigit((unsigned char)p[1]) || p[1] == '-');
	return strchr(";|)]}%", *p) != NULL || (*p == '.' && (p + 1 == end || p[1] == ' ')) ||
		(unsigned char)*p >= 0x80;
}

static size_t tokens_take_unit(struct token *token, const char *at, const char *end)
{
	const char *p = at;
	while (p < end && !isspace((unsigned char)*p) && !strchr(",;|)]}", *p))
		p++;
	token->kind = TOKEN_UNIT;
	token->len = (size_t)(p - at);
	return token->len ? token->len : 1;
}

/* As number_parse, with commas between thousands or a decimal comma. */
static int tokens_parse_real(const char *at, size_t len, double *ret, struct token *token)
{
	char plain[64];
	size_t kept = 0;
	const char *comma = memchr(at, ',', len);
	if (!comma || len > sizeof(plain))
		return number_parse(at, len, ret);
	const char *digits = at + (*at == '-' || *at == '+');
	token->comma = tokens_length_of_fraction(digits, comma, at + len) > 0;
	token->thousands = !token->comma && !memchr(at, '.', len) &&
		memchr(comma + 1, ',', len - (size_t)(comma + 1 - at)) == NULL;
	for (size_t i = 0; i < len; i++)
		if (at[i] != ',')
			plain[kept++] = at[i];
		else if (token->comma)
			plain[kept++] = '.';
	return number_parse(plain, kept, ret);
}

static size_t tokens_take_number(struct token *token, const char *at, const char *end)
{
	size_t special = tokens_length_of_special(at, end), len = special ? special : tokens_length_of_real(at, end),
	       next = len;
	token->at = at;
	token->kind = TOKEN_NUMBER;
	token->of = NAN;
	if (tokens_parse_real(at, len, &token->value, token) < 0)
		return tokens_take_unit(token, at, end);
	/* 3/10, and 7/Unknown of Keras */
	size_t slash = next;
	while (!special && at + slash < end && at[slash] == ' ')
		slash++;
	if (!special && at + slash < end && at[slash] == '/') {
		const char *p = at + slash + 1;
		while (p < end && *p == ' ')
			p++;
		struct token total = {0};
		size_t of = tokens_length_of_real(p, end);
		if (of && tokens_parse_real(p, of, &total.value, &total) == 0 && !total.comma) {
			token->of = total.value;
			next = (size_t)(p - at) + of;
		}
	}
	if (!tokens_ends_number(at + next, end))
		return tokens_take_unit(token, at, end);
	token->len = next;
	const char *p = at + next;
	if (p < end && *p == ' ')
		p++;
	token->percent = p < end && *p == '%';
	return token->percent ? (size_t)(p + 1 - at) : next;
}

static size_t tokens_take_word(struct token *token, const char *at, const char *end, const struct word_names *names)
{
	const char *p = at;
	for (size_t letter; p < end && (tokens_is_name_byte(*p) || tokens_length_of_letter(p, end));
	     p += letter ? letter : 1)
		letter = tokens_length_of_letter(p, end);
	size_t whole = (size_t)(p - at), len = whole;
	while (len > 1 && strchr(".-/'", at[len - 1]))
		len--;
	token->kind = TOKEN_WORD;
	token->at = at;
	token->len = len;
	token->word = word_kind_with(names, at, len);
	return whole;
}

void tokens_cut(const char *text, size_t len, const struct word_names *names, struct tokens *tokens)
{
	const char *end = text + len;
	bool apart = true; /* a number may begin here */
	tokens->count = 0;
	tokens->many = false;
	for (const char *p = text; p < end;) {
		size_t letter = tokens_length_of_letter(p, end);
		if (isspace((unsigned char)*p) || ((unsigned char)*p >= 0x80 && !letter)) {
			p++;
			apart = true;
			continue;
		}
		if (tokens->count == TOKENS_MAX) {
			tokens->many = true;
			return;
		}
		struct token *token = &tokens->at[tokens->count++];
		*token = (struct token){.at = p, .of = NAN};
		if (apart && (tokens_length_of_special(p, end) || tokens_length_of_real(p, end))) {
			p += tokens_take_number(token, p, end);
			apart = false;
		} else if (isalpha((unsigned char)*p) || *p == '_' || letter) {
			p += tokens_take_word(token, p, end, names);
			apart = false;
		} else {
			bool arrow = (*p == '-' || *p == '=') && p + 1 < end && p[1] == '>'; /* loss -> 0.5 */
			token->kind = TOKEN_PUNCT;
			token->punct = arrow ? ':' : *p;
			token->len = 1 + arrow;
			p += token->len;
			apart = strchr(":=([{,|#>", token->punct) != NULL;
		}
	}
}
