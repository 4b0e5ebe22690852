/* See known.h. Rows are kept as sums of 64 bits each, so that a million of them fit in 32 MB. The sums do not depend on the
 * order of the columns: a journal is JSON. */
#include "node/known.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

#define KNOWN_FIRST_SIZE 1024

/* FNV-1a, and the end of MurmurHash3 so that sums of sums stay apart. */
static uint64_t known_sum(uint64_t sum, const void *data, size_t len)
{
	const unsigned char *bytes = data;
	sum ^= 0xcbf29ce484222325u;
	for (size_t i = 0; i < len; i++)
		sum = (sum ^ bytes[i]) * 0x100000001b3u;
	sum = (sum ^ (sum >> 33)) * 0xff51afd7ed558ccdu;
	return sum ^ (sum >> 33);
}

/* All NaN are one to a journal, and so are the two zeros. */
static double known_value(double value)
{
	return isnan(value) ? (double)NAN : value == 0 ? 0 : value;
}

/* The place of a row in a table that is never full. */
static struct known_slot *known_find(const struct known *known, uint64_t place)
{
	size_t at = (size_t)place & (known->size - 1);
	while (known->slots[at].place && known->slots[at].place != place)
		at = (at + 1) & (known->size - 1);
	return &known->slots[at];
}

static void known_grow(struct known *known)
{
	struct known old = *known;
	if (old.size && old.count * 2 < old.size)
		return;
	known->size = old.size ? old.size * 2 : KNOWN_FIRST_SIZE;
	known->slots = mem_array(known->size, sizeof(*known->slots));
	for (size_t i = 0; i < old.size; i++)
		if (old.slots[i].place)
			*known_find(known, old.slots[i].place) = old.slots[i];
	free(old.slots);
}

bool known_add(struct known *known, const char *source, int64_t step, const struct metric *metrics, size_t count)
{
	uint64_t place = known_sum((uint64_t)step, source, strlen(source)), values = 0;
	for (size_t i = 0; i < count; i++) {
		double value = known_value(metrics[i].value);
		uint64_t name = known_sum(0, metrics[i].name, strlen(metrics[i].name));
		place += name;
		values += known_sum(name, &value, sizeof(value));
	}
	place = place ? place : 1;
	known_grow(known);
	struct known_slot *slot = known_find(known, place);
	bool news = !slot->place || slot->values != values;
	known->count += !slot->place;
	*slot = (struct known_slot){place, values};
	return news;
}

void known_free(struct known *known)
{
	free(known->slots);
	*known = (struct known){0};
}
