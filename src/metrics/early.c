/* See early.h. */
#include "metrics/early.h"

#include <math.h>
#include <string.h>

static bool early_is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool early_is_at(struct counted_at a, struct counted_at b)
{
	return early_is_same(a.epoch, b.epoch) && early_is_same(a.step, b.step);
}

void early_count(struct early *early, struct counted_at before, struct counted_at now)
{
	early->counts += !early_is_at(before, now);
}

void early_see(struct early *early, const struct phrase *phrase, struct counted_at at, bool begins)
{
	if (begins && !*early->name)
		memcpy(early->name, phrase->pairs[0].name, sizeof(early->name));
	for (size_t i = 0; *early->name && i < phrase->count; i++) {
		if (strcmp(phrase->pairs[i].name, early->name) != 0)
			continue;
		early->at = at;
		early->rows++;
		return;
	}
}

/* One for every count but the last, and the last count has none behind it. */
bool early_is_behind(const struct early *early, struct counted_at last)
{
	return *early->name && early->rows + 1 == early->counts && !early_is_at(early->at, last);
}

void early_clear(struct early *early)
{
	*early = (struct early){0};
}
