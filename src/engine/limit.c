/* See limit.h. */
#include "engine/limit.h"

#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/prune.h"
#include "engine/spec.h"

#include "base/num.h"
#include "base/text.h"

#include <math.h>

size_t engine_count_told(const struct spec *spec)
{
	return (spec->objective_count ? spec->objective_count : 1) + spec->limit_count;
}

int engine_read_told(struct engine *engine, const struct engine_experiment *e, int64_t task, double *ret)
{
	const struct spec *spec = e->spec;
	size_t count = engine_count_told(spec), first = count - spec->limit_count;
	int rc = 0;
	for (size_t i = 0; i < count; i++)
		ret[i] = NAN;
	for (size_t i = 0; rc == 0 && i < spec->objective_count; i++)
		rc = engine_read_objective(engine, e, task, &spec->objectives[i], &ret[i]);
	for (size_t i = 0; rc == 0 && i < spec->limit_count; i++)
		rc = engine_read_objective(engine, e, task, &spec->limits[i].of, &ret[first + i]);
	return rc;
}

/* A value as people write it for this metric. */
static void limit_write_value(const char *metric, double value, struct buf *out)
{
	char text[NUM_REAL_CHARS + 16];
	num_format_real(num_round(value, 4), text);
	if (strcmp(metric, "time") == 0)
		text_format_duration((int64_t)llround(value * 1000), text, sizeof(text));
	buf_addf(out, "%s%s", text, strcmp(metric, "energy") == 0 ? " J" : "");
}

/* Why the value does not keep the limit; false: it does. */
static bool limit_write_excess(const struct spec_limit *limit, double value, struct buf *out)
{
	if (isnan(value)) {
		buf_addf(out, "%s is not known", limit->of.metric);
	} else if (limit->at_least ? value < limit->bound : value > limit->bound) {
		buf_addf(out, "%s is ", limit->of.metric);
		limit_write_value(limit->of.metric, value, out);
		buf_addf(out, ", and at %s ", limit->at_least ? "least" : "most");
		limit_write_value(limit->of.metric, limit->bound, out);
		buf_add_text(out, " is allowed");
	} else {
		return false;
	}
	return true;
}

int engine_judge(struct engine *engine, const struct engine_experiment *e, int64_t task)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	bool beyond = false;
	int rc = 0;
	for (size_t i = 0; rc == 0 && !beyond && i < e->spec->limit_count; i++) {
		double value = NAN;
		rc = engine_read_objective(engine, e, task, &e->spec->limits[i].of, &value);
		beyond = limit_write_excess(&e->spec->limits[i], value, &text);
	}
	if (rc == 0 && e->spec->limit_count)
		rc = store_set_beyond(engine_store(engine), task, beyond ? buf_text(&text) : NULL);
	buf_free(&text);
	return rc;
}
