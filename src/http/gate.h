/* Decides which requests are allowed: checks Host and Origin, login codes, sessions and bearer tokens. Secrets are kept
 * as hashes only. There is no cookie: a browser sends cookies to every port of a host, also to those of other users.
 * The page keeps the session's secret in its storage, which belongs to one origin with its port. */
#ifndef HTTP_GATE_H
#define HTTP_GATE_H

#include "base/token.h"
#include "http/front.h"
#include "http/message.h"
#include "http/sessions.h"
#include "store/access.h"

struct gate;

struct gate *gate_new(struct store *store);
void gate_free(struct gate *gate);
/* The port that TCP requests must name in Host. */
void gate_set_port(struct gate *gate, uint16_t port);
/* Call it if the state folder is not the default one. Then the text for a user who must log in says to set SLUICE_STATE, but not
 * to which folder: every account on this machine can see that message. */
void gate_set_own_state(struct gate *gate);

/* The addresses of reverse proxies. Takes them. */
void gate_set_fronts(struct gate *gate, struct fronts fronts);
const struct fronts *gate_fronts(const struct gate *gate);

/* Checks that the Host header is one of ours. 0, or -1 with the response filled. */
int gate_check_host(const struct gate *gate, const struct request *request, struct response *response) MUST_USE;
/* Fills request->access. 0, or -1 with a 401 or 429 response when there is no valid login. */
int gate_identify(struct gate *gate, struct request *request, struct response *response) MUST_USE;
/* Checks that the request came from our own page, as far as the browser says so. 0, or -1 with a 403 response. */
int gate_check_origin(const struct gate *gate, const struct request *request, struct response *response) MUST_USE;

/* A code that opens a session once within ten minutes. */
void gate_make_code(struct gate *gate, char code[static TOKEN_SECRET_CHARS]);
/* Uses up a code, so that the caller may open a session. 0, or -1 with the response filled. */
int gate_use_code(struct gate *gate, const char *code, struct response *response) MUST_USE;
/* The open sessions. The gate owns them. */
struct sessions *gate_sessions(struct gate *gate);
/* Makes a bearer token. Only the hash of the secret is kept. */
int gate_make_token(struct gate *gate, const char *name, char secret[static TOKEN_SECRET_CHARS], int64_t *ret_id,
		    struct error *err) MUST_USE;

#endif
