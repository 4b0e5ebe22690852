/* Submits tasks to a backend, exactly once: a fresh token and its attempts are committed first, then the descriptors
 * are written and the backend is called, then its answer is committed. Whatever happens in between, the submission is
 * found again by its token. */
#include "engine/submit.h"

#include "engine/ahead.h"
#include "engine/backends.h"
#include "engine/descriptor.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/follow.h"
#include "engine/hold.h"
#include "engine/live.h"
#include "engine/load.h"
#include "engine/settle.h"
#include "engine/share.h"
#include "engine/spec.h"
#include "engine/state.h"
#include "engine/turn.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/pace.h"
#include "spool/paths.h"

#include <errno.h>

/* Items of one batch; a backend may say less. Slurm's MaxArraySize is 1001 by default. */
#define ENGINE_BATCH_ITEMS 1000

struct prepare {
	struct engine *engine;
	struct engine_experiment *experiment;
	const char *token;
	uint32_t next_index;
	char *asked; /* JSON: what all of them ask for */
	VEC(struct prepared {
		struct store_task task;
		struct asked asked;
	}) tasks;
};

static int prepare_collect_cb(void *ctx, const struct store_task *row)
{
	struct prepare *prepare = ctx;
	struct prepared one = {.task = *row};
	engine_ask_for(prepare->experiment, row->retries, &one.asked);
	one.task.parameters = mem_strdup(row->parameters);
	one.task.retries = one.task.reason = NULL;
	vec_push(&prepare->tasks, one);
	return 0;
}

static void prepare_swap(struct prepared *a, struct prepared *b)
{
	struct prepared kept = *a;
	*a = *b;
	*b = kept;
}

/* A batch asks for one thing. Keeps the tasks that ask for the same as the first one of which some fit now; the others
 * have their turn next. */
static void prepare_choose(struct prepare *prepare)
{
	struct engine_experiment *e = prepare->experiment;
	size_t first = 0, kept = 0, room = 0;
	for (; first < prepare->tasks.len && !room; first += room == 0) {
		struct backend_resources r = engine_asked_resources(e, &prepare->tasks.at[first].asked);
		room = e->backend->ops->room(e->backend->backend, &r);
	}
	for (size_t i = first; room && i < prepare->tasks.len && kept < room; i++)
		if (asked_is_same(&prepare->tasks.at[i].asked, &prepare->tasks.at[first].asked))
			prepare_swap(&prepare->tasks.at[kept++], &prepare->tasks.at[i]);
	prepare->tasks.len = kept;
}

static int prepare_task(struct prepare *prepare, const struct store_task *task)
{
	struct engine *engine = prepare->engine;
	struct engine_experiment *e = prepare->experiment;
	int64_t now = clock_now_ms();
	struct store_attempt row = {
		.task = task->id,
		.experiment = e->id,
		.task_number = task->number,
		.number = task->attempt + 1,
		.created_ms = now,
		.submitted_ms = now,
		.index = prepare->next_index,
		.state = STORE_SUBMITTED,
		.token = prepare->token,
		.asked = prepare->asked,
		.batch_state = STORE_BATCH_SUBMITTING,
	};
	int rc = store_add_attempt(engine->store, task->id, row.number, row.token, row.index, now, &row.id);
	if (rc == 0)
		rc = engine_set_state(engine, e, task, STORE_SUBMITTED, NULL, NULL);
	if (rc == 0) {
		struct store_task submitted = *task;
		submitted.state = STORE_SUBMITTED;
		submitted.attempt = row.number;
		submitted.submitted_ms = now;
		engine_add_live(engine, e, &row, &submitted)->unsent = true;
	}
	prepare->next_index++;
	return rc;
}

/* How many more tasks of this experiment may be handed over now. Where the backend itself holds an array
 * to `parallel` at once, the first batch takes everything; what joins later fills up what
 * the earlier ones left, so that the sum stays within the limit. */
static int64_t prepare_room(const struct engine_experiment *e)
{
	int64_t room = e->backend->ops->room(e->backend->backend, &e->spec->resources);
	bool throttled = backend_is(e->backend->ops, BACKEND_HAS_QUEUE) && e->live == 0;
	if (e->parallel && !throttled && room > e->parallel - e->live)
		room = e->parallel - e->live;
	room = engine_hold_room(e, room);
	return room < ENGINE_BATCH_ITEMS ? room : ENGINE_BATCH_ITEMS;
}

/* An array costs a cluster's controller one call, however large: more of the same is on its way from the search. */
static bool prepare_waits(const struct engine_experiment *e)
{
	bool learns = e->spec->search->strategy->capabilities & SEARCH_ADAPTIVE;
	return backend_is(e->backend->ops, BACKEND_HAS_QUEUE) && !learns && !e->asked_all && !e->stopping &&
		e->counts[STORE_WAITING] < ENGINE_BATCH_ITEMS;
}

static int prepare_batch(struct engine *engine, struct engine_experiment *e, int64_t room)
{
	struct engine_submission submission = {.experiment = e};
	struct prepare prepare = {.engine = engine, .experiment = e, .token = submission.token};
	int64_t now = clock_now_ms();
	/* Held back, each task has its turn, and none uses up its retries for all. */
	int rc = unstarted_is_held(&e->unstarted)
		? store_each_rested(engine->store, e->id, now, room, prepare_collect_cb, &prepare)
		: store_each_ready(engine->store, e->id, now, room, prepare_collect_cb, &prepare);
	size_t ready = prepare.tasks.len;
	prepare_choose(&prepare);
	if (rc < 0 || !prepare.tasks.len)
		goto out;
	token_make_id(submission.token);
	prepare.asked = engine_asked_json(e, &prepare.tasks.at[0].asked);
	rc = store_add_batch(engine->store, submission.token, e->id, e->backend->ops->name, STORE_BATCH_SUBMITTING,
			     e->parallel, prepare.asked, now);
	for (size_t i = 0; rc == 0 && i < prepare.tasks.len; i++)
		rc = prepare_task(&prepare, &prepare.tasks.at[i].task);
	if (rc == 0)
		vec_push(&engine->submissions, submission);
	bool more = (int64_t)ready == room || prepare.tasks.len < ready;
	if (rc == 0 && more && e->counts[STORE_WAITING])
		engine_soon(engine);
out:
	for (size_t i = 0; i < ready; i++)
		free((char *)prepare.tasks.at[i].task.parameters);
	free(prepare.asked);
	free(prepare.tasks.at);
	return rc;
}

/* Does it want to hand tasks over, as far as the experiment itself is concerned? */
static bool prepare_wants(const struct engine_experiment *e)
{
	return e->backend && e->backend->backend && e->backend->adopted && !e->removing && !e->paused &&
		e->counts[STORE_WAITING] && e->sweep != STORE_SWEEP_STOP && !prepare_waits(e);
}

/* Experiments share the slots of a backend that has no queue: the one with the fewest tasks there is first, and of equal ones
 * the one whose turn is longest ago. A queue has an order of its own, so there the oldest experiment is first. */
static int prepare_by_turn(const void *a, const void *b)
{
	const struct engine_experiment *x = *(struct engine_experiment *const *)a,
				       *y = *(struct engine_experiment *const *)b;
	bool x_queued = backend_is(x->backend->ops, BACKEND_HAS_QUEUE),
	     y_queued = backend_is(y->backend->ops, BACKEND_HAS_QUEUE);
	if (x_queued != y_queued)
		return x_queued ? -1 : 1;
	if (!x_queued && x->live != y->live)
		return x->live < y->live ? -1 : 1;
	if (!x_queued && x->served != y->served)
		return x->served < y->served ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Its part of the free slots, where others on the same backend want some too; the next turn gives out the rest. */
static int64_t prepare_part(const struct engine *engine, const struct engine_experiment *e, int64_t room)
{
	int64_t sharers = 0;
	if (backend_is(e->backend->ops, BACKEND_HAS_QUEUE) || room <= 1)
		return room;
	for (size_t i = 0; i < engine->experiments.len; i++) {
		const struct engine_experiment *other = engine->experiments.at[i];
		sharers += other->backend == e->backend && prepare_wants(other) &&
			(!other->parallel || other->live < other->parallel);
	}
	return sharers <= 1 ? room : room > sharers ? room / sharers : 1;
}

/* Those that want to hand tasks over, in the order of their turns. The caller frees it. */
static struct engine_experiment **prepare_order(struct engine *engine, size_t *ret_count)
{
	VEC(struct engine_experiment *) turns = {0};
	for (size_t i = 0; i < engine->experiments.len; i++)
		if (prepare_wants(engine->experiments.at[i]))
			vec_push(&turns, engine->experiments.at[i]);
	if (turns.len > 1)
		qsort(turns.at, turns.len, sizeof(struct engine_experiment *), prepare_by_turn);
	*ret_count = turns.len;
	return turns.at;
}

int engine_prepare(struct engine *engine)
{
	int rc = 0;
	size_t count;
	for (size_t i = 0; i < engine->backends.len; i++)
		engine->backends.at[i]->given = false;
	for (size_t i = 0; i < engine->submissions.len; i++)
		if (engine->submissions.at[i].describing)
			engine->submissions.at[i].experiment->backend->given = true;
	for (size_t i = 0; rc == 0 && i < engine->experiments.len; i++)
		if (engine->experiments.at[i]->unstarted.nodes.len)
			rc = engine_hold_show(engine, engine->experiments.at[i]);
	struct engine_experiment **turns = prepare_order(engine, &count);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct engine_experiment *e = turns[i];
		/* A backend counts what it was handed only once it has it: one batch a turn and backend. */
		if (e->backend->given) {
			engine_soon(engine);
			continue;
		}
		rc = engine_share_recall(engine, e);
		engine_ahead_choose(engine, e);
		int64_t room = rc == 0 ? prepare_part(engine, e, prepare_room(e)) : 0;
		size_t before = engine->submissions.len;
		if (room > 0)
			rc = prepare_batch(engine, e, room);
		e->backend->given = engine->submissions.len > before;
		if (e->backend->given)
			e->served = ++engine->served;
	}
	free(turns);
	return rc;
}

/* The attempts of a token that have not begun, as far as we know. */
static size_t submit_find(struct engine *engine, const char *token, struct engine_live ***ret)
{
	VEC(struct engine_live *) found = {0};
	for (size_t i = 0; i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->facts.phase == ATTEMPT_SUBMITTED && strcmp(live->token, token) == 0)
			vec_push(&found, live);
	}
	*ret = found.at;
	return found.len;
}

static int submit_record(struct engine *engine, const char *token, const struct backend_submit_result *result)
{
	int rc = 0;
	if (result->outcome == BACKEND_SUBMITTED)
		rc = store_set_batch(engine->store, token, STORE_BATCH_SUBMITTED, result->job);
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->facts.phase == ATTEMPT_SETTLED || strcmp(live->token, token) != 0)
			continue;
		if (result->outcome == BACKEND_SUBMITTED) {
			engine_note(live, ATTEMPT_EVENT_TAKEN);
			if (result->job) {
				free(live->job);
				live->job = mem_strdup(result->job);
				rc = store_set_job(engine->store, live->id, live->task.id, result->job);
			}
		} else if (result->outcome == BACKEND_REFUSED && live->facts.phase == ATTEMPT_SUBMITTED) {
			rc = engine_end(engine, live, STORE_ERROR, result->cause ? result->cause : CAUSE_REFUSED,
					result->why ? result->why : "the submission was refused", NULL);
		}
	}
	return rc;
}

/* Nothing was started, and the reason may pass. The tasks stay submitted under this token, and say why they wait. */
static int submit_later(struct engine *engine, const char *token, const char *why)
{
	int rc = 0;
	struct engine_submission again = {.again = true, .not_before_ms = clock_mono_ms() + SUBMIT_PAUSE_MS};
	memcpy(again.token, token, sizeof(again.token));
	log_error("submission %s: %s", token, why);
	for (size_t i = 0; rc == 0 && i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->facts.phase == ATTEMPT_SETTLED || strcmp(live->token, token) != 0)
			continue;
		/* Once for a batch, and not again every few seconds. */
		if (!again.experiment && (!live->reason || strcmp(live->reason, why) != 0))
			engine_notice(engine, "error", why);
		again.experiment = live->experiment;
		rc = engine_tell_waiting(engine, live, why, 0);
	}
	if (again.experiment)
		vec_push(&engine->submissions, again);
	return rc;
}

/* The experiment of a submission; NULL: nothing of it is alive. */
static struct engine_experiment *submit_experiment(struct engine *engine, const char *token)
{
	for (size_t i = 0; i < engine->live.len; i++)
		if (strcmp(engine->live.at[i]->token, token) == 0)
			return engine->live.at[i]->experiment;
	return NULL;
}

int engine_take_submitted(struct engine *engine, const char *token, const struct backend_submit_result *result)
{
	if (result->outcome == BACKEND_REFUSED) {
		struct engine_experiment *e = submit_experiment(engine, token);
		int rc = 0;
		if (e && engine_hold_refused(engine, e, &rc))
			return rc < 0 ? rc : submit_later(engine, token, result->why ? result->why : "it was refused");
	}
	if (result->outcome == BACKEND_LATER)
		return submit_later(engine, token, result->why ? result->why : "it could not be submitted");
	if (result->outcome == BACKEND_UNKNOWN)
		log_warning("it is not known whether submission %s worked: %s", token,
			    result->why ? result->why : "no answer");
	return submit_record(engine, token, result);
}

/* Until the next turn has applied it the batch counts as unconfirmed, which is always safe. An answer within a turn
 * waits for the turn that follows anyway. */
static void submit_done_cb(void *ctx, const char *token, const struct backend_submit_result *result)
{
	struct engine *engine = ctx;
	if (engine->closing)
		return;
	engine_inbox_add_answer(&engine->inbox, token, result);
	if (!engine->submitting)
		engine_soon(engine);
}

/* Writes descriptors for some milliseconds: 1 while there are more, 0, or a negative errno. */
static int submit_describe(struct engine *engine, struct engine_submission *submission, struct engine_live **live,
			   size_t count, struct error *err)
{
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS;
	int rc = fs_make_dirs(live[0]->batch_dir, SPOOL_FOLDER_MODE, err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		if (live[i]->index < submission->described)
			continue;
		if (clock_mono_ms() >= until)
			return 1;
		rc = engine_write_descriptor(engine, live[i], err);
		submission->described = live[i]->index + 1;
	}
	if (rc < 0)
		submission->described = 0; /* the disk may have lost what it took */
	return rc;
}

/* 1: not everything is written yet, it goes on with the next turn. */
static int submit_one(struct engine *engine, struct engine_submission *submission, struct error *err)
{
	struct engine_experiment *e = submission->experiment;
	struct engine_live **live;
	size_t count = submit_find(engine, submission->token, &live);
	int rc = 0;
	if (!count)
		goto out;
	struct backend_item *items = mem_array(count, sizeof(*items));
	rc = submit_describe(engine, submission, live, count, err);
	for (size_t i = 0; i < count; i++)
		items[i] = (struct backend_item){.index = live[i]->index, .attempt_dir = live[i]->attempt_dir};
	for (size_t i = 0; i < count; i++)
		live[i]->unsent &= rc != 0;
	if (rc == 0) {
		char *folder = engine_folder(engine, e->id, 0, 0);
		struct backend_resources resources = engine_asked_resources(e, &live[0]->asked);
		struct backend_batch batch = {
			.token = submission->token,
			.experiment = e->id,
			.batch_dir = live[0]->batch_dir,
			.experiment_dir = folder,
			.resources = &resources,
			.items = items,
			.count = count,
			.parallel = (uint32_t)e->parallel,
			.exclude = e->excluded,
			.again = submission->again,
		};
		e->backend->ops->submit(e->backend->backend, &batch, submit_done_cb, engine);
		free(folder);
	}
	free(items);
out:
	free(live);
	return rc;
}

/* A descriptor that cannot be read now is not written anew: it says where the attempt writes. */
static bool submit_is_unplaced(const struct engine *engine, const char *token)
{
	for (size_t i = 0; i < engine->live.len; i++)
		if (engine->live.at[i]->unplaced && strcmp(engine->live.at[i]->token, token) == 0)
			return true;
	return false;
}

void engine_submit(struct engine *engine)
{
	VEC(struct engine_submission) todo = {0};
	for (size_t i = 0; i < engine->submissions.len; i++)
		vec_push(&todo, engine->submissions.at[i]);
	engine->submissions.len = 0;
	engine->submitting = true;
	for (size_t i = 0; i < todo.len; i++) {
		struct error err = {0};
		int64_t now = clock_mono_ms();
		bool held = todo.at[i].not_before_ms > now || submit_is_unplaced(engine, todo.at[i].token);
		int rc = held ? 0 : submit_one(engine, &todo.at[i], &err);
		if (!held && rc == 0)
			continue;
		todo.at[i].describing = rc > 0;
		if (rc > 0)
			engine_soon(engine);
		/* Nothing was started. Try again later; the tasks stay submitted under this token. */
		if (rc < 0) {
			log_error("submission %s: %s", todo.at[i].token, err.text);
			engine_notice(engine, "error", err.text);
			todo.at[i].not_before_ms = now + SUBMIT_PAUSE_MS;
			todo.at[i].again = true;
		}
		vec_push(&engine->submissions, todo.at[i]);
	}
	engine->submitting = false;
	free(todo.at);
}
