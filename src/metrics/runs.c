/* See runs.h. A fold is believed as soon as it is named. A seed is named in many other places ("random seed 42"), so that
 * it is another training only where the counts begin anew, too. */
#include "metrics/runs.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void runs_clear(struct runs *runs)
{
	struct phrase_run none = {.number = NAN};
	*runs = (struct runs){
		.fold = NAN, .first_fold = NAN, .now = none, .first = none, .next = none, .epoch = NAN, .step = NAN};
}

void runs_prefix(struct phrase *phrase, const char *prefix)
{
	for (size_t i = 0; i < phrase->count; i++) {
		char *name = phrase->pairs[i].name, whole[LIMIT_METRIC_NAME_BYTES + 64];
		snprintf(whole, sizeof(whole), "%s%s", prefix, name);
		size_t len = strlen(whole);
		len = text_utf8_check(whole, len < LIMIT_METRIC_NAME_BYTES ? len : LIMIT_METRIC_NAME_BYTES);
		memcpy(name, whole, len);
		name[len] = '\0';
	}
}

static bool runs_are_same(const struct phrase_run *a, const struct phrase_run *b)
{
	return strcmp(a->word, b->word) == 0 && (a->number == b->number || (isnan(a->number) && isnan(b->number)));
}

bool runs_see(struct runs *runs, const struct phrase *phrase)
{
	bool anew = false;
	if (!isnan(phrase->fold)) {
		if (isnan(runs->first_fold))
			runs->first_fold = phrase->fold;
		anew = phrase->fold != runs->fold;
		runs->fold = phrase->fold;
	}
	if (isnan(phrase->run.number))
		return anew;
	runs->next = phrase->run;
	if (!runs->begun) /* the last one that is named before the first row */
		runs->now = runs->first = runs->next;
	/* A heading. Elsewhere it is not certain that it begins something. */
	return anew || (phrase->alone && !phrase->count && !runs_are_same(&runs->now, &runs->next));
}

static void runs_say(const struct phrase_run *run, char *ret, size_t size)
{
	if (isnan(run->number))
		snprintf(ret, size, "the first one");
	else
		snprintf(ret, size, "%s %.0f", run->word, fmin(fabs(run->number), 1e15));
}

/* What sums up all of them is of none. */
static bool runs_is_sum(const struct phrase *phrase)
{
	static const char *const sums[] = {"mean", "average", "avg", "overall", "cv", "final"};
	for (size_t i = 0; i < COUNT_OF(sums); i++)
		if (strncasecmp(phrase->pairs[0].name, sums[i], strlen(sums[i])) == 0)
			return true;
	return false;
}

/* Names the pairs of a run that is not the first. */
static void runs_name_other(struct phrase *phrase, const struct phrase_run *first, const struct phrase_run *run,
			    struct metrics_reader *reader)
{
	char one[40], other[40], prefix[48], name[LIMIT_METRIC_NAME_BYTES + 1];
	runs_say(first, one, sizeof(one));
	runs_say(run, other, sizeof(other));
	memcpy(name, phrase->pairs[0].name, sizeof(name));
	snprintf(prefix, sizeof(prefix), "%s ", other);
	runs_prefix(phrase, prefix);
	metrics_remark_runs(reader, one, other, name, phrase->pairs[0].name);
}

/* Scores without a count are rows of one curve. */
static void runs_remark_rows(const struct runs *runs, const struct phrase *phrase, struct metrics_reader *reader)
{
	bool fold = !isnan(phrase->fold) && phrase->fold != runs->first_fold;
	bool run = !isnan(phrase->run.number) && !runs_are_same(&runs->first, &phrase->run);
	if ((fold || run) && !runs_is_sum(phrase))
		metrics_remark(reader, METRICS_REMARK_RUNS,
			       "every %s is a row of %.60s: its best value is that of one %s. To compare by all, take "
			       "their mean: objective: {metric: %.60s, take: mean, of: N}",
			       fold ? "fold" : phrase->run.word, phrase->pairs[0].name,
			       fold ? "fold" : phrase->run.word, phrase->pairs[0].name);
}

void runs_name(struct runs *runs, struct phrase *phrase, double epoch, double step, struct metrics_reader *reader)
{
	const struct phrase_run fold = {"fold", runs->fold}, first_fold = {"fold", runs->first_fold};
	bool counted = !isnan(phrase->epoch) || !isnan(phrase->step);
	bool sum = !counted && runs_is_sum(phrase);
	if (isnan(epoch) && isnan(step)) {
		runs_remark_rows(runs, phrase, reader);
		return;
	}
	bool anew = isnan(epoch) ? step <= runs->step : epoch <= runs->epoch;
	if (runs->begun && anew && !sum && !runs_are_same(&runs->now, &runs->next))
		runs->now = runs->next;
	runs->begun = true;
	runs->epoch = epoch;
	runs->step = step;
	if (!sum && !isnan(runs->fold) && runs->fold != runs->first_fold)
		runs_name_other(phrase, &first_fold, &fold, reader);
	if (!sum && !runs_are_same(&runs->now, &runs->first))
		runs_name_other(phrase, &runs->first, &runs->now, reader);
}
