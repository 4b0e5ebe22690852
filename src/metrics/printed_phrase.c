/* See printed_phrase.h. */
#include "metrics/printed_phrase.h"

#include "metrics/runs.h"

#include <math.h>
#include <string.h>

bool printed_has_count(const struct phrase *phrase)
{
	return !isnan(phrase->epoch) || !isnan(phrase->step) || !isnan(phrase->begins_of) || !isnan(phrase->at);
}

void printed_name_boosting(struct phrase *phrase)
{
	for (size_t i = 0; i < phrase->count; i++) {
		char *owner = strstr(phrase->pairs[i].name, "'s ");
		if (owner) {
			*owner = '-';
			memmove(owner + 1, owner + 3, strlen(owner + 3) + 1);
		}
	}
}

bool printed_is_boosting(const struct phrase *phrase, const char *text, size_t len)
{
	const char *close = memchr(text, ']', len);
	return !isnan(phrase->begins) && phrase->alone && phrase->count && close && close + 1 < text + len &&
		close[1] == '\t';
}

/* The text of a logger's dictionary. Where it does not say when, the dictionary does: {"epoch": 1, "message": "loss: 0.5"}. */
static bool printed_read_message(struct phrase *phrase)
{
	double epoch = phrase->epoch, step = phrase->step;
	if (!phrase_read(phrase->message, phrase->message_len, phrase))
		return false;
	if (isnan(phrase->epoch) && isnan(phrase->step) && step >= 0)
		phrase->step = step;
	if (isnan(phrase->epoch) && epoch >= 0 && epoch < PRINTED_EPOCHS_MAX) /* more is a time */
		phrase->epoch = epoch;
	return true;
}

/* "INFO:root:{'loss': 0.5, 'epoch': 1}", "json_stats: {…}": a dictionary that says when. */
static bool printed_read_dict(struct phrase *phrase, const char *text, size_t len)
{
	const char *open = text[len - 1] == '}' ? memchr(text, '{', len) : NULL;
	if (!open || !phrase_read_dict(open, len - (size_t)(open - text), phrase))
		return false;
	if (phrase->message && !phrase->metric)
		return printed_read_message(phrase);
	return open == text || (phrase->metric && (!isnan(phrase->epoch) || !isnan(phrase->step)));
}

bool printed_read_phrase(struct phrase *phrase, const char *text, size_t len)
{
	static const char saved[] = "Saving dict for global step "; /* the evaluation of an Estimator of TensorFlow */
	const char *dict = len > strlen(saved) ? memmem(text, len, saved, strlen(saved)) : NULL;
	phrase_clear(phrase);
	if (printed_read_dict(phrase, text, len))
		return true;
	if (*text == '{')
		return false;
	if (dict) {
		const char *at = dict + strlen("Saving dict for ");
		bool read = phrase_read(at, len - (size_t)(at - text), phrase);
		runs_prefix(phrase, "eval ");
		return read;
	}
	return phrase_read(text, len, phrase);
}
