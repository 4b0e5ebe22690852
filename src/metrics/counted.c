/* See counted.h. */
#include "metrics/counted.h"

#include "base/limits.h"
#include "metrics/line.h"

#include <math.h>
#include <string.h>

#define COUNTED_NAMES_MAX 512

enum counted_kind counted_kind_of(struct counted_at at)
{
	return !isnan(at.step) ? COUNTED_STEPS : !isnan(at.epoch) ? COUNTED_EPOCHS : COUNTED_ROWS;
}

struct counted_name *counted_find(struct counted *counted, const char *name)
{
	uint32_t key = line_hash(name, strlen(name));
	for (size_t i = 0; i < counted->names.len; i++)
		if (counted->names.at[i].key == key)
			return &counted->names.at[i];
	return NULL;
}

void counted_settle(struct counted *counted, char *name, enum counted_kind kind, uint32_t section,
		    const struct counted_at *at)
{
	static const char *const words[] = {" (row)", " (epoch)", " (step)"};
	struct counted_name *known = counted_find(counted, name);
	if (!known && counted->names.len < COUNTED_NAMES_MAX) {
		struct counted_name added = {
			.key = line_hash(name, strlen(name)), .kind = kind, .section = section, .last = {NAN, NAN}};
		vec_push(&counted->names, added);
		known = &counted->names.at[counted->names.len - 1];
	}
	if (known && at) {
		known->last = *at;
		known->last_kind = kind;
	}
	if (known && known->kind != kind && strlen(name) + strlen(words[kind]) <= LIMIT_METRIC_NAME_BYTES)
		memcpy(name + strlen(name), words[kind], strlen(words[kind]) + 1);
}

static bool counted_is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

bool counted_stood_at(const struct counted_name *name, struct counted_at at, enum counted_kind kind)
{
	return name->last_kind == kind && (!isnan(at.epoch) || !isnan(at.step)) &&
		counted_is_same(name->last.epoch, at.epoch) && counted_is_same(name->last.step, at.step);
}
