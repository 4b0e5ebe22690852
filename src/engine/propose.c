/* Asking the search for configurations and telling it results. Both are recorded in the order in
 * which they happened, in the same transaction as what they caused, so that replaying them gives the
 * same search again. */
#include "engine/propose.h"

#include "engine/backends.h"
#include "engine/event.h"
#include "engine/experiment.h"
#include "engine/limit.h"
#include "engine/load.h"
#include "engine/question.h"
#include "engine/settle.h"
#include "engine/spec.h"
#include "engine/state.h"
#include "engine/turn.h"
#include "engine/worker.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/rng.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* What a search that does not learn is asked for at once; a turn takes as many as LIMIT_HOLD_MS allows. */
#define ENGINE_ASK_CHUNK 1000
/* Tasks on their way at once for a search that learns, on a cluster, when the user set no limit. */
#define ENGINE_ADAPTIVE_PARALLEL 16

static int64_t propose_wanted(struct engine_experiment *e)
{
	if (!(e->spec->search->strategy->capabilities & SEARCH_ADAPTIVE))
		return ENGINE_ASK_CHUNK;
	int64_t going = e->counts[STORE_WAITING] + e->live;
	int64_t most = e->parallel;
	if (!most && backend_is(e->backend->ops, BACKEND_HAS_QUEUE))
		most = ENGINE_ADAPTIVE_PARALLEL;
	else if (!most)
		most = e->live + e->backend->ops->room(e->backend->backend, &e->spec->resources);
	return most > going ? most - going : 0;
}

/* Makes the proposal a task, or goes on with the task it continues (a promotion to a higher fidelity:
 * the same task, its checkpoint, the next attempt). Where that task was removed, the configuration becomes a new task,
 * which begins with the first epoch. */
static int propose_take(struct engine *engine, struct engine_experiment *e, const struct search_proposal *proposal,
			const struct store_task *row)
{
	struct store_task task = {0};
	int64_t id;
	int rc = -ENOENT;
	if (proposal->continues >= 0)
		rc = store_find_asked(engine->store, e->id, proposal->continues, store_keep_task, &task);
	if (rc == -ENOENT) {
		rc = store_add_task(engine->store, row, clock_now_ms(), &id);
		if (rc < 0)
			return rc;
		e->counts[STORE_WAITING]++;
		e->last_number = row->number;
		engine_task_changed(engine, e->id, row->number);
		return 0;
	}
	char reason[100];
	snprintf(reason, sizeof(reason), "promoted by the search to %g", proposal->fidelity);
	if (rc == 0)
		rc = store_promote_task(engine->store, task.id, row);
	return rc < 0 ? rc : engine_set_state(engine, e, &task, STORE_WAITING, reason, NULL);
}

/* The next entry of the sequence. Where the search is thinking it gets it later, else from the caller. */
static int propose_record(struct engine *engine, struct engine_experiment *e, struct store_event *event)
{
	event->seq = e->next_seq++;
	int rc = store_add_event(engine->store, e->id, event);
	if (rc == 0 && e->question) {
		struct store_event later = *event;
		later.value = mem_strdup(event->value);
		vec_push(&e->question->later, later);
	}
	return rc;
}

/* What an ask or an added configuration is in the sequence. from: the task of an earlier experiment; NULL. */
static struct buf propose_text(const char *parameters, double fidelity, const char *from)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	json_map(&w);
	json_key_raw(&w, "parameters", parameters);
	if (!isnan(fidelity))
		json_key_real(&w, "fidelity", fidelity);
	if (from)
		json_key_string(&w, "from", from);
	json_end(&w);
	return text;
}

int engine_add_foreign(struct engine *engine, struct engine_experiment *e, int64_t asked,
		       const struct space_value *values, const char *parameters)
{
	struct buf text = propose_text(parameters, NAN, NULL);
	struct store_event event = {.kind = STORE_EVENT_ADD, .asked = asked, .value = buf_text(&text)};
	int rc = propose_record(engine, e, &event);
	if (rc == 0 && !values && !e->question) {
		rc = engine_tell_events(e, &event, 1);
	} else if (rc == 0 && !e->question) {
		search_add(e->search, asked, values, NAN, false);
		e->needs_result = false;
	}
	buf_free(&text);
	return rc;
}

int engine_correct(struct engine *engine, struct engine_experiment *e, int64_t asked, const struct space_value *values,
		   const char *parameters)
{
	struct buf text = propose_text(parameters, NAN, NULL);
	struct store_event event = {.kind = STORE_EVENT_CORRECT, .asked = asked, .value = buf_text(&text)};
	int rc = propose_record(engine, e, &event);
	if (rc == 0 && !e->question)
		search_correct(e->search, asked, values);
	buf_free(&text);
	return rc;
}

int engine_add_earlier(struct engine *engine, struct engine_experiment *e, const char *parameters, const char *from)
{
	struct buf text = propose_text(parameters, NAN, from);
	struct store_event event = {.kind = STORE_EVENT_ADD, .asked = e->last_asked + 1, .value = buf_text(&text)};
	int rc = propose_record(engine, e, &event);
	if (rc == 0)
		rc = engine_tell_events(e, &event, 1);
	buf_free(&text);
	return rc;
}

int64_t engine_task_seed(const struct spec *spec, int64_t number)
{
	return (int64_t)(rng_derive(spec->search->seed, (uint64_t)number) >> 33);
}

static int propose_add(struct engine *engine, struct engine_experiment *e, int64_t asked, int64_t seq,
		       const struct search_proposal *proposal)
{
	const struct spec *spec = e->spec;
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	int64_t steps = 0;

	space_write_values(spec->space, proposal->values, &w);
	if (spec->steps_param >= 0 && proposal->values[spec->steps_param].kind == SPACE_VALUE_INT)
		steps = proposal->values[spec->steps_param].integer;
	struct store_task row = {
		.experiment = e->id,
		.number = e->last_number + 1,
		.parameters = buf_text(&text),
		.repeat = (int64_t)proposal->repeat,
		.seed = engine_task_seed(spec, e->last_number + 1),
		.fidelity = proposal->fidelity,
		.steps = steps,
		.asked = asked,
	};
	int rc = propose_take(engine, e, proposal, &row);
	struct buf record = propose_text(buf_text(&text), proposal->fidelity, NULL);
	if (rc == 0)
		rc = store_add_event(
			engine->store, e->id,
			&(struct store_event){
				.seq = seq, .kind = STORE_EVENT_ASK, .asked = asked, .value = buf_text(&record)});
	e->changed = true;
	buf_free(&record);
	buf_free(&text);
	return rc;
}

int engine_add_proposal(struct engine *engine, struct engine_experiment *e, enum search_answer answer, int64_t asked,
			int64_t seq, const struct search_proposal *proposal)
{
	if (answer == SEARCH_PROPOSED)
		return propose_add(engine, e, asked, seq, proposal);
	if (answer == SEARCH_WAIT)
		return 0;
	return engine_note_all(engine, e);
}

int engine_note_all(struct engine *engine, struct engine_experiment *e)
{
	e->asked_all = e->changed = e->best_changed = true; /* no repeat is to come: configuration.h */
	if (e->spec->search->open) {
		e->planned = e->last_number;
		engine_workers_drop_claims(e);
	}
	int rc = store_set_planned(engine->store, e->id, e->planned);
	return rc < 0 ? rc : store_set_flag(engine->store, e->id, STORE_FLAG_ASKED_ALL, true);
}

/* One question at a time: the next one is asked when its answer is taken. */
static int propose_slowly(struct engine *engine, struct engine_experiment *e, int64_t wanted)
{
	int taken = engine_take_answer(engine, e);
	if (taken < 0)
		return taken;
	if (wanted > taken && !e->question && !e->asked_all && !e->needs_result)
		engine_pose_question(engine, e);
	return 0;
}

int engine_propose_for(struct engine *engine, struct engine_experiment *e, int64_t wanted)
{
	if (e->spec->search->strategy->capabilities & SEARCH_SLOW)
		return propose_slowly(engine, e, wanted);
	if (wanted <= 0)
		return 0;
	struct space_value *values = mem_array(e->spec->space->count, sizeof(*values));
	int64_t until = clock_mono_ms() + LIMIT_HOLD_MS, left = wanted;
	int rc = 0;
	for (; rc == 0 && left > 0; left--) {
		if (left < wanted && clock_mono_ms() >= until)
			break;
		struct search_proposal proposal = {.values = values, .repeat = 1, .fidelity = NAN, .continues = -1};
		enum search_answer answer = search_ask(e->search, e->last_asked + 1, &proposal);
		if (answer == SEARCH_WAIT) {
			left = 0;
			break;
		}
		rc = engine_add_proposal(engine, e, answer, e->last_asked + 1, e->next_seq, &proposal);
		if (answer == SEARCH_DONE)
			break;
		e->last_asked++;
		e->next_seq++;
	}
	free(values);
	if (rc == 0 && !e->asked_all && (left > 0 || wanted >= ENGINE_ASK_CHUNK))
		engine_soon(engine);
	return rc;
}

int engine_propose_now(struct engine *engine, struct engine_experiment *e)
{
	/* Who takes a task asks for it. An answer whose asker has gone is kept for the next one who asks: as a task it would
	 * wait for ever where no other worker has claimed any. */
	bool may = !e->asked_all && !e->stopping && !e->removing && !e->paused && e->backend && e->backend->backend &&
		!backend_is(e->backend->ops, BACKEND_PULLED);
	return may ? engine_propose_for(engine, e, propose_wanted(e)) : 0;
}

int engine_propose(struct engine *engine)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < engine->experiments.len; i++)
		rc = engine_propose_now(engine, engine->experiments.at[i]);
	return rc;
}

int engine_tell(struct engine *engine, struct engine_experiment *e, int64_t asked, enum search_outcome outcome,
		const double *values)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	size_t count = engine_count_told(e->spec);
	if (values) {
		struct json w = json_to(&text);
		json_list(&w);
		for (size_t i = 0; i < count; i++)
			json_put_real(&w, values[i]);
		json_end(&w);
	}
	struct store_event event = {
		.kind = STORE_EVENT_TELL, .asked = asked, .outcome = outcome, .value = values ? buf_text(&text) : NULL};
	int rc = propose_record(engine, e, &event);
	if (rc == 0 && !e->question) {
		search_tell(e->search, asked, outcome, values);
		e->needs_result = false;
	}
	buf_free(&text);
	return rc;
}

/* The last asks of a replay are made again and compared, so that a search that would go another way today is
 * noticed. Those before are recalled, which costs next to nothing. */
#define ENGINE_REPLAY_ASKED_AGAIN 3

struct replay {
	struct engine_experiment *experiment;
	struct space_value *values, *found; /* as recorded, and as the search has it */
	int64_t change; /* what happened before this is history, not asked again */
	int64_t last; /* what was asked last */
};

static int replay_tell(struct engine_experiment *e, const struct store_event *event)
{
	size_t count = engine_count_told(e->spec);
	double *values = NULL;
	struct node *list = NULL;
	if (event->value) {
		if (node_parse_json(event->value, strlen(event->value), &list, NULL) < 0)
			return -EIO;
		values = mem_array(count, sizeof(*values));
		for (size_t i = 0; i < count; i++) {
			const struct node *item = i < list->count ? list->items[i] : NULL;
			const char *word = node_string(item);
			values[i] = node_is_number(item)                 ? item->real
				: word && strcmp(word, "Infinity") == 0  ? INFINITY
				: word && strcmp(word, "-Infinity") == 0 ? -INFINITY
									 : NAN;
		}
	}
	search_tell(e->search, event->asked, (enum search_outcome)event->outcome, values);
	node_free(list);
	free(values);
	return 0;
}

/* The recorded configuration in today's space; false where it has no place there any more. */
static bool replay_read(struct replay *replay, const struct store_event *event, double *ret_fidelity, bool *ret_earlier)
{
	struct node *record = NULL;
	*ret_earlier = false;
	if (!event->value || node_parse_json(event->value, strlen(event->value), &record, NULL) < 0)
		return false;
	*ret_fidelity = node_get_real(record, "fidelity", NAN);
	*ret_earlier = node_get(record, "from");
	bool good = engine_read_values(replay->experiment->spec, node_get(record, "parameters"), replay->values);
	node_free(record);
	return good;
}

/* Did the search propose again what it had proposed? The last few are asked for; those before are recalled. */
static bool replay_same(struct replay *replay, const struct store_event *event)
{
	struct engine_experiment *e = replay->experiment;
	size_t size = e->spec->space->count * sizeof(*replay->values);
	struct search_proposal proposal = {.values = replay->found, .repeat = 1, .fidelity = NAN, .continues = -1};
	bool earlier;
	if (!replay_read(replay, event, &proposal.fidelity, &earlier))
		return false;
	memcpy(replay->found, replay->values, size);
	bool again = event->asked > replay->last - ENGINE_REPLAY_ASKED_AGAIN;
	enum search_answer answer = again ? search_ask(e->search, event->asked, &proposal)
					  : search_recall(e->search, event->asked, &proposal);
	return answer == SEARCH_PROPOSED && space_equal(e->spec->space, replay->values, replay->found);
}

static int replay_cb(void *ctx, const struct store_event *event)
{
	struct replay *replay = ctx;
	struct engine_experiment *e = replay->experiment;
	double fidelity;
	bool earlier;
	e->next_seq = event->seq + 1;
	if (event->kind == STORE_EVENT_TELL)
		return replay_tell(e, event);
	if (event->kind == STORE_EVENT_CHANGE)
		return 0;
	if (event->kind == STORE_EVENT_CORRECT) {
		if (replay_read(replay, event, &fidelity, &earlier))
			search_correct(e->search, event->asked, replay->values);
		return 0;
	}
	e->last_asked = event->asked;
	if (event->kind == STORE_EVENT_ADD || event->seq < replay->change) {
		bool good = replay_read(replay, event, &fidelity, &earlier);
		if (good && earlier)
			search_learn(e->search, event->asked, replay->values);
		else if (good)
			search_add(e->search, event->asked, replay->values, fidelity, event->kind == STORE_EVENT_ASK);
		else if (event->kind == STORE_EVENT_ASK)
			search_spend(e->search);
		return 0;
	}
	return replay_same(replay, event) ? 0 : -ESTALE;
}

int engine_tell_events(struct engine_experiment *e, const struct store_event *events, size_t count)
{
	struct replay replay = {
		.experiment = e,
		.values = mem_array(e->spec->space->count, sizeof(*replay.values)),
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = replay_cb(&replay, &events[i]);
	e->needs_result = e->needs_result && !count;
	free(replay.values);
	return rc;
}

/* What came before `change` is history. -ESTALE: a proposal differs from the recorded one. */
static int replay_from(struct engine *engine, struct engine_experiment *e, int64_t change, struct error *err)
{
	struct replay replay = {
		.experiment = e,
		.values = mem_array(e->spec->space->count, sizeof(*replay.values)),
		.found = mem_array(e->spec->space->count, sizeof(*replay.found)),
		.change = change,
	};
	search_free(e->search);
	e->search = NULL;
	e->unread = false;
	e->next_seq = 1;
	e->last_asked = 0;
	int rc = store_last_asked(engine->store, e->id, &replay.last);
	if (rc == 0)
		rc = search_open(e->spec->search, e->spec->space, &e->search, err);
	if (rc == 0)
		rc = store_each_event(engine->store, e->id, replay_cb, &replay);
	free(replay.values);
	free(replay.found);
	return rc;
}

int engine_skip_replay(struct engine *engine, struct engine_experiment *e, struct error *err)
{
	int64_t last;
	int rc = store_last_event(engine->store, e->id, &last);
	if (rc == 0)
		rc = store_last_asked(engine->store, e->id, &e->last_asked);
	if (rc < 0)
		return rc;
	e->next_seq = last + 1;
	e->unread = true;
	return search_open(e->spec->search, e->spec->space, &e->search, err);
}

/* As engine_replay, but returns -ESTALE if the search makes another proposal than it did the first time. */
static int engine_replay_exactly(struct engine *engine, struct engine_experiment *e, struct error *err)
{
	int64_t change;
	int rc = store_last_change(engine->store, e->id, &change);
	return rc < 0 ? rc : replay_from(engine, e, change, err);
}

int engine_replay(struct engine *engine, struct engine_experiment *e, struct error *err)
{
	int rc = engine_replay_exactly(engine, e, err);
	if (rc != -ESTALE)
		return rc;
	/* Another version of sluice made these proposals. They are kept as history. */
	log_warning("e%" PRId64
		    ": this version of the search would have proposed other tasks; it goes on with the results so far",
		    e->id);
	return replay_from(engine, e, INT64_MAX, err);
}

int engine_continue_search(struct engine *engine, struct engine_experiment *e, struct error *err)
{
	int rc = engine_replay_exactly(engine, e, err);
	if (rc != -ESTALE)
		return rc < 0 ? -EIO : 0;
	int64_t last;
	rc = store_last_event(engine->store, e->id, &last);
	if (rc < 0)
		return rc;
	rc = store_add_event(engine->store, e->id, &(struct store_event){.seq = last + 1, .kind = STORE_EVENT_CHANGE});
	if (rc == 0 && engine_replay(engine, e, err) < 0)
		rc = -EIO;
	return rc;
}
