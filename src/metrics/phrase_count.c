/* See phrase_count.h. */
#include "metrics/phrase_count.h"

#include "base/num.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

/* "epoch 001:    450 / 1891 loss=...", "Epoch  1, 450/1891; acc: ...", "| epoch   1 |   200/ 2928 batches |": the place within
 * the epoch. */
static bool phrase_read_place(struct tokens *t, size_t i, struct phrase *phrase)
{
	if (!phrase_is_punct(t, i, ":,|") || !phrase_is_number(t, ++i) || isnan(t->at[i].of) || t->at[i].percent ||
	    !isnan(phrase->at))
		return false;
	if (i + 1 < t->count && t->at[i + 1].len == 7 && memcmp(t->at[i + 1].at, "correct", 7) == 0)
		return false;
	phrase->at = t->at[i].value;
	phrase->of = t->at[i].of;
	t->at[i].used = true;
	return true;
}

bool phrase_is_plural(const struct tokens *t, size_t i)
{
	const struct token *word = &t->at[i];
	return word->kind == TOKEN_WORD && word->len == 6 && strncasecmp(word->at, "epochs", 6) == 0 &&
		phrase_is_number(t, i + 1) && !isnan(t->at[i + 1].of);
}

size_t phrase_read_count(struct tokens *t, size_t word, struct phrase *phrase)
{
	size_t i = word + 1;
	if (phrase_is_punct(t, i, "(") && i + 2 < t->count && phrase_is_punct(t, i + 2, ")")) /* Epoch(train) */
		i += 3;
	for (int marks = 0; marks < 3 && phrase_is_punct(t, i, ":=#[("); marks++)
		i++;
	if (!phrase_is_number(t, i))
		return 0;
	double value = t->at[i].value, of = t->at[i].of;
	bool epoch = t->at[word].word != WORD_STEP;
	if (!isfinite(value) || value < 0 || t->at[i].percent || t->at[i].comma)
		return 0;
	if (epoch && isnan(phrase->epoch))
		phrase->epoch = value, phrase->epochs = of;
	else if (!epoch && !isnan(phrase->epoch) && !isnan(of) && isnan(phrase->at))
		phrase->at = value, phrase->of = of;
	else if (!epoch && isnan(phrase->step))
		phrase->step = value;
	if (phrase_is_punct(t, ++i, "])"))
		i++;
	if (epoch && phrase_read_place(t, i, phrase))
		return i - word;
	if (epoch && phrase_is_punct(t, i, "[") && phrase_is_number(t, i + 1)) {
		if (!isnan(t->at[i + 1].of) && isnan(phrase->at))
			phrase->at = t->at[i + 1].value, phrase->of = t->at[i + 1].of;
		for (i += 2; i < t->count && !phrase_is_punct(t, i - 1, "]"); i++)
			;
	}
	return i - word;
}

void phrase_read_rank(struct tokens *t, size_t i, struct phrase *phrase)
{
	static const char *const words[] = {"rank", "default"};
	const struct token *token = &t->at[i];
	if (token->kind != TOKEN_WORD || !strchr("rRdD", *token->at))
		return;
	for (size_t k = 0; k < COUNT_OF(words); k++) {
		size_t len = strlen(words[k]), number = i + 1 + phrase_is_punct(t, i + 1, ":=#");
		bool named = token->len >= len && strncasecmp(token->at, words[k], len) == 0;
		double value = NAN;
		if (named && token->len == len && k == 0 && phrase_is_number(t, number))
			value = t->at[number].value;
		else if (!named || token->len == len || num_parse_real(token->at + len, token->len - len, &value) < 0)
			continue;
		phrase->rank = isnan(phrase->rank) ? value : phrase->rank;
		for (size_t used = i; used <= (token->len == len ? number : i); used++)
			t->at[used].used = true;
	}
}

void phrase_read_run(struct tokens *t, size_t i, struct phrase *phrase)
{
	const struct token *token = &t->at[i];
	size_t number = i + 1 + phrase_is_punct(t, i + 1, ":=#");
	if (!phrase_is_word(t, i, WORD_RUN) || !isnan(phrase->run.number) || !phrase_is_number(t, number) ||
	    t->at[number].value < 0 || t->at[number].value != floor(t->at[number].value))
		return;
	phrase->run.number = t->at[number].value;
	snprintf(phrase->run.word, sizeof(phrase->run.word), "%.*s", (int)token->len, token->at);
	for (char *c = phrase->run.word; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	for (size_t used = i; used <= number; used++)
		t->at[used].used = true;
}

void phrase_read_odd_count(struct tokens *t, size_t i, struct phrase *phrase)
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
	} else if (phrase_is_word(t, i, WORD_FOLD)) {
		size_t number = i + 1 + phrase_is_punct(t, i + 1, ":=#");
		if (!phrase_is_number(t, number) || !isnan(phrase->fold))
			return;
		phrase->fold = t->at[number].value;
		for (size_t k = i; k <= number; k++)
			t->at[k].used = true;
	}
}

static void phrase_add_plain(struct phrase *phrase, const char *name, double value)
{
	struct phrase_pair *pair = &phrase->pairs[phrase->count++];
	snprintf(pair->name, sizeof(pair->name), "%s", name);
	pair->value = value;
}

/* "1813: 1.10, 1.20 avg loss, 0.001 rate, …": the loss and its average stand before their names. */
static bool phrase_is_darknet(const struct tokens *t)
{
	return phrase_is_number(t, 0) && phrase_is_punct(t, 1, ":") && phrase_is_number(t, 2) &&
		phrase_is_punct(t, 3, ",") && phrase_is_number(t, 4) && t->count > 6 && t->at[5].len == 3 &&
		memcmp(t->at[5].at, "avg", 3) == 0 && phrase_is_word(t, 6, WORD_METRIC);
}

size_t phrase_read_beginning(struct tokens *t, struct phrase *phrase)
{
	if (phrase_is_number(t, 0) && !isnan(t->at[0].of)) {
		phrase->begins_of = t->at[0].value == t->at[0].of ? 1 : 0;
		phrase->place = t->at[0].value;
		phrase->whole = t->at[0].of;
		return 1;
	}
	if (phrase_is_number(t, 0) && phrase_is_punct(t, 1, ":") && t->count > 2 && t->at[2].kind == TOKEN_WORD &&
	    t->at[2].len == 5 && memcmp(t->at[2].at, "learn", 5) == 0) { /* CatBoost */
		phrase->step = t->at[0].value;
		phrase->metric = true;
		return 2;
	}
	if (phrase_is_number(t, 0) && phrase_is_punct(t, 1, ":") && phrase_is_word(t, 2, WORD_EPOCH)) {
		phrase->rank = t->at[0].value; /* 1: epoch 3 loss 0.5, of srun --label */
		return 2;
	}
	if (phrase_is_number(t, 0) && phrase_is_punct(t, 1, "|") &&
	    (phrase_is_word(t, 2, WORD_METRIC) || phrase_is_word(t, 2, WORD_PART))) {
		phrase->step = t->at[0].value; /* 420 | loss 4.06 | lr 9e-04 */
		return 2;
	}
	if (phrase_is_darknet(t)) {
		phrase->step = t->at[0].value;
		phrase->metric = true;
		phrase_add_plain(phrase, "loss", t->at[2].value);
		phrase_add_plain(phrase, "avg loss", t->at[4].value);
		return t->count;
	}
	if (!phrase_is_punct(t, 0, "[") || !phrase_is_number(t, 1))
		return 0;
	if (phrase_is_punct(t, 2, "]") && phrase_is_punct(t, 3, "[") && phrase_is_number(t, 4) && !isnan(t->at[4].of) &&
	    phrase_is_punct(t, 5, "]")) {
		phrase->epoch = t->at[1].value; /* [0/25][50/1583] Loss_D: …, of PyTorch's GAN */
		phrase->at = t->at[4].value;
		phrase->of = t->at[4].of;
		return 6;
	}
	if (phrase_is_punct(t, 2, "]")) {
		if (isnan(t->at[1].of))
			phrase->begins = t->at[1].value;
		else
			phrase->step = t->at[1].value;
		return 3;
	}
	if (phrase_is_punct(t, 2, ",") && phrase_is_number(t, 3) && phrase_is_punct(t, 4, "]")) {
		phrase->epoch = t->at[1].value;
		return 5;
	}
	return 0;
}

void phrase_read_last_place(struct tokens *t, struct phrase *phrase)
{
	size_t at = t->count;
	if (at < 5 || !phrase_is_punct(t, at - 1, "]") || !phrase_is_number(t, at - 2) || isnan(t->at[at - 2].of) ||
	    !phrase_is_punct(t, at - 3, "[") || !phrase_is_number(t, at - 4) || !isnan(phrase->at))
		return;
	phrase->at = t->at[at - 2].value;
	phrase->of = t->at[at - 2].of;
}
