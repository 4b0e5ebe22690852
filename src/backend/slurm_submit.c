/* Everything that changes something on the cluster: submits a batch as one job array, cancels, sets the parallel limit.
 * A submission that was not clearly refused may have happened: it is reported as unknown, and is looked up by its token
 * later. */
#include "backend/slurm_private.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "spool/paths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

struct slurm_submit_call {
	struct slurm *slurm;
	char token[TOKEN_ID_CHARS];
	char *refused; /* known before sbatch was run; NULL */
	char *unfit; /* what the cluster lacks of what was asked for, should it be refused; NULL */
	char *batch_dir, *script;
	struct slurm_args args;
	size_t count;
	uint64_t submit_limit; /* 0: not known */
	backend_submitted_f done;
	void *ctx;
};

/* How long after its end an unclear submission may still come to be: a request that waits in the controller is dropped
 * after MessageTimeout, and twice that is on the safe side. */
int64_t slurm_doubt_ms(struct backend *backend)
{
	int64_t seconds = ((struct slurm *)backend)->cluster.message_timeout_s;
	return 2000 * (seconds > 0 ? seconds : 10);
}

static void slurm_remember(struct slurm *slurm, const char *token, int64_t until_mono_ms)
{
	struct slurm_pending fresh = {.until_mono_ms = until_mono_ms};
	size_t kept = 0;
	for (size_t i = 0; i < slurm->pending.len; i++)
		if (strcmp(slurm->pending.at[i].token, token) != 0 &&
		    slurm->pending.at[i].until_mono_ms > clock_mono_ms())
			slurm->pending.at[kept++] = slurm->pending.at[i];
	slurm->pending.len = kept;
	snprintf(fresh.token, sizeof(fresh.token), "%s", token);
	if (until_mono_ms)
		vec_push(&slurm->pending, fresh);
}

bool slurm_may_appear(struct slurm *slurm, const char *token)
{
	int64_t now = clock_mono_ms();
	/* An earlier daemon may have left a submission behind. */
	if (now < slurm->opened_mono_ms + slurm_doubt_ms(&slurm->backend))
		return true;
	for (size_t i = 0; i < slurm->pending.len; i++)
		if (slurm->pending.at[i].until_mono_ms > now && strcmp(slurm->pending.at[i].token, token) == 0)
			return true;
	return false;
}

static void slurm_submitted(struct slurm_submit_call *call, const struct backend_submit_result *result)
{
	if (!call->slurm->closing)
		call->done(call->ctx, call->token, result);
	free(call->refused);
	free(call->unfit);
	free(call->batch_dir);
	free(call->script);
	slurm_args_free(&call->args);
	free(call);
}

/* The words for a refusal: what we know the cluster lacks, Slurm's own words, and what to do. */
static char *slurm_refusal_text(const struct slurm_submit_call *call, const struct slurm_refusal *refusal)
{
	if (call->unfit)
		return mem_printf("%s (Slurm: %s)", call->unfit, refusal->message);
	return mem_printf("%s%s%s", refusal->message, refusal->remedy ? ": " : "",
			  refusal->remedy ? refusal->remedy : "");
}

/* Refused only because the queue is full for this user now. The same batch will be accepted later, and the way there is
 * that of every unclear submission: no lookup finds it, so it is handed over again. */
static bool slurm_is_full(const struct slurm_submit_call *call, const struct slurm_refusal *refusal)
{
	const char *said = refusal->message;
	bool submit_limit = strstr(said, "SubmitJobLimit") || strstr(said, "MaxSubmitJob") || strstr(said, "Job limit");
	return submit_limit && call->submit_limit && call->count <= call->submit_limit;
}

static void slurm_submit_cb(void *ctx, const struct proc_result *answer)
{
	struct slurm_submit_call *call = ctx;
	struct slurm *slurm = call->slurm;
	struct backend_submit_result result = {.outcome = BACKEND_UNKNOWN};
	char job[32], why[512];
	char *text = NULL;
	bool full = false;
	uint64_t id;

	slurm->submitting -= call->count;
	if (call->refused) {
		result.outcome = BACKEND_REFUSED;
		result.cause = CAUSE_REFUSED;
		result.why = call->refused;
	} else if (answer->exit_code == 0 && slurm_parse_submitted(buf_text(&answer->out), &id) == 0) {
		snprintf(job, sizeof(job), "%" PRIu64, id);
		result.outcome = BACKEND_SUBMITTED;
		result.job = job;
		slurm->submitted += call->count;
		slurm->quiet_polls = 0;
	} else if (answer->exit_code > 0 && answer->exit_code != 127 && !answer->timed_out) {
		struct slurm_refusal refusal;
		slurm_explain_refusal(buf_text(&answer->err), &refusal);
		if (refusal.definite && slurm_is_full(call, &refusal)) {
			full = true;
		} else if (refusal.definite) {
			text = slurm_refusal_text(call, &refusal);
			result = (struct backend_submit_result){
				.outcome = BACKEND_REFUSED, .cause = refusal.cause, .why = text};
			/* What we believe about the cluster may be out of date. */
			slurm->cluster.configured_mono_ms = 0;
		}
	}
	if (result.outcome == BACKEND_UNKNOWN) {
		slurm_explain_failed_call("sbatch", answer, why, sizeof(why));
		result.why = why;
		slurm->submitted += full ? 0 : call->count; /* it may well be in the queue */
	}
	slurm_remember(slurm, call->token,
		       result.outcome == BACKEND_UNKNOWN && !full ? clock_mono_ms() + slurm_doubt_ms(&slurm->backend)
								  : 0);
	slurm_submitted(call, &result);
	free(text);
}

/* For people and for GET /script; the jobs do not read it. */
static void slurm_keep_script(const struct backend_batch *batch, const char *script, const struct slurm_args *args)
{
	struct error err;
	char *path = spool_script_path(batch->experiment_dir);
	char *text = slurm_describe_script(script, args, "Submitted with");
	if (fs_write(path, text, strlen(text), 0600, false, &err) < 0)
		log_warning("slurm: %s", err.text);
	free(text);
	free(path);
}

/* The first thing that the cluster as we know it lacks; NULL when it has all. */
static char *slurm_unfit_text(struct slurm *slurm, const struct backend_resources *resources)
{
	struct problems problems = {0};
	char *text = NULL;
	slurm_check(&slurm->backend, resources, NULL, &problems);
	if (problems.list.len) {
		const struct problem *first = &problems.list.at[0];
		text = mem_printf("%s%s%s", first->message, first->remedy ? ": " : "",
				  first->remedy ? first->remedy : "");
	}
	problems_free(&problems);
	return text;
}

/* The program is where the nodes will look for it. */
static void slurm_submit_placed_cb(void *ctx, const char *why)
{
	struct slurm_submit_call *call = ctx;
	struct slurm *slurm = call->slurm;
	if (why || slurm->closing) {
		struct backend_submit_result result = {.outcome = BACKEND_LATER, .why = why};
		slurm->submitting -= call->count;
		slurm_remember(slurm, call->token, 0);
		slurm_submitted(call, &result);
		return;
	}
	struct slurm_ask how = {.input = call->script, .cwd = call->batch_dir, .timeout_ms = SLURM_SUBMIT_MS};
	slurm_run(slurm, &call->args, &how, slurm_submit_cb, call);
}

struct backend_resources slurm_named_resources(const struct slurm *slurm, const struct backend_resources *resources,
					       char gres[static SLURM_SHARE_CHARS])
{
	struct backend_resources r = *resources;
	const struct slurm_partition *part = slurm_partition_find(&slurm->cluster.partitions, r.partition);
	if (r.gpu_share && part && slurm_share_gres(part, r.gpu_share, gres))
		r.gpu_gres = gres;
	return r;
}

void slurm_submit(struct backend *backend, const struct backend_batch *given, backend_submitted_f done, void *ctx)
{
	struct slurm *slurm = (struct slurm *)backend;
	char gres[SLURM_SHARE_CHARS];
	struct backend_resources resources = slurm_named_resources(slurm, given->resources, gres);
	struct backend_batch named = *given, *batch = &named;
	named.resources = &resources;
	struct slurm_submit_call *call = mem_alloc(sizeof(*call));
	struct error err = {0};

	*call = (struct slurm_submit_call){.slurm = slurm,
					   .batch_dir = mem_strdup(batch->batch_dir),
					   .count = batch->count,
					   .done = done,
					   .ctx = ctx};
	snprintf(call->token, sizeof(call->token), "%s", batch->token);
	call->submit_limit = slurm_submit_limit(&slurm->cluster.limits, batch->resources->account,
						batch->resources->qos);
	slurm->submitting += batch->count;
	slurm_remember(slurm, batch->token, INT64_MAX);
	char *program = slurm_runner_path(slurm, batch->experiment_dir);
	if (slurm_submit_args(batch, &call->args, &err) == 0)
		call->script = slurm_batch_script(batch, program, &err);
	free(program);
	if (!call->script) {
		call->refused = mem_strdup(err.text);
		slurm_fail_later(slurm, err.text, slurm_submit_cb, call);
		return;
	}
	call->unfit = slurm_unfit_text(slurm, batch->resources);
	slurm_keep_script(batch, call->script, &call->args);
	slurm_place_runner(slurm, batch->experiment_dir, slurm_submit_placed_cb, call);
}

struct slurm_cancel_call {
	struct slurm *slurm;
	struct slurm_key *targets; /* sorted by token, then index */
	size_t count;
	bool waiting_only; /* what has started is left alone */
	struct slurm_keys waiting; /* those of them that had not started */
	backend_done_f done;
	void *ctx;
};

static void slurm_cancelled(struct slurm_cancel_call *call, int rc, const char *why)
{
	if (!call->slurm->closing && call->done)
		call->done(call->ctx, rc, why);
	free(call->targets);
	free(call->waiting.list.at);
	free(call);
}

static void slurm_remember_cancelled(struct slurm *slurm, const struct slurm_keys *keys)
{
	for (size_t i = 0; i < keys->list.len; i++)
		vec_push(&slurm->cancelled.list, keys->list.at[i]);
	if (keys->list.len)
		qsort(slurm->cancelled.list.at, slurm->cancelled.list.len, sizeof(struct slurm_key), slurm_compare_key);
}

static void slurm_cancel_cb(void *ctx, const struct proc_result *answer)
{
	struct slurm_cancel_call *call = ctx;
	char why[256];
	/* A job that ended in the meantime is what was wanted. */
	if (slurm_answered_well(answer))
		slurm_remember_cancelled(call->slurm, &call->waiting);
	if (slurm_answered_well(answer) ||
	    (!answer->timed_out && strstr(buf_text(&answer->err), "already completing or completed"))) {
		slurm_cancelled(call, 0, NULL);
		return;
	}
	slurm_explain_failed_call("scancel", answer, why, sizeof(why));
	slurm_cancelled(call, answer->timed_out ? -ETIMEDOUT : -EIO, why);
}

/* The elements of one array that are to be ended, out of those that are alive. */
struct slurm_array {
	uint64_t id;
	const char *token;
	uint64_t alive;
	VEC(uint32_t) indices;
};
struct slurm_arrays {
	VEC(struct slurm_array) list;
};

static struct slurm_array *slurm_array_take(struct slurm_arrays *arrays, const struct slurm_job *job)
{
	for (size_t i = arrays->list.len; i-- > 0;)
		if (arrays->list.at[i].id == job->id && strcmp(arrays->list.at[i].token, job->token) == 0)
			return &arrays->list.at[i];
	struct slurm_array fresh = {.id = job->id, .token = job->token};
	vec_push(&arrays->list, fresh);
	return &arrays->list.at[arrays->list.len - 1];
}

static void slurm_gather(struct slurm_cancel_call *call, const struct slurm_queue *queue, struct slurm_arrays *arrays)
{
	for (size_t i = 0; i < queue->jobs.len; i++) {
		const struct slurm_job *job = &queue->jobs.at[i];
		enum slurm_state_kind kind = slurm_state_kind(job->state);
		if (kind == SLURM_STATE_ENDED)
			continue;
		struct slurm_array *array = slurm_array_take(arrays, job);
		for (size_t r = 0; r < job->range_count; r++) {
			const struct slurm_range *range = &queue->ranges.list.at[job->first_range + r];
			array->alive += (range->high - range->low) / range->step + 1;
			size_t at = slurm_find_key(call->targets, call->count, sizeof(*call->targets), job->token,
						   range->low);
			for (; at < call->count && strcmp(call->targets[at].token, job->token) == 0 &&
			     call->targets[at].index <= range->high;
			     at++) {
				if ((call->targets[at].index - range->low) % range->step != 0 ||
				    (call->waiting_only && kind != SLURM_STATE_WAITING))
					continue;
				vec_push(&array->indices, call->targets[at].index);
				if (kind == SLURM_STATE_WAITING)
					vec_push(&call->waiting.list, call->targets[at]);
			}
		}
	}
}

/* Only jobs whose name was our token a moment ago are named to scancel: ids are handed out again after a
 * crash of the controller. */
static void slurm_cancel_looked_cb(void *ctx, int rc, struct slurm_queue *queue, const char *why)
{
	struct slurm_cancel_call *call = ctx;
	struct slurm_arrays arrays = {0};
	struct slurm_args args = {0};
	size_t named = 0;

	if (rc < 0) {
		slurm_cancelled(call, rc, why);
		return;
	}
	slurm_gather(call, queue, &arrays);
	slurm_args_program(&args, "scancel");
	if (call->waiting_only) /* it may have started since we looked */
		slurm_args_add(&args, "--state=PENDING");
	for (size_t i = 0; i < arrays.list.len; i++) {
		struct slurm_array *array = &arrays.list.at[i];
		if (array->indices.len && array->indices.len == array->alive) {
			slurm_args_addf(&args, "%" PRIu64, array->id);
		} else if (array->indices.len) {
			char *list = slurm_format_indices(array->indices.at, array->indices.len);
			slurm_args_addf(&args, "%" PRIu64 "_[%s]", array->id, list);
			free(list);
		}
		named += array->indices.len;
		free(array->indices.at);
	}
	free(arrays.list.at);
	if (named) {
		call->slurm->quiet_polls = 0;
		slurm_run(call->slurm, &args, NULL, slurm_cancel_cb, call);
	} else {
		slurm_args_free(&args);
		slurm_cancelled(call, 0, NULL);
	}
}

static void slurm_end(struct backend *backend, const struct backend_watch *watch, size_t count, bool waiting_only,
		      backend_done_f done, void *ctx)
{
	struct slurm_cancel_call *call = mem_alloc(sizeof(*call));
	*call = (struct slurm_cancel_call){
		.slurm = (struct slurm *)backend,
		.targets = mem_array(count, sizeof(*call->targets)),
		.count = count,
		.waiting_only = waiting_only,
		.done = done,
		.ctx = ctx,
	};
	for (size_t i = 0; i < count; i++) {
		snprintf(call->targets[i].token, sizeof(call->targets[i].token), "%s", watch[i].token);
		call->targets[i].index = watch[i].index;
	}
	qsort(call->targets, count, sizeof(*call->targets), slurm_compare_key);
	slurm_look(call->slurm, slurm_cancel_looked_cb, call);
}

void slurm_cancel(struct backend *backend, const struct backend_watch *watch, size_t count, backend_done_f done,
		  void *ctx)
{
	slurm_end(backend, watch, count, false, done, ctx);
}

void slurm_withdraw(struct backend *backend, const struct backend_watch *watch, size_t count, backend_done_f done,
		    void *ctx)
{
	slurm_end(backend, watch, count, true, done, ctx);
}

struct slurm_parallel_call {
	struct slurm *slurm;
	char token[TOKEN_ID_CHARS];
	uint32_t parallel;
	backend_done_f done;
	void *ctx;
};

static void slurm_parallel_done(struct slurm_parallel_call *call, int rc, const char *why)
{
	if (!call->slurm->closing && call->done)
		call->done(call->ctx, rc, why);
	free(call);
}

static void slurm_parallel_cb(void *ctx, const struct proc_result *answer)
{
	struct slurm_parallel_call *call = ctx;
	char why[256] = "";
	if (!slurm_answered_well(answer))
		slurm_explain_failed_call("scontrol", answer, why, sizeof(why));
	slurm_parallel_done(call, why[0] ? -EIO : 0, why[0] ? why : NULL);
}

static void slurm_parallel_looked_cb(void *ctx, int rc, struct slurm_queue *queue, const char *why)
{
	struct slurm_parallel_call *call = ctx;
	const struct slurm_job *found = NULL;

	/* Only what still waits has a limit to change; after that the job cannot be updated. */
	for (size_t i = 0; rc == 0 && i < queue->jobs.len; i++)
		if (strcmp(queue->jobs.at[i].token, call->token) == 0 &&
		    slurm_state_kind(queue->jobs.at[i].state) == SLURM_STATE_WAITING)
			found = &queue->jobs.at[i];
	if (!found) {
		slurm_parallel_done(call, rc, rc < 0 ? why : NULL);
		return;
	}
	struct slurm_args args = {0};
	slurm_args_program(&args, "scontrol");
	slurm_args_add(&args, "update");
	slurm_args_addf(&args, "JobId=%" PRIu64, found->id);
	slurm_args_addf(&args, "ArrayTaskThrottle=%u", call->parallel);
	slurm_run(call->slurm, &args, NULL, slurm_parallel_cb, call);
}

void slurm_set_parallel(struct backend *backend, const char *token, const char *job, uint32_t parallel,
			backend_done_f done, void *ctx)
{
	(void)job; /* the id that the queue has under this token now is the one that counts */
	struct slurm_parallel_call *call = mem_alloc(sizeof(*call));
	*call = (struct slurm_parallel_call){
		.slurm = (struct slurm *)backend, .parallel = parallel, .done = done, .ctx = ctx};
	snprintf(call->token, sizeof(call->token), "%s", token);
	slurm_look(call->slurm, slurm_parallel_looked_cb, call);
}
