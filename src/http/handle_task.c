/* Tasks: lists, actions, curves, logs; uploads. */
#include "http/handle.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/node.h"
#include "base/text.h"
#include "http/upload.h"
#include "store/json.h"
#include "store/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

static void task_answer_missing(const struct request *request, struct response *response)
{
	if (request->path_values[1])
		response_problem(response, 404, "there is no task %s/%s", request->path_values[0],
				 request->path_values[1]);
	else
		response_problem(response, 404, "there is no experiment %s", request->path_values[0]);
}

void handle_answer_task(struct request *request, int64_t experiment, int64_t number, struct response *response)
{
	struct json out = json_to(&response->body);
	int rc = engine_write_task(request->app->engine, experiment, number, &out);
	if (rc < 0 && !handle_answer_unread(request, rc, response))
		task_answer_missing(request, response);
}

static void task_query(struct request *request, const struct store_page *page, struct response *response)
{
	struct error err = {0};
	int rc = store_json_query(request->app->store, request->path_numbers[0], page, &response->pieces, &err);
	if (rc == -EINVAL)
		response_problem(response, 400, "%s", err.text);
	else if (rc < 0 && !handle_answer_unread(request, rc, response))
		task_answer_missing(request, response);
}

void handle_tasks(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	struct store_page page;
	handle_read_page(request, true, &page);
	page.filter = request_text(request, "filter");
	page.metrics = request_text(request, "metrics");
	bool repeated = store_is_repeated(request->app->store, request->path_numbers[0]) > 0;
	if (repeated || !store_page_is_plain(&page)) {
		task_query(request, &page, response);
		return;
	}
	int rc = store_json_tasks(request->app->store, request->path_numbers[0], &page, &out);
	if (rc == -ENOENT)
		task_answer_missing(request, response);
	else if (rc < 0 && rc != -EINVAL)
		handle_answer_unread(request, rc, response);
	else if (rc < 0)
		response_problem(response, 400, "?cursor= must be the \"next\" of an earlier answer in the same order");
}

void handle_columns(struct request *request, struct response *response)
{
	struct error err = {0};
	struct store_columns asked = {
		.of = request_text(request, "of"),
		.state = request_text(request, "state"),
		.filter = request_text(request, "filter"),
		.most = request_int(request, "most"),
	};
	int rc = store_json_columns(request->app->store, request->path_numbers[0], &asked, &response->pieces, &err);
	if (rc == -EINVAL)
		response_problem(response, 400, "%s", err.text);
	else if (rc < 0 && !handle_answer_unread(request, rc, response))
		task_answer_missing(request, response);
}

static int task_compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Sorts the numbers and leaves each in once: an action on a task that is named twice is still one action. */
static size_t task_unique_numbers(int64_t *numbers, size_t count)
{
	size_t kept = 0;
	qsort(numbers, count, sizeof(*numbers), task_compare_numbers);
	for (size_t i = 0; i < count; i++)
		if (!kept || numbers[i] != numbers[kept - 1])
			numbers[kept++] = numbers[i];
	return kept;
}

int handle_read_numbers(struct request *request, struct node **ret_body, int64_t **ret, size_t *ret_count,
			struct response *response)
{
	struct node *body;
	if (request_json(request, &body, response) < 0)
		return -1;
	const struct node *list = node_get(body, "tasks");
	bool good = list && list->type == NODE_LIST && list->count > 0 && list->count <= LIMIT_TASKS;
	for (size_t i = 0; good && i < list->count; i++)
		good = list->items[i]->type == NODE_INT && list->items[i]->integer > 0;
	if (!good) {
		response_problem(response, 400, "the body must be {\"tasks\":[1,2,3]}, with explicit numbers");
		node_free(body);
		return -1;
	}
	*ret = mem_array(list->count, sizeof(**ret));
	for (size_t i = 0; i < list->count; i++)
		(*ret)[i] = list->items[i]->integer;
	*ret_count = task_unique_numbers(*ret, list->count);
	*ret_body = body;
	return 0;
}

static void task_change_many(struct request *request, bool stop, struct response *response)
{
	struct error err = {0};
	int64_t *numbers, touched = 0;
	size_t count;
	struct node *body;
	if (handle_read_numbers(request, &body, &numbers, &count, response) < 0)
		return;
	int rc = stop ? handle_stop_listed(request, body, numbers, count, &touched, &err)
		      : handle_restart_listed(request, body, numbers, count, &touched, &err);
	free(numbers);
	node_free(body);
	if (rc == -ENOENT && !*err.text)
		task_answer_missing(request, response);
	else if (rc < 0)
		response_error(response, rc, &err);
	else
		handle_answer_count(touched, response);
}

void handle_tasks_stop(struct request *request, struct response *response)
{
	task_change_many(request, true, response);
}

void handle_tasks_restart(struct request *request, struct response *response)
{
	task_change_many(request, false, response);
}

void handle_tasks_remove(struct request *request, struct response *response)
{
	struct error err = {0};
	int64_t *numbers, removed = 0;
	size_t count;
	struct node *body;
	if (handle_read_numbers(request, &body, &numbers, &count, response) < 0)
		return;
	int rc = engine_remove_tasks(request->app->engine, request->path_numbers[0], numbers, count, &removed, &err);
	free(numbers);
	node_free(body);
	if (rc < 0)
		response_error(response, rc, &err);
	else
		handle_answer_count(removed, response);
}

void handle_task(struct request *request, struct response *response)
{
	handle_answer_task(request, request->path_numbers[0], request->path_numbers[1], response);
}

static void task_change_one(struct request *request, bool stop, struct response *response)
{
	struct error err = {0};
	struct node *body;
	int64_t experiment = request->path_numbers[0], number = request->path_numbers[1], touched = 0;
	if (request_json(request, &body, response) < 0)
		return;
	int rc = stop ? handle_stop_listed(request, body, &number, 1, &touched, &err)
		      : handle_restart_listed(request, body, &number, 1, &touched, &err);
	node_free(body);
	if (rc < 0 && rc != -ENOENT)
		response_error(response, rc, &err);
	else if (rc < 0)
		task_answer_missing(request, response);
	else
		handle_answer_task(request, experiment, number, response);
}

void handle_task_stop(struct request *request, struct response *response)
{
	task_change_one(request, true, response);
}

void handle_task_restart(struct request *request, struct response *response)
{
	task_change_one(request, false, response);
}

void handle_tell(struct request *request, struct response *response)
{
	struct error err = {0};
	struct node *body;
	if (request_json(request, &body, response) < 0)
		return;
	int rc = engine_tell_task(request->app->engine, request->path_numbers[0], request->path_numbers[1], body, &err);
	node_free(body);
	if (rc < 0)
		response_error(response, rc, &err);
	else
		handle_answer_task(request, request->path_numbers[0], request->path_numbers[1], response);
}

void handle_task_metrics(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	int rc = store_json_task_metrics(request->app->store, request->path_numbers[0], request->path_numbers[1],
					 request_int(request, "points"), handle_axis(request), &out);
	if (rc < 0 && !handle_answer_unread(request, rc, response))
		task_answer_missing(request, response);
}

void handle_task_samples(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	int rc = store_json_samples(request->app->store, request->path_numbers[0], request->path_numbers[1], &out);
	if (rc < 0 && !handle_answer_unread(request, rc, response))
		task_answer_missing(request, response);
}

void handle_ran(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	int rc = store_json_ran(request->app->store, request->path_numbers[0], request->path_numbers[1],
				request_int(request, "attempt"), &out);
	if (rc < 0 && !handle_answer_unread(request, rc, response))
		task_answer_missing(request, response);
}

/* How many bytes at the end are the beginning of a character that goes on in the next piece. */
static size_t task_unfinished_bytes(const char *text, size_t len)
{
	for (size_t back = 1; back <= 3 && back <= len; back++) {
		unsigned char c = (unsigned char)text[len - back];
		if (c < 0x80)
			return 0;
		if (c >= 0xc0)
			return back < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) ? back : 0;
	}
	return 0;
}

struct log_piece {
	int64_t offset, size;
	struct buf text; /* as it is in the file */
};

/* Closes fd. */
static int task_log_read(int fd, int64_t offset, int64_t limit, struct log_piece *piece)
{
	struct stat st;
	if (fstat(fd, &st) < 0) {
		close(fd);
		return -EIO;
	}
	piece->size = st.st_size;
	bool from_end = offset < 0;
	offset = from_end ? (st.st_size + offset > 0 ? st.st_size + offset : 0) : offset;
	piece->offset = offset < st.st_size ? offset : st.st_size;
	char *to = buf_reserve(&piece->text, (size_t)limit);
	ssize_t n = to ? pread(fd, to, (size_t)limit, piece->offset) : 0;
	close(fd);
	if (n <= 0)
		return n < 0 ? -EIO : 0;
	piece->text.len = (size_t)n;
	/* A piece counted from the end may begin inside a character, and any may end inside one: the
	 * next piece begins with it then. */
	size_t skip = 0;
	while (from_end && piece->offset > 0 && skip < 3 && skip < (size_t)n && (to[skip] & 0xc0) == 0x80)
		skip++;
	size_t cut = task_unfinished_bytes(to, (size_t)n);
	if (cut < (size_t)n - skip)
		piece->text.len -= cut;
	piece->text.data[piece->text.len] = 0;
	buf_consume(&piece->text, skip);
	piece->offset += (int64_t)skip;
	return 0;
}

struct log_times {
	VEC(int64_t) offsets;
	VEC(int64_t) times;
};

static void task_log_time_cb(void *ctx, int64_t bytes, int64_t time_ms)
{
	struct log_times *times = ctx;
	vec_push(&times->offsets, bytes);
	vec_push(&times->times, time_ms);
}

/* Up to which place the output was written at which time. */
static void task_log_put_times(const struct log_times *times, struct json *out)
{
	json_key(out, "times");
	json_map(out);
	json_key(out, "offset");
	json_list(out);
	for (size_t i = 0; i < times->offsets.len; i++)
		json_put_int(out, times->offsets.at[i]);
	json_end(out);
	json_key(out, "time");
	json_list(out);
	for (size_t i = 0; i < times->times.len; i++) {
		char text[CLOCK_TEXT_CHARS];
		clock_format(times->times.at[i], text);
		json_put_string(out, text);
	}
	json_end(out);
	json_end(out);
}

void handle_log(struct request *request, struct response *response)
{
	int64_t experiment = request->path_numbers[0], number = request->path_numbers[1], attempt;
	const char *stream = request_text(request, "stream");
	int64_t offset = request_int(request, "offset");
	struct log_piece piece = {.text = buf_make(LIMIT_LOG_CHUNK_BYTES)};
	int rc = store_find_attempt(request->app->store, experiment, number, request_int(request, "attempt"), &attempt);
	if (rc < 0) {
		if (!handle_answer_unread(request, rc, response))
			task_answer_missing(request, response);
		return;
	}
	if (!stream)
		stream = "stdout";
	if (attempt) {
		int fd = engine_open_log(request->app->engine, experiment, number, attempt, !strcmp(stream, "stderr"));
		rc = fd < 0 ? fd : task_log_read(fd, offset, request_int(request, "limit"), &piece);
	}
	if (rc < 0 && rc != -ENOENT && rc != -ENOTDIR) {
		response_problem(response, 500, "the log cannot be read: %s", strerror(-rc));
		buf_free(&piece.text);
		return;
	}
	struct log_times times = {0};
	if (attempt && piece.text.len)
		engine_read_log_times(request->app->engine, experiment, number, attempt, !strcmp(stream, "stderr"),
				      piece.offset, piece.offset + (int64_t)piece.text.len, task_log_time_cb, &times);
	struct json out = json_to(&response->body);
	json_map(&out);
	json_key_string(&out, "stream", stream);
	json_key_int(&out, "attempt", attempt);
	json_key_int(&out, "offset", piece.offset);
	json_key_int(&out, "next", piece.offset + (int64_t)piece.text.len);
	json_key_int(&out, "size", piece.size);
	json_key(&out, "text");
	json_put_string_n(&out, buf_text(&piece.text), piece.text.len);
	task_log_put_times(&times, &out);
	json_end(&out);
	free(times.offsets.at);
	free(times.times.at);
	buf_free(&piece.text);
}

void handle_upload(struct request *request, struct response *response)
{
	struct error err = {0};
	char id[24];
	uint64_t bytes;
	struct upload *upload = request->upload;
	request->upload = NULL;
	int rc = upload_finish(upload, id, &bytes, &err);
	if (rc < 0) {
		response_error(response, rc, &err);
		return;
	}
	struct json out = json_to(&response->body);
	json_map(&out);
	json_key_string(&out, "id", id);
	json_key_string(&out, "name", request->path_values[0]);
	json_key_int(&out, "bytes", (int64_t)bytes);
	json_end(&out);
}
