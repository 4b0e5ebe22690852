/* The counts of a printed line: epochs, steps, the place within an epoch, folds, runs and ranks. Only phrase.c uses
 * this. */
#ifndef METRICS_PHRASE_COUNT_H
#define METRICS_PHRASE_COUNT_H

#include "metrics/phrase.h"
#include "metrics/tokens.h"

#include <string.h>

static inline bool phrase_is_punct(const struct tokens *t, size_t i, const char *any)
{
	return i < t->count && t->at[i].kind == TOKEN_PUNCT && strchr(any, t->at[i].punct);
}

static inline bool phrase_is_number(const struct tokens *t, size_t i)
{
	return i < t->count && t->at[i].kind == TOKEN_NUMBER;
}

static inline bool phrase_is_word(const struct tokens *t, size_t i, enum word_kind kind)
{
	return i < t->count && t->at[i].kind == TOKEN_WORD && t->at[i].word == kind;
}

/* "Epochs 1/3. Running loss: 0.5". A number of epochs alone is a setting. */
bool phrase_is_plural(const struct tokens *t, size_t i);
/* Counts: "Epoch 3/10", "Epoch: [3][10/100]", "Train Epoch: 1 [640/60000 (1%)]", "step = 100". Returns the number of
 * tokens behind the word, 0 when no number follows. */
size_t phrase_read_count(struct tokens *t, size_t word, struct phrase *phrase);
/* "[rank1]: …", "[default1]: …", "Rank 1 | …": which of several processes prints. */
void phrase_read_rank(struct tokens *t, size_t i, struct phrase *phrase);
/* "Seed 3", "Run: 2/5". */
void phrase_read_run(struct tokens *t, size_t i, struct phrase *phrase);
/* "7epoch results: …" of ESPnet, and "Fold 2". */
void phrase_read_odd_count(struct tokens *t, size_t i, struct phrase *phrase);
/* "[12] …", "[1, 2000] …", "6/6 …", "0: learn: …" */
size_t phrase_read_beginning(struct tokens *t, struct phrase *phrase);
/* "loss: 2.3 [ 6400/60000]": the place within the epoch stands at the end. */
void phrase_read_last_place(struct tokens *t, struct phrase *phrase);

#endif
