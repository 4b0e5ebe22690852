/* See phrase.h. A line becomes tokens, and the tokens are looked at from left to right; nothing goes back further than the
 * name before a number, so the work grows with the line and no more. */
#include "metrics/phrase.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"
#include "metrics/words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

#define PHRASE_TOKENS_MAX 192
#define PHRASE_NAME_WORDS_MAX 4

enum token_kind { TOKEN_WORD, TOKEN_NUMBER, TOKEN_UNIT, TOKEN_PUNCT };

struct token {
	enum token_kind kind;
	enum word_kind word; /* of a word or a name */
	const char *at;
	size_t len;
	double value, of; /* of a number; of: "3/10", else NAN */
	char punct;
	bool percent, used;
};

struct tokens {
	struct token at[PHRASE_TOKENS_MAX];
	size_t count;
	bool many; /* more than there is room for */
};

static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '@' || c == '.' || c == '/' || c == '-' || c == '\'' ||
		c == '#';
}

static bool is_number_byte(char c)
{
	return isdigit((unsigned char)c) || c == '.';
}

/* nan and inf stand for numbers, too. */
static size_t length_of_special(const char *at, const char *end)
{
	static const char *const words[] = {"nan", "inf", "infinity", "-inf", "-nan"};
	size_t best = 0;
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		size_t n = strlen(words[i]);
		if ((size_t)(end - at) >= n && strncasecmp(at, words[i], n) == 0 &&
		    (at + n == end || !is_name_byte(at[n])) && n > best)
			best = n;
	}
	return best;
}

/* "1,200" and "1,234,567": the length of the whole groups behind the first one, 0 when these are not thousands. */
static size_t length_of_thousands(const char *digits, const char *p, const char *end)
{
	const char *from = p;
	if (p == digits || p - digits > 3 || *digits == '0' || memchr(digits, '.', (size_t)(p - digits)))
		return 0;
	while (end - p >= 4 && *p == ',' && isdigit((unsigned char)p[1]) && isdigit((unsigned char)p[2]) &&
	       isdigit((unsigned char)p[3]))
		p += 4;
	return p < end && (isdigit((unsigned char)*p) || *p == ',') ? 0 : (size_t)(p - from);
}

static size_t length_of_real(const char *at, const char *end)
{
	const char *p = at;
	if (p < end && (*p == '-' || *p == '+'))
		p++;
	const char *digits = p;
	while (p < end && isdigit((unsigned char)*p))
		p++;
	p += length_of_thousands(digits, p, end);
	while (p < end && is_number_byte(*p))
		p++;
	if (p > digits && p[-1] == '.' && p - digits > 1 && (p == end || isspace((unsigned char)*p)))
		p--; /* the end of a sentence */
	if (p == digits || !isdigit((unsigned char)digits[*digits == '.' && p - digits > 1]))
		return 0;
	if (p < end && (*p == 'e' || *p == 'E')) {
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
static bool ends_number(const char *p, const char *end)
{
	if (p == end || isspace((unsigned char)*p))
		return true;
	if (*p == ',' || *p == ':')
		return p + 1 == end || !isdigit((unsigned char)p[1]);
	return strchr(";|)]}%", *p) != NULL || (*p == '.' && (p + 1 == end || p[1] == ' ')) ||
		(unsigned char)*p >= 0x80;
}

static size_t take_unit(struct token *token, const char *at, const char *end)
{
	const char *p = at;
	while (p < end && !isspace((unsigned char)*p) && !strchr(",;|)]}", *p))
		p++;
	token->kind = TOKEN_UNIT;
	token->len = (size_t)(p - at);
	return token->len ? token->len : 1;
}

/* As num_parse_real, with commas between thousands. */
static int parse_real(const char *at, size_t len, double *ret)
{
	char plain[64];
	size_t kept = 0;
	if (!memchr(at, ',', len) || len > sizeof(plain))
		return num_parse_real(at, len, ret);
	for (size_t i = 0; i < len; i++)
		if (at[i] != ',')
			plain[kept++] = at[i];
	return num_parse_real(plain, kept, ret);
}

static size_t take_number(struct token *token, const char *at, const char *end)
{
	size_t special = length_of_special(at, end), len = special ? special : length_of_real(at, end), next = len;
	token->at = at;
	token->kind = TOKEN_NUMBER;
	token->of = NAN;
	if (parse_real(at, len, &token->value) < 0)
		return take_unit(token, at, end);
	/* 3/10, and 7/Unknown of Keras */
	size_t slash = next;
	while (!special && at + slash < end && at[slash] == ' ')
		slash++;
	if (!special && at + slash < end && at[slash] == '/') {
		const char *p = at + slash + 1;
		while (p < end && *p == ' ')
			p++;
		size_t of = length_of_real(p, end);
		if (of && parse_real(p, of, &token->of) == 0)
			next = (size_t)(p - at) + of;
	}
	if (!ends_number(at + next, end))
		return take_unit(token, at, end);
	token->len = next;
	const char *p = at + next;
	if (p < end && *p == ' ')
		p++;
	token->percent = p < end && *p == '%';
	return token->percent ? (size_t)(p + 1 - at) : next;
}

static size_t take_word(struct token *token, const char *at, const char *end)
{
	const char *p = at;
	while (p < end && is_name_byte(*p))
		p++;
	size_t whole = (size_t)(p - at), len = whole;
	while (len > 1 && strchr(".-/'", at[len - 1]))
		len--;
	token->kind = TOKEN_WORD;
	token->at = at;
	token->len = len;
	token->word = word_kind_of_name(at, len);
	return whole;
}

static void cut(const char *text, size_t len, struct tokens *tokens)
{
	const char *end = text + len;
	bool apart = true; /* a number may begin here */
	tokens->count = 0;
	tokens->many = false;
	for (const char *p = text; p < end;) {
		if (isspace((unsigned char)*p) || (unsigned char)*p >= 0x80) {
			p++;
			apart = true;
			continue;
		}
		if (tokens->count == PHRASE_TOKENS_MAX) {
			tokens->many = true;
			return;
		}
		struct token *token = &tokens->at[tokens->count++];
		*token = (struct token){.at = p, .of = NAN};
		if (apart && (length_of_special(p, end) || length_of_real(p, end))) {
			p += take_number(token, p, end);
			apart = false;
		} else if (isalpha((unsigned char)*p) || *p == '_') {
			p += take_word(token, p, end);
			apart = false;
		} else {
			token->kind = TOKEN_PUNCT;
			token->punct = *p;
			token->len = 1;
			p++;
			apart = strchr(":=([{,|#>", token->punct) != NULL;
		}
	}
}

static bool is_punct(const struct tokens *t, size_t i, const char *any)
{
	return i < t->count && t->at[i].kind == TOKEN_PUNCT && strchr(any, t->at[i].punct);
}

static bool is_number(const struct tokens *t, size_t i)
{
	return i < t->count && t->at[i].kind == TOKEN_NUMBER;
}

static bool is_word(const struct tokens *t, size_t i, enum word_kind kind)
{
	return i < t->count && t->at[i].kind == TOKEN_WORD && t->at[i].word == kind;
}

bool phrase_is_wrapper(const char *word, size_t len)
{
	static const char *const names[] = {"tensor",     "array",     "float",     "np.float64",    "np.float32",
					    "np.float16", "np.float_", "np.double", "numpy.float64", "numpy.float32"};
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (len == strlen(names[i]) && memcmp(word, names[i], len) == 0)
			return true;
	return false;
}

static bool is_wrapper(const struct token *token)
{
	return token->kind == TOKEN_WORD && phrase_is_wrapper(token->at, token->len);
}

/* Names are compared and kept without the case and the spaces that they happen to have around them; words are joined by
 * one space. */
static void add_word(char *name, const char *word, size_t len)
{
	size_t have = strlen(name);
	if (have + len + 2 > LIMIT_METRIC_NAME_BYTES)
		return;
	if (have)
		name[have++] = ' ';
	memcpy(name + have, word, len);
	name[have + len] = '\0';
}

/* "epoch 001:    450 / 1891 loss=...", "Epoch  1, 450/1891; acc: ...", "| epoch   1 |   200/ 2928 batches |": the place within
 * the epoch. */
static bool read_place(struct tokens *t, size_t i, struct phrase *phrase)
{
	if (!is_punct(t, i, ":,|") || !is_number(t, ++i) || isnan(t->at[i].of) || t->at[i].percent ||
	    !isnan(phrase->at))
		return false;
	if (i + 1 < t->count && t->at[i + 1].len == 7 && memcmp(t->at[i + 1].at, "correct", 7) == 0)
		return false;
	phrase->at = t->at[i].value;
	phrase->of = t->at[i].of;
	t->at[i].used = true;
	return true;
}

/* Counts: "Epoch 3/10", "Epoch: [3][10/100]", "Train Epoch: 1 [640/60000 (1%)]", "step = 100". Returns the number of
 * tokens behind the word, 0 when no number follows. */
static size_t read_count(struct tokens *t, size_t word, struct phrase *phrase)
{
	size_t i = word + 1;
	if (is_punct(t, i, "(") && i + 2 < t->count && is_punct(t, i + 2, ")")) /* Epoch(train) */
		i += 3;
	for (int marks = 0; marks < 3 && is_punct(t, i, ":=#[("); marks++)
		i++;
	if (!is_number(t, i))
		return 0;
	double value = t->at[i].value, of = t->at[i].of;
	bool epoch = t->at[word].word == WORD_EPOCH;
	if (!isfinite(value) || value < 0 || t->at[i].percent)
		return 0;
	if (epoch && isnan(phrase->epoch))
		phrase->epoch = value;
	else if (!epoch && !isnan(phrase->epoch) && !isnan(of) && isnan(phrase->at))
		phrase->at = value, phrase->of = of;
	else if (!epoch && isnan(phrase->step))
		phrase->step = value;
	if (is_punct(t, ++i, "])"))
		i++;
	if (epoch && read_place(t, i, phrase))
		return i - word;
	if (epoch && is_punct(t, i, "[") && is_number(t, i + 1)) {
		if (!isnan(t->at[i + 1].of) && isnan(phrase->at))
			phrase->at = t->at[i + 1].value, phrase->of = t->at[i + 1].of;
		for (i += 2; i < t->count && !is_punct(t, i - 1, "]"); i++)
			;
	}
	return i - word;
}

/* "7epoch results: …" of ESPnet, and "Fold 2". */
static void read_odd_count(struct tokens *t, size_t i, struct phrase *phrase)
{
	struct token *token = &t->at[i];
	if (token->kind == TOKEN_UNIT && isnan(phrase->epoch)) {
		size_t digits = 0;
		double value;
		while (digits < token->len && isdigit((unsigned char)token->at[digits]))
			digits++;
		if (token->len == digits + 5 && strncasecmp(token->at + digits, "epoch", 5) == 0 &&
		    num_parse_real(token->at, digits, &value) == 0)
			phrase->epoch = value;
	} else if (is_word(t, i, WORD_FOLD)) {
		size_t number = i + 1 + is_punct(t, i + 1, ":=#");
		if (!is_number(t, number) || !isnan(phrase->fold))
			return;
		phrase->fold = t->at[number].value;
		for (size_t k = i; k <= number; k++)
			t->at[k].used = true;
	}
}

/* Steps over a group in brackets that begins at i. */
static size_t skip_group(struct tokens *t, size_t i)
{
	size_t from = i;
	if (!is_punct(t, i, "("))
		return i;
	while (i < t->count && !is_punct(t, i, ")"))
		i++;
	if (i == t->count)
		return from;
	for (size_t k = from; k <= i; k++)
		t->at[k].used = true;
	return i + 1;
}

struct reading {
	struct tokens *tokens;
	struct phrase *phrase;
	const struct token *label[2]; /* whose the pairs that follow are: "Test set:" */
	bool weak; /* the label was part of a name: it goes no further than the next bar */
	bool closed; /* what follows is of an earlier epoch: "loss 0.5, best 0.4" */
	bool averages; /* the end of an evaluation: averages stand behind its numbers, "Acc@1: 0.39 (0.31)" */
};

bool phrase_is_metric(const char *name, size_t len)
{
	return word_kind_of_name(name, len) == WORD_METRIC;
}

static void add_pair(struct reading *r, size_t first, size_t last, const struct token *number)
{
	struct phrase *phrase = r->phrase;
	struct token *at = r->tokens->at;
	char name[LIMIT_METRIC_NAME_BYTES + 1] = "";
	bool has_part = false;
	double value = number->value;

	enum word_kind whole = word_kind_of_name(at[first].at, (size_t)(at[last].at + at[last].len - at[first].at));
	bool metric = whole == WORD_METRIC;
	for (size_t i = first; i <= last; i++)
		has_part |= at[i].word == WORD_PART;
	for (size_t i = 0; i < 2 && !has_part && at[last].word != WORD_NOISE && (metric || !r->weak); i++)
		if (r->label[i])
			add_word(name, r->label[i]->at, r->label[i]->len);
	for (size_t i = first; i <= last; i++)
		add_word(name, at[i].at, at[i].len);
	if (r->closed || at[last].word == WORD_NEVER || whole == WORD_NEVER ||
	    (at[last].word != WORD_METRIC && memchr(at[last].at, '.', at[last].len)))
		return;
	if (!isnan(number->of)) { /* Accuracy: 9876/10000; anything else of that form counts */
		if (!strcasestr(name, "acc") || !(number->of > 0))
			return;
		value /= number->of;
	}
	for (size_t i = 0; i < phrase->count; i++)
		if (strcmp(phrase->pairs[i].name, name) == 0)
			return;
	if (phrase->count == PHRASE_PAIRS_MAX || !*name)
		return;
	struct phrase_pair *pair = &phrase->pairs[phrase->count++];
	memcpy(pair->name, name, sizeof(name));
	pair->value = value;
	phrase->metric |= metric;
	if (metric && at[first].word == WORD_PART && first < last) { /* "train Loss: 0.5 Acc: 0.9" */
		r->label[0] = &at[first];
		r->label[1] = NULL;
		r->weak = true;
	}
}

static bool is_name_word(const struct token *token, bool explicit)
{
	if (token->kind != TOKEN_WORD || token->used)
		return false;
	if (explicit)
		return token->word != WORD_EPOCH && token->word != WORD_BAD;
	return token->word == WORD_METRIC || token->word == WORD_VAGUE || token->word == WORD_PART ||
		token->word == WORD_ADJECTIVE;
}

/* The pair that ends in the number at i, if there is one. */
static void read_pair(struct reading *r, size_t i)
{
	struct tokens *t = r->tokens;
	size_t end = i; /* the name ends before this */
	const struct token *number = &t->at[i];
	bool explicit = false, metric = false;

	if (end >= 2 && is_punct(t, end - 1, "(") && is_wrapper(&t->at[end - 2])) {
		t->at[end - 2].used = true;
		end -= 2;
	}
	if (end >= 2 && is_punct(t, end - 1, "[") && is_punct(t, i + 1, "]") && is_punct(t, end - 2, ":="))
		end--; /* episodic_return=[21.] */
	if (end && is_punct(t, end - 1, ":=")) {
		explicit = true;
		end--;
	} else if (end && is_word(t, end - 1, WORD_LINK)) {
		t->at[end - 1].used = true;
		end--;
	}
	size_t first = end;
	while (first && end - first < PHRASE_NAME_WORDS_MAX && is_name_word(&t->at[first - 1], explicit))
		metric |= t->at[--first].word == WORD_METRIC;
	/* Of a sentence only the words that make up a name count. */
	if (explicit && first && is_name_word(&t->at[first - 1], true))
		for (first = end; first && is_name_word(&t->at[first - 1], false);)
			first--;
	if (first == end)
		return;
	if (!explicit && !metric &&
	    !phrase_is_metric(t->at[first].at, (size_t)(t->at[end - 1].at + t->at[end - 1].len - t->at[first].at)))
		return;
	for (size_t k = first; k < end; k++)
		t->at[k].used = true;
	add_pair(r, first, end - 1, number);
}

/* "Train: 3 [ 50/1251 (4%)] ...": the epoch and the place in it (timm). "Test: [ 10/196] ...": an evaluation on its way.
 * Returns how many tokens that is. */
static size_t read_part_place(struct reading *r, size_t part)
{
	struct tokens *t = r->tokens;
	struct phrase *phrase = r->phrase;
	size_t i = part + 1 + is_punct(t, part + 1, ":");
	bool counted = is_number(t, i) && isnan(t->at[i].of) && t->at[i].value >= 0;
	size_t open = i + counted;
	if (!isnan(phrase->epoch) || !is_punct(t, open, "[") || !is_number(t, open + 1) || isnan(t->at[open + 1].of))
		return 0;
	double at = t->at[open + 1].value, of = t->at[open + 1].of;
	if (counted) {
		phrase->epoch = t->at[i].value;
		phrase->at = at;
		phrase->of = of;
	} else if (strncasecmp(t->at[part].at, "tr", 2) == 0) {
		return 0;
	} else {
		phrase->partial = at < of - 1;
		r->averages = !phrase->partial;
	}
	for (i = open + 1; i < t->count && !is_punct(t, i - 1, "]"); i++)
		;
	return i - part;
}

/* "Test set: Average loss: 0.5", "[val] loss 0.5", "train | loss 0.5", "Training Results - Epoch: 1": whose what follows
 * is. */
static void read_label(struct reading *r, size_t i)
{
	struct tokens *t = r->tokens;
	size_t next = i + 1;
	if (!is_word(t, i, WORD_PART) || t->at[i].used)
		return;
	bool two = is_word(t, next, WORD_PART);
	next += two;
	size_t place = two ? 0 : read_part_place(r, i);
	while (!place && is_word(t, next, WORD_NOISE))
		next++;
	bool counts = is_word(t, next, WORD_EPOCH) || is_word(t, next, WORD_STEP);
	bool closes = is_punct(t, next, ":|]-)") && !is_number(t, next + 1) && next + 1 < t->count;
	if (!counts && !closes && !place)
		return;
	r->label[0] = &t->at[i];
	r->label[1] = two ? &t->at[i + 1] : NULL;
	r->weak = false;
	for (size_t k = i; k < i + (place ? place : 1u + two); k++)
		t->at[k].used = true;
}

static void add_plain(struct phrase *phrase, const char *name, double value)
{
	struct phrase_pair *pair = &phrase->pairs[phrase->count++];
	snprintf(pair->name, sizeof(pair->name), "%s", name);
	pair->value = value;
}

/* "1813: 1.10, 1.20 avg loss, 0.001 rate, …": the loss and its average stand before their names. */
static bool is_darknet(const struct tokens *t)
{
	return is_number(t, 0) && is_punct(t, 1, ":") && is_number(t, 2) && is_punct(t, 3, ",") && is_number(t, 4) &&
		t->count > 6 && t->at[5].len == 3 && memcmp(t->at[5].at, "avg", 3) == 0 && is_word(t, 6, WORD_METRIC);
}

/* "[12] …", "[1, 2000] …", "6/6 …", "0: learn: …" */
static size_t read_beginning(struct tokens *t, struct phrase *phrase)
{
	if (is_number(t, 0) && !isnan(t->at[0].of)) {
		phrase->begins_of = t->at[0].value == t->at[0].of ? 1 : 0;
		return 1;
	}
	if (is_number(t, 0) && is_punct(t, 1, ":") && t->count > 2 && t->at[2].kind == TOKEN_WORD &&
	    t->at[2].len == 5 && memcmp(t->at[2].at, "learn", 5) == 0) { /* CatBoost */
		phrase->step = t->at[0].value;
		phrase->metric = true;
		return 2;
	}
	if (is_number(t, 0) && is_punct(t, 1, "|") && (is_word(t, 2, WORD_METRIC) || is_word(t, 2, WORD_PART))) {
		phrase->step = t->at[0].value; /* 420 | loss 4.06 | lr 9e-04 */
		return 2;
	}
	if (is_darknet(t)) {
		phrase->step = t->at[0].value;
		phrase->metric = true;
		add_plain(phrase, "loss", t->at[2].value);
		add_plain(phrase, "avg loss", t->at[4].value);
		return t->count;
	}
	if (!is_punct(t, 0, "[") || !is_number(t, 1))
		return 0;
	if (is_punct(t, 2, "]")) {
		if (isnan(t->at[1].of))
			phrase->begins = t->at[1].value;
		else
			phrase->step = t->at[1].value;
		return 3;
	}
	if (is_punct(t, 2, ",") && is_number(t, 3) && is_punct(t, 4, "]")) {
		phrase->epoch = t->at[1].value;
		return 5;
	}
	return 0;
}

void phrase_clear(struct phrase *phrase)
{
	phrase->epoch = phrase->step = phrase->at = phrase->of = phrase->begins = phrase->begins_of = phrase->fold =
		NAN;
	phrase->metric = phrase->alone = phrase->best = phrase->partial = false;
	phrase->count = 0;
}

static bool is_leftover(const struct token *token)
{
	return token->kind == TOKEN_WORD && !token->used && token->word != WORD_NOISE && token->word != WORD_PART &&
		token->word != WORD_NEVER && !is_wrapper(token) &&
		!(token->word == WORD_OTHER && memchr(token->at, '.', token->len)); /* train.py, package.module */
}

bool phrase_read(const char *text, size_t len, struct phrase *ret)
{
	struct tokens tokens;
	struct reading r = {.tokens = &tokens, .phrase = ret};
	bool bad = false;

	phrase_clear(ret);
	cut(text, len, &tokens);
	if (tokens.many)
		return false;
	size_t i = read_beginning(&tokens, ret);
	for (size_t k = 0; k < i; k++)
		tokens.at[k].used = true;
	while (i < tokens.count) {
		struct token *token = &tokens.at[i];
		bad |= is_word(&tokens, i, WORD_BAD);
		if (is_word(&tokens, i, WORD_BEST)) {
			ret->best |= !ret->metric;
			r.closed |= ret->metric;
		}
		read_odd_count(&tokens, i, ret);
		if (is_word(&tokens, i, WORD_EPOCH) || is_word(&tokens, i, WORD_STEP)) {
			size_t taken = read_count(&tokens, i, ret);
			for (size_t k = i; k < i + taken; k++)
				tokens.at[k].used = true;
			i += taken ? taken : 1;
			continue;
		}
		if (r.weak && is_punct(&tokens, i, "|;"))
			r.label[0] = r.label[1] = NULL;
		read_label(&r, i);
		if (token->kind == TOKEN_NUMBER && !token->used) {
			size_t before = ret->count;
			read_pair(&r, i);
			if (r.averages && ret->count > before && is_punct(&tokens, i + 1, "(") &&
			    is_number(&tokens, i + 2))
				ret->pairs[before].value = tokens.at[i + 2].value;
			i = skip_group(&tokens, i + 1);
			if (is_word(&tokens, i, WORD_NEVER) && memchr(tokens.at[i].at, '/', tokens.at[i].len))
				tokens.at[i].used = true; /* 581.56 samples/sec */
			continue;
		}
		i++;
	}
	ret->alone = true;
	for (size_t k = 0; k < tokens.count; k++)
		ret->alone &= !is_leftover(&tokens.at[k]);
	return !bad &&
		(ret->count || !isnan(ret->fold) || !isnan(ret->epoch) || !isnan(ret->step) || !isnan(ret->begins));
}
