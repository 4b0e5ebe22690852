/* Who gets in: every route with every combination of door, Host, Origin, Sec-Fetch-Site and credentials,
 * against a rule written down a second time here; login codes, sessions, tokens. */
#include "base/clock.h"
#include "http/app.h"
#include "http/route.h"
#include "pipe.h"

#include <errno.h>

struct fixture {
	char *dir;
	struct app app;
	struct store *store;
	char session[TOKEN_SECRET_CHARS], token[TOKEN_SECRET_CHARS];
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
	sessions_open(gate_sessions(f->app.gate), "test", f->session);
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

enum credential { NOTHING, SESSION, WRONG_SESSION, SESSION_AS_COOKIE, TOKEN, WRONG_TOKEN, CREDENTIALS };
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
	if (c->credential == SESSION)
		buf_addf(out, "X-Sluice-Session: %s\r\n", f->session);
	if (c->credential == WRONG_SESSION)
		buf_add_text(out, "X-Sluice-Session: guessed\r\n");
	/* what a browser would also send to the ports of other users */
	if (c->credential == SESSION_AS_COOKIE)
		buf_addf(out, "Cookie: other=1; sluice_session=%s; X-Sluice-Session=%s\r\n", f->session, f->session);
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
	bool opens = c->local || public || c->credential == SESSION || c->credential == TOKEN;
	/* TCP: our name and our port; through the socket: any port, or none, but our name */
	if (c->host >= (c->local ? 5 : 3))
		return 421;
	if (!opens)
		return 401;
	if (c->origin == OTHER_ORIGIN || c->origin == OTHER_PORT || c->origin == NULL_ORIGIN || c->site >= 3)
		return 403;
	return 200;
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

static void test_login_code_opens_once(void **state)
{
	struct fixture *f = *state;
	char code[TOKEN_SECRET_CHARS];
	struct response response = {0};
	gate_make_code(f->app.gate, code);
	assert_int_equal(gate_use_code(f->app.gate, code, &response), 0);
	response_clear(&response);
	assert_int_equal(gate_use_code(f->app.gate, code, &response), -1);
	assert_int_equal(response.status, 401);
	response_clear(&response);
	assert_int_equal(gate_use_code(f->app.gate, "", &response), -1);
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
	sessions_open(gate_sessions(f->app.gate), NULL, f->session);
	gate_make_code(f->app.gate, code);
	fake_ms += 10 * 60 * 1000;
	assert_int_equal(gate_use_code(f->app.gate, code, &response), -1);
	response_clear(&response);
	snprintf(text, sizeof(text),
		 "GET " ROUTE_PREFIX "/info HTTP/1.1\r\nHost: localhost:54322\r\nX-Sluice-Session: %s\r\n\r\n",
		 f->session);
	assert_int_equal(ask(f, false, text), 200);
	fake_ms += 31 * 24 * 3600 * (int64_t)1000;
	assert_int_equal(ask(f, false, text), 401);
	clock_jump(-(40 * 24 * 3600 * (int64_t)1000)); /* the system's clock is set back: it stays closed */
	assert_int_equal(ask(f, false, text), 401);
	clock_jump(0);
}

static void test_guessing_is_slowed_but_the_right_code_still_opens(void **state)
{
	struct fixture *f = *state;
	char code[TOKEN_SECRET_CHARS];
	struct response response = {0};
	int status = 0;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(gate_use_code(f->app.gate, "guess", &response), -1);
		status = response.status;
		response_clear(&response);
	}
	assert_int_equal(status, 429);
	gate_make_code(f->app.gate, code);
	assert_int_equal(gate_use_code(f->app.gate, code, &response), 0);
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

	snprintf(text, sizeof(text),
		 "GET " ROUTE_PREFIX "/info HTTP/1.1\r\nHost: localhost:54322\r\nX-Sluice-Session: %s\r\n\r\n",
		 f->session);
	assert_int_equal(ask(f, false, text), 200);
	assert_true(sessions_end(gate_sessions(f->app.gate), 1));
	assert_int_equal(ask(f, false, text), 401);
	assert_false(sessions_end(gate_sessions(f->app.gate), 1));
}

static void test_too_many_sessions_end_the_one_not_used_for_the_longest_time(void **state)
{
	struct fixture *f = *state;
	struct sessions *sessions = gate_sessions(f->app.gate);
	char second[TOKEN_SECRET_CHARS], secret[TOKEN_SECRET_CHARS];
	fake_ms = clock_mono_ms();
	clock_replace(fake_clock);
	assert_int_equal(sessions_open(sessions, NULL, second), 0);
	uint64_t ended = 0;
	for (int i = 0; i < 200; i++) {
		fake_ms++;
		assert_int_equal(sessions_find(sessions, second), 2);
		ended = sessions_open(sessions, "Firefox", secret);
	}
	assert_true(ended > 2);
	assert_int_equal(sessions_find(sessions, f->session), 0);
	assert_int_equal(sessions_find(sessions, secret), 202);
	assert_int_equal(sessions_find(sessions, ""), 0);
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
	assert_null(memmem(bytes.data, bytes.len, f->session, strlen(f->session)));
	assert_null(memmem(bytes.data, bytes.len, f->token, strlen(f->token)));
	buf_free(&bytes);
}

/* Host, Origin and socket with the addresses of a proxy in the settings. */
static void test_addresses_of_a_proxy_open_nothing_else(void **state)
{
	static const struct {
		bool local;
		const char *host, *origin;
		int status;
	} cases[] = {
		{false, "hpc.example.org", NULL, 200},
		{false, "HPC.example.org", "https://hpc.example.org", 200},
		{false, "hpc.example.org", "http://hpc.example.org", 403},
		{false, "hpc.example.org", "https://evil.example", 403},
		{false, "hpc.example.org", "https://hpc.example.org.evil.example", 403},
		{false, "hpc.example.org", "null", 403},
		{false, "hpc.example.org:443", NULL, 421},
		{false, "hpc.example.org.evil.example", NULL, 421},
		{false, "other.example:8443", "http://other.example:8443", 200},
		{false, "other.example:8443", "https://other.example:8443", 403},
		{false, "other.example", NULL, 421},
		{false, "127.0.0.1:54322", "http://127.0.0.1:54322", 200},
		{false, "127.0.0.1:54322", "https://hpc.example.org", 403},
		{true, "hpc.example.org", NULL, 421},
		{true, "localhost", NULL, 200},
	};
	static const char settings[] =
		"web: {urls: ['https://hpc.example.org:443/sluice/', 'http://other.example:8443']}";
	struct fixture *f = *state;
	struct fronts fronts;
	struct node *document;
	assert_int_equal(node_parse_yaml(settings, strlen(settings), &document, NULL), 0);
	assert_int_equal(fronts_parse(document, &fronts, NULL), 0);
	node_free(document);
	assert_string_equal(fronts.list[0].host, "hpc.example.org");
	assert_string_equal(fronts.list[0].prefix, "/sluice");
	gate_set_fronts(f->app.gate, fronts);
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf request = buf_make(BUF_UNLIMITED);
		buf_addf(&request,
			 "GET " ROUTE_PREFIX "/tokens HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s%s%s\r\n",
			 cases[i].host, f->token, cases[i].origin ? "Origin: " : "",
			 cases[i].origin ? cases[i].origin : "", cases[i].origin ? "\r\n" : "");
		int status = ask(f, cases[i].local, buf_text(&request));
		if (status != cases[i].status)
			fail_msg("%s from %s: %d, not %d", cases[i].host, cases[i].origin ? cases[i].origin : "nowhere",
				 status, cases[i].status);
		buf_free(&request);
	}
}

static void test_addresses_that_are_none_are_refused(void **state)
{
	static const char *const wrong[] = {
		"web: [x]",
		"web: {urls: x}",
		"web: {urls: [ftp://a]}",
		"web: {urls: ['https://']}",
		"web: {urls: ['https://a/../b']}",
		"web: {urls: ['https://a//b']}",
		"web: {urls: ['https://a?b']}",
		"web: {urls: ['https://u@a/']}",
		"web: {urls: ['https://a b/']}",
		"web: {urls: [5]}",
		"web: {urls: ['http://a', 'http://a', 'http://a', 'http://a', 'http://a', 'http://a', 'http://a', 'http://a', 'http://a']}",
	};
	(void)state;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		struct fronts fronts;
		struct node *document;
		struct error err = {0};
		assert_int_equal(node_parse_yaml(wrong[i], strlen(wrong[i]), &document, NULL), 0);
		if (fronts_parse(document, &fronts, &err) != -EINVAL || !err.text[0] || fronts.count)
			fail_msg("%s is taken", wrong[i]);
		node_free(document);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_addresses_of_a_proxy_open_nothing_else),
		CASE(test_addresses_that_are_none_are_refused),
		CASE(test_every_route_with_every_combination),
		CASE(test_login_code_opens_once),
		CASE(test_login_code_and_session_expire),
		CASE(test_guessing_is_slowed_but_the_right_code_still_opens),
		CASE(test_deleted_token_and_ended_session_are_out),
		CASE(test_too_many_sessions_end_the_one_not_used_for_the_longest_time),
		CASE(test_no_secret_is_in_the_database),
	};
	if (token_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
