/* The analysis of all results (GET …/analysis), and the state of the search (GET …/search). The mathematics is in
 * search/; this file makes its arrays from the finished tasks. */
#include "engine/analysis.h"

#include "engine/engine.h"
#include "engine/experiment.h"
#include "engine/load.h"
#include "engine/prune.h"
#include "engine/question.h"

#include "base/clock.h"
#include "base/limits.h"
#include "search/importance.h"
#include "store/json.h"

#include <errno.h>
#include <math.h>

/* The newest so many finished tasks are looked at. */
#define ANALYSIS_RUNS 2000
/* Tasks between two looks at the clock. */
#define ANALYSIS_STEP 50
/* Configurations: the means of all of them are made for each such step. */
#define ANALYSIS_MEANS 1000

struct analysis {
	struct engine *engine;
	struct spec *spec;
	struct engine_experiment scratch; /* what engine_read_objective asks for */
	VEC(struct analysis_run) runs; /* the newest first while they are read, then by number */
	struct store_progress progress;
	VEC(const struct analysis_run *) shown; /* in the slices */
	struct analysis_curves *curves;
	struct buf begun; /* what stands before the parts */
	struct json json; /* writes into the piece that is being made */
	size_t stage, done; /* which part it is at, and how far in it */
};

static struct space_value *analysis_values(const struct spec *spec, const char *json)
{
	struct space_value *values = mem_array(spec->space->count, sizeof(*values));
	struct node *map = NULL;
	bool good = node_parse_json(json, strlen(json), &map, NULL) == 0 && engine_read_values(spec, map, values);
	node_free(map);
	if (!good) {
		free(values);
		return NULL;
	}
	return values;
}

static int analysis_run_cb(void *ctx, const struct store_result *row)
{
	struct analysis *a = ctx;
	const struct spec *spec = a->spec;
	struct analysis_run run = {
		.id = row->id,
		.number = row->number,
		.values = analysis_values(spec, row->parameters),
		.scores = mem_array(spec->objective_count + 1, sizeof(double)),
		.time_s = row->time_s,
		.beyond = row->beyond || row->unsettled,
	};
	run.parameters = mem_strdup(row->parameters);
	run.scores[0] = row->best; /* what the task is ranked by is the first objective */
	vec_push(&a->runs, run);
	int rc = 0;
	for (size_t i = 1; rc == 0 && i < spec->objective_count; i++)
		rc = engine_read_objective(a->engine, &a->scratch, row->id, &spec->objectives[i], &run.scores[i]);
	return rc;
}

/* "importance_of": for each of several objectives alone. Takes the runs of all, and leaves them changed. */
static void analysis_write_importance_of(const struct spec *spec, struct importance_run *runs, size_t count,
					 const bool *maximise, struct json *out)
{
	json_key(out, "importance_of");
	json_map(out);
	for (size_t i = 0; i < spec->objective_count; i++) {
		json_key(out, spec->objectives[i].metric);
		importance_write(spec->space, runs, count, 1, &maximise[i], spec->search->fidelity_param, out);
		for (size_t k = 0; k < count; k++)
			runs[k].scores++; /* the next objective is the first one then */
	}
	json_end(out);
}

static void analysis_write_importance(const struct analysis *a, struct json *out)
{
	const struct spec *spec = a->spec;
	struct importance_run *runs = mem_array(a->runs.len + 1, sizeof(*runs));
	bool *maximise = mem_alloc(spec->objective_count + 1);
	size_t count = 0;
	for (size_t i = 0; i < spec->objective_count; i++)
		maximise[i] = spec->objectives[i].maximise;
	for (size_t i = 0; i < a->runs.len; i++)
		if (a->runs.at[i].values)
			runs[count++] = (struct importance_run){a->runs.at[i].number, a->runs.at[i].values,
								a->runs.at[i].scores};
	json_key_int(out, "importance_needs", IMPORTANCE_RUNS_LEAST);
	json_key(out, "importance");
	if (spec->objective_count) {
		importance_write(spec->space, runs, count, spec->objective_count, maximise,
				 spec->search->fidelity_param, out);
		if (spec->objective_count > 1)
			analysis_write_importance_of(spec, runs, count, maximise, out);
	} else {
		json_list(out);
		json_end(out);
	}
	free(maximise);
	free(runs);
}

/* The parts of the answer, in their order. Each is called until it returns 0: it has nothing left to do; or a negative
 * errno: the store could not be read. */

static int stage_progress(struct analysis *a, struct json *out)
{
	if (!a->done++) {
		json_key(out, "progress");
		json_list(out);
	}
	int64_t most = a->progress.repeated ? ANALYSIS_MEANS : ANALYSIS_STEP;
	int count = store_json_progress(engine_store(a->engine), a->scratch.id, &a->progress, most, out);
	if (count < 0 || count == most)
		return count;
	json_end(out);
	return 0;
}

static int stage_runs(struct analysis *a, struct json *out)
{
	size_t before = a->runs.len;
	int64_t below = before ? a->runs.at[before - 1].number : INT64_MAX;
	int rc = store_each_result(engine_store(a->engine), a->scratch.id, below, ANALYSIS_STEP, analysis_run_cb, a);
	if (rc < 0)
		return rc;
	if (a->runs.len - before == ANALYSIS_STEP && a->runs.len < ANALYSIS_RUNS)
		return 1;
	for (size_t i = 0; i < a->runs.len / 2; i++) {
		struct analysis_run swap = a->runs.at[i];
		a->runs.at[i] = a->runs.at[a->runs.len - 1 - i];
		a->runs.at[a->runs.len - 1 - i] = swap;
	}
	json_key_int(out, "runs", (int64_t)a->runs.len);
	return 0;
}

static int stage_importance(struct analysis *a, struct json *out)
{
	analysis_write_importance(a, out);
	return 0;
}

static int stage_fronts(struct analysis *a, struct json *out)
{
	if (!a->done) {
		json_key(out, "fronts");
		json_list(out);
	}
	if (analysis_write_front(a->spec, a->runs.at, a->runs.len, a->done++, out))
		return 1;
	json_end(out);
	return 0;
}

static void slices_begin(struct analysis *a, struct json *out)
{
	size_t stride = (a->runs.len + ANALYSIS_POINTS - 1) / ANALYSIS_POINTS;
	for (size_t i = 0; a->spec->objective_count && i < a->runs.len; i += stride)
		if (a->runs.at[i].values && isfinite(a->runs.at[i].scores[0]))
			vec_push(&a->shown, &a->runs.at[i]);
	json_key(out, "slices");
	json_map(out);
	json_key(out, "task");
	json_list(out);
	for (size_t i = 0; i < a->shown.len; i++)
		json_put_int(out, a->shown.at[i]->number);
	json_end(out);
	json_key(out, "value");
	json_list(out);
	for (size_t i = 0; i < a->shown.len; i++)
		json_put_real(out, a->shown.at[i]->scores[0]);
	json_end(out);
	json_key(out, "parameters");
	json_map(out);
}

/* Columns: the task, its first objective, and every parameter that varies; null where it does not apply. */
static int stage_slices(struct analysis *a, struct json *out)
{
	const struct space *space = a->spec->space;
	if (!a->done++) {
		slices_begin(a, out);
		return 1;
	}
	size_t dim = a->done - 2;
	if (dim < space->dim_count) {
		json_key(out, space->params[space->dims[dim]].name);
		json_list(out);
		for (size_t i = 0; i < a->shown.len; i++)
			space_write_value(&a->shown.at[i]->values[space->dims[dim]], out);
		json_end(out);
		return 1;
	}
	json_end(out);
	json_end(out);
	return 0;
}

static int stage_agreement(struct analysis *a, struct json *out)
{
	return analysis_write_agreement(a->engine, a->scratch.id, a->spec, out);
}

static int stage_curves(struct analysis *a, struct json *out)
{
	if (!a->curves)
		a->curves = analysis_curves_new(a->engine, a->scratch.id, a->spec, a->runs.at, a->runs.len);
	return analysis_write_curves(a->curves, out);
}

static int analysis_make(void *ctx, struct buf *out)
{
	static int (*const stages[])(struct analysis *, struct json *) = {
		stage_progress, stage_runs, stage_importance, stage_fronts, stage_slices, stage_agreement, stage_curves,
	};
	struct analysis *a = ctx;
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS;
	buf_add(out, buf_text(&a->begun), a->begun.len);
	buf_free(&a->begun);
	a->json.out = out;
	while (a->stage < COUNT_OF(stages) && clock_mono_ms() < until) {
		int rc = stages[a->stage](a, &a->json);
		if (rc < 0)
			return rc;
		if (rc > 0)
			continue;
		a->stage++;
		a->done = 0;
	}
	if (a->stage < COUNT_OF(stages))
		return 1;
	json_end(&a->json);
	return 0;
}

static void analysis_free(void *ctx)
{
	struct analysis *a = ctx;
	for (size_t i = 0; i < a->runs.len; i++) {
		free(a->runs.at[i].values);
		free(a->runs.at[i].parameters);
		free(a->runs.at[i].scores);
	}
	free(a->runs.at);
	free(a->shown.at);
	analysis_curves_free(a->curves);
	buf_free(&a->begun);
	spec_free(a->spec);
	free(a);
}

int engine_read_analysis(struct engine *engine, int64_t experiment, struct pieces *ret)
{
	struct spec *spec = NULL;
	int rc = engine_read_spec(engine, experiment, &spec);
	if (rc < 0)
		return rc;
	struct analysis *a = mem_alloc(sizeof(*a));
	*a = (struct analysis){
		.engine = engine,
		.spec = spec,
		.scratch = {.id = experiment},
		.begun = buf_make(BUF_UNLIMITED),
	};
	a->json = json_to(&a->begun);
	json_map(&a->json);
	rc = store_json_best(engine_store(engine), experiment, &a->progress, &a->json);
	if (rc < 0) {
		analysis_free(a);
		return rc;
	}
	*ret = (struct pieces){analysis_make, analysis_free, a};
	return 0;
}

struct analysis_search {
	struct engine *engine;
	struct json *out;
};

static int analysis_search_cb(void *ctx, const struct store_experiment *row)
{
	const struct analysis_search *a = ctx;
	const struct engine_experiment *e = engine_find(a->engine, row->id);
	const struct strategy *strategy = search_find(row->strategy);
	struct json *out = a->out;
	int64_t last, imported;
	if (row->removing)
		return -ENOENT;
	int rc = store_last_number(engine_store(a->engine), row->id, &last);
	if (rc == 0)
		rc = store_count_imported(engine_store(a->engine), row->id, &imported);
	if (rc < 0)
		return rc;
	int64_t proposed = last - imported;
	json_map(out);
	json_key_string(out, "strategy", row->strategy);
	json_key_string(out, "title", strategy ? strategy->title : row->strategy);
	json_key_string(out, "reason", row->strategy_reason);
	json_key_int(out, "planned", row->asked_all ? proposed : row->planned - imported);
	json_key_int(out, "proposed", proposed);
	json_key_int(out, "imported", imported);
	json_key(out, "ask_ms");
	if (e && e->ask_ms > 0)
		json_put_real(out, e->ask_ms);
	else
		json_put_null(out);
	json_key(out, "fidelities");
	rc = store_json_fidelities(engine_store(a->engine), row->id, out);
	json_key(out, "state");
	if (e && e->question)
		json_put_raw(out, buf_text(&e->question->state)); /* it is thinking */
	else if (e && e->search)
		search_write_state(e->search, out);
	else
		json_put_null(out); /* it has ended; nothing is read again only to look at it */
	json_end(out);
	return rc;
}

int engine_write_search(struct engine *engine, int64_t experiment, struct json *out)
{
	struct analysis_search a = {engine, out};
	return store_read_experiment(engine_store(engine), experiment, analysis_search_cb, &a);
}
