/* Experiments: lists, creation, actions, results as a whole. */
#include "http/handle.h"

#include "base/limits.h"
#include "base/node.h"
#include "store/json.h"
#include "store/rows.h"

#include <errno.h>
#include <inttypes.h>

#define KEY_BYTES_MAX 200

static void experiment_answer_missing(const struct request *request, struct response *response)
{
	response_problem(response, 404, "there is no experiment %s", request->path_values[0]);
}

bool handle_answer_unread(const struct request *request, int rc, struct response *response)
{
	if (rc == -ENOENT)
		return false;
	response_problem(response, 500, "the database could not be read (%s): `sluice doctor` checks it",
			 store_failure(request->app->store));
	return true;
}

void handle_answer_experiment(struct request *request, int64_t experiment, struct response *response)
{
	struct json out = json_to(&response->body);
	int rc = engine_write_experiment(request->app->engine, experiment, &out);
	if (rc < 0 && !handle_answer_unread(request, rc, response))
		response_problem(response, 404, "there is no experiment e%" PRId64, experiment);
}

void handle_answer_count(int64_t count, struct response *response)
{
	struct json out = json_to(&response->body);
	json_map(&out);
	json_key_int(&out, "tasks", count);
	json_end(&out);
}

void handle_read_page(const struct request *request, bool sorted, struct store_page *ret)
{
	*ret = (struct store_page){
		.limit = request_int(request, "limit"),
		.cursor = request_text(request, "cursor"),
		.state = request_text(request, "state"),
		.sort = sorted ? request_text(request, "sort") : NULL,
	};
}

void handle_experiments(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	struct store_page page;
	handle_read_page(request, false, &page);
	page.tag = request_text(request, "tag");
	const char *archived = request_text(request, "archived");
	if (archived)
		page.archived = !strcmp(archived, "all") ? STORE_ARCHIVED_ALL
			: !strcmp(archived, "yes")       ? STORE_ARCHIVED_ONLY
							 : STORE_ARCHIVED_NO;
	int rc = store_json_experiments(request->app->store, &page, &out);
	if (rc < 0 && rc != -EINVAL)
		handle_answer_unread(request, rc, response);
	else if (rc < 0)
		response_problem(response, 400, "?cursor= must be the \"next\" of an earlier answer");
}

/* The Idempotency-Key, or NULL. false: it is not usable, and the response says so. */
static bool experiment_read_key(const struct request *request, const char **ret, struct response *response)
{
	const char *key = head_get(request->head, "idempotency-key");
	*ret = key;
	if (!key)
		return true;
	size_t len = strlen(key);
	bool good = len > 0 && len <= KEY_BYTES_MAX;
	for (size_t i = 0; i < len; i++)
		good = good && key[i] > 0x20 && key[i] < 0x7f;
	if (!good)
		response_problem(response, 400, "Idempotency-Key must be 1 to %d visible ASCII characters",
				 KEY_BYTES_MAX);
	return good;
}

void handle_create(struct request *request, struct response *response)
{
	struct problems problems = {0};
	struct error err = {0};
	struct node *body;
	const char *key;
	char hash[TOKEN_HASH_CHARS];
	int64_t experiment;
	if (!experiment_read_key(request, &key, response) || request_json(request, &body, response) < 0)
		return;
	token_hash(buf_text(&request->body), request->body.len, hash);
	int rc = engine_create(request->app->engine, body, key, hash, &experiment, &problems, &err);
	node_free(body);
	if (rc == -EINVAL && problems.list.len) {
		response_problems(response, &problems);
	} else if (rc == -EEXIST) {
		response_problem(response, 409, "this Idempotency-Key was used for another request");
	} else if (rc < 0) {
		response_error(response, rc, &err);
	} else {
		response->status = rc == 1 ? 200 : 201;
		response_header(response, "Location", ROUTE_PREFIX "/experiments/e%" PRId64, experiment);
		handle_answer_experiment(request, experiment, response);
	}
	problems_free(&problems);
}

static void experiment_look(void *ctx)
{
	engine_preview_look(ctx);
}

static void experiment_answer_check(void *ctx, struct response *response)
{
	buf_free(&response->body);
	response->body = engine_preview_take(ctx);
}

static void experiment_free_check(void *ctx)
{
	engine_preview_free(ctx);
}

static const struct pool_kind experiment_check_kind = {POOL_CHECKS, experiment_look, experiment_answer_check,
						       experiment_free_check};

void handle_check(struct request *request, struct response *response)
{
	struct problems problems = {0};
	struct error err = {0};
	struct engine_preview *preview;
	struct node *body;
	if (request_json(request, &body, response) < 0)
		return;
	int rc = engine_check(request->app->engine, body, request_int(request, "scan"), &preview, &problems, &err);
	if (rc == 0)
		pool_start(request, response, &experiment_check_kind, preview);
	else if (rc == -EINVAL && problems.list.len)
		response_problems(response, &problems);
	else
		response_error(response, rc, &err);
	problems_free(&problems);
}

void handle_scan(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	struct node *body;
	if (request_json(request, &body, response) < 0)
		return;
	if (node_get_string(body, "path"))
		engine_scan(body, &out);
	else
		response_problem(response, 400, "'path' is missing; send {\"path\": \"train.py\", \"text\": …}");
	node_free(body);
}

void handle_experiment(struct request *request, struct response *response)
{
	handle_answer_experiment(request, request->path_numbers[0], response);
}

/* A failed action: -ENOENT by the name the request used, the rest with the engine's words. */
static void experiment_answer_failure(const struct request *request, int rc, const struct error *err,
				      struct response *response)
{
	if (rc == -ENOENT && !*err->text)
		experiment_answer_missing(request, response);
	else
		response_error(response, rc, err);
}

void handle_remove(struct request *request, struct response *response)
{
	struct error err = {0};
	int rc = engine_remove(request->app->engine, request->path_numbers[0], request_int(request, "stop"), &err);
	if (rc < 0)
		experiment_answer_failure(request, rc, &err, response);
}

int handle_stop_listed(const struct request *request, const struct node *body, const int64_t *numbers, size_t count,
		       int64_t *ret_count, struct error *err)
{
	bool save = node_get_bool(body, "checkpoint", false);
	return (save ? engine_stop_saving : engine_stop)(request->app->engine, request->path_numbers[0], numbers, count,
							 ret_count, err);
}

static void experiment_answer_stop(int64_t count, int64_t unproposed, struct response *response)
{
	struct json out = json_to(&response->body);
	json_map(&out);
	json_key_int(&out, "tasks", count);
	json_key_int(&out, "unproposed", unproposed);
	json_end(&out);
}

void handle_stop(struct request *request, struct response *response)
{
	struct error err = {0};
	struct node *body;
	int64_t count = 0;
	if (request_json(request, &body, response) < 0)
		return;
	int64_t unproposed = engine_unproposed(request->app->engine, request->path_numbers[0]);
	int rc = handle_stop_listed(request, body, NULL, 0, &count, &err);
	node_free(body);
	if (rc < 0)
		experiment_answer_failure(request, rc, &err, response);
	else
		experiment_answer_stop(count, unproposed, response);
}

int handle_restart_listed(const struct request *request, const struct node *body, const int64_t *numbers, size_t count,
			  int64_t *ret_count, struct error *err)
{
	static const char *const modes[] = {
		[ENGINE_MODE_DEFAULT] = "", [ENGINE_MODE_RESUME] = "resume", [ENGINE_MODE_FRESH] = "fresh"};
	const char *word = node_get_string(body, "mode"), *script = node_get_string(body, "script");
	enum engine_mode mode = ENGINE_MODE_DEFAULT;
	for (size_t i = 1; word && i < COUNT_OF(modes); i++)
		if (strcmp(modes[i], word) == 0)
			mode = (enum engine_mode)i;
	if (word && mode == ENGINE_MODE_DEFAULT)
		return errorf(err, -EINVAL, "'mode' is resume or fresh, not '%.60s'", word);
	struct engine *engine = request->app->engine;
	int64_t experiment = request->path_numbers[0];
	int rc = script ? engine_replace_script(engine, experiment, script, strlen(script), err) : 0;
	return rc < 0 ? rc
		      : engine_restart(engine, experiment, numbers, count, node_get_bool(body, "failed", false), mode,
				       ret_count, err);
}

void handle_restart(struct request *request, struct response *response)
{
	struct error err = {0};
	struct node *body;
	int64_t count = 0;
	if (request_json(request, &body, response) < 0)
		return;
	int rc = handle_restart_listed(request, body, NULL, 0, &count, &err);
	node_free(body);
	if (rc < 0)
		experiment_answer_failure(request, rc, &err, response);
	else
		handle_answer_count(count, response);
}

void handle_resume(struct request *request, struct response *response)
{
	struct error err = {0};
	int rc = engine_resume(request->app->engine, request->path_numbers[0], &err);
	if (rc < 0)
		experiment_answer_failure(request, rc, &err, response);
	else
		handle_answer_experiment(request, request->path_numbers[0], response);
}

void handle_parallel(struct request *request, struct response *response)
{
	struct error err = {0};
	struct node *body;
	if (request_json(request, &body, response) < 0)
		return;
	const struct node *parallel = node_get(body, "parallel");
	int rc = parallel && parallel->type == NODE_INT
		? engine_set_parallel(request->app->engine, request->path_numbers[0], parallel->integer, &err)
		: errorf(&err, -EINVAL, "the body must be {\"parallel\":N}");
	node_free(body);
	if (rc < 0)
		experiment_answer_failure(request, rc, &err, response);
	else
		handle_answer_experiment(request, request->path_numbers[0], response);
}

enum store_axis handle_axis(const struct request *request)
{
	const char *axis = request_text(request, "axis");
	if (!axis)
		return STORE_AXIS_STEP;
	return strcmp(axis, "time") == 0     ? STORE_AXIS_TIME
		: strcmp(axis, "epoch") == 0 ? STORE_AXIS_EPOCH
					     : STORE_AXIS_STEP;
}

void handle_metrics(struct request *request, struct response *response)
{
	struct store_curves asked = {
		.name = request_text(request, "name"),
		.points = request_int(request, "points"),
		.digits = request_int(request, "digits"),
		.axis = handle_axis(request),
		.tasks = request_text(request, "tasks"),
		.from = request_int(request, "from"),
		.to = request_int(request, "to"),
	};
	struct error err = {0};
	int rc = asked.name ? engine_check_metric(request->app->engine, request->path_numbers[0], asked.name, &err) : 0;
	if (rc == -ENOENT && *err.text) {
		response_problem(response, 404, "%s", err.text);
		return;
	}
	rc = store_json_metrics(request->app->store, request->path_numbers[0], &asked, &response->pieces);
	if (rc < 0 && !handle_answer_unread(request, rc, response))
		experiment_answer_missing(request, response);
}

void handle_attempts(struct request *request, struct response *response)
{
	int rc = store_json_attempts(request->app->store, request->path_numbers[0], &response->pieces);
	if (rc < 0 && !handle_answer_unread(request, rc, response))
		experiment_answer_missing(request, response);
}

void handle_analysis(struct request *request, struct response *response)
{
	int rc = engine_read_analysis(request->app->engine, request->path_numbers[0], &response->pieces);
	if (rc < 0 && !handle_answer_unread(request, rc, response))
		experiment_answer_missing(request, response);
}

static void experiment_answer_text(struct request *request, const char *column, const char *what,
				   struct response *response)
{
	response->type = "text/plain; charset=utf-8";
	int rc = store_read_text(request->app->store, request->path_numbers[0], column, &response->body);
	if (rc < 0 && !handle_answer_unread(request, rc, response))
		response_problem(response, 404, "there is no %s of experiment %s", what, request->path_values[0]);
}

/* What was handed over last, where the backend kept it; else what would be. */
void handle_script(struct request *request, struct response *response)
{
	struct buf kept = buf_make(LIMIT_DOCUMENT_BYTES);
	experiment_answer_text(request, "batch_script", "batch script", response);
	int rc = response->status < 400 ? engine_read_script(request->app->engine, request->path_numbers[0], &kept)
					: -ENOENT;
	if (rc < 0) {
		handle_answer_unread(request, rc, response);
	} else {
		buf_clear(&response->body);
		buf_add(&response->body, buf_text(&kept), kept.len);
	}
	buf_free(&kept);
}

/* The file as its author wrote it. Where none was submitted: what is stored, as a file would say it. */
void handle_source(struct request *request, struct response *response)
{
	struct store *store = request->app->store;
	struct node *spec = NULL;
	struct buf text = buf_make(BUF_UNLIMITED);
	int rc = store_read_text(store, request->path_numbers[0], "source", &text);
	if (rc == -ENOENT && store_read_text(store, request->path_numbers[0], "spec", &text) == 0 &&
	    node_parse_json(buf_text(&text), text.len, &spec, NULL) == 0) {
		response->type = "text/plain; charset=utf-8";
		node_write_yaml(spec, &response->body);
	} else {
		experiment_answer_text(request, "source", "file", response);
	}
	node_free(spec);
	buf_free(&text);
}

void handle_export(struct request *request, struct response *response)
{
	int64_t experiment = request->path_numbers[0];
	const char *format = request_text(request, "format");
	bool csv = format && !strcmp(format, "csv");
	char *folder = engine_folder(request->app->engine, experiment, 0, 0);
	int rc = store_export(request->app->store, experiment, folder, csv, &response->pieces);
	free(folder);
	if (rc < 0) {
		if (!handle_answer_unread(request, rc, response))
			experiment_answer_missing(request, response);
		return;
	}
	if (csv)
		response->type = "text/csv; charset=utf-8; header=present";
	response_header(response, "Content-Disposition", "attachment; filename=\"e%" PRId64 ".%s\"", experiment,
			csv ? "csv" : "json");
}
