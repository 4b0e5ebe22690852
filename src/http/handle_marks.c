/* What people write about experiments and tasks (tags, notes, stars, the archive), and search over everything. */
#include "http/handle.h"

#include "base/limits.h"
#include "base/node.h"
#include "store/json.h"

#include <errno.h>
#include <inttypes.h>

/* numbers NULL: the experiment itself. Returns 0, or -1 with a response. */
static int marks_apply(struct request *request, const int64_t *numbers, size_t count, const struct node *body,
		       struct response *response)
{
	struct error err = {0};
	int rc = engine_mark(request->app->engine, request->path_numbers[0], numbers, count, body, &err);
	if (rc == -ENOENT && !*err.text)
		response_problem(response, 404, "there is no experiment %s", request->path_values[0]);
	else if (rc < 0)
		response_error(response, rc, &err);
	return rc < 0 ? -1 : 0;
}

void handle_marks(struct request *request, struct response *response)
{
	struct node *body;
	if (request_json(request, &body, response) < 0)
		return;
	if (marks_apply(request, NULL, 0, body, response) == 0)
		handle_answer_experiment(request, request->path_numbers[0], response);
	node_free(body);
}

void handle_task_marks(struct request *request, struct response *response)
{
	int64_t number = request->path_numbers[1];
	struct node *body;
	if (request_json(request, &body, response) < 0)
		return;
	if (marks_apply(request, &number, 1, body, response) == 0)
		handle_answer_task(request, request->path_numbers[0], number, response);
	node_free(body);
}

void handle_tasks_marks(struct request *request, struct response *response)
{
	struct node *body;
	int64_t *numbers;
	size_t count;
	if (handle_read_numbers(request, &body, &numbers, &count, response) < 0)
		return;
	if (count > LIMIT_MARKED)
		response_problem(response, 400, "at most %d tasks a request", LIMIT_MARKED);
	else if (marks_apply(request, numbers, count, body, response) == 0)
		handle_answer_count((int64_t)count, response);
	free(numbers);
	node_free(body);
}

void handle_find(struct request *request, struct response *response)
{
	int rc = store_json_search(request->app->store, request_text(request, "q"), request_int(request, "limit"),
				   &response->pieces);
	if (rc < 0)
		response_problem(response, 400, "?q= must have a word to search for");
}
