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
/* Wrong codes and tokens in a minute that get a plain 401; further ones get 429, are cut off, and
 * logged once. A right one always opens: guessing cannot lock the owner out. */
#define GATE_FAILURES 10
#define GATE_WINDOW_MS 60000

struct gate {
	struct store *store;
	char port[8];
	struct sessions *sessions;
	struct gate_code {
		char hash[TOKEN_HASH_CHARS];
		int64_t expires_ms; /* 0: free */
	} codes[GATE_CODES];
	int64_t window_began_ms;
	unsigned failures;
	struct fronts fronts;
	const char *login; /* the command that gives a link, as far as a stranger may know it */
};

struct gate *gate_new(struct store *store)
{
	struct gate *gate = mem_alloc(sizeof(*gate));
	gate->store = store;
	gate->sessions = sessions_new();
	gate->login = "sluice login";
	return gate;
}

void gate_free(struct gate *gate)
{
	if (!gate)
		return;
	sessions_free(gate->sessions);
	fronts_free(&gate->fronts);
	free(gate);
}

void gate_set_port(struct gate *gate, uint16_t port)
{
	snprintf(gate->port, sizeof(gate->port), "%u", port);
}

void gate_set_fronts(struct gate *gate, struct fronts fronts)
{
	fronts_free(&gate->fronts);
	gate->fronts = fronts;
}

const struct fronts *gate_fronts(const struct gate *gate)
{
	return &gate->fronts;
}

void gate_set_own_state(struct gate *gate)
{
	gate->login = "SLUICE_STATE=DIR sluice login";
}

static bool gate_host_is_served(const struct gate *gate, const char *host, bool local)
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
	const char *host = head_get(request->head, "host");
	/* Behind a proxy that is given the unix socket, everybody would be the owner. */
	bool proxied = !request->local && fronts_find(&gate->fronts, host);
	if (proxied || gate_host_is_served(gate, host, request->local))
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

/* 500, without a word about who asked. */
static int gate_fail_unread(struct gate *gate, struct response *response)
{
	response_problem(response, 500, "the database could not be read (%s)", store_failure(gate->store));
	return -1;
}

static bool gate_find_session(struct gate *gate, struct request *request)
{
	const char *secret = head_get(request->head, "x-sluice-session");
	uint64_t id = secret ? sessions_find(gate->sessions, secret) : 0;
	if (!id)
		return false;
	request->access.kind = ACCESS_SESSION;
	request->access.id = id;
	return true;
}

static int gate_find_bearer(struct gate *gate, struct request *request, const char *header, struct response *response)
{
	char hash[TOKEN_HASH_CHARS];
	int64_t id;
	if (strncasecmp(header, "Bearer ", 7) != 0)
		return gate_fail(gate, "the Authorization header must be: Bearer TOKEN", response);
	const char *secret = header + 7 + strspn(header + 7, " ");
	token_hash(secret, strlen(secret), hash);
	int rc = store_find_token(gate->store, hash, clock_now_ms(), &id);
	if (rc < 0 && rc != -ENOENT)
		return gate_fail_unread(gate, response);
	if (rc < 0)
		return gate_fail(gate, "this token is unknown or was revoked", response);
	request->access.kind = ACCESS_TOKEN;
	request->access.id = (uint64_t)id;
	return 0;
}

int gate_identify(struct gate *gate, struct request *request, struct response *response)
{
	if (request->local) {
		request->access.kind = ACCESS_OWNER;
		return 0;
	}
	const char *header = head_get(request->head, "authorization");
	if (header)
		return gate_find_bearer(gate, request, header, response);
	if (gate_find_session(gate, request))
		return 0;
	char what[200];
	bool had = head_get(request->head, "x-sluice-session");
	snprintf(what, sizeof(what),
		 had ? "this session has ended; sign in again: `%s` gives a link" : "log in first: `%s` gives a link",
		 gate->login);
	response_sign_in(response, what, gate->login);
	return -1;
}

static bool gate_origin_is_ours(const struct gate *gate, const struct request *request)
{
	const char *origin = head_get(request->head, "origin");
	const char *site = head_get(request->head, "sec-fetch-site");
	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return false;
	const char *host = head_get(request->head, "host");
	if (!origin)
		return true;
	if (!request->local && fronts_find(&gate->fronts, host))
		return fronts_has_origin(&gate->fronts, host, origin);
	return !strncmp(origin, "http://", 7) && !strcasecmp(origin + 7, host);
}

int gate_check_origin(const struct gate *gate, const struct request *request, struct response *response)
{
	if (gate_origin_is_ours(gate, request))
		return 0;
	response_problem(response, 403, "requests from other sites are refused");
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
static bool gate_take_code(struct gate *gate, const char *code)
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

int gate_use_code(struct gate *gate, const char *code, struct response *response)
{
	char what[200];
	if (gate_take_code(gate, code))
		return 0;
	snprintf(what, sizeof(what),
		 "this login link was used already or is older than ten minutes; `%s` gives a new one", gate->login);
	return gate_fail(gate, what, response);
}

struct sessions *gate_sessions(struct gate *gate)
{
	return gate->sessions;
}

int gate_make_token(struct gate *gate, const char *name, char secret[static TOKEN_SECRET_CHARS], int64_t *ret_id,
		    struct error *err)
{
	char hash[TOKEN_HASH_CHARS];
	token_make_secret(secret);
	token_hash(secret, strlen(secret), hash);
	return store_add_token(gate->store, name, hash, clock_now_ms(), ret_id, err);
}
