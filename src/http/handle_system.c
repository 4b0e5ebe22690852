/* The daemon itself: health, information, login, tokens, events. */
#include "http/handle.h"

#include "base/cost.h"
#include "base/limits.h"
#include "base/node.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

void handle_health(struct request *request, struct response *response)
{
	(void)request;
	struct json out = json_to(&response->body);
	json_map(&out);
	json_key_string(&out, "status", "ok");
	json_key_string(&out, "version", SLUICE_VERSION);
	json_end(&out);
}

void handle_openapi(struct request *request, struct response *response)
{
	(void)request;
	openapi_write(&response->body);
}

/* The environment knows, unless the daemon was started by a service; then the machine's own list of users. A directory
 * (LDAP) is not asked: the loop would wait for it. */
static char *system_user_name(void)
{
	const char *user = getenv("USER") ? getenv("USER") : getenv("LOGNAME");
	if (user && *user)
		return mem_strdup(user);
	FILE *list = fopen("/etc/passwd", "re");
	const struct passwd *row = NULL;
	while (list && (row = fgetpwent(list)) && row->pw_uid != getuid())
		;
	char *name = row ? mem_strdup(row->pw_name) : mem_printf("%u", (unsigned)getuid());
	if (list)
		fclose(list);
	return name;
}

void handle_info(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	char host[256] = "";
	char *user = system_user_name();
	gethostname(host, sizeof(host) - 1);
	json_map(&out);
	json_key_string(&out, "version", SLUICE_VERSION);
	json_key_string(&out, "user", user);
	free(user);
	json_key_string(&out, "host", host);
	json_key_string(&out, "state", request->app->state_dir);
	json_key_string(&out, "login", request->app->login);
	engine_write_info(request->app->engine, &out);
	json_key(&out, "figures");
	cost_write_figures(&out);
	json_end(&out);
}

void handle_cluster(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	engine_write_cluster(request->app->engine, &out);
}

void handle_cluster_use(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	int rc = engine_write_use(request->app->engine, &out);
	if (rc < 0)
		handle_answer_unread(request, rc, response);
}

static void system_answer_notify(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	int rc = engine_write_notify(request->app->engine, &out);
	if (rc < 0)
		handle_answer_unread(request, rc, response);
}

void handle_notify(struct request *request, struct response *response)
{
	system_answer_notify(request, response);
}

void handle_notify_change(struct request *request, struct response *response)
{
	struct error err = {0};
	struct node *body;
	if (request_json(request, &body, response) < 0)
		return;
	int rc = engine_change_notify(request->app->engine, body, &err);
	node_free(body);
	if (rc < 0)
		response_error(response, rc, &err);
	else
		system_answer_notify(request, response);
}

void handle_notify_test(struct request *request, struct response *response)
{
	struct error err = {0};
	int rc = engine_test_notify(request->app->engine, &err);
	if (rc == -EINVAL)
		response_problem(response, 409, "%s", err.text);
	else if (rc < 0)
		response_error(response, rc, &err);
	else
		system_answer_notify(request, response);
}

void handle_environments(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	engine_write_pythons(request->app->engine, &out);
}

void handle_examine(struct request *request, struct response *response)
{
	engine_examine(request->app->engine);
	handle_cluster(request, response);
}

void handle_events(struct request *request, struct response *response)
{
	struct events *events = request->app->events;
	const char *last = head_get(request->head, "last-event-id");
	/* The header is what a browser sends by itself; the parameter is for a page that begins anew. */
	if (!last || !*last)
		last = request_text(request, "last");
	response->type = "text/event-stream";
	response->stream = true;
	response->stream_from = events_end(events);
	response->stream_reset = last && !events_resume(events, last, &response->stream_from);
}

static void system_open_session(struct request *request, struct response *response)
{
	struct app *app = request->app;
	char secret[TOKEN_SECRET_CHARS];
	uint64_t ended = sessions_open(gate_sessions(app->gate), head_get(request->head, "user-agent"), secret);
	if (ended && app->server)
		server_end_streams(app->server, ACCESS_SESSION, ended);
	struct json out = json_to(&response->body);
	json_map(&out);
	json_key_string(&out, "session", secret);
	json_end(&out);
}

void handle_login(struct request *request, struct response *response)
{
	struct node *body;
	if (request_json(request, &body, response) < 0)
		return;
	const char *code = node_get_string(body, "code");
	if (!code)
		response_problem(response, 400, "the body must be {\"code\":\"…\"}");
	else if (gate_use_code(request->app->gate, code, response) == 0)
		system_open_session(request, response);
	node_free(body);
}

/* false: there is no such session. */
static bool system_end_session(struct app *app, uint64_t id)
{
	if (!sessions_end(gate_sessions(app->gate), id))
		return false;
	if (app->server)
		server_end_streams(app->server, ACCESS_SESSION, id);
	return true;
}

void handle_logout(struct request *request, struct response *response)
{
	(void)response;
	if (request->access.kind == ACCESS_SESSION)
		system_end_session(request->app, request->access.id);
}

void handle_sessions(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	uint64_t current = request->access.kind == ACCESS_SESSION ? request->access.id : 0;
	sessions_write(gate_sessions(request->app->gate), current, &out);
}

void handle_session_delete(struct request *request, struct response *response)
{
	uint64_t id = (uint64_t)request->path_numbers[0];
	if (!system_end_session(request->app, id))
		response_problem(response, 404, "there is no session %" PRIu64, id);
}

void handle_login_link(struct request *request, struct response *response)
{
	char *url = app_login_link(request->app);
	struct json out = json_to(&response->body);
	json_map(&out);
	json_key_string(&out, "url", url);
	json_end(&out);
	free(url);
}

void handle_tokens(struct request *request, struct response *response)
{
	struct json out = json_to(&response->body);
	int rc = store_json_tokens(request->app->store, &out);
	if (rc < 0)
		handle_answer_unread(request, rc, response);
}

void handle_token_create(struct request *request, struct response *response)
{
	char secret[TOKEN_SECRET_CHARS];
	struct error err = {0};
	struct node *body;
	int64_t id;
	if (request_json(request, &body, response) < 0)
		return;
	const char *name = node_get_string(body, "name");
	int rc = name && *name && strlen(name) <= LIMIT_NAME_BYTES
		? gate_make_token(request->app->gate, name, secret, &id, &err)
		: errorf(&err, -EINVAL, "\"name\" must be a text of at most %d bytes", LIMIT_NAME_BYTES);
	if (rc < 0) {
		response_error(response, rc, &err);
	} else {
		struct json out = json_to(&response->body);
		json_map(&out);
		json_key_int(&out, "id", id);
		json_key_string(&out, "name", name);
		json_key_string(&out, "token", secret);
		json_end(&out);
	}
	node_free(body);
}

void handle_token_delete(struct request *request, struct response *response)
{
	struct error err = {0};
	int64_t id = request->path_numbers[0];
	int rc = store_delete_token(request->app->store, id, &err);
	if (rc < 0)
		response_error(response, rc, &err);
	else if (request->app->server)
		server_end_streams(request->app->server, ACCESS_TOKEN, (uint64_t)id);
}
