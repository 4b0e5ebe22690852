/* Loads what is in progress: experiments that have not ended, their searches (by replay), and every attempt that may be
 * alive. It works the same after a restart, a crash, and a failed write. */
#include "engine/load.h"

#include "engine/accounted.h"
#include "engine/backends.h"
#include "engine/ended.h"
#include "engine/experiment.h"
#include "engine/folder.h"
#include "engine/hold.h"
#include "engine/home.h"
#include "engine/ingest.h"
#include "engine/live.h"
#include "engine/propose.h"
#include "engine/question.h"
#include "engine/seed.h"
#include "engine/series.h"
#include "engine/settle.h"
#include "engine/spec.h"
#include "engine/spec_objective.h"
#include "engine/state.h"
#include "engine/submit.h"
#include "engine/transact.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/log.h"
#include "spool/descriptor.h"
#include "spool/stop.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void experiment_free(struct engine_experiment *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->metrics.len; i++)
		free(e->metrics.at[i].name);
	free(e->metrics.at);
	free(e->untold.at);
	free(e->workers.at);
	free(e->step_name);
	free(e->note);
	free(e->paused);
	streak_forget(&e->streak);
	free(e->excluded);
	free(e->share.model);
	free(e->share.script);
	unstarted_forget(&e->unstarted);
	engine_drop_question(e);
	search_free(e->search);
	spec_free(e->spec);
	free(e);
}

void engine_free_live(struct engine_live *live)
{
	free(live->job);
	free(live->node);
	free(live->batch_dir);
	free(live->attempt_dir);
	attempt_facts_clear(&live->facts);
	free(live->reason);
	free(live->paused);
	free(live->parameters);
	free(live->slow);
	free(live->stall);
	free(live->step_name);
	free(live->gone_source);
	series_forget(live);
	buf_free(&live->rows);
	free(live);
}

void engine_unload(struct engine *engine)
{
	for (size_t i = 0; i < engine->live.len; i++)
		engine_free_live(engine->live.at[i]);
	for (size_t i = 0; i < engine->experiments.len; i++)
		experiment_free(engine->experiments.at[i]);
	engine_ended_unload(engine);
	engine->live.len = engine->experiments.len = engine->submissions.len = engine->dirty.len = 0;
}

void engine_forget_experiment(struct engine *engine, struct engine_experiment *experiment)
{
	for (size_t i = 0; i < engine->experiments.len; i++) {
		if (engine->experiments.at[i] != experiment)
			continue;
		memmove(&engine->experiments.at[i], &engine->experiments.at[i + 1],
			(engine->experiments.len - i - 1) * sizeof(experiment));
		engine->experiments.len--;
		break;
	}
	experiment_free(experiment);
}

struct load {
	struct engine *engine;
	struct engine_experiment *experiment;
	struct error *err;
};

/* The objective may have been chosen from the first metrics; the store then knows more than the file. */
static void load_objective(struct spec *spec, const char *json)
{
	struct node *list = NULL;
	if (spec->objective_count || node_parse_json(json, strlen(json), &list, NULL) < 0)
		return;
	const struct node *first = list->type == NODE_LIST && list->count ? list->items[0] : NULL;
	if (node_get_string(first, "metric") && node_get_string(first, "goal"))
		spec_objective_choose(spec, node_get_string(first, "metric"),
				      strcmp(node_get_string(first, "goal"), "max") == 0);
	node_free(list);
}

static int load_spec(const struct store_experiment *row, struct spec **ret, struct error *err)
{
	struct problems problems = {.stored = true};
	struct node *document = NULL;
	int rc = node_parse_json(row->spec, strlen(row->spec), &document, err);
	if (rc == 0 && (rc = spec_parse(document, &problems, ret)) < 0)
		problems_summary(&problems, err);
	if (rc == 0)
		seed_restore(document, row->seed, *ret);
	problems_free(&problems);
	node_free(document);
	if (rc < 0)
		log_error("e%" PRId64 " cannot be read: %s", row->id, err ? err->text : "");
	else
		load_objective(*ret, row->objective);
	return rc;
}

static int load_spec_cb(void *ctx, const struct store_experiment *row)
{
	return load_spec(row, ctx, NULL);
}

int engine_read_spec(struct engine *engine, int64_t id, struct spec **ret)
{
	return store_read_experiment(engine->store, id, load_spec_cb, ret);
}

int engine_read_fidelity(const struct spec *spec, const struct node *parameters, double value, struct space_value *ret,
			 struct problems *problems)
{
	long at = spec->search->fidelity_param;
	const struct space_param *fidelity = &spec->space->params[at];
	struct node *map = node_new(NODE_MAP);
	for (size_t i = 0; parameters && i < parameters->count; i++)
		if (strcmp(parameters->items[i]->key, fidelity->name) != 0)
			node_add(map, parameters->items[i]->key, node_clone(parameters->items[i]));
	/* A constant may be left out; of a range any value does. */
	if (fidelity->cardinality != 1)
		node_add(map, fidelity->name, node_new_real(fidelity->min));
	int rc = space_read_values(spec->space, map, ret, problems);
	bool whole = rc == 0 && ret[at].kind == SPACE_VALUE_INT;
	if (rc == 0)
		ret[at] = (struct space_value){.kind = whole ? SPACE_VALUE_INT : SPACE_VALUE_REAL,
					       .integer = whole ? (int64_t)round(value) : 0,
					       .real = whole ? round(value) : value};
	node_free(map);
	return rc;
}

bool engine_read_values(const struct spec *spec, const struct node *parameters, struct space_value *ret)
{
	long at = spec->search->fidelity_param;
	const struct node *set = at >= 0 ? node_get(parameters, spec->space->params[at].name) : NULL;
	struct problems problems = {0};
	bool good = (node_is_number(set) ? engine_read_fidelity(spec, parameters, set->real, ret, &problems)
					 : space_read_values(spec->space, parameters, ret, &problems)) == 0;
	problems_free(&problems);
	return good;
}

/* Takes the spec, which is that of the row. */
static struct engine_experiment *load_add(struct engine *engine, const struct store_experiment *row, struct spec *spec)
{
	struct engine_experiment *e = mem_alloc(sizeof(*e));
	e->spec = spec;
	e->id = row->id;
	e->state = row->state;
	e->parallel = row->parallel;
	e->planned = row->planned;
	e->created_ms = row->created_ms;
	e->started_ms = row->started_ms;
	e->asked_all = row->asked_all;
	e->stopping = row->stopping;
	e->met_task = row->met_task;
	e->removing = row->removing;
	e->sweep = row->sweep;
	e->sweep_from = row->sweep_from;
	e->sweep_ms = row->sweep_ms;
	e->removed = row->removed;
	e->remove_from = row->remove_from;
	e->changed = true;
	e->step_name = mem_strdup(row->step_name);
	e->note = mem_strdup(row->note);
	e->paused = mem_strdup(row->paused);
	e->backend = engine_backend_named(engine, row->backend);
	vec_push(&engine->experiments, e);
	return e;
}

static int load_experiment_cb(void *ctx, const struct store_experiment *row)
{
	struct load *load = ctx;
	struct spec *spec = NULL;
	int rc = load_spec(row, &spec, load->err);
	if (rc == 0)
		load->experiment = load_add(load->engine, row, spec);
	return rc;
}

int engine_add_created(struct engine *engine, const struct store_experiment *row, struct spec **spec,
		       struct engine_experiment **ret, struct error *err)
{
	struct engine_experiment *e = load_add(engine, row, *spec);
	*spec = NULL;
	e->next_seq = 1;
	int rc = search_open(e->spec->search, e->spec->space, &e->search, err);
	if (rc < 0)
		engine_forget_experiment(engine, e);
	else
		*ret = e;
	return rc;
}

static int load_counts(struct engine *engine, struct engine_experiment *e)
{
	int rc = store_count_tasks(engine->store, e->id, e->counts);
	if (rc == 0)
		rc = store_last_number(engine->store, e->id, &e->last_number);
	return rc < 0 ? rc : engine_hold_load(engine, e);
}

static int load_rest(struct engine *engine, struct engine_experiment *e, struct error *err)
{
	int rc = load_counts(engine, e);
	if (rc < 0 || e->removing)
		return rc;
	/* A search that does not learn and has proposed everything will not be asked again; reading its hundred
	 * thousand asks would be for nothing. */
	bool learns = e->spec->search->strategy->capabilities & SEARCH_ADAPTIVE;
	rc = e->asked_all && !learns ? engine_skip_replay(engine, e, err) : engine_replay(engine, e, err);
	return rc < 0 ? rc : engine_find_untold(engine, e);
}

int engine_load_for_a_turn(struct engine *engine, int64_t id, struct engine_experiment **ret)
{
	struct load load = {.engine = engine};
	int rc = store_read_experiment(engine->store, id, load_experiment_cb, &load);
	if (rc < 0)
		return rc;
	rc = load_counts(engine, load.experiment);
	if (rc == 0)
		rc = engine_skip_replay(engine, load.experiment, NULL);
	if (rc < 0)
		engine_forget_experiment(engine, load.experiment);
	else
		*ret = load.experiment;
	return rc;
}

int engine_load_experiment(struct engine *engine, int64_t id, struct engine_experiment **ret, struct error *err)
{
	struct load load = {.engine = engine, .err = err};
	if ((*ret = engine_find(engine, id)))
		return 0;
	int rc = store_read_experiment(engine->store, id, load_experiment_cb, &load);
	if (rc == -ENOENT)
		return errorf(err, rc, "there is no experiment e%" PRId64, id);
	if (rc < 0)
		return rc;
	if ((rc = load_rest(engine, load.experiment, err)) < 0) {
		engine_forget_experiment(engine, load.experiment);
		return rc;
	}
	*ret = load.experiment;
	return 0;
}

int engine_open_experiment(struct engine *engine, int64_t id, struct engine_experiment **ret, struct error *err)
{
	engine_soon(engine);
	int rc = engine_refresh(engine, err);
	if (rc == 0)
		rc = engine_load_experiment(engine, id, ret, err);
	if (rc == 0 && (*ret)->removing)
		rc = errorf(err, -ENOENT, "there is no experiment e%" PRId64, id);
	return rc;
}

struct engine_live *engine_add_live(struct engine *engine, struct engine_experiment *experiment,
				    const struct store_attempt *row, const struct store_task *task)
{
	struct engine_live *live = mem_alloc(sizeof(*live));
	(void)store_keep_task(&live->task, task);
	live->parameters = mem_strdup(task->parameters);
	live->stall = mem_strdup(row->stall);
	live->slow = mem_strdup(row->slow);
	live->silence = row->silent ? SILENCE_SOME : SILENCE_NONE;
	live->experiment = experiment;
	live->id = row->id;
	live->number = row->number;
	live->index = row->index;
	live->offset = row->journal_offset;
	live->created_ms = row->created_ms;
	live->started_ms = row->started_ms;
	live->facts.journal_end.exit_code = live->facts.backend_end.exit_code = -1;
	live->facts.traits = experiment->backend ? experiment->backend->ops->traits : 0;
	if (row->state == STORE_RUNNING)
		engine_note(live, ATTEMPT_EVENT_START);
	engine_asked_read(experiment, row->asked, &live->asked);
	live->job = mem_strdup(row->job);
	live->rows = buf_make(BUF_UNLIMITED);
	live->pruned_at = -1;
	memcpy(live->token, row->token, TOKEN_ID_CHARS);
	live->batch_dir = engine_batch_folder(engine, experiment->id, row->token);
	live->attempt_dir = engine_folder(engine, experiment->id, row->task_number, row->number);
	if (row->ended && engine_take_end(live, row->ended) < 0)
		log_error("e%" PRId64 "/%" PRId64 ": its recorded end cannot be read", experiment->id,
			  row->task_number);
	experiment->live++;
	vec_push(&engine->live, live);
	return live;
}

/* A version before this one put first attempts into attempts/1. One that has not started yet has no folder to show that;
 * its descriptor says where it will write. The path in it may be that of a folder that was moved or copied since. */
int engine_place(struct engine *engine, struct engine_live *live, struct error *err)
{
	char *below = NULL;
	int rc = live->number == 1 ? spool_descriptor_find(live->batch_dir, live->index, &below, err) : 0;
	live->unplaced = rc < 0;
	if (rc == 0 && below) {
		char *task = engine_folder(engine, live->experiment->id, live->task.number, 0);
		free(live->attempt_dir);
		live->attempt_dir = mem_printf("%s%s", task, below);
		free(task);
	}
	free(below);
	return rc;
}

struct load_live {
	struct load *load;
	struct engine_experiment *experiment;
	const struct store_attempt *row;
	struct engine_live *live;
};

static int load_task_cb(void *ctx, const struct store_task *task)
{
	struct load_live *load = ctx;
	load->live = engine_add_live(load->load->engine, load->experiment, load->row, task);
	load->live->step_name = mem_strdup(task->step_name);
	return 0;
}

static int load_live_cb(void *ctx, const struct store_attempt *row)
{
	struct load *load = ctx;
	struct engine *engine = load->engine;
	struct engine_experiment *e = engine_find(engine, row->experiment);
	if (!e)
		return errorf(load->err, -EIO, "e%" PRId64 " has ended, but one of its attempts is still alive",
			      row->experiment);
	struct load_live of = {.load = load, .experiment = e, .row = row};
	int rc = store_read_task(engine->store, e->id, row->task_number, load_task_cb, &of);
	if (rc < 0)
		return rc;
	struct engine_live *live = of.live;
	if (engine_place(engine, live, NULL) < 0) /* the first turn tries again, and tells why */
		attempt_update(
			&live->facts,
			&(struct attempt_event){.kind = ATTEMPT_EVENT_JOURNAL, .journal = ATTEMPT_JOURNAL_UNKNOWN});
	if (engine_is_foreign(engine, live->id)) {
		char text[512];
		snprintf(text, sizeof(text), "it belongs to %.400s, of which this state folder is a copy",
			 engine->copied_from);
		const struct attempt_end end = {.cause = CAUSE_LOST, .message = text, .exit_code = -1};
		attempt_update(
			&live->facts,
			&(struct attempt_event){.kind = ATTEMPT_EVENT_GONE, .at_ms = clock_mono_ms(), .end = &end});
		return 0;
	}
	/* It was given up, or thought to have ended, and its end was not written any more. */
	if (row->state == STORE_RUNNING && row->wanted == STORE_WANT_RUN && spool_stop_exists(live->attempt_dir))
		engine_note(live,
			    spool_stop_says(live->attempt_dir, SPOOL_STOP_SILENT) ? ATTEMPT_EVENT_GIVEN_UP
										  : ATTEMPT_EVENT_FENCED);
	if (row->batch_state != STORE_BATCH_SUBMITTING)
		return 0;
	/* It may or may not have been handed over. Where a second hand-over is harmless and cheap, do it at once; any
	 * other backend is asked first. */
	for (size_t i = 0; i < engine->submissions.len; i++)
		if (strcmp(engine->submissions.at[i].token, live->token) == 0)
			return 0;
	if (e->backend && backend_is(e->backend->ops, BACKEND_RESUBMIT_SAFE)) {
		struct engine_submission again = {.experiment = e, .again = true};
		memcpy(again.token, live->token, sizeof(again.token));
		vec_push(&engine->submissions, again);
	}
	return 0;
}

int engine_load(struct engine *engine, struct error *err)
{
	struct load load = {.engine = engine, .err = err};
	engine_unload(engine);
	int rc = store_each_active(engine->store, load_experiment_cb, &load);
	for (size_t i = 0; rc == 0 && i < engine->experiments.len; i++)
		rc = load_rest(engine, engine->experiments.at[i], err);
	if (rc == 0)
		rc = store_each_live(engine->store, load_live_cb, &load);
	if (rc == 0)
		rc = engine_ended_load(engine);
	if (rc < 0) {
		engine_unload(engine);
		return rc;
	}
	return 0;
}
