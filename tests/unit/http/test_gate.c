/* Who gets in: every route with every combination of door, Host, Origin, Sec-Fetch-Site and credentials,
 * against a rule written down a second time here; login codes, sessions, tokens. */
#include "base/clock.h"
#include "http/app.h"
#include "http/route.h"
#include "pipe.h"

struct fixture {
	char *dir;
	struct app app;
	struct store *store;
	char cookie[64], csrf[64], token[TOKEN_SECRET_CHARS];
};

static void pass_handle(struct app *app, struct request *request, struct response *response)
{
	(void)app;
	(void)request;
	response->status = 200;
}

/* One request through the real checks to a handler that always answers 200. */
static int ask(struct fixture *f, bool local, const char *text)
{
	struct conn_app handler = {.begin = app_handler.begin, .handle = pass_handle};
	struct pipe pipe;
	pipe_open(&pipe, &handler, &f->app, local);
	conn_feed(&pipe.conn, text, strlen(text));
	int status = pipe_status(&pipe);
	pipe_close(&pipe);
	return status;
}

static void log_in(struct fixture *f)
{
	char code[TOKEN_SECRET_CHARS], hash[TOKEN_HASH_CHARS];
	struct response response = {0};
	gate_make_code(f->app.gate, code);
	assert_int_equal(gate_login(f->app.gate, code, &response), 0);
	const char *cookie = strstr(buf_text(&response.headers), "sluice_session=") + strlen("sluice_session=");
	snprintf(f->cookie, sizeof(f->cookie), "%.*s", (int)strcspn(cookie, ";"), cookie);
	token_hash(f->cookie, strlen(f->cookie), hash);
	assert_int_equal(store_find_session(f->store, hash, clock_now_ms(), f->csrf), 0);
	response_clear(&response);
}

static int setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof(*f));
	void *dir;
	int64_t id;
	assert_int_equal(unit_make_folder(&dir), 0);
	f->dir = dir;
	char *path = mem_printf("%s/sluice.db", f->dir), *uploads = mem_printf("%s/uploads", f->dir);
	assert_int_equal(store_open(path, &f->store, NULL), 0);
	assert_int_equal(fs_make_dirs(uploads, 0700, NULL), 0);
	free(path);
	free(uploads);
	f->app = (struct app){.store = f->store, .gate = gate_new(f->store), .state_dir = f->dir};
	gate_set_port(f->app.gate, 54322);
	log_in(f);
	assert_int_equal(gate_make_token(f->app.gate, "test", f->token, &id, NULL), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	void *dir = f->dir;
	gate_free(f->app.gate);
	store_close(f->store);
	clock_replace(NULL);
	free(f);
	return unit_remove_folder(&dir);
}

enum credential { NOTHING, COOKIE, COOKIE_CSRF, COOKIE_WRONG_CSRF, TOKEN, WRONG_TOKEN, CREDENTIALS };
enum origin { NO_ORIGIN, OWN_ORIGIN, OTHER_ORIGIN, OTHER_PORT, NULL_ORIGIN, ORIGINS };
static const char *const hosts[] = {"127.0.0.1:54322", "localhost:54322", "[::1]:54322",        "localhost:1",
				    "localhost",       "evil.example",    "evil.example:54322", "127.0.0.1:543220"};
static const char *const sites[] = {NULL, "same-origin", "none", "same-site", "cross-site"};

struct combination {
	const struct route *route;
	bool local;
	size_t host, site;
	enum origin origin;
	enum credential credential;
};

/* The path with values for its braces, and the query it cannot do without. */
static void add_path(struct buf *out, const struct route *route)
{
	for (const char *p = route->path; *p; p++) {
		if (*p != '{') {
			buf_add_char(out, *p);
			continue;
		}
		size_t n = strcspn(p, "}");
		const struct path_param *param = path_param_find(p + 1, n - 1);
		buf_add_text(out,
			     !strcmp(param->name, "token")        ? "0123456789abcdef0123456789abcdef"
				     : !strcmp(param->name, "id") ? "e1"
				     : param->number              ? "7"
								  : "x.bin");
		p += n;
	}
	for (size_t i = 0; i < REQUEST_QUERY_VALUES && route->query[i]; i++)
		if (route->query[i]->required)
			buf_addf(out, "?%s=0", route->query[i]->name);
}

static void write_request(const struct fixture *f, const struct combination *c, struct buf *out)
{
	buf_addf(out, "%s " ROUTE_PREFIX, method_name(c->route->method));
	add_path(out, c->route);
	buf_addf(out, " HTTP/1.1\r\nHost: %s\r\n", hosts[c->host]);
	switch (c->origin) {
	case OWN_ORIGIN: buf_addf(out, "Origin: http://%s\r\n", hosts[c->host]); break;
	case OTHER_ORIGIN: buf_add_text(out, "Origin: http://evil.example\r\n"); break;
	case OTHER_PORT: buf_add_text(out, "Origin: http://localhost:3000\r\n"); break;
	case NULL_ORIGIN: buf_add_text(out, "Origin: null\r\n"); break;
	default: break;
	}
	if (sites[c->site])
		buf_addf(out, "Sec-Fetch-Site: %s\r\n", sites[c->site]);
	if (c->credential == COOKIE || c->credential == COOKIE_CSRF || c->credential == COOKIE_WRONG_CSRF)
		buf_addf(out, "Cookie: other=1; sluice_session=%s\r\n", f->cookie);
	if (c->credential == COOKIE_CSRF)
		buf_addf(out, "X-Sluice-CSRF: %s\r\n", f->csrf);
	if (c->credential == COOKIE_WRONG_CSRF)
		buf_add_text(out, "X-Sluice-CSRF: guessed\r\n");
	if (c->credential == TOKEN)
		buf_addf(out, "Authorization: Bearer %s\r\n", f->token);
	if (c->credential == WRONG_TOKEN)
		buf_add_text(out, "Authorization: Bearer guessed\r\n");
	buf_add_text(out, "\r\n");
}

/* The rule, in other words than the code's. */
static int rule(const struct combination *c)
{
	bool public = c->route->flags & ROUTE_PUBLIC;
	bool safe = c->route->method == METHOD_GET;
	/* TCP: our name and our port; through the socket: any port, or none, but our name */
	if (c->host >= (c->local ? 5 : 3))
		return 421;
	if (!c->local && !public && (c->credential == NOTHING || c->credential == WRONG_TOKEN))
		return 401;
	if (c->origin == OTHER_ORIGIN || c->origin == OTHER_PORT || c->origin == NULL_ORIGIN || c->site >= 3)
		return 403;
	if (safe || public)
		return 200;
	bool browser = c->origin != NO_ORIGIN || c->site != 0;
	/* over the socket the session's value is not the right one */
	if (c->local)
		return browser ? 403 : 200;
	return c->credential == COOKIE || c->credential == COOKIE_WRONG_CSRF ? 403 : 200;
}

static void check_combination(struct fixture *f, const struct combination *c)
{
	struct buf text = buf_make(4096);
	write_request(f, c, &text);
	int status = ask(f, c->local, buf_text(&text)), expected = rule(c);
	/* wrong tokens are slowed down after a while, which is a refusal too */
	bool good = status == expected || (expected == 401 && c->credential == WRONG_TOKEN && status == 429);
	if (!good)
		fail_msg("%s: %d instead of %d:\n%s", c->local ? "socket" : "tcp", status, expected, buf_text(&text));
	buf_free(&text);
}

static void test_every_route_with_every_combination(void **state)
{
	struct fixture *f = *state;
	size_t count = 0;
	for (size_t r = 0; r < routes_count; r++)
		for (size_t i = 0; i < 2 * COUNT_OF(hosts) * COUNT_OF(sites) * ORIGINS * CREDENTIALS; i++) {
			size_t n = i;
			struct combination c = {.route = &routes[r]};
			c.local = n % 2;
			n /= 2;
			c.host = n % COUNT_OF(hosts);
			n /= COUNT_OF(hosts);
			c.site = n % COUNT_OF(sites);
			n /= COUNT_OF(sites);
			c.origin = (enum origin)(n % ORIGINS);
			c.credential = (enum credential)(n / ORIGINS);
			check_combination(f, &c);
			count++;
		}
	assert_true(count > 50000);
}

static void test_owner_browser_through_a_tunnel_needs_the_csrf_value(void **state)
{
	struct fixture *f = *state;
	struct head head = {.method = METHOD_GET};
	struct request request = {.head = &head, .local = true};
	struct response response = {0};
	assert_int_equal(gate_identify(f->app.gate, &request, &response), 0);
	char text[400];
	snprintf(text, sizeof(text),
		 "POST " ROUTE_PREFIX "/experiments/e1/stop HTTP/1.1\r\nHost: localhost:9000\r\n"
		 "Origin: http://localhost:9000\r\nX-Sluice-CSRF: %s\r\n\r\n",
		 request.access.csrf);
	assert_int_equal(ask(f, true, text), 200);
	response_clear(&response);
}

static void test_login_code_opens_once(void **state)
{
	struct fixture *f = *state;
	char code[TOKEN_SECRET_CHARS];
	struct response response = {0};
	gate_make_code(f->app.gate, code);
	assert_int_equal(gate_login(f->app.gate, code, &response), 0);
	assert_non_null(strstr(buf_text(&response.headers), "; Path=/; HttpOnly; SameSite=Strict"));
	response_clear(&response);
	assert_int_equal(gate_login(f->app.gate, code, &response), -1);
	assert_int_equal(response.status, 401);
	response_clear(&response);
	assert_int_equal(gate_login(f->app.gate, "", &response), -1);
	response_clear(&response);
}

static int64_t fake_ms;
static int64_t fake_clock(void)
{
	return fake_ms;
}

static void test_login_code_and_session_expire(void **state)
{
	struct fixture *f = *state;
	char code[TOKEN_SECRET_CHARS], text[300];
	struct response response = {0};
	fake_ms = clock_now_ms();
	clock_replace(fake_clock);
	gate_make_code(f->app.gate, code);
	fake_ms += 10 * 60 * 1000;
	assert_int_equal(gate_login(f->app.gate, code, &response), -1);
	response_clear(&response);
	snprintf(text, sizeof(text),
		 "GET " ROUTE_PREFIX "/info HTTP/1.1\r\nHost: localhost:54322\r\nCookie: sluice_session=%s\r\n\r\n",
		 f->cookie);
	assert_int_equal(ask(f, false, text), 200);
	fake_ms += 31 * 24 * 3600 * (int64_t)1000;
	assert_int_equal(ask(f, false, text), 401);
}

static void test_guessing_is_slowed_but_the_right_code_still_opens(void **state)
{
	struct fixture *f = *state;
	char code[TOKEN_SECRET_CHARS];
	struct response response = {0};
	int status = 0;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(gate_login(f->app.gate, "guess", &response), -1);
		status = response.status;
		response_clear(&response);
	}
	assert_int_equal(status, 429);
	gate_make_code(f->app.gate, code);
	assert_int_equal(gate_login(f->app.gate, code, &response), 0);
	response_clear(&response);
}

static void test_deleted_token_and_ended_session_are_out(void **state)
{
	struct fixture *f = *state;
	char text[300];
	snprintf(text, sizeof(text),
		 "GET " ROUTE_PREFIX "/info HTTP/1.1\r\nHost: localhost:54322\r\nAuthorization: Bearer %s\r\n\r\n",
		 f->token);
	assert_int_equal(ask(f, false, text), 200);
	assert_int_equal(store_delete_token(f->store, 1, NULL), 0);
	assert_int_equal(ask(f, false, text), 401);
	assert_int_equal(store_delete_token(f->store, 1, NULL), -ENOENT);

	char cookie[100];
	snprintf(cookie, sizeof(cookie), "sluice_session=%s", f->cookie);
	struct head head = {.method = METHOD_POST, .header_count = 1, .headers = {{"cookie", cookie}}};
	struct request request = {.head = &head};
	struct response response = {0};
	assert_int_equal(gate_logout(f->app.gate, &request, &response), 0);
	response_clear(&response);
	snprintf(text, sizeof(text),
		 "GET " ROUTE_PREFIX "/info HTTP/1.1\r\nHost: localhost:54322\r\nCookie: %s\r\n\r\n", cookie);
	assert_int_equal(ask(f, false, text), 401);
}

static void test_no_secret_is_in_the_database(void **state)
{
	struct fixture *f = *state;
	struct buf bytes = buf_make(BUF_UNLIMITED);
	static const char *const names[] = {"sluice.db", "sluice.db-wal"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		char *path = mem_printf("%s/%s", f->dir, names[i]);
		if (fs_read(path, 1u << 26, &bytes, NULL) < 0)
			assert_string_equal(names[i], "sluice.db-wal");
		free(path);
	}
	assert_true(bytes.len > 1000);
	assert_null(memmem(bytes.data, bytes.len, f->cookie, strlen(f->cookie)));
	assert_null(memmem(bytes.data, bytes.len, f->token, strlen(f->token)));
	buf_free(&bytes);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_every_route_with_every_combination),
		CASE(test_owner_browser_through_a_tunnel_needs_the_csrf_value),
		CASE(test_login_code_opens_once),
		CASE(test_login_code_and_session_expire),
		CASE(test_guessing_is_slowed_but_the_right_code_still_opens),
		CASE(test_deleted_token_and_ended_session_are_out),
		CASE(test_no_secret_is_in_the_database),
	};
	if (token_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
