/* How long an experiment may take, and what energy: what the store knows of tasks of the same program, and how many fit
 * at a time. From 20 runs on a model of the parameters (model/forecast.h) says what these values take; with fewer it
 * is the median of the newest experiment. An estimate names its basis. If nothing is known, there is no estimate. */
#include "engine/estimate.h"

#include "engine/backends.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/runs.h"
#include "engine/spec.h"

#include "store/rows.h"
#include "base/rng.h"
#include "spool/paths.h"
#include "base/limits.h"
#include "base/fs.h"
#include "base/num.h"
#include "base/text.h"
#include "store/json.h"

#include <inttypes.h>
#include <math.h>

#define ESTIMATE_CHARS 32
/* Configurations of the experiment that are looked at: enough for a mean within a few per cent. */
#define ESTIMATE_SAMPLE 64
/* Draws until then: constraints may leave little of a space. */
#define ESTIMATE_DRAWS_MOST 1024
#define ESTIMATE_SEED 1
/* Nothing is said where more of them than this lie far outside what has run. */
#define ESTIMATE_FAR_SHARE 0.1

/* What the tasks of an experiment take. Times in milliseconds, NAN: not known. */
struct estimate {
	double each_ms, mean_ms; /* the median and the mean of the tasks */
	double limit_ms; /* 95 % of tasks with the slowest values take less */
	double energy_j; /* of a task, on average */
	char *basis; /* "as in e4", "by 43 runs" */
	char *unknown; /* why nothing is known, though there are runs; NULL */
};

/* How many run at a time, and the words for it. 0: not known. */
static int64_t estimate_at_once(const struct engine_backend *backend, const struct spec *spec, int64_t tasks,
				const char **ret_words)
{
	const struct backend_resources *resources = &spec->resources;
	int64_t most = backend->ops->slots ? backend->ops->slots(backend->backend, resources) : 0;
	int64_t parallel = (int64_t)spec->search->parallel;
	most = most < tasks ? most : tasks;
	most = parallel && parallel < most ? parallel : most;
	int64_t now = most > 0 ? backend->ops->room(backend->backend, resources) : 0;
	*ret_words = now >= most ? "" : now ? ", beside what runs now" : " once there is room";
	return now > 0 && now < most ? now : most;
}

static void estimate_put(struct json *out, const char *key, double value)
{
	json_key(out, key);
	if (isnan(value))
		json_put_null(out);
	else
		json_put_real(out, value);
}

static void estimate_write(const struct estimate *e, const struct engine_backend *backend, const struct spec *spec,
			   int64_t tasks, size_t runs, struct json *out)
{
	const char *words;
	char each[ESTIMATE_CHARS], sum[ESTIMATE_CHARS];
	int64_t at_once = estimate_at_once(backend, spec, tasks, &words);
	double sum_ms = e->mean_ms * (double)tasks;
	char *what = NULL, *basis = NULL;
	if (!e->unknown) {
		text_format_duration((int64_t)e->each_ms, each, sizeof(each));
		text_format_duration((int64_t)sum_ms, sum, sizeof(sum));
		what = mem_printf("%" PRId64 " task%s of about %s %s", tasks, tasks == 1 ? "" : "s", each, e->basis);
		basis = at_once ? mem_printf("%s, %" PRId64 " at a time%s", what, at_once, words)
				: mem_printf("%s of task time: %s; when they run is not known", sum, what);
	}
	double rounds = (double)((tasks + at_once - 1) / (at_once ? at_once : 1));
	json_map(out);
	estimate_put(out, "wall_s", at_once ? rounds * e->mean_ms / 1000 : NAN);
	estimate_put(out, "task_s", e->each_ms / 1000);
	estimate_put(out, "tasks_s", sum_ms / 1000);
	estimate_put(out, "limit_s", e->limit_ms / 1000);
	estimate_put(out, "energy_j", e->energy_j * (double)tasks);
	json_key_int(out, "runs", (int64_t)runs);
	json_key_string(out, "basis", e->unknown ? e->unknown : basis);
	json_end(out);
	free(what);
	free(basis);
}

/* Some configurations of the space: all of a small one, else drawn at random, always the same. Returns how many; each
 * has space->count values. */
static size_t estimate_sample(const struct space *space, struct space_value *values)
{
	size_t count = 0;
	uint64_t cursor = 0;
	struct rng rng;
	if (space_count(space, ESTIMATE_SAMPLE) <= ESTIMATE_SAMPLE) {
		while (count < ESTIMATE_SAMPLE) {
			struct space_value *at = &values[count * space->count];
			if (count)
				memcpy(at, at - space->count, space->count * sizeof(*at));
			if (!space_next(space, &cursor, at))
				return count;
			count++;
		}
		return count;
	}
	double *unit = mem_array(space->dim_count, sizeof(*unit));
	rng_seed(&rng, ESTIMATE_SEED);
	for (size_t draw = 0; count < ESTIMATE_SAMPLE && draw < ESTIMATE_DRAWS_MOST; draw++) {
		for (size_t i = 0; i < space->dim_count; i++)
			unit[i] = rng_unit(&rng);
		space_decode(space, unit, &values[count * space->count]);
		count += space_allows(space, &values[count * space->count]);
	}
	free(unit);
	return count;
}

static double estimate_mean_energy(const struct runs *runs, const struct space *space, const struct space_value *values,
				   size_t count)
{
	double sum = 0;
	struct forecast_range got;
	for (size_t i = 0; i < count; i++) {
		if (runs_at(runs, runs->energy, space, &values[i * space->count], &got) != FORECAST_KNOWN)
			return NAN;
		sum += got.median;
	}
	return count ? sum / (double)count : NAN;
}

/* Why nothing is known of values that did not run. Few runs say nothing of how the time depends on them. */
static char *estimate_why_far(const char *name, bool given, bool seen, size_t runs)
{
	if (!given)
		return mem_printf("not known: '%s' is not given, and each of %zu earlier run%s had a value for it",
				  name, runs, runs == 1 ? "" : "s");
	if (!seen && runs >= FORECAST_RUNS_LEAST)
		return mem_printf("not known: none of %zu earlier runs had the parameter '%s'", runs, name);
	if (runs >= FORECAST_RUNS_LEAST)
		return mem_printf("not known: the values of '%s' lie far outside those of %zu earlier runs", name,
				  runs);
	return mem_printf("not known: only %zu earlier run%s, with other values of '%s' or without it; an estimate for "
			  "other values needs %d",
			  runs, runs == 1 ? "" : "s", name, FORECAST_RUNS_LEAST);
}

/* What the model says of a sample of the tasks. FORECAST_KNOWN with the figures, or why not. */
static enum forecast_answer estimate_model(const struct runs *runs, const struct space *space, struct estimate *e)
{
	struct space_value *values = mem_array(ESTIMATE_SAMPLE * space->count, sizeof(*values));
	size_t count = estimate_sample(space, values), known = 0, far = 0, which = 0;
	double median[ESTIMATE_SAMPLE], sum = 0, limit = 0;
	for (size_t i = 0; i < count; i++) {
		struct forecast_range got;
		enum forecast_answer answer = runs_at(runs, runs->time, space, &values[i * space->count], &got);
		if (answer == FORECAST_FAR) {
			far++;
			which = got.far;
		} else if (answer == FORECAST_KNOWN) {
			median[known++] = got.median;
			sum += got.median;
			limit = got.limit > limit ? got.limit : limit;
		}
	}
	enum forecast_answer answer = known ? FORECAST_KNOWN : FORECAST_FEW;
	if ((double)far > ESTIMATE_FAR_SHARE * (double)count) {
		const char *name = runs->names.at[which];
		e->unknown = estimate_why_far(name, space_find(space, name) >= 0, forecast_has(runs->time, which),
					      forecast_runs(runs->time));
		answer = FORECAST_FAR;
	} else if (known) {
		qsort(median, known, sizeof(*median), num_compare_reals);
		e->each_ms = median[known / 2];
		e->mean_ms = sum / (double)known;
		e->limit_ms = limit;
		e->energy_j = estimate_mean_energy(runs, space, values, count);
		e->basis = mem_printf("by %zu earlier runs", forecast_runs(runs->time));
	}
	free(values);
	return answer;
}

/* Is the script of that experiment another text? false where it cannot be known. */
static bool estimate_is_other(struct engine *engine, int64_t experiment, const char *script, const char *text)
{
	char *root = engine_folder(engine, experiment, 0, 0), *files = spool_files_dir(root);
	char *path = mem_printf("%s/%s", files, script);
	struct buf before = buf_make(LIMIT_BODY_BYTES);
	bool other = text && fs_read(path, LIMIT_BODY_BYTES, &before, NULL) == 0 &&
		strcmp(buf_text(&before), text) != 0;
	buf_free(&before);
	free(path);
	free(files);
	free(root);
	return other;
}

/* The parameters that were constant there and have another value here, as ", with epochs=2": they may be what the time
 * depends on. False: there are parameters of other names, so it is another program. */
static bool estimate_is_same(const struct space *space, const char *json, struct buf *ret_words)
{
	struct node *theirs = NULL;
	size_t named = 0;
	if (node_parse_json(json, strlen(json), &theirs, NULL) < 0)
		return false;
	for (size_t i = 0; i < theirs->count; i++) {
		const char *name = node_get_string(theirs->items[i], "name");
		long at = name ? space_find(space, name) : -1;
		const struct node *values = node_get(theirs->items[i], "values");
		named += at >= 0;
		if (at < 0 || !values || values->count != 1 || space->params[at].choice_count != 1)
			continue;
		struct buf mine = buf_make(1024);
		char *there = call_text(values->items[0]);
		space_format_value(&space->params[at].choices[0], &mine);
		if (strcmp(there, buf_text(&mine)) != 0)
			buf_addf(ret_words, ", with %s=%.40s", name, there);
		free(there);
		buf_free(&mine);
	}
	bool same = named == theirs->count && named == space->count;
	node_free(theirs);
	return same;
}

/* The median of the newest experiment of the program; not where only the name of the script is the same. */
static bool estimate_median(struct engine *engine, const struct engine_backend *backend, const struct spec *spec,
			    const char *text, struct estimate *e)
{
	struct store_pace pace = {0};
	struct buf differs = buf_make(1024);
	struct buf command = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&command);
	const struct node *given = node_get(spec->normal, "command");
	if (given)
		node_write_json(given, &w);
	int rc = store_read_pace(engine_store(engine), spec_program(spec), given ? buf_text(&command) : NULL, &pace);
	buf_free(&command);
	if (rc < 0)
		return false;
	bool elsewhere = strcmp(pace.backend, backend->ops->name) != 0;
	e->each_ms = e->mean_ms = (double)pace.median_ms;
	bool other = spec->script && estimate_is_other(engine, pace.experiment, spec->script, text);
	if (other)
		buf_add_text(&differs, ", whose script of that name has another text");
	bool good = estimate_is_same(spec->space, pace.parameters, &differs) || !other;
	if (good)
		e->basis = mem_printf("as in e%" PRId64 "%s%s%s", pace.experiment, elsewhere ? " on " : "",
				      elsewhere ? pace.backend : "", buf_text(&differs));
	free(pace.parameters);
	buf_free(&differs);
	return good;
}

void engine_write_estimate(struct engine *engine, const struct engine_backend *backend, const struct spec *spec,
			   const char *text, struct json *out)
{
	struct runs runs;
	struct estimate e = {.each_ms = NAN, .mean_ms = NAN, .limit_ms = NAN, .energy_j = NAN};
	int64_t tasks = (int64_t)search_planned(spec->search, spec->space);
	bool some = tasks > 0 && runs_read(engine, spec, &runs) == 0;
	if (some && runs.time) {
		bool known = estimate_model(&runs, spec->space, &e) != FORECAST_FEW ||
			estimate_median(engine, backend, spec, text, &e);
		if (known)
			estimate_write(&e, backend, spec, tasks, forecast_runs(runs.time), out);
		else
			json_put_null(out);
	} else {
		json_put_null(out);
	}
	if (some)
		runs_free(&runs);
	free(e.basis);
	free(e.unknown);
}
