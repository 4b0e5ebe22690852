/* Asking the search for configurations and telling it results. Both are recorded in the order in
 * which they happened, in the same transaction as what they caused, so that replaying them gives the
 * same search again. */
#include "engine/internal.h"

#include "base/clock.h"
#include "base/rng.h"

#include <errno.h>
#include <math.h>

/* Tasks asked for in one turn: a grid of 100,000 does not hold the loop up. */
#define ENGINE_ASK_CHUNK 1000
/* Tasks on their way at once for a search that learns, on a cluster, when the user set no limit. */
#define ENGINE_ADAPTIVE_PARALLEL 16

static int64_t propose_wanted(struct engine_experiment *e)
{
	if (!(e->spec->search->strategy->capabilities & SEARCH_ADAPTIVE))
		return ENGINE_ASK_CHUNK;
	int64_t going = e->counts[STORE_WAITING] + e->live;
	int64_t most = e->parallel;
	if (!most && e->backend->ops->set_parallel)
		most = ENGINE_ADAPTIVE_PARALLEL;
	else if (!most)
		most = e->live + e->backend->ops->room(e->backend->backend, &e->spec->resources);
	return most > going ? most - going : 0;
}

static int propose_add(struct engine *engine, struct engine_experiment *e, int64_t number,
		       const struct search_proposal *proposal)
{
	const struct spec *spec = e->spec;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	int64_t steps = 0, id;

	space_write_values(spec->space, proposal->values, &w);
	if (spec->steps_param >= 0 && proposal->values[spec->steps_param].kind == SPACE_VALUE_INT)
		steps = proposal->values[spec->steps_param].integer;
	struct store_task row = {
		.experiment = e->id,
		.number = number,
		.parameters = buf_text(&text),
		.repeat = (int64_t)proposal->repeat,
		.seed = (int64_t)(rng_derive(spec->search->seed, (uint64_t)number) >> 33),
		.fidelity = proposal->fidelity,
		.steps = steps,
	};
	int rc = store_add_task(engine->store, &row, clock_now_ms(), &id);
	if (rc == 0)
		rc = store_add_event(engine->store, e->id,
				     &(struct store_event){.seq = e->next_seq++,
							   .kind = STORE_EVENT_ASK,
							   .number = number});
	if (rc == 0) {
		e->counts[STORE_WAITING]++;
		e->last_number = number;
		e->changed = true;
		engine_task_changed(engine, e->id, number);
	}
	buf_free(&text);
	return rc;
}

static int propose_for(struct engine *engine, struct engine_experiment *e)
{
	int64_t wanted = propose_wanted(e);
	if (wanted <= 0)
		return 0;
	struct space_value *values = mem_alloc(e->spec->space->count * sizeof(*values));
	int rc = 0;
	for (int64_t i = 0; rc == 0 && i < wanted && i < ENGINE_ASK_CHUNK; i++) {
		struct search_proposal proposal = {
			.values = values, .repeat = 1, .fidelity = NAN, .continues = -1};
		enum search_answer answer = search_ask(e->search, e->last_number + 1, &proposal);
		if (answer == SEARCH_WAIT)
			break;
		if (answer == SEARCH_DONE) {
			e->asked_all = e->changed = true;
			rc = store_set_flag(engine->store, e->id, STORE_FLAG_ASKED_ALL, true);
			break;
		}
		rc = propose_add(engine, e, e->last_number + 1, &proposal);
	}
	free(values);
	if (rc == 0 && !e->asked_all && wanted >= ENGINE_ASK_CHUNK)
		engine_soon(engine);
	return rc;
}

int engine_propose(struct engine *engine)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->experiments.len; i++) {
		struct engine_experiment *e = engine->experiments.at[i];
		if (!e->asked_all && !e->stopping && !e->removing && e->backend && e->backend->backend)
			rc = propose_for(engine, e);
	}
	return rc;
}

int engine_tell(struct engine *engine, struct engine_experiment *e, int64_t number,
		enum search_outcome outcome, const double *values)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	size_t count = e->spec->objective_count ? e->spec->objective_count : 1;
	if (values) {
		struct json w = json_to(&text);
		json_list(&w);
		for (size_t i = 0; i < count; i++)
			json_real(&w, values[i]);
		json_end(&w);
	}
	int rc = store_add_event(engine->store, e->id,
				 &(struct store_event){.seq = e->next_seq++,
						       .kind = STORE_EVENT_TELL,
						       .number = number,
						       .outcome = outcome,
						       .value = values ? buf_text(&text) : NULL});
	if (rc == 0)
		search_tell(e->search, number, outcome, values);
	buf_free(&text);
	return rc;
}

struct replay {
	struct engine_experiment *experiment;
	struct space_value *values;
	struct error *err;
};

static int replay_tell(struct engine_experiment *e, const struct store_event *event)
{
	size_t count = e->spec->objective_count ? e->spec->objective_count : 1;
	double *values = NULL;
	struct node *list = NULL;
	if (event->value) {
		if (node_parse_json(event->value, strlen(event->value), &list, NULL) < 0)
			return -EIO;
		values = mem_alloc(count * sizeof(*values));
		for (size_t i = 0; i < count; i++) {
			const struct node *item = i < list->count ? list->items[i] : NULL;
			const char *word = node_string(item);
			values[i] = node_is_number(item)		  ? item->real
				    : word && strcmp(word, "Infinity") == 0  ? INFINITY
				    : word && strcmp(word, "-Infinity") == 0 ? -INFINITY
									     : NAN;
		}
	}
	search_tell(e->search, event->number, (enum search_outcome)event->outcome, values);
	node_free(list);
	free(values);
	return 0;
}

static int replay_cb(void *ctx, const struct store_event *event)
{
	struct replay *replay = ctx;
	struct engine_experiment *e = replay->experiment;
	e->next_seq = event->seq + 1;
	if (event->kind == STORE_EVENT_TELL)
		return replay_tell(e, event);
	struct search_proposal proposal = {
		.values = replay->values, .repeat = 1, .fidelity = NAN, .continues = -1};
	if (search_ask(e->search, event->number, &proposal) != SEARCH_PROPOSED)
		return errorf(replay->err, -EIO, "e%lld: the search does not propose task %lld again",
			      (long long)e->id, (long long)event->number);
	return 0;
}

int engine_replay(struct engine *engine, struct engine_experiment *e, struct error *err)
{
	int rc = search_open(e->spec->search, e->spec->space, &e->search, err);
	if (rc < 0)
		return rc;
	struct replay replay = {
		.experiment = e,
		.values = mem_alloc(e->spec->space->count * sizeof(*replay.values)),
		.err = err};
	e->next_seq = 1;
	rc = store_each_event(engine->store, e->id, replay_cb, &replay);
	free(replay.values);
	return rc;
}
