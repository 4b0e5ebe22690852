/* What the cluster offers. It is asked in the background, and only when a caller wants to know, so that an idle daemon
 * puts no load on the controller. */
#include "backend/slurm_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"
#include "base/pace.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

struct slurm_step {
	/* Adds the command; false: this one is not needed now. */
	bool (*ask)(struct slurm *slurm, struct slurm_args *args);
	/* Takes the answer; false: there is no point in going on. */
	bool (*take)(struct slurm *slurm, const struct proc_result *result);
	const char *program;
};

static bool slurm_settings_wanted(const struct slurm *slurm)
{
	const struct slurm_cluster *c = &slurm->cluster;
	return !c->configured_mono_ms || clock_mono_ms() - c->configured_mono_ms > SLURM_SETTINGS_MS;
}

static bool slurm_ask_ping(struct slurm *slurm, struct slurm_args *args)
{
	(void)slurm;
	slurm_args_add(args, "ping");
	return true;
}

/* Its status is 0 on old versions even when the controller is down: the words count. */
static bool slurm_take_ping(struct slurm *slurm, const struct proc_result *result)
{
	struct slurm_cluster *c = &slurm->cluster;
	bool up = strstr(buf_text(&result->out), "is UP") != NULL;
	c->controller = up ? SLURM_CONTROLLER_UP : SLURM_CONTROLLER_DOWN;
	if (!up)
		snprintf(c->trouble, sizeof(c->trouble), "the controller does not answer");
	return up;
}

static bool slurm_ask_config(struct slurm *slurm, struct slurm_args *args)
{
	slurm_args_add(args, "show");
	slurm_args_add(args, "config");
	return slurm_settings_wanted(slurm);
}

static bool slurm_take_config(struct slurm *slurm, const struct proc_result *result)
{
	struct slurm_cluster *c = &slurm->cluster;
	const char *text = buf_text(&result->out);
	char value[1024];

	if (result->timed_out || result->exit_code < 0) {
		slurm_explain_failed_call("scontrol", result, c->trouble, sizeof(c->trouble));
		return false;
	}
	/* A site may forbid it; then Slurm's defaults are all we know. */
	c->configured = true;
	if (slurm_config_get(text, "SLURM_VERSION", value, sizeof(value)))
		snprintf(c->version, sizeof(c->version), "%.31s", value);
	if (slurm_config_get(text, "ClusterName", value, sizeof(value)))
		snprintf(c->name, sizeof(c->name), "%.127s", value);
	slurm_boot_read(&c->boot, text, clock_now_ms());
	c->max_array = slurm_config_number(text, "MaxArraySize", SLURM_ARRAY_DEFAULT);
	c->max_array_tasks = 0;
	if (slurm_config_get(text, "SchedulerParameters", value, sizeof(value))) {
		static const char key[] = "max_array_tasks=";
		const char *at = strstr(value, key);
		uint64_t most;
		if (at &&
		    num_parse_unsigned(at + sizeof(key) - 1, strspn(at + sizeof(key) - 1, "0123456789"),
				       SLURM_INDEX_MAX, &most) == 0)
			c->max_array_tasks = (int64_t)most;
	}
	c->message_timeout_s = slurm_config_number(text, "MessageTimeout", 10);
	c->min_job_age_s = slurm_config_number(text, "MinJobAge", 300);
	c->kill_wait_s = slurm_config_number(text, "KillWait", 30);
	if (slurm_config_get(text, "AccountingStorageType", value, sizeof(value)))
		slurm->accounting = text_ends(value, "/none") ? SLURM_ACCOUNTING_OFF : SLURM_ACCOUNTING_ON;
	else if (*text)
		slurm->accounting = SLURM_ACCOUNTING_OFF; /* absent or "(null)" since 23.11 */
	c->qos_enforced = slurm_config_get(text, "AccountingStorageEnforce", value, sizeof(value)) &&
		(slurm_has_word(value, "qos") || slurm_has_word(value, "all"));
	c->energy = slurm_config_get(text, "AcctGatherEnergyType", value, sizeof(value)) && !text_ends(value, "/none");
	c->energy_plugin[0] = '\0';
	if (c->energy)
		snprintf(c->energy_plugin, sizeof(c->energy_plugin), "%.63s", value);
	return true;
}

/* The name behind our uid, from the system's own tool: a static program keeps out of the name services. */
static bool slurm_ask_user(struct slurm *slurm, struct slurm_args *args)
{
	slurm_args_add(args, "-un");
	return slurm->accounting == SLURM_ACCOUNTING_ON && !slurm->cluster.user[0];
}

static bool slurm_take_user(struct slurm *slurm, const struct proc_result *result)
{
	const char *text = buf_text(&result->out);
	if (slurm_answered_well(result))
		snprintf(slurm->cluster.user, sizeof(slurm->cluster.user), "%.*s", (int)strcspn(text, "\n"), text);
	return true;
}

static bool slurm_ask_associations(struct slurm *slurm, struct slurm_args *args)
{
	slurm_args_add(args, "-n");
	slurm_args_add(args, "-P");
	slurm_args_add(args, "show");
	slurm_args_add(args, "user");
	slurm_args_add(args, slurm->cluster.user);
	slurm_args_add(args, "withassoc");
	slurm_args_add(args, slurm_associations_format);
	return slurm->accounting == SLURM_ACCOUNTING_ON && slurm->cluster.user[0] && slurm_settings_wanted(slurm);
}

static bool slurm_take_associations(struct slurm *slurm, const struct proc_result *result)
{
	struct slurm_cluster *c = &slurm->cluster;
	if (slurm_answered_well(result)) {
		slurm_limits_free(&c->limits);
		slurm_associations_parse(buf_text(&result->out), result->out.len, c->name[0] ? c->name : NULL,
					 &c->limits);
	}
	return true;
}

static bool slurm_ask_qos(struct slurm *slurm, struct slurm_args *args)
{
	slurm_args_add(args, "-n");
	slurm_args_add(args, "-P");
	slurm_args_add(args, "show");
	slurm_args_add(args, "qos");
	slurm_args_add(args, slurm_qos_format);
	return slurm->accounting == SLURM_ACCOUNTING_ON && slurm_settings_wanted(slurm) &&
		!slurm->cluster.limits.qos.len;
}

static bool slurm_take_qos(struct slurm *slurm, const struct proc_result *result)
{
	if (slurm_answered_well(result))
		slurm_qos_parse(buf_text(&result->out), result->out.len, &slurm->cluster.limits);
	return true;
}

static bool slurm_ask_partitions(struct slurm *slurm, struct slurm_args *args)
{
	(void)slurm;
	slurm_args_add(args, "-h");
	slurm_args_add(args, "--exact");
	slurm_args_add(args, "-o");
	slurm_args_add(args, slurm_partitions_format);
	return true;
}

static bool slurm_take_partitions(struct slurm *slurm, const struct proc_result *result)
{
	struct slurm_cluster *c = &slurm->cluster;
	if (slurm_answered_well(result)) {
		slurm_partitions_free(&c->partitions);
		slurm_partitions_parse(buf_text(&result->out), result->out.len, &c->partitions);
		c->trouble[0] = '\0';
	} else {
		slurm_explain_failed_call("sinfo", result, c->trouble, sizeof(c->trouble));
	}
	return true;
}

static const struct slurm_step slurm_steps[] = {
	{slurm_ask_ping, slurm_take_ping, "scontrol"}, {slurm_ask_config, slurm_take_config, "scontrol"},
	{slurm_ask_user, slurm_take_user, "id"},       {slurm_ask_associations, slurm_take_associations, "sacctmgr"},
	{slurm_ask_qos, slurm_take_qos, "sacctmgr"},   {slurm_ask_partitions, slurm_take_partitions, "sinfo"},
};

struct slurm_refresh_call {
	struct slurm *slurm;
	size_t step;
	bool was_configured;
	enum slurm_controller was;
};

static void slurm_refresh_cb(void *ctx, const struct proc_result *result);

static void slurm_refresh_go_on(struct slurm_refresh_call *call)
{
	struct slurm *slurm = call->slurm;
	for (; call->step < COUNT_OF(slurm_steps); call->step++) {
		struct slurm_args args = {0};
		slurm_args_program(&args, slurm_steps[call->step].program);
		if (slurm_steps[call->step].ask(slurm, &args)) {
			slurm_run(slurm, &args, NULL, slurm_refresh_cb, call);
			return;
		}
		slurm_args_free(&args);
	}
	struct slurm_cluster *c = &slurm->cluster;
	slurm->refreshing = false;
	c->asked_mono_ms = clock_mono_ms();
	if (c->controller == SLURM_CONTROLLER_UP && slurm_settings_wanted(slurm))
		c->configured_mono_ms = c->asked_mono_ms;
	/* There may be room now where there was none before. */
	if (slurm->changed && (c->configured != call->was_configured || c->controller != call->was))
		slurm->changed(slurm->changed_ctx);
	free(call);
}

static void slurm_refresh_cb(void *ctx, const struct proc_result *result)
{
	struct slurm_refresh_call *call = ctx;
	if (call->slurm->closing) {
		free(call);
		return;
	}
	bool go_on = slurm_steps[call->step].take(call->slurm, result);
	call->step = go_on ? call->step + 1 : COUNT_OF(slurm_steps);
	slurm_refresh_go_on(call);
}

void slurm_refresh(struct slurm *slurm)
{
	if (slurm->refreshing)
		return;
	struct slurm_refresh_call *call = mem_alloc(sizeof(*call));
	*call = (struct slurm_refresh_call){
		.slurm = slurm, .was_configured = slurm->cluster.configured, .was = slurm->cluster.controller};
	slurm->refreshing = true;
	slurm_refresh_go_on(call);
}

void slurm_refresh_if_old(struct slurm *slurm)
{
	const struct slurm_cluster *c = &slurm->cluster;
	if (!c->asked_mono_ms || clock_mono_ms() - c->asked_mono_ms > SLURM_PICTURE_MS)
		slurm_refresh(slurm);
}

void slurm_cluster_free(struct slurm_cluster *cluster)
{
	slurm_partitions_free(&cluster->partitions);
	slurm_nodes_free(&cluster->nodes);
	slurm_limits_free(&cluster->limits);
}

static void slurm_nodes_cb(void *ctx, const struct proc_result *result)
{
	struct slurm *slurm = ctx;
	struct slurm_cluster *c = &slurm->cluster;
	if (slurm->closing)
		return;
	slurm->asking_nodes = false;
	c->nodes_mono_ms = clock_mono_ms();
	c->nodes_trouble[0] = '\0';
	if (!slurm_answered_well(result)) {
		slurm_explain_failed_call("scontrol", result, c->nodes_trouble, sizeof(c->nodes_trouble));
		return;
	}
	c->nodes_ms = clock_now_ms();
	slurm_nodes_free(&c->nodes);
	slurm_nodes_parse(buf_text(&result->out), result->out.len, &c->nodes);
}

/* One call, and only when someone looks at nodes. */
void slurm_write_nodes(struct backend *backend, const char *const *ours, size_t count, struct json *out)
{
	struct slurm *slurm = (struct slurm *)backend;
	const struct slurm_cluster *c = &slurm->cluster;
	bool old = !c->nodes_mono_ms || clock_mono_ms() - c->nodes_mono_ms > SLURM_PICTURE_MS;
	if (old && !slurm->asking_nodes) {
		struct slurm_args args = {0};
		slurm_args_program(&args, "scontrol");
		slurm_args_add(&args, "-d");
		slurm_args_add(&args, "-o");
		slurm_args_add(&args, "show");
		slurm_args_add(&args, "node");
		slurm->asking_nodes = true;
		slurm_run(slurm, &args, NULL, slurm_nodes_cb, slurm);
	}
	json_key_bool(out, "asking", slurm->asking_nodes);
	json_key_time(out, "time", c->nodes_ms);
	json_key_string(out, "error", c->nodes_trouble[0] ? c->nodes_trouble : NULL);
	slurm_nodes_write(&c->nodes, ours, count, out);
}

bool slurm_has_energy(struct backend *backend)
{
	const struct slurm *slurm = (struct slurm *)backend;
	return slurm->cluster.energy && slurm->accounting != SLURM_ACCOUNTING_OFF;
}

uint32_t slurm_room(struct backend *backend, const struct backend_resources *resources)
{
	struct slurm *slurm = (struct slurm *)backend;
	const struct slurm_cluster *c = &slurm->cluster;

	if (!c->configured) {
		slurm_refresh_if_old(slurm);
		return 0; /* on_change tells when it is known */
	}
	if (!c->configured_mono_ms)
		slurm_refresh_if_old(slurm);
	uint64_t room = SLURM_BATCH_MAX;
	if (c->max_array > 0 && (uint64_t)c->max_array < room)
		room = (uint64_t)c->max_array;
	if (c->max_array_tasks > 0 && (uint64_t)c->max_array_tasks < room)
		room = (uint64_t)c->max_array_tasks;
	uint64_t limit = slurm_submit_limit(&c->limits, resources->account, resources->qos);
	if (limit) {
		uint64_t taken = slurm->queue_alive + slurm->submitting + (slurm->submitted - slurm->submitted_then);
		uint64_t left = taken < limit ? limit - taken : 0;
		if (left < room)
			room = left;
	}
	return (uint32_t)room;
}

/* Nothing is handed over before Slurm has been asked what it takes. */
char *slurm_why_wait(struct backend *backend, const struct backend_resources *resources, int64_t experiment)
{
	const struct slurm *slurm = (struct slurm *)backend;
	const struct slurm_cluster *c = &slurm->cluster;
	(void)experiment;
	if (c->controller == SLURM_CONTROLLER_DOWN || (!c->configured && c->trouble[0]))
		return mem_printf("Slurm cannot be asked: %s; it is tried again",
				  c->trouble[0] ? c->trouble : "the controller does not answer");
	uint64_t limit = slurm_submit_limit(&c->limits, resources->account, resources->qos);
	if (c->configured && limit && !slurm_room(backend, resources))
		return mem_printf("your limit of %" PRIu64 " submitted jobs is reached", limit);
	return NULL;
}

static void slurm_describe_partitions(const struct slurm_cluster *c, struct json *out)
{
	json_key(out, "partitions");
	json_list(out);
	for (size_t i = 0; i < c->partitions.list.len; i++) {
		const struct slurm_partition *p = &c->partitions.list.at[i];
		json_map(out);
		json_key_string(out, "name", p->name);
		json_key_bool(out, "default", p->is_default);
		json_key_string(out, "state", p->up ? "up" : "down");
		json_key_int(out, "nodes", p->nodes);
		json_key_int(out, "idle_nodes", p->idle_nodes);
		json_key_int(out, "cpus", p->cpus);
		json_key_int(out, "cpus_per_node", p->cpus_per_node);
		json_key_int(out, "gpus", p->gpus);
		json_key_int(out, "gpus_per_node", p->gpus_per_node);
		json_key_string(out, "gpu_type", p->gpu_types[0] ? p->gpu_types : NULL);
		json_key_int(out, "memory_bytes", p->memory_bytes);
		json_key(out, "time_limit_s");
		if (p->time_limit_ms)
			json_put_int(out, p->time_limit_ms / 1000);
		else
			json_put_null(out);
		json_end(out);
	}
	json_end(out);
}

static void slurm_describe_limits(const struct slurm_cluster *c, struct json *out)
{
	uint64_t limit = slurm_submit_limit(&c->limits, NULL, NULL);
	json_key(out, "limits");
	json_map(out);
	json_key(out, "array_size");
	if (c->max_array)
		json_put_int(out, c->max_array);
	else
		json_put_null(out);
	json_key(out, "submitted_jobs");
	if (limit)
		json_put_int(out, (int64_t)limit);
	else
		json_put_null(out);
	json_key_string(out, "default_account", slurm_default_account(&c->limits));
	json_end(out);
}

/* Has Slurm not answered yet since the start? */
static bool slurm_is_first_look(const struct slurm *slurm)
{
	return slurm->refreshing && !slurm->cluster.asked_mono_ms;
}

/* "Slurm 22.05.8, 3 nodes, 4 GPUs", or why that is not known. */
static void slurm_summary(const struct slurm *slurm, char *text, size_t size)
{
	const struct slurm_cluster *c = &slurm->cluster;
	int64_t cpus = 0, gpus = 0;
	if (slurm_is_first_look(slurm)) {
		snprintf(text, size, "sluice is asking Slurm for its partitions");
		return;
	}
	if (c->trouble[0] || !c->partitions.list.len) {
		snprintf(text, size, "%s", c->trouble[0] ? c->trouble : "Slurm shows no partition to this user");
		return;
	}
	/* A node may be in several partitions; the largest partition is the honest lower bound. */
	for (size_t i = 0; i < c->partitions.list.len; i++) {
		const struct slurm_partition *p = &c->partitions.list.at[i];
		cpus = p->cpus > cpus ? p->cpus : cpus;
		gpus = p->gpus > gpus ? p->gpus : gpus;
	}
	snprintf(text, size,
		 "Slurm %s, %zu partition%s, the largest with %" PRId64 " CPUs; %" PRId64 " GPU%s in one partition",
		 c->version, c->partitions.list.len, c->partitions.list.len == 1 ? "" : "s", cpus, gpus,
		 gpus == 1 ? "" : "s");
}

void slurm_describe(struct backend *backend, struct json *out)
{
	static const char *const controllers[] = {"unknown", "up", "down"};
	struct slurm *slurm = (struct slurm *)backend;
	const struct slurm_cluster *c = &slurm->cluster;
	char text[256];

	slurm_refresh_if_old(slurm);
	slurm_summary(slurm, text, sizeof(text));
	json_map(out);
	json_key_string(out, "name", "slurm");
	json_key_bool(out, "available", c->partitions.list.len > 0);
	json_key(out, "keys");
	backend_write_keys(slurm->backend.ops, out);
	json_key_string(out, "text", text);
	json_key_bool(out, "asking", slurm_is_first_look(slurm));
	json_key_string(out, "version", c->version[0] ? c->version : NULL);
	json_key_string(out, "controller", slurm->failures > 1 ? "down" : controllers[c->controller]);
	json_key_string(out, "cluster", c->name[0] ? c->name : NULL);
	json_key_bool(out, "accounting", slurm->accounting == SLURM_ACCOUNTING_ON);
	json_key_bool(out, "energy", c->energy && slurm->accounting == SLURM_ACCOUNTING_ON);
	json_key(out, "latency_ms");
	if (slurm->latency_ms)
		json_put_int(out, slurm->latency_ms);
	else
		json_put_null(out);
	slurm_describe_limits(c, out);
	slurm_describe_partitions(c, out);
	json_end(out);
}
