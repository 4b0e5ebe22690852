/* The words by which printed reports are recognised. */
#ifndef METRICS_WORDS_H
#define METRICS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum word_kind {
	WORD_OTHER,
	WORD_METRIC, /* loss, accuracy: a number behind it is a result */
	WORD_VAGUE, /* error, return: a metric only with another word before it */
	WORD_PART, /* train, validation: whose */
	WORD_ADJECTIVE, /* mean, squared: belongs to the name */
	WORD_EPOCH, /* counts passes over the data */
	WORD_STEP, /* counts steps within an epoch */
	WORD_FOLD, /* of cross-validation */
	WORD_RUN, /* seed, trial: which of several trainings */
	WORD_NEVER, /* time, port, memory: never the name of a metric */
	WORD_BEST, /* tells of an earlier result */
	WORD_LINK, /* is, was: between a name and its number */
	WORD_NOISE, /* info, done: says nothing */
	WORD_BAD, /* warning, error messages: the line is no report */
};

/* Upper and lower case are the same. */
enum word_kind word_kind_of(const char *word, size_t len);
/* The same for a whole that may be made of several words (val_loss, Acc@1): METRIC if one of them is, NEVER if the last
 * of them is, else the kind of the whole name. */
enum word_kind word_kind_of_name(const char *name, size_t len);

/* Names that are metrics whatever words they are made of, because the user asked for them. */
struct word_names {
	const char *const *at;
	size_t count;
};
/* METRIC for one of `names` (NULL: there are none), else as word_kind_of_name. */
enum word_kind word_kind_with(const struct word_names *names, const char *name, size_t len);

/* A quick test of a whole line: can it name a metric or a count? Mostly the first two letters of a word are enough. */
struct word_filter {
	uint32_t begin[27]; /* by the first letter, a bit for each second one */
};
void word_filter_make(struct word_filter *ret);
bool word_filter_pass(const struct word_filter *filter, const char *text, size_t len);

#endif
