/* What the results say as a whole: GET …/analysis, and what the search is about: GET …/search. The mathematics is
 * in search/; here the finished tasks become its arrays. */
#include "engine/analysis.h"

#include "search/importance.h"
#include "store/read.h"

#include <errno.h>
#include <math.h>

/* The newest so many finished tasks are looked at: the loop waits for the answer, some 20 us a task. */
#define ANALYSIS_RUNS 2000

struct analysis {
	struct engine *engine;
	const struct spec *spec;
	struct engine_experiment scratch; /* what engine_read_objective asks for */
	VEC(struct analysis_run) runs;
};

static struct space_value *analysis_values(const struct space *space, const char *json)
{
	struct space_value *values = mem_alloc(space->count * sizeof(*values) + 1);
	struct problems problems = {0};
	struct node *map = NULL;
	bool good = node_parse_json(json, strlen(json), &map, NULL) == 0 &&
		    space_read_values(space, map, values, &problems) == 0;
	problems_free(&problems);
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
		.values = analysis_values(spec->space, row->parameters),
		.scores = mem_alloc((spec->objective_count + 1) * sizeof(double)),
		.time_s = row->time_s,
	};
	for (size_t i = 0; i < spec->objective_count; i++)
		run.scores[i] = i == 0 && spec->objectives[0].take == SPEC_TAKE_BEST
					? row->best
					: engine_read_objective(a->engine, &a->scratch, row->id, &spec->objectives[i]);
	vec_push(&a->runs, run);
	return 0;
}

static void analysis_write_importance(const struct analysis *a, struct json *out)
{
	const struct spec *spec = a->spec;
	struct importance_run *runs = mem_alloc((a->runs.len + 1) * sizeof(*runs));
	bool *maximise = mem_alloc(spec->objective_count + 1);
	size_t count = 0;
	for (size_t i = 0; i < spec->objective_count; i++)
		maximise[i] = spec->objectives[i].maximise;
	for (size_t i = 0; i < a->runs.len; i++)
		if (a->runs.at[i].values)
			runs[count++] = (struct importance_run){a->runs.at[i].number, a->runs.at[i].values,
								a->runs.at[i].scores};
	json_key(out, "importance");
	if (spec->objective_count) {
		importance_write(spec->space, runs, count, spec->objective_count, maximise, out);
	} else {
		json_list(out);
		json_end(out);
	}
	free(maximise);
	free(runs);
}

static void analysis_write_value(const struct space_value *value, struct json *out)
{
	switch (value->kind) {
	case SPACE_VALUE_NONE:
		json_null(out);
		break;
	case SPACE_VALUE_BOOL:
		json_bool(out, value->boolean);
		break;
	case SPACE_VALUE_INT:
		json_int(out, value->integer);
		break;
	case SPACE_VALUE_REAL:
		json_real(out, value->real);
		break;
	case SPACE_VALUE_TEXT:
		json_string(out, value->text);
		break;
	}
}

/* Columns: the task, its first objective, and every parameter that varies; null where it does not apply. */
static void analysis_write_slices(const struct analysis *a, struct json *out)
{
	const struct space *space = a->spec->space;
	VEC(const struct analysis_run *) shown = {0};
	size_t stride = (a->runs.len + ANALYSIS_POINTS - 1) / ANALYSIS_POINTS;
	for (size_t i = 0; a->spec->objective_count && i < a->runs.len; i += stride)
		if (a->runs.at[i].values && isfinite(a->runs.at[i].scores[0]))
			vec_push(&shown, &a->runs.at[i]);
	json_key(out, "slices");
	json_map(out);
	json_key(out, "task");
	json_list(out);
	for (size_t i = 0; i < shown.len; i++)
		json_int(out, shown.at[i]->number);
	json_end(out);
	json_key(out, "value");
	json_list(out);
	for (size_t i = 0; i < shown.len; i++)
		json_real(out, shown.at[i]->scores[0]);
	json_end(out);
	json_key(out, "parameters");
	json_map(out);
	for (size_t d = 0; d < space->dim_count; d++) {
		json_key(out, space->params[space->dims[d]].name);
		json_list(out);
		for (size_t i = 0; i < shown.len; i++)
			analysis_write_value(&shown.at[i]->values[space->dims[d]], out);
		json_end(out);
	}
	json_end(out);
	json_end(out);
	free(shown.at);
}

static void analysis_free(struct analysis *a)
{
	for (size_t i = 0; i < a->runs.len; i++) {
		free(a->runs.at[i].values);
		free(a->runs.at[i].scores);
	}
	free(a->runs.at);
}

int engine_write_analysis(struct engine *engine, int64_t experiment, struct json *out)
{
	struct analysis a = {.engine = engine, .scratch = {.id = experiment}};
	struct spec *spec = NULL;
	int rc = engine_read_spec(engine, experiment, &spec);
	if (rc < 0)
		return rc;
	a.spec = spec;
	json_map(out);
	rc = store_write_analysis(engine->store, experiment, out);
	if (rc == 0)
		rc = store_each_result(engine->store, experiment, ANALYSIS_RUNS, analysis_run_cb, &a);
	if (rc == 0) {
		json_key_int(out, "runs", (int64_t)a.runs.len);
		analysis_write_importance(&a, out);
		analysis_write_fronts(spec, a.runs.at, a.runs.len, out);
		analysis_write_slices(&a, out);
		rc = analysis_write_agreement(engine, experiment, spec, out);
	}
	if (rc == 0)
		rc = analysis_write_curves(engine, experiment, spec, a.runs.at, a.runs.len, out);
	json_end(out);
	analysis_free(&a);
	spec_free(spec);
	return rc;
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
	if (row->removing)
		return -ENOENT;
	json_map(out);
	json_key_string(out, "strategy", row->strategy);
	json_key_string(out, "title", strategy ? strategy->title : row->strategy);
	json_key_string(out, "reason", row->strategy_reason);
	json_key_int(out, "planned", row->planned);
	json_key_int(out, "proposed", store_last_number(a->engine->store, row->id));
	json_key(out, "fidelities");
	store_write_fidelities(a->engine->store, row->id, out);
	json_key(out, "state");
	if (e && e->search)
		search_write_state(e->search, out);
	else
		json_null(out); /* it is over; nothing is read again only to look at it */
	json_end(out);
	return 0;
}

int engine_write_search(struct engine *engine, int64_t experiment, struct json *out)
{
	struct analysis_search a = {engine, out};
	return store_read_experiment(engine->store, experiment, analysis_search_cb, &a);
}
