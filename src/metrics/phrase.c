/* See phrase.h. A line becomes tokens, and the tokens are looked at from left to right; nothing goes back further than the
 * name before a number, so the work grows with the line and no more. */
#include "metrics/phrase.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"
#include "metrics/phrase_count.h"
#include "metrics/tokens.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

#define PHRASE_NAME_WORDS_MAX 4

bool phrase_is_wrapper(const char *word, size_t len)
{
	static const char *const names[] = {"tensor",     "array",       "float",     "np.float64",    "np.float32",
					    "np.float16", "np.float_",   "np.double", "numpy.float64", "numpy.float32",
					    "Array",      "DeviceArray", "tf.Tensor"};
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (len == strlen(names[i]) && memcmp(word, names[i], len) == 0)
			return true;
	return false;
}

static bool phrase_wraps(const struct token *token)
{
	return token->kind == TOKEN_WORD && phrase_is_wrapper(token->at, token->len);
}

/* Names are compared and kept without the case and the spaces that they happen to have around them; words are joined by
 * one space. */
static void phrase_add_word(char *name, const char *word, size_t len)
{
	size_t have = strlen(name);
	if (have + len + 2 > LIMIT_METRIC_NAME_BYTES)
		return;
	if (have)
		name[have++] = ' ';
	memcpy(name + have, word, len);
	name[have + len] = '\0';
}

/* Steps over a group in brackets that begins at i. */
static size_t phrase_skip_group(struct tokens *t, size_t i)
{
	size_t from = i;
	if (!phrase_is_punct(t, i, "("))
		return i;
	while (i < t->count && !phrase_is_punct(t, i, ")"))
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
	bool followed; /* a name without a part of its own has got the weak label */
	bool each; /* "train acc 0.9, val acc 0.8, loss 0.5": every name has its own part, or none */
	bool closed; /* what follows is of an earlier epoch: "loss 0.5, best 0.4" */
	const struct token *remark; /* part of the name that the next number has: "Recall (macro): 0.5"; NULL: none */
	bool averages; /* the end of an evaluation: averages stand behind its numbers, "Acc@1: 0.39 (0.31)" */
};

bool phrase_is_metric(const char *name, size_t len)
{
	return word_kind_of_name(name, len) == WORD_METRIC;
}

/* "Epoch: 003, Train: 0.91, Val: 0.82": the score on a part of the data, without a name of its own. A number with a unit
 * behind it is a time. */
static bool phrase_is_score(const struct reading *r, const struct token *name, const struct token *number)
{
	const struct token *next = number + 1, *end = r->tokens->at + r->tokens->count;
	return name->word == WORD_PART && !isnan(r->phrase->epoch) && memchr(number->at, '.', number->len) &&
		(next == end || next->kind == TOKEN_PUNCT || next->word == WORD_PART);
}

/* "Training: ... train_loss=0.5, val_loss=0.6": these names have a part of their own. */
static bool phrase_begins_with_part(const struct token *token)
{
	size_t len = 0;
	while (len < token->len && isalpha((unsigned char)token->at[len]))
		len++;
	return token->word == WORD_METRIC && len < token->len && strchr("_-/.", token->at[len]) &&
		word_kind_of(token->at, len) == WORD_PART;
}

static void phrase_add_pair(struct reading *r, size_t first, size_t last, const struct token *number)
{
	struct phrase *phrase = r->phrase;
	struct token *at = r->tokens->at;
	char name[LIMIT_METRIC_NAME_BYTES + 1] = "";
	bool has_part = false;
	double value = number->value;

	enum word_kind whole = word_kind_with(phrase->names, at[first].at,
					      (size_t)(at[last].at + at[last].len - at[first].at));
	bool metric = whole == WORD_METRIC || (first == last && phrase_is_score(r, &at[first], number));
	for (size_t i = first; i <= last; i++)
		has_part |= at[i].word == WORD_PART || phrase_begins_with_part(&at[i]);
	for (size_t i = 0; i < 2 && !has_part && at[last].word != WORD_NOISE && (metric || !r->weak); i++) {
		if (!r->label[i])
			continue;
		phrase_add_word(name, r->label[i]->at, r->label[i]->len);
		r->followed = true;
	}
	for (size_t i = first; i <= last; i++)
		phrase_add_word(name, at[i].at, at[i].len);
	/* "loss (val): 0.5": the remark is the label, and stands in front */
	if (r->remark && (has_part || (r->remark != r->label[0] && r->remark != r->label[1]))) {
		phrase_add_word(name, r->remark->at, r->remark->len);
		metric |= word_kind_with(phrase->names, name, strlen(name)) == WORD_METRIC;
	}
	if (r->closed || at[last].word == WORD_NEVER || at[last].word == WORD_RUN || whole == WORD_NEVER ||
	    (at[last].word != WORD_METRIC && memchr(at[last].at, '.', at[last].len)))
		return;
	if (!isnan(number->of)) { /* Accuracy: 9876/10000; anything else of that form counts */
		/* train/val acc: 0.91/0.89 are two values */
		if (!strcasestr(name, "acc") || !(number->of > 0) || value > number->of ||
		    memchr(number->at, '.', number->len))
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
	phrase->comma |= number->comma;
	phrase->thousands |= number->thousands;
	if (metric && at[first].word == WORD_PART && first < last) { /* "train Loss: 0.5 Acc: 0.9" */
		r->each |= r->weak && r->label[0] && !r->followed;
		r->label[0] = r->each ? NULL : &at[first];
		r->label[1] = NULL;
		r->weak = true;
		r->followed = false;
	}
}

static bool phrase_is_name_word(const struct token *token, bool explicit)
{
	if (token->kind != TOKEN_WORD || token->used)
		return false;
	if (explicit)
		return token->word != WORD_EPOCH && token->word != WORD_BAD;
	return token->word == WORD_METRIC || token->word == WORD_VAGUE || token->word == WORD_PART ||
		token->word == WORD_ADJECTIVE;
}

/* "loss: 1.2k" is a number, though a rounded one. */
static bool phrase_read_shortened(struct tokens *t, size_t i)
{
	static const struct {
		const char *letters;
		double times;
	} sizes[] = {{"kK", 1e3}, {"M", 1e6}, {"B", 1e9}};
	struct token *unit = &t->at[i];
	size_t name = i && phrase_is_punct(t, i - 1, ":=") ? i - 1 : i;
	if (unit->kind != TOKEN_UNIT || unit->len < 2 || !name || !phrase_is_word(t, name - 1, WORD_METRIC) ||
	    !strchr("kKMB", unit->at[unit->len - 1]))
		return false;
	for (size_t k = 0; k + 1 < unit->len; k++)
		if (!isdigit((unsigned char)unit->at[k]) && unit->at[k] != '.' && unit->at[k] != '-')
			return false;
	if (num_parse_real(unit->at, unit->len - 1, &unit->value) < 0)
		return false;
	for (size_t k = 0; k < COUNT_OF(sizes); k++)
		if (strchr(sizes[k].letters, unit->at[unit->len - 1]))
			unit->value *= sizes[k].times;
	unit->kind = TOKEN_NUMBER;
	return true;
}

/* "root:88 - epoch 3 ...": what a logger prints of the line of code; words first to end, the number at i. */
static bool phrase_is_place(const struct tokens *t, size_t first, size_t end, size_t i)
{
	const struct token *name = &t->at[end - 1], *number = &t->at[i];
	return end - first == 1 && i == end + 1 && phrase_is_punct(t, end, ":") &&
		name->at + name->len + 1 == number->at && !memchr(number->at, '.', number->len) &&
		phrase_is_punct(t, i + 1, "-]");
}

/* "Epoch 1 completed. Average loss: 0.5" */
static bool phrase_ends_sentence(const struct tokens *t, size_t i)
{
	const struct token *word = &t->at[i];
	return i + 1 < t->count && word->at[word->len] == '.' && word[1].at > word->at + word->len + 1;
}

/* "(overall)", "(%)": a remark that says nothing more of the name before it. */
static bool phrase_is_empty_remark(const struct token *token)
{
	static const char *const words[] = {"overall", "avg", "average", "mean", "%"};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (token->len == strlen(words[i]) && strncasecmp(token->at, words[i], token->len) == 0)
			return true;
	return false;
}

/* Between a name and its colon may stand a remark in brackets, or the count: "Accuracy (overall): 98%", "Recall (macro): 0.5",
 * "Loss after epoch 3: 0.5". Returns the end of the name. */
static size_t phrase_skip_between(struct reading *r, size_t end)
{
	static const char *const links[] = {"after", "at", "for", "in", "on", "of"};
	struct tokens *t = r->tokens;
	if (end > 3 && phrase_is_punct(t, end - 1, ")") && phrase_is_punct(t, end - 3, "(") &&
	    t->at[end - 4].at + t->at[end - 4].len < t->at[end - 3].at && /* D(x) is a name */
	    (t->at[end - 2].kind == TOKEN_WORD || phrase_is_punct(t, end - 2, "%"))) {
		struct token *remark = &t->at[end - 2];
		r->remark = phrase_is_empty_remark(remark) ? NULL : remark;
		for (size_t i = end - 3; i < end; i++)
			t->at[i].used = true;
		return end - 3;
	}
	bool counted = end > 3 && phrase_is_number(t, end - 1) && t->at[end - 1].used &&
		(phrase_is_word(t, end - 2, WORD_EPOCH) || phrase_is_word(t, end - 2, WORD_STEP));
	const struct token *link = counted ? &t->at[end - 3] : NULL;
	for (size_t i = 0; link && link->kind == TOKEN_WORD && i < COUNT_OF(links); i++)
		if (link->len == strlen(links[i]) && strncasecmp(link->at, links[i], link->len) == 0) {
			t->at[end - 3].used = true;
			return end - 3;
		}
	return end;
}

/* "Accuracy of the network on the 10000 test images: 54 %": the name that the line begins with. The tokens up to the colon
 * at `end` are used then. */
static bool phrase_read_long_name(struct reading *r, size_t end, size_t number)
{
	struct tokens *t = r->tokens;
	size_t last = 0;
	while (last < end && phrase_is_name_word(&t->at[last], false) && t->at[last].word != WORD_METRIC)
		last++;
	if (last + 2 > end || number + 1 != t->count || !phrase_is_word(t, last, WORD_METRIC) ||
	    !phrase_is_word(t, last + 1, WORD_LINK))
		return false;
	for (size_t i = 0; i < end; i++)
		if (t->at[i].used || (t->at[i].kind != TOKEN_WORD && t->at[i].kind != TOKEN_NUMBER))
			return false;
	for (size_t i = 0; i < end; i++)
		t->at[i].used = true;
	phrase_add_pair(r, 0, last, &t->at[number]);
	return true;
}

/* tensor(0.5, shape=(), dtype=float32): what stands behind the number, up to the bracket that closes. */
static void phrase_use_rest(struct tokens *t, size_t from)
{
	size_t end = from;
	int depth = 1;
	for (; end < t->count && depth; end++)
		depth += phrase_is_punct(t, end, "(") - phrase_is_punct(t, end, ")");
	for (size_t i = from; !depth && i < end; i++)
		t->at[i].used = true;
}

/* The pair that ends in the number at i, if there is one. */
static void phrase_read_pair(struct reading *r, size_t i)
{
	struct tokens *t = r->tokens;
	size_t end = i; /* the name ends before this */
	const struct token *number = &t->at[i];
	bool explicit = false, metric = false;

	size_t list = phrase_is_punct(t, i + 1, "]") && end && phrase_is_punct(t, end - 1, "["); /* tensor([0.5]) */
	if (end >= 2 + list && phrase_is_punct(t, end - 1 - list, "(") && phrase_wraps(&t->at[end - 2 - list])) {
		end -= 2 + list;
		t->at[end].used = true;
		phrase_use_rest(t, i + 1);
	}
	bool wrapped = (end && phrase_is_punct(t, end - 1, "[") && phrase_is_punct(t, i + 1, "]")) ||
		(end && phrase_is_punct(t, end - 1, "(") && phrase_is_punct(t, i + 1, ")"));
	if (end >= 2 && wrapped && phrase_is_punct(t, end - 2, ":="))
		end--; /* episodic_return=[21.], acc: (0.9) */
	if (end && phrase_is_punct(t, end - 1, ":=")) {
		explicit = true;
		end--;
	} else if (end && phrase_is_word(t, end - 1, WORD_LINK)) {
		t->at[end - 1].used = true;
		end--;
	}
	r->remark = NULL;
	if (explicit)
		end = phrase_skip_between(r, end);
	size_t first = end;
	while (first && end - first < PHRASE_NAME_WORDS_MAX && phrase_is_name_word(&t->at[first - 1], explicit) &&
	       (first == end || !phrase_ends_sentence(t, first - 1)))
		metric |= t->at[--first].word == WORD_METRIC;
	/* Of a sentence only the words that make up a name count. */
	if (explicit && first && phrase_is_name_word(&t->at[first - 1], true))
		for (first = end; first && phrase_is_name_word(&t->at[first - 1], false);)
			first--;
	if (explicit && !metric && phrase_read_long_name(r, end, i))
		return;
	if (first == end || (!metric && phrase_is_place(t, first, end, i)))
		return;
	if (!explicit && !metric &&
	    !phrase_is_metric(t->at[first].at, (size_t)(t->at[end - 1].at + t->at[end - 1].len - t->at[first].at)))
		return;
	for (size_t k = first; k < end; k++)
		t->at[k].used = true;
	phrase_add_pair(r, first, end - 1, number);
}

/* "Train: 3 [ 50/1251 (4%)] ...": the epoch and the place in it (timm). "Test: [ 10/196] ...": an evaluation on its way.
 * Returns how many tokens that is. */
static size_t phrase_read_part_place(struct reading *r, size_t part)
{
	struct tokens *t = r->tokens;
	struct phrase *phrase = r->phrase;
	size_t i = part + 1 + phrase_is_punct(t, part + 1, ":");
	bool counted = phrase_is_number(t, i) && isnan(t->at[i].of) && t->at[i].value >= 0;
	size_t open = i + counted;
	if (!isnan(phrase->epoch) || !phrase_is_punct(t, open, "[") || !phrase_is_number(t, open + 1) ||
	    isnan(t->at[open + 1].of))
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
	for (i = open + 1; i < t->count && !phrase_is_punct(t, i - 1, "]"); i++)
		;
	return i - part;
}

/* "Test set: Average loss: 0.5", "[val] loss 0.5", "train | loss 0.5", "Training Results - Epoch: 1": whose what follows
 * is. */
static void phrase_read_label(struct reading *r, size_t i)
{
	struct tokens *t = r->tokens;
	size_t next = i + 1;
	if (!phrase_is_word(t, i, WORD_PART) || t->at[i].used)
		return;
	bool two = phrase_is_word(t, next, WORD_PART);
	next += two;
	size_t place = two ? 0 : phrase_read_part_place(r, i);
	while (!place && phrase_is_word(t, next, WORD_NOISE))
		next++;
	bool counts = phrase_is_word(t, next, WORD_EPOCH) || phrase_is_word(t, next, WORD_STEP);
	bool closes = phrase_is_punct(t, next, ":|]-)") && !phrase_is_number(t, next + 1) && next + 1 < t->count;
	if (!counts && !closes && !place)
		return;
	r->label[0] = &t->at[i];
	r->label[1] = two ? &t->at[i + 1] : NULL;
	r->weak = false;
	for (size_t k = i; k < i + (place ? place : 1u + two); k++)
		t->at[k].used = true;
}

void phrase_clear(struct phrase *phrase)
{
	phrase->epoch = phrase->epochs = phrase->step = phrase->at = phrase->of = phrase->begins = phrase->begins_of =
		phrase->fold = phrase->rank = phrase->run.number = NAN;
	phrase->place = phrase->whole = NAN;
	memset(phrase->part, 0, sizeof(phrase->part));
	phrase->message = NULL;
	phrase->message_len = 0;
	phrase->metric = phrase->alone = phrase->best = phrase->partial = false;
	phrase->comma = phrase->thousands = phrase->shortened = phrase->many = phrase->spaced = phrase->left = false;
	phrase->count = 0;
}

static bool phrase_is_leftover(const struct token *token)
{
	return token->kind == TOKEN_WORD && !token->used && token->word != WORD_NOISE && token->word != WORD_PART &&
		token->word != WORD_NEVER && !phrase_wraps(token) &&
		!(token->word == WORD_OTHER && memchr(token->at, '.', token->len)); /* train.py, package.module */
}

/* "loss: 0.5 nats acc: 0.9", "loss=None acc=0.9": the unit of a number, and what stands for none, are no part of the next
 * name. */
static void phrase_pass_word(struct tokens *t, size_t i)
{
	static const char *const units[] = {"nats", "nat", "bits", "bit", "bpd", "dB"},
				 *const none[] = {"None", "null", "NA"};
	struct token *token = &t->at[i];
	if (token->kind != TOKEN_WORD || !i || token->used)
		return;
	for (size_t k = 0; phrase_is_number(t, i - 1) && k < COUNT_OF(units); k++)
		token->used |= token->len == strlen(units[k]) && memcmp(token->at, units[k], token->len) == 0;
	for (size_t k = 0; phrase_is_punct(t, i - 1, ":=") && k < COUNT_OF(none); k++)
		token->used |= token->len == strlen(none[k]) && memcmp(token->at, none[k], token->len) == 0;
}

/* "1 234.5": the number at i and the next one may be one number. */
static bool phrase_is_spaced(const struct tokens *t, size_t i)
{
	const struct token *number = &t->at[i], *next = number + 1;
	size_t digits = 0;
	if (!phrase_is_number(t, i + 1) || number->len > 3 || next->at != number->at + number->len + 1)
		return false;
	for (size_t k = 0; k < number->len; k++)
		if (!isdigit((unsigned char)number->at[k]) || *number->at == '0')
			return false;
	while (digits < next->len && isdigit((unsigned char)next->at[digits]))
		digits++;
	return digits == 3;
}

/* "epoch 3 loss 0.5 (val)": whose the numbers are stands at the end of the line. */
static void phrase_read_end(const struct reading *r)
{
	const struct tokens *t = r->tokens;
	size_t at = t->count;
	if (at < 4 || r->label[0] || !phrase_is_punct(t, at - 1, ")]") || !phrase_is_punct(t, at - 3, "([") ||
	    !phrase_is_word(t, at - 2, WORD_PART) || t->at[at - 2].len >= sizeof(r->phrase->part))
		return;
	for (size_t i = 0; i + 3 < at; i++)
		if (phrase_is_word(t, i, WORD_PART))
			return;
	memcpy(r->phrase->part, t->at[at - 2].at, t->at[at - 2].len); /* clear behind it */
}

bool phrase_read(const char *text, size_t len, struct phrase *ret)
{
	struct tokens tokens;
	struct reading r = {.tokens = &tokens, .phrase = ret};
	bool bad = false;

	phrase_clear(ret);
	tokens_cut(text, len, ret->names, &tokens);
	if (tokens.many)
		return false;
	size_t i = phrase_read_beginning(&tokens, ret);
	for (size_t k = 0; k < i; k++)
		tokens.at[k].used = true;
	while (i < tokens.count) {
		struct token *token = &tokens.at[i];
		bad |= phrase_is_word(&tokens, i, WORD_BAD);
		phrase_pass_word(&tokens, i);
		ret->shortened |= phrase_read_shortened(&tokens, i);
		ret->left |= token->kind == TOKEN_UNIT && i && !token->used &&
			phrase_is_word(&tokens, i - 1 - (i > 1 && phrase_is_punct(&tokens, i - 1, ":=")), WORD_METRIC);
		if (phrase_is_word(&tokens, i, WORD_BEST)) {
			ret->best |= !ret->metric;
			r.closed |= ret->metric;
		}
		phrase_read_odd_count(&tokens, i, ret);
		phrase_read_rank(&tokens, i, ret);
		phrase_read_run(&tokens, i, ret);
		if (phrase_is_word(&tokens, i, WORD_EPOCH) || phrase_is_word(&tokens, i, WORD_STEP) ||
		    phrase_is_plural(&tokens, i)) {
			size_t taken = phrase_read_count(&tokens, i, ret);
			for (size_t k = i; k < i + taken; k++)
				tokens.at[k].used = true;
			i += taken ? taken : 1;
			continue;
		}
		if (r.weak && phrase_is_punct(&tokens, i, "|;"))
			r.label[0] = r.label[1] = NULL;
		phrase_read_label(&r, i);
		if (token->kind == TOKEN_NUMBER && !token->used) {
			size_t before = ret->count;
			phrase_read_pair(&r, i);
			if (ret->count > before && phrase_is_spaced(&tokens, i)) {
				ret->count = before;
				ret->spaced = true;
				tokens.at[i + 1].used = true;
			}
			if (r.averages && ret->count > before && phrase_is_punct(&tokens, i + 1, "(") &&
			    phrase_is_number(&tokens, i + 2))
				ret->pairs[before].value = tokens.at[i + 2].value;
			i = phrase_skip_group(&tokens, i + 1);
			if (phrase_is_word(&tokens, i, WORD_NEVER) && memchr(tokens.at[i].at, '/', tokens.at[i].len))
				tokens.at[i].used = true; /* 581.56 samples/sec */
			continue;
		}
		i++;
	}
	phrase_read_end(&r);
	phrase_read_last_place(&tokens, ret);
	ret->alone = true;
	for (size_t k = 0; k < tokens.count; k++)
		ret->alone &= !phrase_is_leftover(&tokens.at[k]);
	return !bad &&
		(ret->count || !isnan(ret->fold) || !isnan(ret->run.number) || !isnan(ret->epoch) ||
		 !isnan(ret->step) || !isnan(ret->begins));
}
