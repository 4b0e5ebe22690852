/* Changes to a search while it runs: configurations that the user chose, results from elsewhere, another budget, space
 * or size of the tasks. Each is one entry in the recorded sequence. After a change of settings, a new search takes
 * everything before it as history, and does the same after every restart. */

#include "engine/backends.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/fit.h"
#include "engine/limit.h"
#include "engine/live.h"
#include "engine/load.h"
#include "engine/missing.h"
#include "engine/pause.h"
#include "engine/propose.h"
#include "engine/question.h"
#include "engine/rank.h"
#include "engine/row.h"
#include "engine/seed.h"
#include "engine/settle.h"
#include "engine/share.h"
#include "engine/spec.h"
#include "engine/spec_objective.h"
#include "engine/state.h"
#include "engine/transact.h"
#include "engine/twice.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "script/script.h"
#include "spool/paths.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

/* What the parts of a change share. */
struct living {
	struct engine_experiment *experiment;
	struct space_value *values; /* one configuration */
	bool outside; /* it has a value outside the space */
	const struct node *rows; /* to import */
	struct problems *problems;
	struct spec *spec; /* the new one, until the experiment has it */
	bool parallel_given;
	bool ranks; /* by another objective */
	bool goes_on; /* what it paused for was changed */
	const struct node *resources; /* those that were given; NULL: none */
	int64_t number, count; /* of the task that was added; of the rows that were imported */
	int64_t already; /* rows that were there before */
};

/* A task for a configuration that was given, which the search did not choose. A search cannot learn from one that is
 * outside its space. known: the number by which the search knows it already; 0: it does not. */
static int living_add(struct engine *engine, struct engine_experiment *e, const struct space_value *values,
		      bool outside, int64_t known, struct store_task *ret)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	space_write_values(e->spec->space, values, &w);
	long steps = e->spec->steps_param;
	*ret = (struct store_task){
		.experiment = e->id,
		.number = e->last_number + 1,
		.parameters = buf_text(&text),
		.repeat = 1,
		.seed = engine_task_seed(e->spec, e->last_number + 1),
		.fidelity = NAN,
		.steps = steps >= 0 && values[steps].kind == SPACE_VALUE_INT ? values[steps].integer : 0,
		.asked = known ? known : e->last_asked + 1,
		.best = NAN,
		.last = NAN,
		.best_step = -1,
		.last_step = -1,
		.step = -1,
	};
	int rc = store_add_task(engine->store, ret, clock_now_ms(), &ret->id);
	if (rc == 0 && !known)
		rc = engine_add_foreign(engine, e, ret->asked, outside ? NULL : values, buf_text(&text));
	if (rc == 0)
		rc = store_set_planned(engine->store, e->id, ++e->planned);
	if (rc == 0) {
		e->last_number++;
		e->last_asked = known ? e->last_asked : ret->asked;
		e->counts[STORE_WAITING]++;
		e->changed = true;
		engine_task_changed(engine, e->id, ret->number);
	}
	ret->parameters = NULL;
	buf_free(&text);
	return rc;
}

static int living_suggest(struct engine *engine, void *ctx, struct error *err)
{
	struct living *living = ctx;
	struct store_task task;
	(void)err;
	int rc = living_add(engine, living->experiment, living->values, living->outside, 0, &task);
	living->number = task.number;
	return rc;
}

int engine_suggest(struct engine *engine, int64_t experiment, const struct node *body, int64_t *ret_number,
		   struct problems *problems, struct error *err)
{
	struct living living = {0};
	int rc = engine_open_experiment(engine, experiment, &living.experiment, err);
	if (rc < 0)
		return rc;
	const struct space *space = living.experiment->spec->space;
	const struct node *parameters = node_get(body, "parameters");
	living.values = mem_array(space->count, sizeof(*living.values));
	if (!parameters)
		rc = problem_add_missing(problems, body, "parameters", "send {\"parameters\": {\"lr\": 0.01}}");
	else if (node_get_bool(body, "outside", false))
		rc = space_read_any(space, parameters, living.values, &living.outside, problems);
	else
		rc = space_read_values(space, parameters, living.values, problems);
	if (rc == 0)
		rc = engine_transact(engine, living_suggest, &living, err);
	if (rc == 0)
		*ret_number = living.number;
	free(living.values);
	return rc;
}

/* The results of an imported task: its metrics at step 0, its best, its end, and the word to the search unless that knows
 * them. */
static int living_import_results(struct engine *engine, struct engine_experiment *e, struct store_task *task,
				 const struct node *results, bool known)
{
	size_t count = e->spec->objective_count;
	double *values = mem_array(engine_count_told(e->spec), sizeof(*values));
	int rc = 0;
	for (size_t i = 0; i < engine_count_told(e->spec); i++)
		values[i] = NAN;
	for (size_t i = 0; rc == 0 && i < results->count; i++) {
		const struct node *item = results->items[i];
		int64_t name;
		rc = store_metric_name(engine->store, e->id, item->key, &name);
		if (rc == 0)
			rc = store_add_metric(
				engine->store, task->id,
				&(struct store_point){
					.name = name, .value = item->real, .time_ms = clock_now_ms(), .epoch = NAN});
		for (size_t k = 0; k < count; k++)
			if (strcmp(e->spec->objectives[k].metric, item->key) == 0)
				values[k] = item->real;
		for (size_t k = 0; k < e->spec->limit_count; k++)
			if (strcmp(e->spec->limits[k].of.metric, item->key) == 0)
				values[count + k] = item->real;
	}
	if (rc == 0 && count && !isnan(values[0])) {
		task->best = task->last = values[0];
		task->best_step = task->last_step = 0;
		task->step = -1; /* how long it was trained is not known */
		e->best_changed = true;
		rc = store_set_progress(engine->store, task);
	}
	if (rc == 0)
		rc = engine_judge(engine, e, task->id);
	if (rc == 0)
		rc = engine_set_state(engine, e, task, STORE_FINISHED, "imported", NULL);
	if (rc == 0 && !known)
		rc = engine_tell(engine, e, task->asked, SEARCH_FINISHED, values);
	free(values);
	return rc;
}

/* A result without an objective would be a finished task that tells the search nothing. */
static void living_check_results(const struct engine_experiment *e, const struct node *results,
				 struct problems *problems)
{
	bool there = false;
	for (size_t i = 0; i < e->spec->objective_count; i++)
		there |= node_get(results, e->spec->objectives[i].metric) != NULL;
	if (!there)
		problem_add(problems, results, "give its value, or leave the row out",
			    "there is no value of '%s', the objective", e->spec->objectives[0].metric);
	for (size_t i = 0; i < results->count; i++)
		if (!node_is_number(results->items[i]))
			problem_add(problems, results->items[i], NULL, "a result must be a number");
}

/* Everything is checked before anything is written. */
static int living_check_rows(const struct engine_experiment *e, const struct node *rows, struct problems *problems)
{
	struct space_value *values = mem_array(e->spec->space->count, sizeof(*values));
	size_t before = problems->list.len;
	if (!rows || rows->type != NODE_LIST || !rows->count || rows->count > LIMIT_TASKS)
		problem_add(problems, rows, "send {\"rows\": [{\"parameters\": {…}, \"values\": {…}}]}",
			    "'rows' must be a list of results");
	else if (!e->spec->objective_count)
		problem_add(problems, rows, "give the experiment an objective",
			    "there is no objective to compare by yet");
	for (size_t i = 0; problems->list.len == before && i < rows->count; i++) {
		const struct node *parameters = node_get(rows->items[i], "parameters");
		const struct node *results = node_get(rows->items[i], "values");
		if (!parameters || !results || results->type != NODE_MAP) {
			problem_add(problems, rows->items[i], NULL, "a row has 'parameters' and 'values', both maps");
			continue;
		}
		living_check_results(e, results, problems);
		(void)!space_read_values(e->spec->space, parameters, values, problems);
	}
	free(values);
	return problems->list.len > before ? -EINVAL : 0;
}

/* Was it imported before, or does it come from an export of this experiment? ret_asked: as twice_take. */
static bool living_is_there(const struct engine_experiment *e, struct twice *twice, const struct space_value *values,
			    const struct node *results, int64_t *ret_asked)
{
	const struct node *first = node_get(results, e->spec->objectives[0].metric);
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	space_write_values(e->spec->space, values, &w);
	bool there = first && twice_take(twice, buf_text(&text), first->real, ret_asked);
	buf_free(&text);
	return there;
}

static int living_import(struct engine *engine, void *ctx, struct error *err)
{
	struct living *living = ctx;
	struct engine_experiment *e = living->experiment;
	struct twice twice = {0};
	int rc = twice_read(&twice, engine, e);
	(void)err;
	for (size_t i = 0; rc == 0 && i < living->rows->count; i++) {
		const struct node *row = living->rows->items[i];
		const struct node *results = node_get(row, "values");
		struct store_task task;
		int64_t known = 0;
		rc = space_read_values(e->spec->space, node_get(row, "parameters"), living->values, living->problems);
		/* A task that was removed comes back; the search has kept what it learnt from it. */
		if (rc == 0 && living_is_there(e, &twice, living->values, results, &known) && !known) {
			living->already++;
			continue;
		}
		if (rc == 0)
			rc = living_add(engine, e, living->values, false, known, &task);
		if (rc == 0)
			rc = living_import_results(engine, e, &task, results, known);
		living->count += rc == 0;
	}
	if (rc == 0)
		rc = store_add_imported(engine->store, e->id, living->count);
	twice_free(&twice);
	return rc;
}

int engine_import(struct engine *engine, int64_t experiment, const struct node *body, int64_t *ret_count,
		  int64_t *ret_already, struct problems *problems, struct error *err)
{
	struct living living = {.rows = node_get(body, "rows"), .problems = problems};
	*ret_count = 0;
	int rc = engine_open_experiment(engine, experiment, &living.experiment, err);
	if (rc == 0)
		rc = living_check_rows(living.experiment, living.rows, problems);
	if (rc < 0)
		return rc;
	living.values = mem_array(living.experiment->spec->space->count, sizeof(*living.values));
	rc = engine_transact(engine, living_import, &living, err);
	if (rc == 0)
		*ret_count = living.count;
	if (ret_already)
		*ret_already = living.already;
	free(living.values);
	return rc;
}

/* A parameter's new values, under the condition that it had unless another one is given. */
static struct node *living_parameter(const struct node *old, const struct node *given)
{
	const struct node *when = node_get(old, "when");
	struct node *new = node_clone(given);
	if (!when || node_get(given, "when"))
		return new;
	if (given->type != NODE_MAP) {
		struct node *map = node_new(NODE_MAP);
		node_add(map, given->type == NODE_LIST ? "values" : "value", new);
		new = map;
	}
	node_add(new, "when", node_clone(when));
	return new;
}

/* Of two who add a parameter at once, the second learns that it is there, and how. */
static void living_check_new(const struct node *old, const struct node *given, struct problems *problems)
{
	if (!old || node_equal(old, given))
		return;
	const struct node *min = node_get(old, "min"), *max = node_get(old, "max");
	if (node_is_number(min) && node_is_number(max))
		problem_add(problems, given, "leave out `add` to change it", "'%.100s' is there already, from %g to %g",
			    given->key, min->real, max->real);
	else
		problem_add(problems, given, "leave out `add` to change it",
			    "'%.100s' is there already, with other values", given->key);
}

static void living_check_key(const struct node *key, struct problems *problems)
{
	static const char *const known[] = {"search", "parameters", "constraints", "objective",
					    "stop",   "resources",  "retry"};
	bool found = false;
	for (size_t i = 0; i < COUNT_OF(known); i++)
		found |= strcmp(known[i], key->key) == 0;
	if (!found)
		problem_add(problems, key,
			    "known here: search, parameters, constraints, objective, stop, resources, retry",
			    "'%.100s' cannot be changed while it runs", key->key);
	if (strcmp(key->key, "resources") == 0 && node_get(key, "backend"))
		problem_add(problems, node_get(key, "backend"), "start a new experiment for another backend",
			    "the backend of an experiment cannot be changed");
}

/* The experiment's document with the given keys laid over it. */
static struct node *living_document(const struct spec *spec, const struct node *body, struct problems *problems)
{
	struct node *document = node_clone(spec->normal);
	bool add = node_get_bool(body, "add", false);
	for (size_t i = 0; i < body->count; i++) {
		const struct node *key = body->items[i];
		struct node *old = node_get(document, key->key);
		if (strcmp(key->key, "add") == 0)
			continue;
		if (strcmp(key->key, "constraints") == 0 || strcmp(key->key, "objective") == 0 || !old) {
			node_add(document, key->key, node_clone(key));
		} else if (key->type == NODE_MAP && old->type == NODE_MAP) {
			bool parameters = strcmp(key->key, "parameters") == 0;
			for (size_t k = 0; add && parameters && k < key->count; k++)
				living_check_new(node_get(old, key->items[k]->key), key->items[k], problems);
			for (size_t k = 0; k < key->count; k++)
				node_add(old, key->items[k]->key,
					 parameters ? living_parameter(node_get(old, key->items[k]->key), key->items[k])
						    : node_clone(key->items[k]));
		} else {
			node_add(document, key->key, node_clone(key));
		}
		living_check_key(key, problems);
	}
	return document;
}

/* What waits in the backend's queue asks for the old resources: it is taken out and submitted again. What runs keeps what
 * it has. Retries that asked for more begin anew from what was said now. */
static int living_renew(struct engine *engine, struct engine_experiment *e, const struct node *resources)
{
	static const enum retry scaled[] = {RETRY_MEMORY, RETRY_TIME};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < COUNT_OF(scaled); i++)
		if (node_get(resources, retry_keys[scaled[i]]))
			rc = store_forget_retries(engine->store, e->id, retry_keys[scaled[i]]);
	for (size_t i = 0; rc == 0 && e->backend && e->backend->ops->withdraw && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->experiment != e || live->facts.phase != ATTEMPT_SUBMITTED ||
		    live->facts.seen == ATTEMPT_ALIVE || live->task.wanted != STORE_WANT_RUN)
			continue;
		live->task.wanted = STORE_WANT_HOLD;
		rc = store_set_wanted(engine->store, live->task.id, STORE_WANT_HOLD);
	}
	return rc;
}

/* Puts the new specification in the place of the old one, in the store and in memory. What the user added and
 * what POST /parallel said stay. */
static int living_replace(struct engine *engine, void *ctx, struct error *err)
{
	struct living *living = ctx;
	struct engine_experiment *e = living->experiment;
	struct store_experiment row;
	int64_t added = e->planned - engine_planned(e->spec);
	engine_fill_row(living->spec, &row);
	row.planned += added > 0 ? added : 0;
	row.parallel = living->parallel_given ? row.parallel : e->parallel;
	int rc = store_change_experiment(engine->store, e->id, &row);
	e->planned = row.planned;
	e->parallel = row.parallel;
	engine_free_row(&row);
	engine_drop_question(e); /* its answer would be one under the old settings */
	search_free(e->search);
	e->search = NULL;
	spec_free(e->spec);
	e->spec = living->spec;
	living->spec = NULL;
	engine_share_change(e);
	e->asked_all = e->needs_result = e->differs = false;
	e->changed = e->parallel_changed = e->best_changed = true;
	if (rc == 0 && living->goes_on)
		rc = engine_pause_end(engine, e);
	if (rc == 0 && living->ranks)
		rc = engine_rank_again(engine, e);
	if (rc == 0 && living->ranks)
		rc = store_set_warning(engine->store, e->id, STORE_WARNS_MISSING, NULL);
	if (rc == 0 && living->resources)
		rc = living_renew(engine, e, living->resources);
	if (rc == 0)
		rc = engine_continue_search(engine, e, err);
	/* No worker has said that it will ask for more. */
	if (rc == 0 && e->spec->search->open && e->last_number && e->last_number >= e->planned)
		rc = engine_note_all(engine, e);
	/* Now, so that the answer says what there is to do. */
	return rc < 0 ? rc : engine_propose_now(engine, e);
}

/* Its text as it is run now, to pass new parameters as it wants them and to refuse what it would refuse. */
static void living_read_script(struct engine *engine, const struct engine_experiment *e, struct script *ret)
{
	char *root = engine_folder(engine, e->id, 0, 0), *files = spool_files_dir(root);
	char *path = mem_printf("%s/%s", files, e->spec->script ? e->spec->script : "");
	struct buf text = buf_make(LIMIT_BODY_BYTES);
	if (e->spec->script && fs_read(path, LIMIT_BODY_BYTES, &text, NULL) == 0)
		script_read(e->spec->script, buf_text(&text), text.len, ret);
	buf_free(&text);
	free(path);
	free(files);
	free(root);
}

/* The specification after the change; problems where there can be none. */
static int living_read_spec(struct engine *engine, const struct engine_experiment *e, const struct node *body,
			    struct problems *problems, struct spec **ret)
{
	if (!body || body->type != NODE_MAP || !body->count)
		return problem_add(problems, body, "send search, parameters, constraints, resources or retry",
				   "there is nothing to change");
	struct node *document = living_document(e->spec, body, problems);
	struct script script = {0};
	struct fit fit = {0};
	bool fits = node_get(body, "parameters") || node_get(body, "objective");
	if (fits)
		living_read_script(engine, e, &script);
	script_narrow(&script, e->spec->subcommand);
	if (fits && !problems->list.len)
		fit_document(document, &script, &fit, problems);
	int rc = problems->list.len ? -EINVAL : spec_parse(document, problems, ret);
	if (rc == 0 && node_get(body, "parameters"))
		fit_check(*ret, document, &script, &fit, problems);
	fit_free(&fit);
	script_free(&script);
	if (rc == 0 && node_get(body, "resources") && e->backend && e->backend->backend)
		e->backend->ops->check(e->backend->backend, &(*ret)->resources, node_get(document, "resources"),
				       problems);
	if (rc == 0)
		seed_restore(document, (int64_t)e->spec->search->seed, *ret);
	if (rc == 0 && (*ret)->search->open != e->spec->search->open)
		problem_add(problems, node_get(node_get(body, "search"), "open"), "start a new experiment",
			    "'open' cannot be changed while it runs");
	node_free(document);
	if (rc < 0 || problems->list.len)
		return -EINVAL;
	if (!(*ret)->objective_count && e->spec->objective_count)
		spec_objective_choose(*ret, e->spec->objectives[0].metric, e->spec->objectives[0].maximise);
	return 0;
}

/* Where something was measured, the objective is one of it: another slip of the finger would end the same way. */
static int living_check_objective(struct engine *engine, const struct engine_experiment *e, const struct spec *spec,
				  const struct node *at, struct problems *problems)
{
	size_t before = problems->list.len;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < spec->objective_count; i++) {
		const char *metric = spec->objectives[i].metric;
		char *list, *meant;
		bool there;
		rc = missing_name(engine, e->id, 0, metric, &list, &meant, &there);
		bool measured = spec_is_measured(metric);
		if (rc == 0 && !there && !measured && *list) {
			char *remedy = meant ? mem_printf("did you mean '%s'?", meant)
					     : mem_strdup("use one of these names");
			problem_add(problems, at, remedy, "no task has reported '%.100s'; found: %s", metric, list);
			free(remedy);
		}
		free(list);
		free(meant);
	}
	return rc < 0 ? rc : problems->list.len > before ? -EINVAL : 0;
}

/* What has ended cannot be taken back. */
static int living_check_tasks(const struct engine_experiment *e, const struct spec *spec, const struct node *tasks,
			      struct problems *problems)
{
	int64_t added = e->planned - engine_planned(e->spec);
	int64_t ended = e->counts[STORE_FINISHED] + e->counts[STORE_PRUNED] - (added > 0 ? added : 0);
	if (!tasks || spec->search->open || (int64_t)spec->search->tasks >= ended)
		return 0;
	char *remedy = mem_printf("give at least %" PRId64 "; `sluice stop e%" PRId64 "` ends the experiment now",
				  ended, e->id);
	problem_add(problems, tasks, remedy, "%" PRId64 " tasks have finished already", ended);
	free(remedy);
	return -EINVAL;
}

int engine_change(struct engine *engine, int64_t experiment, const struct node *body, struct problems *problems,
		  struct error *err)
{
	struct living living = {
		.parallel_given = node_get(node_get(body, "search"), "parallel"),
		.ranks = node_get(body, "objective"),
		.goes_on = node_get(body, "objective") || node_get(body, "stop") || node_get(body, "resources"),
		.resources = node_get(body, "resources"),
	};
	int rc = engine_open_experiment(engine, experiment, &living.experiment, err);
	if (rc == 0)
		rc = living_read_spec(engine, living.experiment, body, problems, &living.spec);
	if (rc == 0)
		rc = living_check_tasks(living.experiment, living.spec, node_get(node_get(body, "search"), "tasks"),
					problems);
	if (rc == 0 && living.ranks)
		rc = living_check_objective(engine, living.experiment, living.spec, node_get(body, "objective"),
					    problems);
	if (rc == 0)
		rc = engine_transact(engine, living_replace, &living, err);
	spec_free(living.spec);
	return rc;
}
