/* See left.h. What a daemon saw of the steps is in memory; after a start it is read from the store, for each attempt once
 * and only when it is asked for. */
#include "engine/left.h"

#include "engine/experiment.h"
#include "engine/live.h"
#include "engine/spec.h"
#include "engine/state.h"

#include "base/clock.h"
#include "base/text.h"
#include "journal/journal.h"
#include "model/remaining.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* The newest ended tasks that say how long the next ones take. */
#define LEFT_ENDED_MOST 200
#define LEFT_STEPS_MOST (RHYTHM_STEPS_MOST + 1)

/* Of one task. `known`: both time and step are. */
struct left {
	struct remaining_range time_ms, energy_j; /* energy: NAN where it is not known */
	bool known;
};

static void left_push(struct left_seen *seen, int64_t step, int64_t time_ms)
{
	if (seen->count && (step <= seen->steps[seen->count - 1] || time_ms < seen->ended_ms[seen->count - 1]))
		return;
	if (seen->count == LEFT_STEPS_MOST) {
		memmove(seen->steps, seen->steps + 1, (LEFT_STEPS_MOST - 1) * sizeof(*seen->steps));
		memmove(seen->ended_ms, seen->ended_ms + 1, (LEFT_STEPS_MOST - 1) * sizeof(*seen->ended_ms));
		seen->count--;
	}
	seen->steps[seen->count] = step;
	seen->ended_ms[seen->count++] = time_ms;
}

void left_take_step(struct engine_live *live, int64_t time_ms)
{
	left_push(&live->left, live->task.step, time_ms);
}

void left_take_sample(struct engine_live *live, const struct journal_record *sample)
{
	struct left_seen *seen = &live->left;
	double energy = cost_get(&sample->cost, FIGURE_ENERGY), wall = cost_get(&sample->cost, FIGURE_WALL);
	if (isnan(energy) || isnan(wall))
		return;
	if (seen->count && !(seen->wall_from_ms > 0)) {
		seen->energy_from_j = energy;
		seen->wall_from_ms = wall;
	}
	seen->energy_j = energy;
	seen->wall_ms = wall;
}

void left_clear(struct engine_live *live)
{
	live->left = (struct left_seen){.read = true};
}

struct left_reading {
	struct left_seen seen;
	int64_t from_ms;
};

/* The newest rows come first. */
static int left_row_cb(void *ctx, int64_t step, int64_t time_ms)
{
	struct left_reading *reading = ctx;
	struct left_seen *seen = &reading->seen;
	if (time_ms < reading->from_ms || seen->count == LEFT_STEPS_MOST)
		return 0;
	if (seen->count && seen->steps[LEFT_STEPS_MOST - seen->count] == step)
		return 0; /* of several rows in an epoch the last */
	seen->count++;
	seen->steps[LEFT_STEPS_MOST - seen->count] = step;
	seen->ended_ms[LEFT_STEPS_MOST - seen->count] = time_ms;
	return 0;
}

int left_read_steps(struct engine *engine, int64_t task, int64_t from_ms, struct left_seen *ret)
{
	struct left_reading reading = {.from_ms = from_ms};
	*ret = (struct left_seen){0};
	int rc = store_each_step(engine->store, task, LEFT_STEPS_MOST, left_row_cb, &reading);
	for (size_t i = LEFT_STEPS_MOST - reading.seen.count; rc == 0 && i < LEFT_STEPS_MOST; i++)
		left_push(ret, reading.seen.steps[i], reading.seen.ended_ms[i]);
	ret->read = rc == 0;
	return rc;
}

int left_read(struct engine *engine, struct engine_live *live)
{
	struct left_seen steps;
	if (live->left.read || live->left.count)
		return 0;
	int rc = left_read_steps(engine, live->task.id, live->started_ms, &steps);
	for (size_t i = 0; rc == 0 && i < steps.count; i++)
		left_push(&live->left, steps.steps[i], steps.ended_ms[i]);
	live->left.read = rc == 0;
	return rc;
}

/* Watts of the task since its first step; NAN. */
static double left_power(const struct left_seen *seen)
{
	double from_j = seen->wall_from_ms > 0 ? seen->energy_from_j : 0;
	double passed_ms = seen->wall_ms - seen->wall_from_ms;
	if (!(passed_ms > 0)) { /* one sample only: since its start */
		from_j = 0;
		passed_ms = seen->wall_ms;
	}
	return passed_ms > 0 ? (seen->energy_j - from_j) / passed_ms * 1000 : NAN;
}

static struct left left_of(const struct engine_live *live, int64_t now_ms)
{
	const struct left_seen *seen = &live->left;
	const struct store_task *task = &live->task;
	struct left left = {.energy_j = {NAN, NAN, NAN}};
	struct rhythm_left got;
	if (task->steps <= 0 || seen->count < 2 || live->facts.phase != ATTEMPT_RUNNING)
		return left;
	/* Scripts that report every tenth step have a rhythm of ten. */
	double stride = (double)(seen->steps[seen->count - 1] - seen->steps[0]) / (double)(seen->count - 1);
	double to_go = (double)(task->steps - task->step - task->from_zero) / stride;
	if (to_go < 0) /* what it counts is not what was planned */
		return left;
	int64_t last = seen->ended_ms[seen->count - 1];
	left.known = rhythm_left(seen->ended_ms, seen->count, to_go, now_ms > last ? now_ms : last, &got);
	if (!left.known)
		return left;
	double watts = left_power(seen);
	left.time_ms = (struct remaining_range){got.median_ms, got.low_ms, got.high_ms};
	left.energy_j = (struct remaining_range){watts * got.median_ms / 1000, watts * got.low_ms / 1000,
						 watts * got.high_ms / 1000};
	return left;
}

static void left_put(struct json *out, const char *key, double value)
{
	if (isnan(value))
		json_key_null(out, key);
	else
		json_key_real(out, key, value);
}

static void left_write(const struct remaining_range *time_ms, const struct remaining_range *energy_j, const char *basis,
		       struct json *out)
{
	json_key(out, "left");
	json_map(out);
	left_put(out, "time_s", time_ms->median / 1000);
	left_put(out, "time_low_s", time_ms->low / 1000);
	left_put(out, "time_high_s", time_ms->high / 1000);
	left_put(out, "energy_j", energy_j->median);
	left_put(out, "energy_low_j", energy_j->low);
	left_put(out, "energy_high_j", energy_j->high);
	json_key_string(out, "basis", basis);
	json_end(out);
}

int left_write_task(struct engine *engine, int64_t experiment, int64_t number, struct json *out)
{
	for (size_t i = 0; i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->experiment->id != experiment || live->task.number != number)
			continue;
		int rc = left_read(engine, live);
		struct left left = left_of(live, clock_now_ms());
		if (rc < 0 || !left.known) {
			json_key_null(out, "left");
			return rc;
		}
		char basis[120];
		snprintf(basis, sizeof(basis), "from its last %zu steps; the first is not counted",
			 live->left.count - 1);
		left_write(&left.time_ms, &left.energy_j, basis, out);
		return 0;
	}
	json_key_null(out, "left");
	return 0;
}

/* Everything that an experiment's answer rests on. */
struct left_sum {
	VEC(struct remaining_range) time_ms, energy_j; /* of the running tasks */
	VEC(double) ended_ms, ended_j; /* of those that ended */
	size_t unknown; /* running tasks of which nothing is known: as if they had just begun */
};

static int left_ended_cb(void *ctx, double wall_ms, double energy_j)
{
	struct left_sum *sum = ctx;
	vec_push(&sum->ended_ms, wall_ms);
	if (!isnan(energy_j))
		vec_push(&sum->ended_j, energy_j);
	return 0;
}

static int left_add_running(struct engine *engine, const struct engine_experiment *e, struct left_sum *sum)
{
	int64_t now_ms = clock_now_ms();
	for (size_t i = 0; i < engine->live.len; i++) {
		struct engine_live *live = engine->live.at[i];
		if (live->experiment != e || live->facts.phase > ATTEMPT_RUNNING)
			continue;
		int rc = left_read(engine, live);
		if (rc < 0)
			return rc;
		struct left left = left_of(live, now_ms);
		sum->unknown += !left.known;
		if (left.known)
			vec_push(&sum->time_ms, left.time_ms);
		if (left.known && !isnan(left.energy_j.median))
			vec_push(&sum->energy_j, left.energy_j);
	}
	return 0;
}

/* Tasks that have not begun, whether they were proposed or not. */
static double left_waiting(const struct engine_experiment *e)
{
	int64_t begun = 0;
	for (int state = 0; state < STORE_STATE_COUNT; state++)
		begun += state == STORE_WAITING || state == STORE_SUBMITTED ? 0 : e->counts[state];
	int64_t made = begun + e->counts[STORE_WAITING] + e->counts[STORE_SUBMITTED];
	int64_t planned = e->planned - e->removed;
	int64_t total = e->asked_all || made > planned ? made : planned;
	return (double)(total - begun);
}

static void left_write_sum(const struct engine_experiment *e, const struct left_sum *sum, struct json *out)
{
	struct remaining_range work, time, energy = {NAN, NAN, NAN};
	double waiting = left_waiting(e), to_come = waiting + (double)sum->unknown;
	size_t running = sum->time_ms.len;
	double at_once = (double)(running + sum->unknown);
	bool known = remaining_work(sum->time_ms.at, running, sum->ended_ms.at, sum->ended_ms.len, to_come, &work);
	if (!known || (!running && !(to_come > 0))) {
		json_key_null(out, "left");
		return;
	}
	if (e->parallel > 0 && at_once > (double)e->parallel)
		at_once = (double)e->parallel;
	remaining_time(&work, sum->time_ms.at, running, at_once, &time);
	/* Energy of some tasks only would be a sum that is too small. */
	bool measured = sum->energy_j.len == running && sum->ended_j.len == sum->ended_ms.len;
	if (measured && (sum->ended_j.len || running))
		known = remaining_work(sum->energy_j.at, running, sum->ended_j.at, sum->ended_j.len, to_come, &energy);
	char basis[200];
	snprintf(basis, sizeof(basis),
		 "%zu running by their own steps, %.0f to come like %zu that ended, %.0f at a time", running, to_come,
		 sum->ended_ms.len, at_once > 1 ? at_once : 1.0);
	left_write(&time, &energy, basis, out);
}

int left_write_experiment(struct engine *engine, int64_t experiment, struct json *out)
{
	struct engine_experiment *e = engine_find(engine, experiment);
	struct left_sum sum = {0};
	if (!e || e->stopping || e->paused || store_state_is_over(e->state)) {
		json_key_null(out, "left");
		return 0;
	}
	int rc = left_add_running(engine, e, &sum);
	if (rc == 0)
		rc = store_each_took(engine->store, e->id, LEFT_ENDED_MOST, left_ended_cb, &sum);
	if (rc == 0)
		left_write_sum(e, &sum, out);
	free(sum.time_ms.at);
	free(sum.energy_j.at);
	free(sum.ended_ms.at);
	free(sum.ended_j.at);
	return rc;
}
