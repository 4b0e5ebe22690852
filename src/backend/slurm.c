/* The entry of the Slurm backend: open and close, children with time limits, and the look at the queue that is shared
 * by polling, cancelling and changing. See slurm.h. */
#include "backend/slurm_private.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/text.h"
#include "base/token.h"
#include "spool/paths.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct slurm_call {
	struct slurm *slurm;
	struct slurm_call *next;
	struct proc *proc;
	slurm_answered_f answered;
	void *ctx;
	/* It could not be started: reported from a timer, so that no caller is called back before it returns. */
	uv_timer_t timer;
	struct error err;
};

static void slurm_free(struct slurm *slurm)
{
	slurm_cluster_free(&slurm->cluster);
	free(slurm->ended.list.at);
	free(slurm->cancelled.list.at);
	free(slurm->pending.at);
	free(slurm->state_dir);
	free(slurm->program);
	free(slurm->daemon_url);
	runner_close(&slurm->runner);
	free(slurm);
}

static void slurm_free_if_over(struct slurm *slurm)
{
	if (slurm->closing && !slurm->calls && !slurm->held)
		slurm_free(slurm);
}

void slurm_hold(struct slurm *slurm)
{
	slurm->held++;
}

void slurm_release(struct slurm *slurm)
{
	slurm->held--;
	slurm_free_if_over(slurm);
}

static void slurm_call_over(struct slurm_call *call, const struct proc_result *result)
{
	struct slurm *slurm = call->slurm;
	call->answered(call->ctx, result);
	for (struct slurm_call **p = &slurm->calls; *p; p = &(*p)->next) {
		if (*p == call) {
			*p = call->next;
			break;
		}
	}
	slurm_free_if_over(slurm);
}

static void slurm_call_done_cb(void *ctx, const struct proc_result *result)
{
	slurm_call_over(ctx, result);
	free(ctx);
}

static void slurm_call_closed_cb(uv_handle_t *handle)
{
	free(handle->data);
}

static void slurm_call_failed_cb(uv_timer_t *timer)
{
	struct slurm_call *call = timer->data;
	struct proc_result result = {.exit_code = -1, .out = buf_make(1), .err = buf_make(sizeof(call->err.text))};
	buf_add_text(&result.err, call->err.text);
	slurm_call_over(call, &result);
	proc_result_free(&result);
	uv_close((uv_handle_t *)timer, slurm_call_closed_cb);
}

static void slurm_call_fail_later(struct slurm_call *call)
{
	call->timer.data = call;
	uv_timer_init(call->slurm->loop, &call->timer);
	uv_timer_start(&call->timer, slurm_call_failed_cb, 0, 0);
}

void slurm_run(struct slurm *slurm, struct slurm_args *take, const struct slurm_ask *how, slurm_answered_f answered,
	       void *ctx)
{
	struct slurm_call *call = mem_alloc(sizeof(*call));
	struct proc_spec spec = {
		.argv = slurm_args_done(take),
		/* The folder we were started in may be gone, and sbatch fails in a folder that is. */
		.cwd = how && how->cwd ? how->cwd : "/",
		.input = how ? how->input : NULL,
		.input_len = how && how->input ? strlen(how->input) : 0,
		.timeout_ms = how && how->timeout_ms ? how->timeout_ms : SLURM_ASK_MS,
	};
	*call = (struct slurm_call){.slurm = slurm, .next = slurm->calls, .answered = answered, .ctx = ctx};
	slurm->calls = call;
	if (proc_start(slurm->loop, &spec, slurm_call_done_cb, call, &call->proc, &call->err) < 0)
		slurm_call_fail_later(call);
	slurm_args_free(take);
}

void slurm_fail_later(struct slurm *slurm, const char *why, slurm_answered_f answered, void *ctx)
{
	struct slurm_call *call = mem_alloc(sizeof(*call));
	*call = (struct slurm_call){.slurm = slurm, .next = slurm->calls, .answered = answered, .ctx = ctx};
	errorf(&call->err, -EINVAL, "%s", why);
	slurm->calls = call;
	slurm_call_fail_later(call);
}

bool slurm_answered_well(const struct proc_result *result)
{
	return result->exit_code == 0 && !result->timed_out && !result->overflow;
}

void slurm_explain_failed_call(const char *program, const struct proc_result *result, char *text, size_t size)
{
	const char *said = buf_text(&result->err);
	if (result->timed_out)
		snprintf(text, size, "%s did not answer in time", program);
	else if (result->overflow)
		snprintf(text, size, "%s printed more than %u MiB", program, LIMIT_CHILD_OUTPUT_BYTES >> 20);
	else if (*said)
		snprintf(text, size, "%.*s", (int)strcspn(said, "\n"), said);
	else if (result->signal)
		snprintf(text, size, "%s was killed by signal %d", program, result->signal);
	else
		snprintf(text, size, "%s failed with status %d", program, result->exit_code);
}

/* Ends in every version since 20.11; see slurm_look_start. */
#define SLURM_ENDED_STATES "COMPLETED,CANCELLED,FAILED,TIMEOUT,NODE_FAIL,PREEMPTED,BOOT_FAIL,DEADLINE,OUT_OF_MEMORY"

struct slurm_look_call {
	struct slurm *slurm;
	slurm_looked_f looked;
	void *ctx;
	int64_t began_mono_ms;
	uint64_t submitted_then;
	bool each_row, in_two;
	struct buf living; /* the first answer of two */
};

static void slurm_look_start(struct slurm_look_call *look);
static void slurm_look_ask(struct slurm_look_call *look, const char *states);

static void slurm_look_cb(void *ctx, const struct proc_result *result)
{
	struct slurm_look_call *look = ctx;
	struct slurm *slurm = look->slurm;
	int64_t took = clock_mono_ms() - look->began_mono_ms;
	struct slurm_queue queue = {0};
	char why[256] = "";
	int rc = 0;

	if (!slurm_answered_well(result)) {
		rc = result->timed_out ? -ETIMEDOUT : -EIO;
		slurm_explain_failed_call("squeue", result, why, sizeof(why));
		slurm->failures++;
	} else if (look->in_two && !slurm->closing) {
		look->in_two = false;
		buf_add(&look->living, buf_text(&result->out), result->out.len);
		slurm_look_ask(look, SLURM_ENDED_STATES);
		return;
	} else {
		buf_add(&look->living, buf_text(&result->out), result->out.len);
		slurm_queue_parse(buf_text(&look->living), look->living.len, &queue);
		if (queue.truncated && !look->each_row && !slurm->closing) {
			slurm_queue_free(&queue);
			slurm->each_row = true;
			slurm_look_start(look);
			return;
		}
		slurm->failures = 0;
		slurm->cluster.controller = SLURM_CONTROLLER_UP;
		slurm->latency_ms = slurm->latency_ms ? (slurm->latency_ms * 3 + took) / 4 : took;
		slurm->queue_alive = queue.alive;
		slurm->submitted_then = look->submitted_then;
	}
	if (rc < 0)
		log_debug("slurm: squeue: %s", why);
	/* The callee frees its own context even when we are closing. */
	look->looked(look->ctx, slurm->closing ? -ECANCELED : rc, &queue, why);
	slurm_queue_free(&queue);
	buf_free(&look->living);
	free(look);
}

/* states NULL: whatever has not ended. */
static void slurm_look_ask(struct slurm_look_call *look, const char *states)
{
	struct slurm_args args = {0};
	slurm_args_program(&args, "squeue");
	slurm_args_add(&args, "-h");
	if (look->each_row)
		slurm_args_add(&args, "-r");
	if (states) {
		slurm_args_add(&args, "-t");
		slurm_args_add(&args, states);
	}
	slurm_args_add(&args, "-u");
	slurm_args_addf(&args, "%lu", (unsigned long)look->slurm->uid);
	slurm_args_add(&args, "-o");
	slurm_args_add(&args, slurm_queue_format);
	slurm_run(look->slurm, &args, NULL, slurm_look_cb, look);
}

/* What squeue 20.11 calls all is less: a job that is stopped or held because its reservation was deleted is not in it, and
 * would seem to be gone. Such versions are asked twice, for what lives and then for what has ended: in this order nothing
 * is missed that ends in between. */
static void slurm_look_start(struct slurm_look_call *look)
{
	look->began_mono_ms = clock_mono_ms();
	look->each_row = look->slurm->each_row;
	look->in_two = !slurm_version_since(look->slurm->cluster.version, 22, 5);
	buf_free(&look->living);
	look->living = buf_make(BUF_UNLIMITED);
	slurm_look_ask(look, look->in_two ? NULL : "all");
}

void slurm_look(struct slurm *slurm, slurm_looked_f looked, void *ctx)
{
	struct slurm_look_call *look = mem_alloc(sizeof(*look));
	*look = (struct slurm_look_call){
		.slurm = slurm, .looked = looked, .ctx = ctx, .submitted_then = slurm->submitted};
	slurm_look_start(look);
}

int slurm_compare_key(const void *a, const void *b)
{
	const struct slurm_key *x = a, *y = b;
	int order = strcmp(x->token, y->token);
	return order ? order : (x->index > y->index) - (x->index < y->index);
}

size_t slurm_find_key(const void *keys, size_t count, size_t size, const char *token, uint32_t index)
{
	struct slurm_key wanted = {.index = index};
	size_t low = 0, high = count;
	snprintf(wanted.token, sizeof(wanted.token), "%s", token);
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (slurm_compare_key((const char *)keys + mid * size, &wanted) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Is there a configuration at all? Slurm's programs search for one for a minute, so a short look is taken here. */
static int slurm_probe(struct slurm *slurm, struct error *err)
{
	struct slurm_args args = {0};
	struct proc_result result = {.exit_code = -1};
	const char *conf = getenv("SLURM_CONF");
	int rc;

	if (conf && *conf && access(conf, R_OK) != 0)
		return errorf(err, -ENOENT, "SLURM_CONF names %s, which cannot be read", conf);
	slurm_args_program(&args, "scontrol");
	slurm_args_add(&args, "ping");
	struct proc_spec spec = {.argv = slurm_args_done(&args), .cwd = "/", .timeout_ms = SLURM_OPEN_MS};
	rc = proc_run(&spec, &result, err);
	if (rc == 0) {
		const char *out = buf_text(&result.out), *said = buf_text(&result.err);
		if (strstr(out, "Slurmctld("))
			slurm->cluster.controller = strstr(out, "is UP") ? SLURM_CONTROLLER_UP : SLURM_CONTROLLER_DOWN;
		else if (strstr(said, "resolve_ctls_from_dns_srv") || strstr(said, "configuration source"))
			rc = errorf(
				err, -ENOENT,
				"Slurm's programs are installed, but no configuration was found (SLURM_CONF, /etc/slurm/slurm.conf)");
		else if (!result.timed_out || *said)
			rc = errorf(err, -ENOENT, "no cluster here: %.*s", *said ? (int)strcspn(said, "\n") : 23,
				    *said ? said : "scontrol said nothing");
	}
	proc_result_free(&result);
	slurm_args_free(&args);
	return rc;
}

static int slurm_open(const struct backend_config *config, struct backend **ret, struct error *err)
{
	static const char *const needed[] = {"sbatch", "squeue", "sinfo", "scontrol", "scancel"};
	for (size_t i = 0; i < COUNT_OF(needed); i++)
		if (!proc_in_path(needed[i]))
			return errorf(err, -ENOENT,
				      "%s is not in the daemon's PATH; run 'sluice daemon restart' in a shell that "
				      "finds it",
				      needed[i]);
	struct slurm *slurm = mem_alloc(sizeof(*slurm));
	*slurm = (struct slurm){
		.backend.ops = &backend_slurm,
		.loop = config->loop,
		.state_dir = mem_strdup(config->state_dir),
		.program = mem_strdup(config->program),
		.daemon_url = mem_strdup(config->daemon_url),
		.uid = getuid(),
		.opened_mono_ms = clock_mono_ms(),
	};
	runner_open(slurm->program, &slurm->runner);
	int rc = slurm_probe(slurm, err);
	if (rc < 0) {
		slurm_free(slurm);
		return rc;
	}
	slurm_refresh(slurm);
	*ret = &slurm->backend;
	return 0;
}

/* Children still out are killed; no callback is called any more, and the last child frees the rest. */
static void slurm_close(struct backend *backend)
{
	struct slurm *slurm = (struct slurm *)backend;
	slurm->closing = true;
	for (struct slurm_call *call = slurm->calls; call; call = call->next)
		if (call->proc)
			proc_kill(call->proc);
	slurm_examine_close(slurm);
	slurm_free_if_over(slurm);
}

/* There is no token before the submission: the one that stood in for it becomes the word. */
static char *slurm_name_token(const char *text, const char *token)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	for (const char *at; (at = strstr(text, token)); text = at + strlen(token)) {
		buf_add(&out, text, (size_t)(at - text));
		buf_add_text(&out, "TOKEN");
	}
	buf_add_text(&out, text);
	return buf_take(&out);
}

static char *slurm_preview(struct backend *backend, const struct backend_resources *resources, uint64_t tasks,
			   uint32_t parallel, struct error *err)
{
	struct slurm *slurm = (struct slurm *)backend;
	char gres[SLURM_SHARE_CHARS];
	struct backend_resources named = slurm_named_resources(slurm, resources, gres);
	uint32_t room = slurm_room(backend, resources);
	size_t count = tasks < SLURM_BATCH_MAX ? (size_t)tasks : SLURM_BATCH_MAX;
	if (room && count > room)
		count = room;
	if (!count)
		count = 1;
	struct backend_item *items = mem_array(count, sizeof(*items));
	for (size_t i = 0; i < count; i++)
		items[i].index = (uint32_t)i;
	char *experiments = spool_experiments_dir(slurm->state_dir), *experiment = mem_printf("%s/ID", experiments);
	char *folder = spool_batch_dir(experiment, "TOKEN"), *program = slurm_runner_path(slurm, experiment);
	struct backend_batch batch = {.token = "00000000000000000000000000000000",
				      .batch_dir = folder,
				      .resources = &named,
				      .items = items,
				      .count = count,
				      .parallel = parallel};
	struct slurm_args args = {0};
	char *text = NULL;
	if (slurm_submit_args(&batch, &args, err) == 0) {
		char *script = slurm_batch_script(&batch, program, err);
		char *described = script
			? slurm_describe_script(script, &args,
						"Not submitted yet. ID and TOKEN get their values then. The command")
			: NULL;
		text = described ? slurm_name_token(described, batch.token) : NULL;
		free(described);
		free(script);
	}
	slurm_args_free(&args);
	free(program);
	free(folder);
	free(experiment);
	free(experiments);
	free(items);
	return text;
}

static void slurm_on_change(struct backend *backend, void (*changed)(void *ctx), void *ctx)
{
	struct slurm *slurm = (struct slurm *)backend;
	slurm->changed = changed;
	slurm->changed_ctx = ctx;
}

static void slurm_examine_default(struct backend *backend, backend_findings_f done, void *ctx)
{
	slurm_examine(backend, NULL, done, ctx);
}

#define SLURM_KEY(field, kind, title, help)                                                                            \
	{                                                                                                              \
#field, kind, offsetof(struct backend_resources, field), title, help                                   \
	}
static const struct backend_key slurm_keys[] = {
	SLURM_KEY(partition, BACKEND_KEY_WORD, "Partition", "the queue it waits in"),
	SLURM_KEY(account, BACKEND_KEY_WORD, "Account", "who is charged for it"),
	SLURM_KEY(qos, BACKEND_KEY_WORD, "QOS", "quality of service: its priority and limits"),
	SLURM_KEY(constraint, BACKEND_KEY_WORD, "Constraint", "features that its nodes must have"),
	SLURM_KEY(nodes, BACKEND_KEY_COUNT, "Nodes", "how many nodes a task gets"),
	SLURM_KEY(exclusive, BACKEND_KEY_FLAG, "Exclusive", "shares its nodes with no other job"),
	SLURM_KEY(options, BACKEND_KEY_WORDS, "Further sbatch options", "one a line"),
	SLURM_KEY(template, BACKEND_KEY_TEXT, "Batch script template", "your own batch script, with {run} in it"),
	{0},
};

const struct backend_ops backend_slurm = {
	.name = "slurm",
	.help = "a Slurm cluster, through job arrays",
	.traits = BACKEND_HAS_QUEUE | BACKEND_HAS_ACCOUNTING | BACKEND_FILES_LAG,
	.preference = 2,
	.keys = slurm_keys,
	.open = slurm_open,
	.close = slurm_close,
	.check = slurm_check,
	.most = slurm_most,
	.why_wait = slurm_why_wait,
	.room = slurm_room,
	.submit = slurm_submit,
	.poll = slurm_poll,
	.cancel = slurm_cancel,
	.withdraw = slurm_withdraw,
	.set_parallel = slurm_set_parallel,
	.doubt_ms = slurm_doubt_ms,
	.has_energy = slurm_has_energy,
	.poll_interval_ms = slurm_poll_interval_ms,
	.preview = slurm_preview,
	.describe = slurm_describe,
	.write_nodes = slurm_write_nodes,
	.examine = slurm_examine_default,
	.on_change = slurm_on_change,
};
