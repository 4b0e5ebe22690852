/* The gate: see gate.h. */
#include "http/gate.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

#define GATE_CODES 16
#define GATE_CODE_MS (10 * 60 * (int64_t)1000)
#define GATE_SESSION_MS (30 * 24 * 3600 * (int64_t)1000)
/* Wrong codes and tokens in a minute that get a plain 401; further ones are told to wait, cut off, and
 * logged once. A right one always opens: guessing cannot lock the owner out. */
#define GATE_FAILURES 10
#define GATE_WINDOW_MS 60000

static const char cookie_name[] = "sluice_session";

struct gate {
	struct store *store;
	char port[8];
	char owner_csrf[STORE_CSRF_CHARS]; /* for the unix socket, where there is no session */
	struct gate_code {
		char hash[TOKEN_HASH_CHARS];
		int64_t expires_ms; /* 0: free */
	} codes[GATE_CODES];
	int64_t window_began_ms;
	unsigned failures;
	const char *login; /* the command that gives a link, as far as a stranger may know it */
};

struct gate *gate_new(struct store *store)
{
	struct gate *gate = mem_alloc(sizeof(*gate));
	char secret[TOKEN_SECRET_CHARS];
	gate->store = store;
	gate->login = "sluice login";
	token_make_secret(secret);
	snprintf(gate->owner_csrf, sizeof(gate->owner_csrf), "%s", secret);
	return gate;
}

void gate_free(struct gate *gate)
{
	free(gate);
}

void gate_set_port(struct gate *gate, uint16_t port)
{
	snprintf(gate->port, sizeof(gate->port), "%u", port);
}

void gate_set_own_state(struct gate *gate)
{
	gate->login = "SLUICE_STATE=DIR sluice login";
}

static bool host_is_served(const struct gate *gate, const char *host, bool local)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]", "sluice"};
	for (size_t i = 0; i < COUNT_OF(names) - !local; i++) {
		size_t n = strlen(names[i]);
		if (strncasecmp(host, names[i], n) != 0)
			continue;
		/* A tunnel to the unix socket may begin at any port; TCP has the one it listens on. */
		if (local) {
			uint64_t port;
			if (!host[n] ||
			    (host[n] == ':' &&
			     num_parse_unsigned(host + n + 1, strlen(host + n + 1), 65535, &port) == 0))
				return true;
		} else if (host[n] == ':' && !strcmp(host + n + 1, gate->port)) {
			return true;
		}
	}
	return false;
}

int gate_check_host(const struct gate *gate, const struct request *request, struct response *response)
{
	if (host_is_served(gate, head_get(request->head, "host"), request->local))
		return 0;
	response_problem(response, 421,
			 "this Host is not served here. Use http://127.0.0.1:%s; through a tunnel, the same "
			 "port on both sides",
			 gate->port);
	response->close = true;
	return -1;
}

/* Counts a wrong secret and fills the answer. */
static int gate_fail(struct gate *gate, const char *what, struct response *response)
{
	int64_t now = clock_mono_ms();
	if (now - gate->window_began_ms >= GATE_WINDOW_MS) {
		gate->window_began_ms = now;
		gate->failures = 0;
	}
	if (++gate->failures <= GATE_FAILURES) {
		response_sign_in(response, what, gate->login);
		return -1;
	}
	if (gate->failures == GATE_FAILURES + 1)
		log_warning("a process on this machine is guessing login codes or tokens");
	response_problem(response, 429, "too many wrong codes or tokens; wait a minute");
	response_header(response, "Retry-After", "60");
	response->close = true;
	return -1;
}

/* The value of our cookie, copied; NULL when there is none. */
static char *find_cookie(const struct request *request)
{
	const char *p = head_get(request->head, "cookie");
	size_t n = sizeof(cookie_name) - 1;
	while (p && *p) {
		p += strspn(p, "; \t");
		size_t len = strcspn(p, ";");
		if (len > n && !strncmp(p, cookie_name, n) && p[n] == '=')
			return mem_copy(p + n + 1, len - n - 1);
		p += len;
	}
	return NULL;
}

/* The first 60 bits of a hash: enough to tell sessions apart, useless to anyone. */
static uint64_t short_id(const char *hash)
{
	uint64_t id = 0;
	for (int i = 0; i < 15; i++)
		id = id * 16 + (uint64_t)text_hex_digit(hash[i]);
	return id;
}

static bool find_session(struct gate *gate, struct request *request)
{
	char hash[TOKEN_HASH_CHARS];
	char *cookie = find_cookie(request);
	if (!cookie)
		return false;
	token_hash(cookie, strlen(cookie), hash);
	free(cookie);
	if (store_find_session(gate->store, hash, clock_now_ms(), request->access.csrf) < 0)
		return false;
	request->access.kind = ACCESS_SESSION;
	request->access.id = short_id(hash);
	return true;
}

static int find_bearer(struct gate *gate, struct request *request, const char *header, struct response *response)
{
	char hash[TOKEN_HASH_CHARS];
	int64_t id;
	if (strncasecmp(header, "Bearer ", 7) != 0)
		return gate_fail(gate, "the Authorization header must be: Bearer TOKEN", response);
	const char *secret = header + 7 + strspn(header + 7, " ");
	token_hash(secret, strlen(secret), hash);
	if (store_find_token(gate->store, hash, clock_now_ms(), &id) < 0)
		return gate_fail(gate, "this token is not known (any more)", response);
	request->access.kind = ACCESS_TOKEN;
	request->access.id = (uint64_t)id;
	return 0;
}

int gate_identify(struct gate *gate, struct request *request, struct response *response)
{
	if (request->local) {
		request->access.kind = ACCESS_OWNER;
		memcpy(request->access.csrf, gate->owner_csrf, sizeof(gate->owner_csrf));
		return 0;
	}
	const char *header = head_get(request->head, "authorization");
	if (header)
		return find_bearer(gate, request, header, response);
	if (find_session(gate, request))
		return 0;
	char what[160];
	snprintf(what, sizeof(what), "log in first: `%s` gives a link", gate->login);
	response_sign_in(response, what, gate->login);
	return -1;
}

static bool origin_is_ours(const struct request *request)
{
	const char *origin = head_get(request->head, "origin");
	const char *site = head_get(request->head, "sec-fetch-site");
	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return false;
	return !origin || (!strncmp(origin, "http://", 7) && !strcasecmp(origin + 7, head_get(request->head, "host")));
}

int gate_check_origin(const struct gate *gate, const struct request *request, bool needs_csrf,
		      struct response *response)
{
	(void)gate;
	if (!origin_is_ours(request)) {
		response_problem(response, 403, "requests of other pages are refused");
		return -1;
	}
	bool browser = head_get(request->head, "origin") || head_get(request->head, "sec-fetch-site");
	bool asked = request->access.kind == ACCESS_SESSION || (request->access.kind == ACCESS_OWNER && browser);
	if (!needs_csrf || !asked || method_is_safe(request->head->method))
		return 0;
	const char *shown = head_get(request->head, "x-sluice-csrf");
	if (shown && token_equal(shown, request->access.csrf))
		return 0;
	response_problem(response, 403, "X-Sluice-CSRF must carry the \"csrf\" value of GET /api/v1/info");
	return -1;
}

void gate_make_code(struct gate *gate, char code[static TOKEN_SECRET_CHARS])
{
	/* A free place, else the one that would expire first. */
	struct gate_code *place = &gate->codes[0];
	for (size_t i = 1; i < GATE_CODES; i++)
		if (gate->codes[i].expires_ms < place->expires_ms)
			place = &gate->codes[i];
	token_make_secret(code);
	token_hash(code, strlen(code), place->hash);
	place->expires_ms = clock_mono_ms() + GATE_CODE_MS;
}

/* True once for a right code. */
static bool use_code(struct gate *gate, const char *code)
{
	char hash[TOKEN_HASH_CHARS];
	bool right = false;
	token_hash(code, strlen(code), hash);
	for (size_t i = 0; i < GATE_CODES; i++) {
		struct gate_code *place = &gate->codes[i];
		if (!place->expires_ms || !token_equal(place->hash, hash))
			continue;
		right = clock_mono_ms() < place->expires_ms;
		*place = (struct gate_code){0};
	}
	return right;
}

int gate_login(struct gate *gate, const char *code, struct response *response)
{
	char cookie[TOKEN_SECRET_CHARS], csrf[TOKEN_SECRET_CHARS], hash[TOKEN_HASH_CHARS];
	struct error err = {0};
	int64_t now = clock_now_ms();
	if (!use_code(gate, code)) {
		char what[200];
		snprintf(what, sizeof(what),
			 "this login link was used already or is older than ten minutes; `%s` gives a new one",
			 gate->login);
		return gate_fail(gate, what, response);
	}
	token_make_secret(cookie);
	token_make_secret(csrf);
	token_hash(cookie, strlen(cookie), hash);
	int rc = store_add_session(gate->store, hash, csrf, now, now + GATE_SESSION_MS, &err);
	if (rc < 0) {
		response_error(response, rc, &err);
		return -1;
	}
	response_header(response, "Set-Cookie", "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%d", cookie_name,
			cookie, (int)(GATE_SESSION_MS / 1000));
	return 0;
}

int gate_logout(struct gate *gate, const struct request *request, struct response *response)
{
	char hash[TOKEN_HASH_CHARS];
	struct error err = {0};
	char *cookie = find_cookie(request);
	response_header(response, "Set-Cookie", "%s=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", cookie_name);
	if (!cookie)
		return 0;
	token_hash(cookie, strlen(cookie), hash);
	free(cookie);
	int rc = store_delete_session(gate->store, hash, &err);
	if (rc == 0)
		return 0;
	response_error(response, rc, &err);
	return -1;
}

int gate_make_token(struct gate *gate, const char *name, char secret[static TOKEN_SECRET_CHARS], int64_t *ret_id,
		    struct error *err)
{
	char hash[TOKEN_HASH_CHARS];
	token_make_secret(secret);
	token_hash(secret, strlen(secret), hash);
	return store_add_token(gate->store, name, hash, clock_now_ms(), ret_id, err);
}
