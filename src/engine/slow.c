/* See slow.h. What is compared: the median time of a step; for tasks without steps the time since the start. */
#include "engine/slow.h"

#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/runs.h"
#include "engine/spec.h"
#include "engine/state.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"
#include "base/pace.h"
#include "model/straggler.h"
#include "space/space.h"

#include <inttypes.h>
#include <math.h>

#define SLOW_TEXT "slower than its siblings: "
/* The newest finished tasks. Reading their steps takes some milliseconds. */
#define SLOW_SIBLINGS_MOST 100
_Static_assert(SLOW_SIBLINGS_MOST <= STRAGGLER_RUNS_MOST, "all that is read is used");
/* Fewer pauses between steps are no rhythm. */
#define SLOW_PAUSES_LEAST 3

/* The finished tasks of an experiment. */
struct slow_siblings {
	const struct space *space;
	VEC(struct slow_sibling {
		int64_t task;
		struct node *parameters;
		double wall_ms;
	}) tasks;
	struct straggler *steps, *walls; /* tasks with steps, and tasks without */
};

/* A running task that can be compared. */
struct slow_candidate {
	struct engine_live *live;
	double took_ms, steps; /* a step, and how many so far; 1 for a task without */
	bool by_step;
	struct straggler_verdict verdict;
};
typedef VEC(struct slow_candidate) slow_candidates;

const char *engine_running_reason(const struct engine_live *live)
{
	return live->stall ? live->stall : live->slow;
}

/* The median time of a step; NAN where there are too few. */
static double slow_step_ms(const struct left_seen *seen)
{
	double pauses[RHYTHM_STEPS_MOST];
	size_t count = 0;
	for (size_t i = 1; i < seen->count; i++)
		pauses[count++] = (double)(seen->ended_ms[i] - seen->ended_ms[i - 1]) /
			(double)(seen->steps[i] - seen->steps[i - 1]);
	if (count < SLOW_PAUSES_LEAST)
		return NAN;
	qsort(pauses, count, sizeof(*pauses), num_compare_reals);
	return pauses[count / 2];
}

/* How many steps it has made, at most: only the newest are remembered. A task that goes on from a checkpoint begins with a
 * later step, and one that loads data for long has had less time for steps. */
static double slow_steps(const struct engine_live *live, double step_ms, int64_t now_ms)
{
	double newest = (double)live->left.steps[live->left.count - 1];
	return fmin(newest, (double)(now_ms - live->started_ms) / fmax(step_ms, 1));
}

static void slow_values(const struct space *space, const struct node *parameters, struct forecast_value *ret)
{
	for (size_t i = 0; i < space->count; i++)
		ret[i] = runs_value(node_get(parameters, space->params[i].name));
}

static int slow_sibling_cb(void *ctx, const struct store_result *row)
{
	struct slow_siblings *siblings = ctx;
	struct slow_sibling one = {.task = row->id, .wall_ms = row->time_s * 1000};
	if (node_parse_json(row->parameters, strlen(row->parameters), &one.parameters, NULL) == 0)
		vec_push(&siblings->tasks, one);
	return 0;
}

static int slow_read_siblings(struct engine *engine, const struct engine_experiment *e, struct slow_siblings *siblings)
{
	const struct space *space = siblings->space = e->spec->space;
	struct forecast_value *values = mem_array(space->count, sizeof(*values));
	siblings->steps = straggler_new(space->count);
	siblings->walls = straggler_new(space->count);
	int rc = store_each_result(engine->store, e->id, INT64_MAX, SLOW_SIBLINGS_MOST, slow_sibling_cb, siblings);
	for (size_t i = 0; rc == 0 && i < siblings->tasks.len; i++) {
		const struct slow_sibling *one = &siblings->tasks.at[i];
		struct left_seen seen;
		rc = left_read_steps(engine, one->task, 0, &seen);
		slow_values(space, one->parameters, values);
		double step_ms = rc == 0 ? slow_step_ms(&seen) : NAN;
		if (rc == 0 && !isnan(step_ms))
			straggler_add(siblings->steps, values, step_ms);
		else if (rc == 0 && seen.count <= 1)
			straggler_add(siblings->walls, values, one->wall_ms);
	}
	straggler_learn(siblings->steps);
	straggler_learn(siblings->walls);
	free(values);
	return rc;
}

static void slow_free_siblings(struct slow_siblings *siblings)
{
	for (size_t i = 0; i < siblings->tasks.len; i++)
		node_free(siblings->tasks.at[i].parameters);
	free(siblings->tasks.at);
	straggler_free(siblings->steps);
	straggler_free(siblings->walls);
}

/* Its running tasks that can be compared with others. */
static int slow_find_candidates(struct engine *engine, const struct engine_experiment *e, int64_t now_ms,
				slow_candidates *ret)
{
	for (size_t i = 0; i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->experiment != e || live->facts.phase != ATTEMPT_RUNNING ||
		    live->task.wanted != STORE_WANT_RUN || !live->parameters)
			continue;
		int rc = left_read(engine, live);
		if (rc < 0)
			return rc;
		struct slow_candidate one = {.live = live, .took_ms = slow_step_ms(&live->left)};
		one.by_step = !isnan(one.took_ms);
		if (!one.by_step && live->left.count <= 1 && live->started_ms)
			one.took_ms = (double)(now_ms - live->started_ms);
		one.steps = one.by_step ? slow_steps(live, one.took_ms, now_ms) : 1;
		if (one.took_ms * one.steps >= SLOW_LOST_MS)
			vec_push(ret, one);
	}
	return 0;
}

static void slow_judge(const struct slow_siblings *siblings, struct slow_candidate *one)
{
	const struct engine_live *live = one->live;
	const struct straggler *others = one->by_step ? siblings->steps : siblings->walls;
	struct node *parameters = NULL;
	if (node_parse_json(live->parameters, strlen(live->parameters), &parameters, NULL) < 0)
		return;
	struct forecast_value *values = mem_array(siblings->space->count, sizeof(*values));
	slow_values(siblings->space, parameters, values);
	one->verdict = straggler_judge(others, values, one->took_ms);
	free(values);
	node_free(parameters);
}

/* Where most of them are slow, it is the machine, or they share a GPU with more others than those before: none stands out. */
static bool slow_stands_out(const slow_candidates *all)
{
	size_t judged = 0, slow = 0;
	for (size_t i = 0; i < all->len; i++) {
		judged += all->at[i].verdict.basis != STRAGGLER_UNKNOWN;
		slow += all->at[i].verdict.slow;
	}
	return slow <= 1 || slow * 2 <= judged;
}

static int slow_set(struct engine *engine, struct engine_live *live, const char *text)
{
	bool turned = !text != !live->slow;
	free(live->slow);
	live->slow = mem_strdup(text);
	int rc = store_set_slow(engine->store, live->id, text);
	if (rc == 0 && live->silence == SILENCE_NONE)
		rc = store_set_task_reason(engine->store, live->task.id, engine_running_reason(live), 0);
	if (rc == 0 && turned)
		rc = store_add_history(engine->store, live->task.id, STORE_RUNNING,
				       text ? text : "it is no longer slower than its siblings", clock_now_ms());
	if (turned && text) {
		char *notice = mem_printf("e%" PRId64 "/%" PRId64 " is %s", live->experiment->id, live->task.number,
					  text);
		log_warning("%s", notice);
		engine_notice(engine, "warning", notice);
		free(notice);
	}
	if (turned)
		engine_task_changed(engine, live->experiment->id, live->task.number);
	return rc;
}

static int slow_conclude(struct engine *engine, const struct slow_candidate *one, bool stands_out)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	double lost_ms = (one->took_ms - one->verdict.expected) * one->steps;
	bool slow = stands_out && one->verdict.slow && lost_ms >= SLOW_LOST_MS;
	int rc = 0;
	if (slow) {
		buf_add_text(&text, SLOW_TEXT);
		straggler_explain(&one->verdict, one->by_step ? "a step takes" : "it has run for", one->took_ms, &text);
	}
	/* The figures change all the time: they are not written anew each time. */
	if (slow != (one->live->slow != NULL))
		rc = slow_set(engine, one->live, slow ? buf_text(&text) : NULL);
	buf_free(&text);
	return rc;
}

static int slow_look(struct engine *engine, struct engine_experiment *e)
{
	slow_candidates all = {0};
	struct slow_siblings siblings = {0};
	int rc = slow_find_candidates(engine, e, clock_now_ms(), &all);
	if (rc == 0 && all.len)
		rc = slow_read_siblings(engine, e, &siblings);
	for (size_t i = 0; rc == 0 && i < all.len; i++)
		slow_judge(&siblings, &all.at[i]);
	bool stands_out = slow_stands_out(&all);
	for (size_t i = 0; rc == 0 && i < all.len; i++)
		rc = slow_conclude(engine, &all.at[i], stands_out);
	slow_free_siblings(&siblings);
	free(all.at);
	return rc;
}

int engine_note_slow(struct engine *engine)
{
	int64_t now = clock_mono_ms();
	for (size_t i = 0; i < engine->experiments.len; i++) {
		struct engine_experiment *e = engine->experiments.at[i];
		if (!e->live || !e->counts[STORE_FINISHED] || now < e->slow_next_ms)
			continue;
		e->slow_next_ms = now + SLOW_LOOK_MS;
		return slow_look(engine, e); /* one experiment a turn */
	}
	return 0;
}

void engine_write_slow(const struct engine *engine, int64_t experiment, struct json *out)
{
	json_key(out, "slow");
	json_list(out);
	for (size_t i = 0; i < engine->live.len; i++) {
		const struct engine_live *live = engine->live.at[i];
		if (live->experiment->id != experiment || !live->slow || live->facts.phase != ATTEMPT_RUNNING)
			continue;
		json_map(out);
		json_key_int(out, "number", live->task.number);
		json_key_string(out, "text", live->slow + strlen(SLOW_TEXT));
		json_end(out);
	}
	json_end(out);
}
