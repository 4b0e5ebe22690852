/* The backend that starts nothing. External workers ask for tasks, so `room` is always 0. A task that a worker took
 * counts as running until its result comes or it is stopped. */
#include "backend/external.h"

#include <errno.h>
#include <math.h>

static int external_open(const struct backend_config *config, struct backend **ret, struct error *err)
{
	(void)config;
	(void)err;
	struct backend *backend = mem_alloc(sizeof(*backend));
	backend->ops = &backend_external;
	*ret = backend;
	return 0;
}

static void external_close(struct backend *backend)
{
	free(backend);
}

static void external_check(struct backend *backend, const struct backend_resources *resources, const struct node *at,
			   struct problems *problems)
{
	(void)backend;
	(void)resources;
	(void)at;
	(void)problems;
}

static uint32_t external_room(struct backend *backend, const struct backend_resources *resources)
{
	(void)backend;
	(void)resources;
	return 0;
}

static void external_submit(struct backend *backend, const struct backend_batch *batch, backend_submitted_f done,
			    void *ctx)
{
	(void)backend;
	done(ctx, batch->token, &(struct backend_submit_result){.outcome = BACKEND_SUBMITTED});
}

static void external_poll(struct backend *backend, const struct backend_watch *watch, size_t count,
			  backend_observation_f observe, backend_polled_f done, void *ctx)
{
	(void)backend;
	for (size_t i = 0; i < count; i++)
		observe(ctx,
			&(struct backend_observation){
				.token = watch[i].token, .index = watch[i].index, .state = BACKEND_RUNNING});
	done(ctx, 0, NULL);
}

static void external_cancel(struct backend *backend, const struct backend_watch *watch, size_t count,
			    backend_done_f done, void *ctx)
{
	(void)backend;
	(void)watch;
	(void)count;
	done(ctx, 0, NULL);
}

static int64_t external_interval_ms(struct backend *backend, bool expecting)
{
	(void)backend;
	(void)expecting;
	return 60000; /* there is nothing to poll */
}

static char *external_preview(struct backend *backend, const struct backend_resources *resources, uint64_t tasks,
			      uint32_t parallel, struct error *err)
{
	(void)backend;
	(void)resources;
	(void)tasks;
	(void)parallel;
	(void)err;
	return mem_strdup("# Nothing is started. Workers of your own take tasks and give results:\n"
			  "#   sluice ask ID            prints a task and its parameters\n"
			  "#   sluice tell ID/TASK val_loss=0.31\n");
}

static void external_describe(struct backend *backend, struct json *out)
{
	(void)backend;
	json_map(out);
	json_key_string(out, "name", "external");
	json_key_bool(out, "available", true);
	json_key_string(out, "text", "workers of your own, through ask and tell");
	json_key(out, "keys");
	backend_write_keys(&backend_external, out);
	json_end(out);
}

const struct backend_ops backend_external = {
	.name = "external",
	.help = "workers of your own, through ask and tell",
	.traits = BACKEND_PULLED | BACKEND_RESUBMIT_SAFE,
	.open = external_open,
	.close = external_close,
	.check = external_check,
	.room = external_room,
	.submit = external_submit,
	.poll = external_poll,
	.cancel = external_cancel,
	.poll_interval_ms = external_interval_ms,
	.preview = external_preview,
	.describe = external_describe,
};
