/* One printed line as a report of training: "Epoch 3/10 - loss: 0.5 - val_loss: 0.6". Words and numbers are cut out of
 * the line; a number with a name before it is a pair; a word that counts (epoch, step, …) with a number behind it says
 * when. Only a line that is clearly a report counts; any other gives nothing. */
#ifndef METRICS_PHRASE_H
#define METRICS_PHRASE_H

#include "base/limits.h"
#include "metrics/words.h"

#include <stdbool.h>
#include <stddef.h>

#define PHRASE_PAIRS_MAX LIMIT_METRIC_COLUMNS

struct phrase_pair {
	char name[LIMIT_METRIC_NAME_BYTES + 1];
	double value;
};

/* "Seed 3", "trial 2/5": which of several trainings. */
struct phrase_run {
	char word[12]; /* in lower case */
	double number; /* NAN: none */
};

struct phrase {
	double epoch, step; /* NAN: the line does not say */
	double epochs; /* 10 of "Epoch 3/10"; NAN */
	double at, of; /* "[640/60000]": the place within the epoch, and its length; NAN */
	double begins; /* "[12] …": the number in brackets that the line begins with; NAN */
	double begins_of; /* "6/6 …": the line begins with a place in a whole; NAN */
	double place, whole; /* the two numbers of that */
	double fold; /* of cross-validation; NAN */
	struct phrase_run run; /* the first that the line names */
	double rank; /* of a process that trains together with others: "[rank1]: ..."; NAN */
	char part[24]; /* whose all the numbers are, where the line says so apart from their names: "val"; empty */
	const char *message; /* a dictionary is what a logger wrote: this is the text in it; NULL */
	size_t message_len;
	bool metric; /* a pair is named like a metric */
	bool partial; /* an evaluation that is not at its end: "Test: [10/196] ..." */
	bool alone; /* nothing is on the line but pairs and counts */
	bool comma, thousands; /* a value has a decimal comma ("0,25"); one may have one ("1,234") */
	bool shortened; /* a value is rounded: "1.2k" */
	bool spaced; /* a number has spaces between thousands ("1 234"), and is left out */
	bool left; /* behind the name of a metric stands no number but something like one ("1.5x") */
	bool many; /* a dictionary has more pairs than there is room for */
	bool best; /* it is about the best or an earlier epoch: it says so before it names a result */
	const struct word_names *names; /* set by the owner: metrics in any case; phrase_clear leaves it; NULL: none */
	size_t count;
	struct phrase_pair pairs[PHRASE_PAIRS_MAX];
};

/* Makes the phrase empty. Does not clear the array of pairs, because it is large. */
void phrase_clear(struct phrase *phrase);
/* Reads a line without control characters. False: it holds no pair and no count. */
bool phrase_read(const char *text, size_t len, struct phrase *ret);
/* Reads a dictionary as Python prints it: {'loss': 0.5, 'epoch': '1.0'}. False: it is none, or holds neither a number nor a
 * message. */
bool phrase_read_dict(const char *text, size_t len, struct phrase *ret);
/* Which braces and brackets are open at the end of a text, outside of what is quoted. */
struct phrase_braces {
	int depth;
	char quote; /* what is quoted began with it; 0: nothing is */
	bool escaped;
};
/* Goes on with these bytes. */
void phrase_count_braces(struct phrase_braces *braces, const char *text, size_t len);
/* Does Python print this around a number: tensor, np.float64, …? */
bool phrase_is_wrapper(const char *word, size_t len);
/* Is this name made of words for metrics and parts of the data ("val_loss", "Test accuracy")? */
bool phrase_is_metric(const char *name, size_t len);

#endif
