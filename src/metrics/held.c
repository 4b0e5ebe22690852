/* See held.h. */
#include "metrics/held.h"

#include <stdlib.h>
#include <string.h>

static bool held_is_named(const struct held_pair *held, const struct phrase_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(pairs[i].name, held->pair.name) == 0)
			return true;
	return false;
}

void held_add(struct held *held, const struct phrase_pair *pairs, size_t count)
{
	held->rows++;
	for (size_t i = 0; i < count; i++) {
		struct held_pair added = {.row = held->rows, .pair = pairs[i]};
		vec_push(&held->pairs, added);
	}
}

uint32_t held_find(const struct held *held, const struct phrase_pair *pairs, size_t count)
{
	for (size_t i = 0; i < held->pairs.len; i++)
		if (held_is_named(&held->pairs.at[i], pairs, count))
			return held->pairs.at[i].row;
	return 0;
}

void held_take_named(struct held *held, uint32_t row, const struct phrase_pair *pairs, size_t count,
		     struct held_row *ret)
{
	size_t kept = 0;
	for (size_t i = 0; i < held->pairs.len; i++) {
		struct held_pair *at = &held->pairs.at[i];
		if (at->row == row && (!pairs || held_is_named(at, pairs, count)))
			vec_push(&ret->pairs, at->pair);
		else
			held->pairs.at[kept++] = *at;
	}
	held->pairs.len = kept;
}

void held_take(struct held *held, uint32_t row, struct held_row *ret)
{
	held_take_named(held, row, NULL, 0, ret);
}

void held_clear(struct held *held)
{
	held->pairs.len = 0;
}

void held_free(struct held *held)
{
	free(held->pairs.at);
	*held = (struct held){0};
}
