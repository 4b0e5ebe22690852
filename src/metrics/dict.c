/* A dictionary as Python prints it: {'loss': 0.5, 'epoch': '1.0'}. See phrase.h. */
#include "base/num.h"
#include "base/text.h"
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
		d->at++;
	*ret_len = (size_t)(d->at - *ret);
	return d->at < d->end && d->at++;
}

/* A number, bare, quoted or in a call; anything else up to the next comma is stepped over. False at the end. */
static bool dict_take_value(struct dict *d, bool *ret_number, double *ret)
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
	return d->at < d->end;
}

bool phrase_read_dict(const char *text, size_t len, struct phrase *ret)
{
	struct dict d = {text, text + len};
	phrase_clear(ret);
	ret->alone = true;
	if (!dict_take(&d, '{'))
		return false;
	do {
		const char *name;
		size_t name_len;
		double value;
		bool number;
		if (!dict_take_text(&d, &name, &name_len) || !dict_take(&d, ':') ||
		    !dict_take_value(&d, &number, &value))
			return false;
		if (!number || !name_len || name_len > LIMIT_METRIC_NAME_BYTES ||
		    text_utf8_check(name, name_len) != name_len)
			continue;
		enum word_kind kind = word_kind_of(name, name_len);
		if (kind == WORD_EPOCH) {
			ret->epoch = value;
		} else if (kind == WORD_STEP) {
			ret->step = value;
		} else if (ret->count < PHRASE_PAIRS_MAX) {
			memcpy(ret->pairs[ret->count].name, name, name_len);
			ret->pairs[ret->count].name[name_len] = '\0';
			ret->pairs[ret->count++].value = value;
			ret->metric |= phrase_is_metric(name, name_len);
		}
	} while (dict_take(&d, ','));
	if (!dict_take(&d, '}'))
		return false;
	while (d.at < d.end && *d.at == ' ')
		d.at++;
	return d.at == d.end && ret->count;
}
