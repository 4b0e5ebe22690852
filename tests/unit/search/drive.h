/* What every test of a strategy needs: a search made from text, and a driver that asks and tells in a
 * random order, late, with failures and NaN. */
#ifndef DRIVE_H
#define DRIVE_H

#include "base/rng.h"
#include "search/search_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

static inline struct space *drive_space(const char *yaml)
{
	struct node *node;
	struct error err;
	struct problems problems = {0};
	struct space *space = NULL;
	assert_int_equal(node_parse_yaml(yaml, strlen(yaml), &node, &err), 0);
	assert_int_equal(space_parse(node, NULL, &problems, &space), 0);
	node_free(node);
	return space;
}

/* NULL and a message when refused. */
static inline struct search_spec *drive_try_spec(const char *yaml, const char *fidelity, const struct space *space,
						 size_t objectives, struct problems *problems)
{
	struct node *node, *fid = NULL;
	struct error err;
	struct search_spec *spec = NULL;
	assert_int_equal(node_parse_yaml(yaml, strlen(yaml), &node, &err), 0);
	if (fidelity)
		assert_int_equal(node_parse_yaml(fidelity, strlen(fidelity), &fid, &err), 0);
	(void)!search_spec_parse(node->type == NODE_NULL ? NULL : node, fid, space, 1, objectives, problems, &spec);
	node_free(node);
	node_free(fid);
	return spec;
}

static inline struct search_spec *drive_spec(const char *yaml, const char *fidelity, const struct space *space,
					     size_t objectives)
{
	struct problems problems = {0};
	struct search_spec *spec = drive_try_spec(yaml, fidelity, space, objectives, &problems);
	if (!spec)
		print_message("# %s: %s\n", yaml, problems.list.at[0].message);
	assert_non_null(spec);
	return spec;
}

static inline struct search *drive_open(const struct search_spec *spec, const struct space *space)
{
	struct search *search = NULL;
	struct error err;
	assert_int_equal(search_open(spec, space, &search, &err), 0);
	return search;
}

struct drive_event {
	bool ask;
	int64_t id;
	enum search_outcome outcome;
	double values[2];
	bool has_values;
	uint64_t hash; /* of what was proposed */
	double fidelity;
	int64_t continues;
	uint64_t repeat;
	struct space_value *proposed;
};

struct drive {
	struct search *search;
	const struct space *space;
	const struct search_spec *spec;
	struct rng rng; /* of the world, not of the search */
	struct space_value *values;
	VEC(struct drive_event) events;
	VEC(int64_t) running;
	int64_t next_id;
	enum search_answer last;
	bool trouble; /* failures, NaN, second tells, unknown ids */
};

static inline void drive_begin(struct drive *d, const struct search_spec *spec, const struct space *space,
			       uint64_t seed, bool trouble)
{
	*d = (struct drive){.spec = spec, .space = space, .next_id = 1, .trouble = trouble};
	d->search = drive_open(spec, space);
	d->values = mem_array(space->count, sizeof(*d->values));
	rng_seed(&d->rng, seed);
}

static inline void drive_end(struct drive *d)
{
	search_free(d->search);
	free(d->values);
	for (size_t i = 0; i < d->events.len; i++)
		free(d->events.at[i].proposed);
	free(d->events.at);
	free(d->running.at);
}

static inline struct drive_event drive_ask(struct drive *d, int64_t id)
{
	struct search_proposal p = {.values = d->values, .repeat = 1, .fidelity = NAN, .continues = -1};
	d->last = search_ask(d->search, id, &p);
	struct drive_event e = {.ask = true, .id = id};
	if (d->last == SEARCH_PROPOSED) {
		e.hash = space_hash(d->space, d->values);
		e.fidelity = p.fidelity;
		e.continues = p.continues;
		e.repeat = p.repeat;
	}
	return e;
}

/* The same for a proposal that another search made: as it was recorded, by its values. */
static inline struct drive_event drive_recall(struct drive *d, const struct drive_event *known)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	struct json w = json_to(&text);
	struct node *record = NULL;
	struct problems problems = {0};
	struct search_proposal p = {.values = d->values, .repeat = 1, .fidelity = known->fidelity, .continues = -1};
	long at = isnan(known->fidelity) ? -1 : d->spec->fidelity_param;
	memcpy(d->values, known->proposed, d->space->count * sizeof(*d->values));
	if (at >= 0) /* the recorded one is the strategy's, not the space's */
		d->values[at] = d->space->params[at].choice_count
			? d->space->params[at].choices[0]
			: (struct space_value){.kind = SPACE_VALUE_REAL, .real = d->space->params[at].min};
	space_write_values(d->space, d->values, &w);
	assert_int_equal(node_parse_json(buf_text(&text), text.len, &record, NULL), 0);
	assert_int_equal(space_read_values(d->space, record, d->values, &problems), 0);
	if (at >= 0)
		d->values[at] = known->proposed[at];
	d->last = search_recall(d->search, known->id, &p);
	struct drive_event e = {
		.ask = true, .id = known->id, .fidelity = p.fidelity, .continues = p.continues, .repeat = p.repeat};
	e.hash = space_hash(d->space, d->values);
	node_free(record);
	buf_free(&text);
	return e;
}

static inline void drive_tell_event(struct drive *d, const struct drive_event *e)
{
	search_tell(d->search, e->id, e->outcome, e->has_values ? e->values : NULL);
}

/* Some function of the configuration. */
static inline double drive_objective(const struct space *space, const struct space_value *values)
{
	double sum = 0;
	for (size_t i = 0; i < space->count; i++)
		if (values[i].kind == SPACE_VALUE_INT || values[i].kind == SPACE_VALUE_REAL)
			sum += (values[i].real - 0.3) * (values[i].real - 0.3);
		else
			sum += values[i].kind == SPACE_VALUE_TEXT ? values[i].text[1] - 'a' : values[i].boolean;
	return sum;
}

/* One random move: an ask, or a tell of something that runs. False when nothing is left to do. */
static inline bool drive_step(struct drive *d, size_t parallel)
{
	bool ask = d->running.len == 0 || (d->running.len < parallel && rng_below(&d->rng, 2));
	if (ask && !(d->last == SEARCH_DONE && d->events.len)) {
		struct drive_event e = drive_ask(d, d->next_id);
		if (d->last == SEARCH_PROPOSED) {
			e.values[0] = drive_objective(d->space, d->values);
			e.proposed = mem_array(d->space->count, sizeof(*e.proposed));
			memcpy(e.proposed, d->values, d->space->count * sizeof(*e.proposed));
			vec_push(&d->events, e);
			vec_push(&d->running, d->next_id);
			d->next_id++;
			return true;
		}
		if (d->last == SEARCH_WAIT)
			assert_true(d->running.len > 0);
	}
	if (!d->running.len)
		return false;
	size_t at = rng_below(&d->rng, d->running.len);
	struct drive_event e = {.id = d->running.at[at], .outcome = SEARCH_FINISHED, .has_values = true};
	d->running.at[at] = d->running.at[--d->running.len];
	e.values[0] = e.values[1] = rng_unit(&d->rng);
	for (size_t i = 0; i < d->events.len; i++)
		if (d->events.at[i].ask && d->events.at[i].id == e.id)
			e.values[0] = d->events.at[i].values[0];
	if (d->trouble) {
		uint64_t what = rng_below(&d->rng, 12);
		if (what < 2)
			e.outcome = what ? SEARCH_FAILED : SEARCH_STOPPED, e.has_values = false;
		else if (what == 2)
			e.values[rng_below(&d->rng, 2)] = NAN;
		else if (what == 3)
			e.values[0] = rng_below(&d->rng, 2) ? INFINITY : -INFINITY;
		else if (what == 4)
			e.outcome = SEARCH_PRUNED;
		else if (what == 5)
			search_tell(d->search, 1000000 + e.id, SEARCH_FINISHED, e.values);
	}
	vec_push(&d->events, e);
	drive_tell_event(d, &e);
	if (d->trouble && rng_below(&d->rng, 8) == 0) {
		e.outcome = SEARCH_FINISHED;
		e.has_values = true;
		e.values[0] = rng_unit(&d->rng);
		vec_push(&d->events, e);
		drive_tell_event(d, &e);
	}
	return true;
}

#endif
