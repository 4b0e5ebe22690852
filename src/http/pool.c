/* See pool.h. */
#include "http/pool.h"

#include "http/app.h"

#include <uv.h>

/* libuv's own number of threads. Where a file system does not answer, all lanes may hang together, and the search needs one
 * thread more. */
#define POOL_THREADS 4
#define POOL_FOLDERS_RUNNING 2
#define POOL_CHECKS_RUNNING 1
_Static_assert(POOL_FOLDERS_RUNNING + POOL_CHECKS_RUNNING < POOL_THREADS, "a thread stays free");

/* How many of a lane run at a time, and how many may wait. */
static const struct {
	size_t running, waiting;
} pool_most[POOL_LANES] = {
	[POOL_FOLDERS] = {POOL_FOLDERS_RUNNING, 0}, /* people look at one folder at a time: the others do not answer */
	[POOL_CHECKS] = {POOL_CHECKS_RUNNING, 64}, /* each takes milliseconds, unless a file system does not answer */
};

/* Bodies of requests of a lane: many large ones do not wait in memory. One alone may be larger. */
#define POOL_MOST_BYTES (64u << 20)

struct pool_job {
	uv_work_t work;
	struct app *app; /* NULL: it is closed */
	struct pool_job *next;
	struct request *request; /* NULL: the peer has gone */
	struct response *response;
	const struct pool_kind *kind;
	void *ctx;
	size_t bytes; /* of the request's body, which lives on in ctx */
	bool running;
};

static void pool_free(struct pool_job *job)
{
	job->kind->free(job->ctx);
	free(job);
}

static void pool_remove(struct pool_job *job)
{
	struct pool_job **at = &job->app->pool.first[job->kind->lane];
	while (*at != job)
		at = &(*at)->next;
	*at = job->next;
}

static void pool_work_cb(uv_work_t *work)
{
	const struct pool_job *job = work->data;
	job->kind->work(job->ctx);
}

static void pool_run(struct app *app, enum pool_lane lane);

static void pool_done_cb(uv_work_t *work, int status)
{
	struct pool_job *job = work->data;
	struct request *request = job->request;
	(void)status;
	if (request)
		job->kind->answer(job->ctx, job->response);
	if (job->app) {
		pool_remove(job);
		pool_run(job->app, job->kind->lane);
	}
	pool_free(job);
	if (request)
		request->respond(request);
}

static void pool_run(struct app *app, enum pool_lane lane)
{
	size_t running = 0;
	for (struct pool_job *job = app->pool.first[lane]; job && running < pool_most[lane].running; job = job->next) {
		running++;
		if (job->running)
			continue;
		job->running = true;
		job->work.data = job;
		uv_queue_work(server_loop(app->server), &job->work, pool_work_cb, pool_done_cb);
	}
}

/* What runs goes on; its answer is dropped. */
static void pool_cancel(void *ctx)
{
	struct pool_job *job = ctx;
	job->request = NULL;
	if (job->running)
		return;
	pool_remove(job);
	pool_free(job);
}

void pool_start(struct request *request, struct response *response, const struct pool_kind *kind, void *give_ctx)
{
	struct app *app = request->app;
	struct pool_job **at = &app->pool.first[kind->lane];
	size_t count = 0, bytes = request->body.len;
	for (; *at; at = &(*at)->next) {
		count++;
		bytes += (*at)->bytes;
	}
	if ((count && bytes > POOL_MOST_BYTES) ||
	    count >= pool_most[kind->lane].running + pool_most[kind->lane].waiting) {
		kind->free(give_ctx);
		response_problem(response, 503,
				 "other requests like this are still being answered; try again in a moment");
		response_header(response, "Retry-After", "1");
		return;
	}
	struct pool_job *job = mem_alloc(sizeof(*job));
	*job = (struct pool_job){.app = app,
				 .request = request,
				 .response = response,
				 .kind = kind,
				 .ctx = give_ctx,
				 .bytes = request->body.len};
	*at = job;
	response->later = (struct later){pool_cancel, job};
	pool_run(app, kind->lane);
}

void pool_leave(struct pool *pool)
{
	for (size_t lane = 0; lane < POOL_LANES; lane++) {
		struct pool_job *next;
		for (struct pool_job *job = pool->first[lane]; job; job = next) {
			next = job->next;
			job->app = NULL;
			if (!job->running)
				pool_free(job);
		}
		pool->first[lane] = NULL;
	}
}
