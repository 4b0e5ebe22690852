/* A search that is changed while it runs: configurations that the user chose, results from elsewhere, other settings;
 * and tasks for the user's own workers. */
#include "http/handle.h"

#include "base/node.h"
#include "store/rows.h"

#include <errno.h>
#include <inttypes.h>

/* A body that is not right: every error with its field; anything else in the engine's words. */
static void living_answer_refusal(int rc, const struct problems *problems, const struct error *err,
				  struct response *response)
{
	if (rc == -EINVAL && problems->list.len)
		response_problems(response, problems);
	else
		response_error(response, rc, err);
}

void handle_suggest(struct request *request, struct response *response)
{
	struct problems problems = {0};
	struct error err = {0};
	struct node *body;
	int64_t number;
	if (request_json(request, &body, response) < 0)
		return;
	int rc = engine_suggest(request->app->engine, request->path_numbers[0], body, &number, &problems, &err);
	node_free(body);
	if (rc < 0) {
		living_answer_refusal(rc, &problems, &err, response);
	} else {
		response_header(response, "Location", ROUTE_PREFIX "/experiments/e%" PRId64 "/tasks/%" PRId64,
				request->path_numbers[0], number);
		handle_answer_task(request, request->path_numbers[0], number, response);
	}
	problems_free(&problems);
}

static void handle_answer_import(int64_t count, int64_t already, struct response *response)
{
	struct json out = json_to(&response->body);
	json_map(&out);
	json_key_int(&out, "tasks", count);
	json_key_int(&out, "already", already);
	json_end(&out);
}

void handle_import(struct request *request, struct response *response)
{
	struct problems problems = {0};
	struct error err = {0};
	struct node *body;
	int64_t count, already = 0;
	if (request_json(request, &body, response) < 0)
		return;
	int rc = engine_import(request->app->engine, request->path_numbers[0], body, &count, &already, &problems, &err);
	node_free(body);
	if (rc < 0)
		living_answer_refusal(rc, &problems, &err, response);
	else
		handle_answer_import(count, already, response);
	problems_free(&problems);
}

void handle_change(struct request *request, struct response *response)
{
	struct problems problems = {0};
	struct error err = {0};
	struct node *body;
	if (request_json(request, &body, response) < 0)
		return;
	int rc = engine_change(request->app->engine, request->path_numbers[0], body, &problems, &err);
	node_free(body);
	if (rc < 0)
		living_answer_refusal(rc, &problems, &err, response);
	else
		handle_answer_experiment(request, request->path_numbers[0], response);
	problems_free(&problems);
}

void handle_search(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	int rc = engine_write_search(request->app->engine, request->path_numbers[0], &out);
	if (rc < 0 && !handle_answer_unread(request, rc, response))
		response_problem(response, 404, "there is no experiment %s", request->path_values[0]);
}

/* Is it there? Then what was not found is something in it. */
static bool living_experiment_exists(const struct request *request)
{
	return store_find_experiment(request->app->store, request->path_numbers[0]) == 0;
}

static void living_answer_asked(struct request *request, int rc, int64_t number, const struct error *err,
				struct response *response)
{
	if (rc == 0) {
		handle_answer_task(request, request->path_numbers[0], number, response);
	} else if (rc == -ENOENT && living_experiment_exists(request)) {
		response->status = 204; /* nothing left to do */
	} else if (rc == -EAGAIN) {
		response_problem(response, 409, "%s", err->text);
		response_header(response, "Retry-After", "1");
	} else {
		response_error(response, rc, err);
	}
}

/* A request that is answered when the search has thought about it. */
struct ask {
	struct engine_asker asker; /* first: the callback gets it */
	struct engine *engine;
	struct request *request;
	struct response *response;
};

static void ask_done_cb(struct engine_asker *asker, int rc, int64_t number, const struct error *err)
{
	struct ask ask = *(struct ask *)asker;
	free(asker);
	living_answer_asked(ask.request, rc, number, err, ask.response);
	ask.request->respond(ask.request);
}

static void ask_cancel(void *ctx)
{
	struct ask *ask = ctx;
	engine_unask(ask->engine, &ask->asker);
	free(ask);
}

void handle_claim(struct request *request, struct response *response)
{
	struct error err = {0};
	struct node *body;
	if (request_json(request, &body, response) < 0)
		return;
	struct engine_worker worker;
	engine_worker_read(node_get(body, "worker"), &worker);
	int rc = engine_claim(request->app->engine, request->path_numbers[0], node_get_int(body, "tasks", 0),
			      node_get_bool(body, "more", false), &worker, &err);
	node_free(body);
	if (rc < 0)
		response_error(response, rc, &err);
	else
		handle_answer_experiment(request, request->path_numbers[0], response);
}

void handle_ask(struct request *request, struct response *response)
{
	struct error err = {0};
	struct node *body;
	int64_t number;
	if (request_json(request, &body, response) < 0)
		return;
	struct ask *ask = mem_alloc(sizeof(*ask));
	*ask = (struct ask){
		.asker.done = ask_done_cb, .engine = request->app->engine, .request = request, .response = response};
	engine_worker_read(node_get(body, "worker"), &ask->asker.worker);
	node_free(body);
	int rc = engine_ask(ask->engine, request->path_numbers[0], &ask->asker, &number, &err);
	if (rc == -EINPROGRESS) {
		response->later = (struct later){ask_cancel, ask};
		return;
	}
	free(ask);
	living_answer_asked(request, rc, number, &err, response);
}
