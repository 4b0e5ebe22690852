/* A dictionary as Python prints it: {'loss': 0.5, 'epoch': '1.0'}. See phrase.h. */
#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"
#include "metrics/part.h"
#include "metrics/phrase.h"
#include "metrics/words.h"

#include <string.h>

struct dict {
	const char *at, *end;
};

static bool dict_take(struct dict *d, char c)
{
	while (d->at < d->end && *d->at == ' ')
		d->at++;
	if (d->at >= d->end || *d->at != c)
		return false;
	d->at++;
	return true;
}

static bool dict_take_text(struct dict *d, const char **ret, size_t *ret_len)
{
	char quote = dict_take(d, '\'') ? '\'' : dict_take(d, '"') ? '"' : '\0';
	if (!quote)
		return false;
	*ret = d->at;
	while (d->at < d->end && *d->at != quote)
		d->at += 1 + (*d->at == '\\' && d->end - d->at > 1);
	*ret_len = (size_t)(d->at - *ret);
	return d->at < d->end && d->at++;
}

/* A number, bare, quoted or in a call; anything else up to the next comma is stepped over, and is given as a text. False at
 * the end. */
static bool dict_take_value(struct dict *d, bool *ret_number, double *ret, const char **ret_text, size_t *ret_len)
{
	const char *text;
	size_t len;
	if (!dict_take_text(d, &text, &len)) {
		while (d->at < d->end && *d->at == ' ')
			d->at++;
		text = d->at;
		for (int depth = 0; d->at < d->end && (depth || (*d->at != ',' && *d->at != '}')); d->at++)
			depth += strchr("([{", *d->at) ? 1 : strchr(")]}", *d->at) ? -1 : 0;
		len = (size_t)(d->at - text);
		while (len && text[len - 1] == ' ')
			len--;
		const char *open = memchr(text, '(', len);
		size_t before = open ? (size_t)(open - text) : 0;
		if (open && phrase_is_wrapper(text, before)) {
			const char *close = memchr(open, ')', len - before), *comma = memchr(open, ',', len - before);
			text = open + 1;
			close = comma ? comma : close;
			len = close ? (size_t)(close - text) : 0;
		}
	}
	*ret_number = len && num_parse_real(text, len, ret) == 0;
	*ret_text = text;
	*ret_len = len;
	return d->at < d->end;
}

#define DICT_DEPTH_MAX 4

/* PREFIX/NAME; false where it would be too long or is no text. */
static bool dict_join(const char *prefix, const char *name, size_t len, char out[static LIMIT_METRIC_NAME_BYTES + 1])
{
	size_t before = strlen(prefix);
	if (!len || before + len + (before > 0) > LIMIT_METRIC_NAME_BYTES || text_utf8_check(name, len) != len)
		return false;
	memcpy(out, prefix, before);
	if (before)
		out[before++] = '/';
	memcpy(out + before, name, len);
	out[before + len] = '\0';
	return true;
}

static void dict_add(struct phrase *phrase, const char *name, const char *last, size_t last_len, double value)
{
	enum word_kind kind = word_kind_of(last, last_len);
	bool outer = strlen(name) == last_len;
	if (kind == WORD_EPOCH && outer) {
		phrase->epoch = value;
	} else if (kind == WORD_STEP && outer) {
		phrase->step = value;
	} else if (kind == WORD_FOLD && outer) {
		phrase->fold = value;
	} else if (phrase->count < PHRASE_PAIRS_MAX) {
		memcpy(phrase->pairs[phrase->count].name, name, strlen(name) + 1);
		phrase->pairs[phrase->count++].value = value;
		phrase->metric |= phrase_is_metric(last, last_len);
	} else {
		phrase->many = true;
	}
}

/* {'split': 'val', 'loss': 0.3}: whose the numbers are. */
static void dict_note_part(struct phrase *phrase, const char *column, const char *word, size_t len)
{
	if (!*phrase->part && len && len < sizeof(phrase->part) && metrics_part_is_word(column, word, len) &&
	    !memchr(word, '/', len) && text_utf8_check(word, len) == len)
		memcpy(phrase->part, word, len); /* clear behind it */
}

/* {"level": "INFO", "message": "epoch 1 loss 0.5"}: what a logger was told. */
static void dict_note_message(struct phrase *phrase, const char *name, size_t name_len, const char *text, size_t len)
{
	static const char *const names[] = {"message", "msg", "event"};
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (!phrase->message && strlen(names[i]) == name_len && memcmp(names[i], name, name_len) == 0) {
			phrase->message = text;
			phrase->message_len = len;
		}
}

/* What stands between the braces; those of a dictionary in it get its name in front: {"train": {"loss": 1}}. */
static bool dict_read(struct dict *d, const char *prefix, int depth, struct phrase *ret)
{
	if (!dict_take(d, '{'))
		return false;
	if (dict_take(d, '}'))
		return true;
	do {
		char full[LIMIT_METRIC_NAME_BYTES + 1];
		const char *name, *text;
		size_t name_len, text_len;
		double value;
		bool number;
		if (!dict_take_text(d, &name, &name_len) || !dict_take(d, ':'))
			return false;
		bool named = dict_join(prefix, name, name_len, full);
		struct dict inner = *d;
		if (named && depth < DICT_DEPTH_MAX && dict_take(&inner, '{')) {
			if (!dict_read(d, full, depth + 1, ret))
				return false;
			continue;
		}
		if (!dict_take_value(d, &number, &value, &text, &text_len))
			return false;
		if (number && named)
			dict_add(ret, full, name, name_len, value);
		else if (named && depth == 0)
			dict_note_part(ret, full, text, text_len);
		if (!number)
			dict_note_message(ret, name, name_len, text, text_len);
	} while (dict_take(d, ','));
	return dict_take(d, '}');
}

bool phrase_read_dict(const char *text, size_t len, struct phrase *ret)
{
	struct dict d = {text, text + len};
	phrase_clear(ret);
	ret->alone = true;
	if (!dict_read(&d, "", 0, ret))
		return false;
	while (d.at < d.end && *d.at == ' ')
		d.at++;
	return d.at == d.end && (ret->count || ret->message);
}

void phrase_count_braces(struct phrase_braces *braces, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if (braces->quote) {
			bool ends = !braces->escaped && c == braces->quote;
			braces->escaped = !braces->escaped && c == '\\';
			braces->quote = ends ? 0 : braces->quote;
		} else if (c == '"' || c == '\'') {
			braces->quote = c;
		} else {
			braces->depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
		}
	}
}
