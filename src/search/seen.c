/* An open-addressed set of hashes with counts: see seen.h. */
#include "search/seen.h"

#include "base/mem.h"

#define SEEN_LEAST 64

/* The slot of a hash: where it is, or where it belongs. */
static struct seen_slot *seen_slot_of(struct seen_slot *slots, size_t size, uint64_t hash)
{
	size_t at = hash & (size - 1);
	while (slots[at].hash && slots[at].hash != hash)
		at = (at + 1) & (size - 1);
	return &slots[at];
}

static void seen_grow(struct seen *seen)
{
	size_t size = seen->size ? 2 * seen->size : SEEN_LEAST;
	struct seen_slot *slots = mem_array(size, sizeof(*slots));
	for (size_t i = 0; i < seen->size; i++)
		if (seen->slots[i].hash)
			*seen_slot_of(slots, size, seen->slots[i].hash) = seen->slots[i];
	free(seen->slots);
	seen->slots = slots;
	seen->size = size;
}

void seen_free(struct seen *seen)
{
	free(seen->slots);
}

bool seen_has(const struct seen *seen, uint64_t hash)
{
	return seen->size && seen_slot_of(seen->slots, seen->size, hash)->count;
}

void seen_add(struct seen *seen, uint64_t hash)
{
	if (2 * (seen->used + 1) > seen->size)
		seen_grow(seen);
	struct seen_slot *slot = seen_slot_of(seen->slots, seen->size, hash);
	seen->used += !slot->hash;
	slot->hash = hash;
	slot->count++;
}

void seen_drop(struct seen *seen, uint64_t hash)
{
	struct seen_slot *slot = seen->size ? seen_slot_of(seen->slots, seen->size, hash) : NULL;
	if (slot && slot->count)
		slot->count--;
}

bool seen_give_back(struct seen *seen, uint64_t hash, bool *ret_free)
{
	struct seen_slot *slot = seen->size ? seen_slot_of(seen->slots, seen->size, hash) : NULL;
	*ret_free = slot && slot->count == 1 && !slot->returned;
	if (!slot || !slot->count || (slot->count == 1 && slot->returned))
		return false;
	slot->count--;
	slot->returned |= *ret_free;
	return true;
}
