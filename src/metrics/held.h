/* Rows without a count that are held back, each until it is known whether its names are counted later: what is printed
 * before the training is no part of the curve. A row is held whole; its names are in no other held row. */
#ifndef METRICS_HELD_H
#define METRICS_HELD_H

#include "base/mem.h"
#include "metrics/phrase.h"

/* More are not held: the oldest rows are given. */
#define HELD_PAIRS_MAX 64

struct held_pair {
	uint32_t row;
	struct phrase_pair pair;
};

struct held {
	uint32_t rows; /* how many there were so far */
	VEC(struct held_pair) pairs; /* the oldest first, a row's together */
};

struct held_row {
	VEC(struct phrase_pair) pairs;
};

void held_add(struct held *held, const struct phrase_pair *pairs, size_t count);
/* The row that has one of these names; 0: none. */
uint32_t held_find(const struct held *held, const struct phrase_pair *pairs, size_t count);
/* Takes a row out. The caller frees ret->pairs.at. */
void held_take(struct held *held, uint32_t row, struct held_row *ret);
/* Takes those of a row's pairs out that have one of these names. The caller frees ret->pairs.at. */
void held_take_named(struct held *held, uint32_t row, const struct phrase_pair *pairs, size_t count,
		     struct held_row *ret);
void held_clear(struct held *held);
void held_free(struct held *held);

#endif
