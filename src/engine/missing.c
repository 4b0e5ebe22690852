/* See missing.h. */
#include "engine/missing.h"

#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/load.h"
#include "engine/prune.h"
#include "engine/spec.h"
#include "engine/usual.h"

#include "base/text.h"
#include "metrics/place.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* Names beyond these are counted. */
#define MISSING_NAMES 12

struct names {
	const char *wanted;
	struct buf list;
	size_t count;
	unsigned least; /* how far the nearest is away */
	char *nearest;
	bool there;
};

/* How unlike two names are: 0 for another case or another sign between the words. */
static unsigned names_distance(const char *a, const char *b)
{
	const char *p = a, *q = b;
	while (*p && *q) {
		bool same = tolower((unsigned char)*p) == tolower((unsigned char)*q) ||
			(ispunct((unsigned char)*p) && ispunct((unsigned char)*q));
		if (!same)
			break;
		p++;
		q++;
	}
	if (!*p && !*q)
		return 0;
	return text_distance(a, b);
}

static int names_cb(void *ctx, const char *name)
{
	struct names *names = ctx;
	if (names->count < MISSING_NAMES)
		buf_addf(&names->list, "%s%s", names->count ? ", " : "", name);
	names->count++;
	names->there |= strcmp(name, names->wanted) == 0;
	unsigned distance = names_distance(name, names->wanted);
	/* val/loss is meant by loss, where nothing else is nearer. */
	const char *last = strrchr(name, '/');
	if (last && strcasecmp(last + 1, names->wanted) == 0 && distance > 1)
		distance = 1;
	/* So is "valid loss" by val_loss. */
	enum usual usual = usual_of(name);
	if (usual < USUAL_REWARD && usual != USUAL_VAL_OTHER && usual != USUAL_TEST_OTHER &&
	    usual == usual_of(names->wanted) && distance > 1)
		distance = 1;
	if (distance < names->least) {
		names->least = distance;
		free(names->nearest);
		names->nearest = mem_strdup(name);
	}
	return 0;
}

int missing_name(struct engine *engine, int64_t experiment, int64_t task, const char *name, char **ret_list,
		 char **ret_meant, bool *ret_there)
{
	struct names names = {.wanted = name, .list = buf_make(BUF_UNLIMITED), .least = 3};
	int rc = store_each_metric_name(engine_store(engine), experiment, task, names_cb, &names);
	if (names.count > MISSING_NAMES)
		buf_addf(&names.list, " and %zu more", names.count - MISSING_NAMES);
	*ret_list = buf_take(&names.list);
	*ret_meant = names.nearest;
	*ret_there = names.there;
	return rc;
}

/* May tasks of the experiment still report it? */
static int missing_may_come(struct engine *engine, int64_t experiment, const char *name, bool *ret)
{
	struct spec *spec = NULL;
	int rc = engine_read_spec(engine, experiment, &spec);
	*ret = rc == 0 && spec->stop.metric && strcmp(spec->stop.metric, name) == 0;
	for (size_t i = 0; rc == 0 && i < spec->objective_count; i++)
		*ret |= strcmp(spec->objectives[i].metric, name) == 0;
	spec_free(spec);
	return rc;
}

int engine_check_metric(struct engine *engine, int64_t experiment, const char *name, struct error *err)
{
	char *list = NULL, *meant = NULL;
	bool there = false, may_come = true;
	int rc = missing_name(engine, experiment, 0, name, &list, &meant, &there);
	if (rc == 0 && !there && *list)
		rc = missing_may_come(engine, experiment, name, &may_come);
	if (rc == 0 && !may_come)
		rc = errorf(err, -ENOENT, "no task of e%" PRId64 " has a metric '%.100s'%s%s%s Found: %s", experiment,
			    name, meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : ".", list);
	free(list);
	free(meant);
	return rc;
}

struct sources {
	struct buf list;
	size_t count;
};

/* "csv:logs/train.csv" is said as logs/train.csv, "printed:stdout" as printed output. */
static int sources_cb(void *ctx, const struct store_source *row)
{
	struct sources *sources = ctx;
	const char *colon = strchr(row->source, ':');
	const char *what = strncmp(row->source, "printed:", 8) == 0 ? "printed output"
		: strncmp(row->source, "report:", 7) == 0           ? "`sluice report`"
		: colon                                             ? colon + 1
								    : row->source;
	if (sources->count && strstr(buf_text(&sources->list), what))
		return 0;
	if (sources->count < MISSING_NAMES)
		buf_addf(&sources->list, "%s%s", sources->count ? ", " : " in ", what);
	sources->count++;
	return 0;
}

/* Of a file that was looked at and not read, its runner has said why. */
static char *missing_find_unread(struct engine *engine, const struct engine_live *live)
{
	char *note = NULL;
	if (store_find_history(engine_store(engine), live->task.id, " is not read as metrics: ", &note) < 0)
		return NULL;
	return note;
}

static char *missing_say_nothing(struct engine *engine, const struct engine_live *live)
{
	int64_t e = live->experiment->id, task = live->task.number;
	const struct node *places = live->experiment->spec->metrics;
	if (places) {
		char *why = place_say_nothing(places);
		char *text = mem_printf(
			"in e%" PRId64 "/%" PRId64 " %s. Correct `metrics` (--metrics, --metrics-from), or "
			"leave it out: sluice then looks at all files and at what is printed. `sluice logs "
			"e%" PRId64 "/%" PRId64 "` shows what was printed",
			e, task, why, e, task);
		free(why);
		return text;
	}
	char *unread = missing_find_unread(engine, live);
	char *text = mem_printf(
		"in e%" PRId64 "/%" PRId64
		" nothing was found%s%s. sluice reads CSV, TSV, JSON and TensorBoard files in the work "
		"folder (none in SLUICE_CHECKPOINT_DIR), printed lines such as `epoch 3: val_loss 0.25`, and "
		"`sluice report NAME=VALUE`; see METRICS in sluice-experiment(5)",
		e, task, unread ? ": " : "", unread ? unread : "");
	free(unread);
	return text;
}

static char *missing_say(struct engine *engine, const struct engine_live *live, const char *metric, const char *list,
			 const char *places, const char *meant)
{
	int64_t e = live->experiment->id, task = live->task.number;
	if (!*list)
		return missing_say_nothing(engine, live);
	const char *quote = meant && strpbrk(meant, " *?$&;()<>|'") ? "\"" : "";
	return mem_printf("in e%" PRId64 "/%" PRId64 " found %s%s; no %s%s%s%s `sluice change e%" PRId64
			  " --objective %s%s%s` ranks what is there",
			  e, task, list, places, *metric ? metric : "objective", meant ? "; did you mean " : ".",
			  meant ? meant : "", meant ? "?" : "", e, quote, meant ? meant : "NAME", quote);
}

/* It is there, and no value of it can be compared. */
static int missing_find_diverged(struct engine *engine, const struct engine_live *live,
				 const struct spec_objective *objective, char **ret)
{
	double value = NAN;
	int rc = engine_read_objective(engine, live->experiment, live->task.id, objective, &value);
	if (rc == 0 && isnan(value))
		*ret = mem_printf("in e%" PRId64 "/%" PRId64
				  " no value of %s is a finite number (NaN or infinite): the training diverged. Try a "
				  "smaller learning rate, or look for bad values in the data",
				  live->experiment->id, live->task.number, objective->metric);
	return rc;
}

int missing_find(struct engine *engine, const struct engine_live *live, char **ret, bool *ret_never)
{
	const struct engine_experiment *e = live->experiment;
	const struct spec *spec = e->spec;
	size_t count = spec->objective_count ? spec->objective_count : 1;
	int rc = 0;
	*ret = NULL;
	*ret_never = false;
	for (size_t i = 0; rc == 0 && !*ret && i < count; i++) {
		const char *metric = spec->objective_count ? spec->objectives[i].metric : "";
		char *list, *meant, *all, *of_all;
		bool there, ever = false;
		if (spec_is_measured(metric))
			continue;
		rc = missing_name(engine, e->id, live->task.id, metric, &list, &meant, &there);
		if (rc == 0 && !there) {
			rc = missing_name(engine, e->id, 0, metric, &all, &of_all, &ever);
			free(all);
			free(of_all);
			struct sources sources = {.list = buf_make(BUF_UNLIMITED)};
			if (rc == 0)
				rc = store_each_source(engine_store(engine), live->task.id, sources_cb, &sources);
			*ret = missing_say(engine, live, metric, list, buf_text(&sources.list), meant);
			buf_free(&sources.list);
			*ret_never = !ever;
		} else if (rc == 0 && spec->objective_count) {
			rc = missing_find_diverged(engine, live, &spec->objectives[i], ret);
		}
		free(list);
		free(meant);
	}
	return rc;
}
