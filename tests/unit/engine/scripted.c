/* See scripted.h. */
#include "scripted.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>

#define SCRIPTED_BEGIN_MS 3600000
#define SCRIPTED_POLL_MS 2000

static int64_t scripted_clock_ms;

int64_t scripted_now(void)
{
	return scripted_clock_ms;
}

void scripted_step(int64_t ms)
{
	scripted_clock_ms += ms;
}

static struct scripted *scripted_of(struct backend *backend)
{
	return (struct scripted *)backend;
}

static void scripted_note(struct backend *backend, enum scripted_verb verb, size_t count, const char *token, bool again)
{
	struct scripted_call call = {.verb = verb, .at_ms = scripted_clock_ms, .count = count, .again = again};
	snprintf(call.token, sizeof(call.token), "%s", token);
	vec_push(&scripted_of(backend)->calls, call);
}

static int scripted_open(struct scripted *scripted, const struct backend_ops *ops, struct backend **ret,
			 struct error *err)
{
	if (scripted->why_not)
		return errorf(err, -ENODEV, "%s", scripted->why_not);
	scripted->base.ops = ops;
	*ret = &scripted->base;
	return 0;
}

static void scripted_close(struct backend *backend)
{
	(void)backend; /* what it knows outlives the engine */
}

static void scripted_check(struct backend *backend, const struct backend_resources *resources, const struct node *at,
			   struct problems *problems)
{
	(void)backend;
	(void)resources;
	(void)at;
	(void)problems;
}

static uint32_t scripted_room(struct backend *backend, const struct backend_resources *resources)
{
	(void)resources;
	return scripted_of(backend)->room;
}

static void scripted_submit(struct backend *backend, const struct backend_batch *batch, backend_submitted_f done,
			    void *ctx)
{
	struct scripted *scripted = scripted_of(backend);
	struct backend_submit_result answer = {.outcome = BACKEND_SUBMITTED, .job = "job-1"};
	scripted_note(backend, SCRIPTED_SUBMIT, batch->count, batch->token, batch->again);
	struct scripted_call *call = &scripted->calls.at[scripted->calls.len - 1];
	call->memory_bytes = batch->resources->memory_bytes;
	call->time_ms = batch->resources->time_ms;
	snprintf(call->exclude, sizeof(call->exclude), "%s", batch->exclude ? batch->exclude : "");
	if (scripted->silent)
		return;
	if (scripted->answered < scripted->answers.len)
		answer = scripted->answers.at[scripted->answered++];
	done(ctx, batch->token, &answer);
}

static struct scripted_sight scripted_sight_now(const struct scripted *scripted)
{
	struct scripted_sight now = {.state = BACKEND_RUNNING};
	for (size_t i = 0; i < scripted->sights.len; i++)
		if (scripted->sights.at[i].from_ms <= scripted_clock_ms)
			now = scripted->sights.at[i];
	return now;
}

static void scripted_poll(struct backend *backend, const struct backend_watch *watch, size_t count,
			  backend_observation_f sight, backend_polled_f done, void *ctx)
{
	struct scripted_sight now = scripted_sight_now(scripted_of(backend));
	scripted_note(backend, SCRIPTED_POLL, count, watch[0].token, false);
	for (size_t i = 0; now.rc == 0 && i < count; i++) {
		bool runs = now.earlier && watch[i].submitted_ms >= now.from_ms;
		sight(ctx,
		      &(struct backend_observation){
			      .token = watch[i].token,
			      .index = watch[i].index,
			      .state = runs ? BACKEND_RUNNING : now.state,
			      .reason = now.reason,
			      .node = now.node,
			      .job = now.job,
			      .cause = now.cause,
			      .unlaunched = now.unlaunched,
			      .ended_ms = now.ended_ms,
			      .exit_code = now.exit_code,
			      .signal = now.signal,
			      .cost = now.cost,
		      });
	}
	done(ctx, now.rc, now.rc < 0 ? "it does not answer" : NULL);
}

static void scripted_cancel(struct backend *backend, const struct backend_watch *watch, size_t count,
			    backend_done_f done, void *ctx)
{
	scripted_note(backend, SCRIPTED_CANCEL, count, watch[0].token, false);
	done(ctx, scripted_of(backend)->cancel_rc, NULL);
}

static void scripted_withdraw(struct backend *backend, const struct backend_watch *watch, size_t count,
			      backend_done_f done, void *ctx)
{
	scripted_note(backend, SCRIPTED_WITHDRAW, count, watch[0].token, false);
	done(ctx, scripted_of(backend)->cancel_rc, NULL);
}

static void scripted_most(struct backend *backend, const struct backend_resources *resources, int64_t *ret_memory_bytes,
			  int64_t *ret_time_ms)
{
	const struct scripted *scripted = scripted_of(backend);
	(void)resources;
	*ret_memory_bytes = scripted->most_memory_bytes;
	*ret_time_ms = scripted->most_time_ms;
}

static void scripted_set_parallel(struct backend *backend, const char *token, const char *job, uint32_t parallel,
				  backend_done_f done, void *ctx)
{
	(void)job;
	scripted_note(backend, SCRIPTED_PARALLEL, parallel, token, false);
	done(ctx, scripted_of(backend)->parallel_rc, NULL);
}

static bool scripted_has_energy(struct backend *backend)
{
	return scripted_of(backend)->has_energy;
}

static int64_t scripted_interval_ms(struct backend *backend, bool expecting)
{
	(void)backend;
	(void)expecting;
	return SCRIPTED_POLL_MS;
}

static char *scripted_preview(struct backend *backend, const struct backend_resources *resources, uint64_t tasks,
			      uint32_t parallel, struct error *err)
{
	(void)backend;
	(void)resources;
	(void)tasks;
	(void)parallel;
	(void)err;
	return mem_strdup("#!/bin/sh\n");
}

static void scripted_describe(struct backend *backend, struct json *out)
{
	json_map(out);
	json_key_string(out, "name", backend->ops->name);
	json_key_bool(out, "available", true);
	json_end(out);
}

static int cluster_open(const struct backend_config *config, struct backend **ret, struct error *err);
static int here_open(const struct backend_config *config, struct backend **ret, struct error *err);

#define SCRIPTED_OPS                                                                                                   \
	.close = scripted_close, .check = scripted_check, .room = scripted_room, .submit = scripted_submit,            \
	.poll = scripted_poll, .cancel = scripted_cancel, .has_energy = scripted_has_energy,                           \
	.poll_interval_ms = scripted_interval_ms, .preview = scripted_preview, .describe = scripted_describe

static const struct backend_key cluster_keys[] = {
	{"partition", BACKEND_KEY_WORD, offsetof(struct backend_resources, partition), "Partition", "where it runs"},
	{NULL, 0, 0, NULL, NULL},
};
static const struct backend_ops cluster_ops = {
	.name = "slurm",
	.help = "a cluster",
	.traits = BACKEND_HAS_QUEUE | BACKEND_HAS_ACCOUNTING | BACKEND_FILES_LAG,
	.preference = 20,
	.keys = cluster_keys,
	.open = cluster_open,
	.set_parallel = scripted_set_parallel,
	.withdraw = scripted_withdraw,
	.most = scripted_most,
	SCRIPTED_OPS,
};
static const struct backend_ops here_ops = {
	.name = "local",
	.help = "this machine",
	.traits = BACKEND_RESUBMIT_SAFE,
	.preference = 10,
	.open = here_open,
	SCRIPTED_OPS,
};

struct scripted scripted_cluster, scripted_here;
const struct backend_ops *const scripted_table[] = {&here_ops, &cluster_ops, NULL};

static int cluster_open(const struct backend_config *config, struct backend **ret, struct error *err)
{
	(void)config;
	return scripted_open(&scripted_cluster, &cluster_ops, ret, err);
}

static int here_open(const struct backend_config *config, struct backend **ret, struct error *err)
{
	(void)config;
	return scripted_open(&scripted_here, &here_ops, ret, err);
}

static void scripted_clear(struct scripted *scripted)
{
	free(scripted->answers.at);
	free(scripted->sights.at);
	free(scripted->calls.at);
	*scripted = (struct scripted){.room = 1000};
}

void scripted_reset(void)
{
	scripted_clear(&scripted_cluster);
	scripted_clear(&scripted_here);
	scripted_clock_ms = SCRIPTED_BEGIN_MS;
	clock_replace(scripted_now);
}

void scripted_free(void)
{
	scripted_clear(&scripted_cluster);
	scripted_clear(&scripted_here);
	clock_replace(NULL);
}

void scripted_say(struct scripted *scripted, struct scripted_sight sight)
{
	if (!sight.from_ms)
		sight.from_ms = scripted_clock_ms;
	vec_push(&scripted->sights, sight);
}

void scripted_answer(struct scripted *scripted, struct backend_submit_result answer)
{
	vec_push(&scripted->answers, answer);
}

size_t scripted_count(const struct scripted *scripted, enum scripted_verb verb)
{
	size_t count = 0;
	for (size_t i = 0; i < scripted->calls.len; i++)
		count += scripted->calls.at[i].verb == verb;
	return count;
}

const struct scripted_call *scripted_last(const struct scripted *scripted, enum scripted_verb verb)
{
	for (size_t i = scripted->calls.len; i-- > 0;)
		if (scripted->calls.at[i].verb == verb)
			return &scripted->calls.at[i];
	return NULL;
}
