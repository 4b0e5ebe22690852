/* The order of checks: see app.h. Cheap ones that need no secrets come first; nothing but the head has
 * been read when they run. */
#include "http/app.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/pace.h"
#include "base/settings.h"
#include "base/text.h"
#include "http/handle.h"
#include "http/route.h"
#include "http/schema.h"
#include "http/static.h"
#include "http/upload.h"

#include <errno.h>
#include <strings.h>

/* An answer larger than this is refused rather than built in memory. */
#define APP_ANSWER_MAX (512u << 20)

static int app_begin_static(struct request *request, struct response *response)
{
	if (method_is_safe(request->head->method))
		return 0;
	response_problem(response, 405, "this address accepts only GET, HEAD");
	response_header(response, "Allow", "GET, HEAD");
	return -1;
}

static int app_check_content_type(const struct request *request, struct response *response)
{
	const struct route *route = request->route;
	bool has_body = request->head->chunked || request->head->length > 0;
	if (!route->body || !has_body || (route->flags & ROUTE_UPLOAD))
		return 0;
	const char *type = head_get(request->head, "content-type");
	size_t n = strlen("application/json");
	if (type && !strncasecmp(type, "application/json", n) && (!type[n] || strchr("; \t", type[n])))
		return 0;
	response_problem(response, 415, "the body must be application/json");
	return -1;
}

static int app_begin_body(struct app *app, struct request *request, struct response *response)
{
	struct error err = {0};
	if (app_check_content_type(request, response) < 0)
		return -1;
	size_t most = request->access.kind == ACCESS_NONE ? LIMIT_STRANGER_BODY_BYTES : LIMIT_BODY_BYTES;
	request->body = buf_make(request->route->body ? most : 0);
	if (!(request->route->flags & ROUTE_UPLOAD))
		return 0;
	char *dir = mem_printf("%s/uploads", app->state_dir);
	int rc = upload_open(dir, &request->upload, &err);
	free(dir);
	if (rc == 0)
		return 0;
	response_error(response, rc, &err);
	return -1;
}

static int app_begin(struct app *app, struct request *request, struct response *response)
{
	const char *target = request->head->target;
	if (route_decode(target, strcspn(target, "?"), false, &request->path) < 0) {
		response_problem(response, 400, "the address is not properly encoded");
		return -1;
	}
	if (gate_check_host(app->gate, request, response) < 0)
		return -1;
	if (!request->local)
		fronts_strip(gate_fronts(app->gate), head_get(request->head, "host"), request->path);
	if (!text_starts(request->path, "/api/") && strcmp(request->path, "/api") != 0)
		return app_begin_static(request, response);

	struct response denied = {0};
	bool found = false;
	if (text_starts(request->path, ROUTE_PREFIX "/"))
		found = route_find(request, response) == 0;
	else
		response_problem(response, 404, "the interface is at " ROUTE_PREFIX);
	bool public = found && request->route->flags & ROUTE_PUBLIC;
	/* Who may not come in does not learn what there is. */
	if (!public && gate_identify(app->gate, request, &denied) < 0) {
		response_clear(response);
		*response = denied;
		return -1;
	}
	if (!found || gate_check_origin(app->gate, request, response) < 0)
		return -1;
	return app_begin_body(app, request, response);
}

/* An answer in pieces that is kept for the next request, if the store does not change while it is made. */
struct kept_pieces {
	struct app *app;
	struct pieces inner;
	char *target;
	uint64_t version;
	struct buf text;
};

static int app_kept_make(void *ctx, struct buf *out)
{
	struct kept_pieces *kept = ctx;
	size_t before = out->len;
	int rc = kept->inner.make(kept->inner.ctx, out);
	buf_add(&kept->text, out->data + before, out->len - before);
	if (rc == 0 && !kept->text.full && kept->version == store_version(kept->app->store)) {
		struct blob *body = blob_take(&kept->text);
		cache_put(kept->app->cache, kept->target, kept->version, body);
		blob_unref(body);
	}
	return rc;
}

static void app_kept_free(void *ctx)
{
	struct kept_pieces *kept = ctx;
	pieces_free(&kept->inner);
	buf_free(&kept->text);
	free(kept->target);
	free(kept);
}

static void app_keep_pieces(struct app *app, const char *target, uint64_t version, struct response *response)
{
	struct kept_pieces *kept = mem_alloc(sizeof(*kept));
	*kept = (struct kept_pieces){
		.app = app,
		.inner = response->pieces,
		.target = mem_strdup(target),
		.version = version,
		.text = buf_make(CACHE_ANSWER_MAX),
	};
	response->pieces = (struct pieces){app_kept_make, app_kept_free, kept};
}

/* The answer from the cache, or made and kept. */
static void app_answer_cached(struct app *app, struct request *request, struct response *response)
{
	uint64_t version = store_version(app->store);
	const char *target = request->head->target;
	int64_t age = request->route->flags & ROUTE_AGING ? APP_AGING_MS : 0;
	struct blob *body = cache_find(app->cache, target, version, age);
	if (body) {
		response->blob = blob_ref(body);
		return;
	}
	request->route->handle(request, response);
	if (response->status != 200 || response->blob || response->body.full || response->headers.len)
		return;
	if (response->pieces.make) {
		app_keep_pieces(app, target, version, response);
		return;
	}
	response->blob = blob_take(&response->body);
	cache_put(app->cache, target, version, response->blob);
}

/* Before a handler acts on it: a misspelt or mistyped member must not be taken for one that is not there. The keys of an
 * experiment's document are not in the schemas; the engine checks those. */
static int app_check_body(struct app *app, struct request *request, struct response *response)
{
	const struct route *route = request->route;
	struct problems problems = {0};
	struct node *body;
	if (!route->body || !request->body.len || (route->flags & ROUTE_UPLOAD))
		return 0;
	if (!app->schemas)
		app->schemas = schema_load();
	if (!app->schemas) {
		response_problem(response, 500, "the schemas in this program cannot be read; build it again");
		return -EIO;
	}
	int rc = request_json(request, &body, response);
	if (rc < 0)
		return rc;
	rc = schema_check(app->schemas, route->body, body, &problems);
	if (rc < 0)
		response_problems(response, &problems);
	problems_free(&problems);
	if (rc < 0)
		node_free(body);
	else
		request->json = body;
	return rc;
}

/* The newest event at the time of the answer: a page that follows the events from there misses nothing. */
static void app_add_event_id(struct app *app, struct response *response)
{
	struct buf id = buf_make(64);
	if (response->stream || response->later.cancel || !app->events)
		return;
	events_format_id(app->events, events_end(app->events), &id);
	response_header(response, "X-Sluice-Event", "%s", buf_text(&id) + strlen("id: "));
	buf_free(&id);
}

static void app_handle(struct app *app, struct request *request, struct response *response)
{
	response->status = 200;
	if (!request->route) {
		static_handle(request, response);
		return;
	}
	response->status = request->route->status;
	response->body = buf_make(APP_ANSWER_MAX);
	if (app_check_body(app, request, response) < 0)
		return;
	if (request->route->flags & ROUTE_CACHED)
		app_answer_cached(app, request, response);
	else
		request->route->handle(request, response);
	app_add_event_id(app, response);
	if (response->body.full)
		response_problem(response, 500, "the answer would be larger than %u MiB", APP_ANSWER_MAX >> 20);
	log_debug("%s %s: %d", method_name(request->head->method), request->route->path, response->status);
}

const struct conn_app app_handler = {.begin = app_begin, .handle = app_handle};

static void app_event(void *ctx, const char *name, const char *data, size_t len)
{
	struct app *app = ctx;
	events_add(app->events, name, data, len);
	if (app->server)
		server_wake_streams(app->server);
}

/* Is it where a command without SLUICE_STATE looks? */
static bool app_is_usual_state(const char *state_dir)
{
	char *wanted = fs_usual_state();
	char *usual = wanted ? realpath(wanted, NULL) : NULL;
	bool same = usual && strcmp(usual, state_dir) == 0;
	free(usual);
	free(wanted);
	return same;
}

static char *app_login_command(const char *state_dir)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	char *program = fs_program();
	buf_add_text(&out, "SLUICE_STATE=");
	text_shell_quote(&out, state_dir);
	buf_add_char(&out, ' ');
	text_shell_quote(&out, program);
	buf_add_text(&out, " login");
	free(program);
	return buf_take(&out);
}

/* What the settings say about reverse proxies. A mistake there leaves the loopback address. */
static void app_read_fronts(struct app *app)
{
	struct fronts fronts = {0};
	struct node *settings = NULL;
	struct error err = {0};
	if (settings_read(app->state_dir, &settings, &err) < 0 || fronts_parse(settings, &fronts, &err) < 0)
		log_warning("no address of a proxy is served: %s", err.text);
	gate_set_fronts(app->gate, fronts);
	node_free(settings);
}

void app_open(struct app *app, struct engine *engine, struct server *server, const char *state_dir)
{
	app->engine = engine;
	app->store = engine_store(engine);
	app->gate = gate_new(app->store);
	app->events = events_new();
	app->cache = cache_new();
	app->state_dir = mem_strdup(state_dir);
	app->server = server;
	gate_set_port(app->gate, app->port);
	app_read_fronts(app);
	if (app_is_usual_state(state_dir)) {
		app->login = mem_strdup("sluice login");
	} else {
		app->login = app_login_command(state_dir);
		gate_set_own_state(app->gate);
	}
	if (server)
		server_set_events(server, app->events);
	engine_listen(engine, app_event, app);
}

void app_free(struct app *app)
{
	pool_leave(&app->pool);
	gate_free(app->gate);
	events_free(app->events);
	cache_free(app->cache);
	node_free(app->schemas);
	free(app->state_dir);
	free(app->login);
	free(app->address);
}

char *app_login_link(struct app *app)
{
	char code[TOKEN_SECRET_CHARS];
	const struct fronts *fronts = gate_fronts(app->gate);
	gate_make_code(app->gate, code);
	if (fronts->count)
		return mem_printf("http%s://%s%s/#login=%s", fronts->list[0].https ? "s" : "", fronts->list[0].host,
				  fronts->list[0].prefix, code);
	return mem_printf("http://%s/#login=%s", app->address, code);
}
