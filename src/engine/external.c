/* Ask and tell for the user's own workers. What they take is a normal attempt, and what they tell is handled like
 * journal records. So states, curves, pruning and the search need no special code for it. */
#include "engine/external.h"

#include "engine/action.h"
#include "engine/backends.h"
#include "engine/experiment.h"
#include "engine/ingest.h"
#include "engine/live.h"
#include "engine/load.h"
#include "engine/missing.h"
#include "engine/propose.h"
#include "engine/question.h"
#include "engine/settle.h"
#include "engine/spec.h"
#include "engine/state.h"
#include "engine/transact.h"
#include "engine/worker.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/pace.h"
#include "base/text.h"
#include "journal/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

static int external_experiment(struct engine *engine, int64_t id, struct engine_experiment **ret, struct error *err)
{
	int rc = engine_open_experiment(engine, id, ret, err);
	if (rc < 0)
		return rc;
	if (!(*ret)->backend || !backend_is((*ret)->backend->ops, BACKEND_PULLED))
		return errorf(err, -EINVAL,
			      "e%" PRId64
			      " runs its tasks by itself (backend %s); ask and tell are for experiments with "
			      "resources: {backend: external}",
			      id, (*ret)->backend ? (*ret)->backend->ops->name : "unknown");
	(*ret)->keep_until_ms = clock_mono_ms() + ENGINE_KEEP_MS;
	return 0;
}

static int external_take(struct engine *engine, struct engine_experiment *e, const struct store_task *task,
			 const struct engine_worker *worker)
{
	char token[TOKEN_ID_CHARS], host[256] = "";
	int64_t now = clock_now_ms();
	token_make_id(token);
	gethostname(host, sizeof(host) - 1);
	struct store_attempt row = {
		.task = task->id,
		.experiment = e->id,
		.task_number = task->number,
		.number = task->attempt + 1,
		.created_ms = now,
		.submitted_ms = now,
		.state = STORE_SUBMITTED,
		.token = token,
		.batch_state = STORE_BATCH_SUBMITTED,
	};
	int rc = store_add_batch(engine->store, token, e->id, e->backend->ops->name, STORE_BATCH_SUBMITTED, 0, NULL,
				 now);
	if (rc == 0)
		rc = store_add_attempt(engine->store, task->id, row.number, token, 0, now, &row.id);
	if (rc < 0)
		return rc;
	struct store_task taken = *task;
	taken.attempt = row.number;
	struct engine_live *live = engine_add_live(engine, e, &row, &taken);
	live->worker = *worker;
	engine_worker_claims(e, worker, -1);
	return engine_ingest_record(engine, live,
				    &(struct journal_record){.kind = JOURNAL_START,
							     .time_ms = now,
							     .host = host,
							     .version = SLUICE_VERSION,
							     .resume = task->attempt > 0 && !task->fresh});
}

struct external_ask {
	struct engine_worker worker; /* who asks */
	struct engine_experiment *experiment;
	struct store_task task; /* the one that was taken; id 0: none */
	bool thinking; /* the search is at work on the next proposal */
	bool left; /* there may be more tasks later */
};

/* Where workers say how many tasks there are: has every one of those been proposed? */
static bool external_is_unclaimed(const struct engine_experiment *e)
{
	return e->spec->search->open && e->last_number >= e->planned;
}

/* A worker should not have to ask again only to learn that this was the last task. */
static int external_note_last(struct engine *engine, struct engine_experiment *e)
{
	/* Where workers say how many there are, an answer that the search still thinks of belongs to none of them: a task
	 * that waited was given in its place. It is kept for the next one who claims. */
	if (e->asked_all || (e->question && !external_is_unclaimed(e)) || e->last_number < e->planned ||
	    (!e->spec->search->open && (e->spec->search->strategy->capabilities & SEARCH_MULTI_FIDELITY)))
		return 0;
	return engine_note_all(engine, e);
}

static int external_give(struct engine *engine, void *ctx, struct error *err)
{
	struct external_ask *ask = ctx;
	struct engine_experiment *e = ask->experiment;
	int64_t before = e->last_number;
	int rc = 0;
	(void)err;
	if (!e->counts[STORE_WAITING] && !e->asked_all && !e->stopping && !external_is_unclaimed(e))
		rc = engine_propose_for(engine, e, 1);
	if (rc == 0 && e->sweep != STORE_SWEEP_STOP)
		rc = store_each_ready(engine->store, e->id, clock_now_ms(), 1, store_keep_task, &ask->task);
	if (rc == 0 && ask->task.id)
		rc = external_take(engine, e, &ask->task, &ask->worker);
	/* One that was there before has used up the claim, too: it waited, or the search runs it again for longer. */
	bool old = ask->task.id && e->last_number == before;
	if (rc == 0 && old && e->spec->search->open && e->planned > e->last_number)
		rc = store_set_planned(engine->store, e->id, --e->planned);
	ask->thinking = !ask->task.id && e->question && !e->stopping;
	if (rc == 0 && !ask->thinking)
		rc = external_note_last(engine, e);
	ask->left = !e->asked_all && !e->stopping && !external_is_unclaimed(e);
	return rc;
}

/* As engine_ask, for the first who waits. -EINPROGRESS: there will be an answer later, and then a turn. */
static int external_ask(struct engine *engine, int64_t experiment, const struct engine_worker *worker,
			int64_t *ret_number, struct error *err)
{
	struct external_ask ask = {.worker = *worker};
	int rc = external_experiment(engine, experiment, &ask.experiment, err);
	if (rc == 0)
		rc = engine_transact(engine, external_give, &ask, err);
	if (rc < 0)
		return rc;
	if (ask.thinking)
		return -EINPROGRESS;
	if (!ask.task.id && !ask.left)
		return errorf(err, -ENOENT, "e%" PRId64 " has no task left to give", experiment);
	if (!ask.task.id)
		return errorf(err, -EAGAIN, "the search waits for results of tasks that were taken");
	*ret_number = ask.task.number;
	return 0;
}

static bool external_is_asked(const struct engine *engine, int64_t experiment)
{
	for (const struct engine_asker *asker = engine->first_asker; asker; asker = asker->next)
		if (asker->experiment == experiment)
			return true;
	return false;
}

int engine_ask(struct engine *engine, int64_t experiment, struct engine_asker *asker, int64_t *ret_number,
	       struct error *err)
{
	/* First come, first served. */
	int rc = external_is_asked(engine, experiment)
		? -EINPROGRESS
		: external_ask(engine, experiment, &asker->worker, ret_number, err);
	if (rc == -EINPROGRESS) {
		asker->experiment = experiment;
		asker->next = NULL;
		*(engine->last_asker ? &engine->last_asker->next : &engine->first_asker) = asker;
		engine->last_asker = asker;
	}
	return rc;
}

void engine_unask(struct engine *engine, struct engine_asker *asker)
{
	struct engine_asker *before = NULL, *at = engine->first_asker;
	for (; at && at != asker; at = at->next)
		before = at;
	if (!at)
		return;
	*(before ? &before->next : &engine->first_asker) = asker->next;
	if (engine->last_asker == asker)
		engine->last_asker = before;
}

/* The search of what it asks for is still thinking, and nothing else can be said. */
static bool external_must_wait(struct engine *engine, const struct engine_asker *asker)
{
	const struct engine_experiment *e = engine_find(engine, asker->experiment);
	return e && e->question && !e->question->answered && !e->stopping && !e->removing;
}

void engine_serve_askers(struct engine *engine)
{
	struct engine_asker *asker = engine->first_asker;
	while (asker) {
		struct error err = {0};
		int64_t number = 0;
		int rc = external_must_wait(engine, asker)
			? -EINPROGRESS
			: external_ask(engine, asker->experiment, &asker->worker, &number, &err);
		if (rc == -EINPROGRESS) {
			asker = asker->next;
			continue;
		}
		engine_unask(engine, asker);
		asker->done(asker, rc, number, &err);
		asker = engine->first_asker; /* a worker that was answered may have asked again, and others may have gone */
	}
}

void engine_refuse_askers(struct engine *engine, int rc, const char *why)
{
	struct error err = {0};
	errorf(&err, rc, "%s", why);
	while (engine->first_asker) {
		struct engine_asker *asker = engine->first_asker;
		engine_unask(engine, asker);
		asker->done(asker, rc, 0, &err);
	}
}

struct external_claim {
	struct engine_experiment *experiment;
	int64_t tasks;
	struct engine_worker worker;
};

/* A search that does not learn and had proposed everything when it was loaded was not replayed then. */
static int external_go_on(struct engine *engine, struct engine_experiment *e, struct error *err)
{
	int rc = e->asked_all ? store_set_flag(engine->store, e->id, STORE_FLAG_ASKED_ALL, false) : 0;
	if (rc == 0 && e->unread)
		rc = engine_replay(engine, e, err);
	e->asked_all = false;
	if (rc == 0 && e->stopping)
		rc = engine_end_stop(engine, e);
	return rc;
}

static int external_claim(struct engine *engine, void *ctx, struct error *err)
{
	struct external_claim *claim = ctx;
	struct engine_experiment *e = claim->experiment;
	int64_t planned = e->planned > e->last_number ? e->planned : e->last_number;
	int rc = claim->tasks > 0 ? external_go_on(engine, e, err) : 0;
	if (rc < 0)
		return rc;
	planned += claim->tasks;
	e->planned = planned > e->last_number ? planned : e->last_number;
	e->changed = true;
	engine_worker_claims(e, &claim->worker, claim->tasks);
	rc = store_set_planned(engine->store, e->id, e->planned);
	return rc == 0 && e->last_number && external_is_unclaimed(e) ? engine_note_all(engine, e) : rc;
}

int engine_claim(struct engine *engine, int64_t experiment, int64_t tasks, bool more,
		 const struct engine_worker *worker, struct error *err)
{
	struct external_claim claim = {.tasks = tasks, .worker = worker ? *worker : (struct engine_worker){0}};
	int rc = external_experiment(engine, experiment, &claim.experiment, err);
	if (rc < 0)
		return rc;
	const struct engine_experiment *e = claim.experiment;
	if (!e->spec->search->open)
		return errorf(err, -EINVAL,
			      "e%" PRId64 " has a fixed number of tasks; claims are for experiments with "
			      "search: {open: true}",
			      experiment);
	if (more && e->stopping)
		return errorf(err, -EBUSY, "e%" PRId64 " was stopped", experiment);
	if (tasks > LIMIT_TASKS - e->planned || tasks < -LIMIT_TASKS)
		return errorf(err, -EINVAL, "an experiment has at most %d tasks", LIMIT_TASKS);
	return engine_transact(engine, external_claim, &claim, err);
}

/* A number, or one of the words for what JSON cannot write. */
static bool external_number(const struct node *node, double *ret)
{
	static const struct {
		const char *word;
		double value;
	} words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
	const char *word = node_string(node);
	for (size_t i = 0; word && i < COUNT_OF(words); i++)
		if (strcmp(word, words[i].word) == 0) {
			*ret = words[i].value;
			return true;
		}
	if (node_is_number(node))
		*ret = node->real;
	return node_is_number(node);
}

/* Whole numbers up to here are exact as reals, and one more is still a number. */
#define EXTERNAL_STEP_MOST (INT64_C(1) << 53)

/* What a worker tells of its task. */
struct external_tell {
	struct engine_live *live;
	struct metric metrics[LIMIT_METRIC_COLUMNS]; /* names are those of the request */
	size_t count;
	int64_t step;
	const char *failed; /* why, or NULL */
	bool more; /* the task goes on */
	bool pruned; /* the worker gave it up */
	struct space_value *values; /* what it ran with; NULL: what was proposed */
};

static int external_read_row(const struct node *body, struct external_tell *tell, struct error *err)
{
	const struct node *values = node_get(body, "values");
	if (!values && !tell->failed && !tell->pruned)
		return errorf(err, -EINVAL, "send 'values' ({\"val_loss\": 0.3}), 'failed' (why) or 'pruned'");
	if (!values)
		return 0;
	if (values->type != NODE_MAP || !values->count || values->count > COUNT_OF(tell->metrics))
		return errorf(err, -EINVAL, "'values' is a map of metric names and numbers");
	for (size_t i = 0; i < values->count; i++) {
		const struct node *value = values->items[i];
		double number = NAN;
		if (!external_number(value, &number))
			return errorf(err, -EINVAL, "the metric '%.100s' is not a number", value->key);
		if (strlen(value->key) > LIMIT_METRIC_NAME_BYTES)
			return errorf(err, -EINVAL, "a metric's name is too long");
		tell->metrics[i] = (struct metric){.name = value->key, .value = number};
	}
	tell->count = values->count;
	tell->step = node_get_int(body, "step", tell->live->task.step + 1);
	if (tell->step < -EXTERNAL_STEP_MOST || tell->step > EXTERNAL_STEP_MOST)
		return errorf(err, -EINVAL, "'step' is too large; steps are exact up to 9007199254740992");
	return 0;
}

/* The end of a task without its objective would tell the search nothing: most likely the name is misspelt. */
static int external_check_objective(struct engine *engine, const struct external_tell *tell, struct error *err)
{
	const struct engine_experiment *e = tell->live->experiment;
	int rc = 0;
	for (size_t i = 0; rc == 0 && !tell->more && !tell->failed && !tell->pruned && i < e->spec->objective_count;
	     i++) {
		const char *metric = e->spec->objectives[i].metric;
		bool there = spec_is_measured(metric);
		for (size_t k = 0; k < tell->count; k++)
			there |= strcmp(tell->metrics[k].name, metric) == 0;
		char *list = NULL, *meant = NULL;
		if (!there)
			rc = missing_name(engine, e->id, tell->live->task.id, metric, &list, &meant, &there);
		if (rc == 0 && !there)
			rc = errorf(err, -EINVAL, "the objective is '%s', and the task has no value of it; got '%s'",
				    metric, tell->metrics[0].name);
		free(list);
		free(meant);
	}
	return rc;
}

/* A row in between may be of other metrics. One whose name is almost that of an objective is a slip of the finger. */
static int external_check_names(const struct external_tell *tell, struct error *err)
{
	const struct spec *spec = tell->live->experiment->spec;
	for (size_t k = 0; k < tell->count; k++)
		for (size_t i = 0; i < spec->objective_count; i++)
			if (strcmp(tell->metrics[k].name, spec->objectives[i].metric) == 0)
				return 0;
	for (size_t k = 0; tell->more && k < tell->count; k++)
		for (size_t i = 0; i < spec->objective_count; i++) {
			const char *name = tell->metrics[k].name, *metric = spec->objectives[i].metric;
			unsigned distance = text_distance(name, metric);
			if (!distance || (distance == 1 && strlen(metric) > 3))
				return errorf(err, -EINVAL, "the objective is '%s', not '%s'; correct the name", metric,
					      name);
		}
	return 0;
}

static int external_tell_row(struct engine *engine, const struct external_tell *tell)
{
	if (!tell->count)
		return 0;
	return engine_ingest_record(engine, tell->live,
				    &(struct journal_record){.kind = JOURNAL_METRIC,
							     .time_ms = clock_now_ms(),
							     .step = tell->step,
							     .step_name = "step",
							     .metrics = tell->metrics,
							     .metric_count = tell->count});
}

static int external_tell_end(struct engine *engine, const struct external_tell *tell)
{
	bool given_up = tell->pruned || tell->more;
	int64_t wall = clock_now_ms() - tell->live->started_ms;
	struct cost cost = {0};
	cost_set(&cost, FIGURE_WALL, wall > 0 ? (double)wall : 0);
	int rc = engine_ingest_record(engine, tell->live,
				      &(struct journal_record){.kind = JOURNAL_END,
							       .time_ms = clock_now_ms(),
							       .exit_code = tell->failed ? 1 : 0,
							       .cause = tell->failed ? CAUSE_EXIT
								       : given_up    ? CAUSE_STOPPED
										     : CAUSE_OK,
							       .message = tell->failed,
							       .cost = cost});
	return rc < 0 ? rc : engine_settle(engine);
}

/* How long a task runs the search decides. */
static int external_check_fidelity(const struct external_tell *tell, const struct node *parameters, struct error *err)
{
	long at = tell->live->experiment->spec->search->fidelity_param;
	const char *name = tell->live->experiment->spec->space->params[at].name;
	const struct node *told = node_get(parameters, name);
	double real = tell->values[at].real;
	if (!told || (node_is_number(told) && fabs(told->real - real) <= 1e-9 * real))
		return 0;
	return errorf(err, -EINVAL, "the search decides how long a task runs: '%s' is %g in this one", name, real);
}

static int external_compare(void *ctx, const struct store_task *row)
{
	return strcmp(ctx, row->parameters ? row->parameters : "") == 0 ? 0 : -EEXIST;
}

/* The search takes the mean of the repeats of a configuration, so all of them run with the same one. */
static int external_check_repeat(struct engine *engine, const struct external_tell *tell, struct error *err)
{
	const struct engine_live *live = tell->live;
	const struct spec *spec = live->experiment->spec;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	if (spec->repeats < 2)
		return 0;
	space_write_values(spec->space, tell->values, &w);
	int rc = store_read_task(engine->store, live->experiment->id, live->task.number, external_compare,
				 (void *)(uintptr_t)buf_text(&text));
	buf_free(&text);
	return rc != -EEXIST ? rc
			     : errorf(err, -EINVAL,
				      "the task is one of %" PRIu64 " repeats, which all run with the parameters that "
				      "were proposed",
				      spec->repeats);
}

/* What the task ran with, where that is not what was proposed. */
static int external_read_values(struct engine *engine, struct external_tell *tell, const struct node *body,
				struct error *err)
{
	const struct node *parameters = node_get(body, "parameters");
	const struct spec *spec = tell->live->experiment->spec;
	double fidelity = spec->search->fidelity_param >= 0 ? tell->live->task.fidelity : NAN;
	struct problems problems = {0};
	if (!parameters)
		return 0;
	tell->values = mem_array(spec->space->count, sizeof(*tell->values));
	int rc = isnan(fidelity) || parameters->type != NODE_MAP
		? space_read_values(spec->space, parameters, tell->values, &problems)
		: engine_read_fidelity(spec, parameters, fidelity, tell->values, &problems);
	if (rc < 0)
		problems_summary(&problems, err);
	problems_free(&problems);
	if (rc == 0 && !isnan(fidelity))
		rc = external_check_fidelity(tell, parameters, err);
	return rc < 0 ? rc : external_check_repeat(engine, tell, err);
}

static int external_tell_values(struct engine *engine, const struct external_tell *tell)
{
	struct engine_live *live = tell->live;
	const struct spec *spec = live->experiment->spec;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	if (!tell->values)
		return 0;
	space_write_values(spec->space, tell->values, &w);
	long at = spec->steps_param;
	int64_t steps = at >= 0 && tell->values[at].kind == SPACE_VALUE_INT ? tell->values[at].integer : 0;
	int rc = store_set_parameters(engine->store, live->task.id, buf_text(&text), steps);
	if (rc == 0)
		rc = engine_correct(engine, live->experiment, live->task.asked, tell->values, buf_text(&text));
	live->task.steps = steps ? steps : live->task.steps;
	buf_free(&text);
	return rc;
}

static int external_tell_pruned(struct engine *engine, const struct external_tell *tell)
{
	tell->live->task.wanted = STORE_WANT_PRUNE;
	return store_set_wanted(engine->store, tell->live->task.id, STORE_WANT_PRUNE);
}

static int external_tell(struct engine *engine, void *ctx, struct error *err)
{
	const struct external_tell *tell = ctx;
	(void)err;
	int rc = external_tell_values(engine, tell);
	if (rc == 0)
		rc = external_tell_row(engine, tell);
	/* The answer says whether the search gives it up: a worker may report many rows before the next turn. */
	if (rc < 0 || (tell->more && tell->live->task.wanted != STORE_WANT_PRUNE))
		return rc;
	rc = tell->pruned ? external_tell_pruned(engine, tell) : 0;
	return rc < 0 ? rc : external_tell_end(engine, tell);
}

static struct engine_live *external_find(struct engine *engine, const struct engine_experiment *e, int64_t number)
{
	for (size_t i = 0; i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->experiment == e && live->task.number == number && live->facts.phase < ATTEMPT_ENDED)
			return live;
	}
	return NULL;
}

/* A task ends in one way, or goes on. */
static int external_check_end(const struct external_tell *tell, struct error *err)
{
	if ((tell->failed != NULL) + tell->more + tell->pruned < 2)
		return 0;
	return errorf(err, -EINVAL, "send one of 'failed', 'pruned' and 'more': a task ends in one way, or goes on");
}

int engine_tell_task(struct engine *engine, int64_t experiment, int64_t number, const struct node *body,
		     struct error *err)
{
	struct engine_experiment *e;
	struct external_tell tell = {.failed = node_get_string(body, "failed"),
				     .more = node_get_bool(body, "more", false),
				     .pruned = node_get_bool(body, "pruned", false)};
	int rc = external_experiment(engine, experiment, &e, err);
	if (rc == 0)
		rc = external_check_end(&tell, err);
	if (rc < 0)
		return rc;
	tell.live = external_find(engine, e, number);
	if (!tell.live)
		return errorf(err, -ENOENT,
			      "e%" PRId64 "/%" PRId64 " is not running: no worker has taken it, or it has ended",
			      experiment, number);
	rc = external_read_row(body, &tell, err);
	if (rc == 0)
		rc = external_check_objective(engine, &tell, err);
	if (rc == 0)
		rc = external_check_names(&tell, err);
	if (rc == 0)
		rc = external_read_values(engine, &tell, body, err);
	if (rc == 0)
		rc = engine_transact(engine, external_tell, &tell, err);
	free(tell.values);
	return rc;
}
