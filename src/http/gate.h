/* Who may come in and what a browser must show: the Host list, login codes, sessions, bearer tokens, Origin. Secrets are
 * kept as hashes only. There is no cookie: a browser sends cookies to every port of a host, also to those of other
 * users. The page keeps the session's secret in its storage, which belongs to one origin with its port. */
#ifndef HTTP_GATE_H
#define HTTP_GATE_H

#include "base/token.h"
#include "http/message.h"
#include "http/sessions.h"
#include "store/access.h"

struct gate;

struct gate *gate_new(struct store *store);
void gate_free(struct gate *gate);
/* The port that TCP requests must name in Host. */
void gate_set_port(struct gate *gate, uint16_t port);
/* The state folder is not the usual one: who has to log in is told that SLUICE_STATE must name it, but not where it is.
 * Every account on this machine can reach it. */
void gate_set_own_state(struct gate *gate);

/* Is the Host header one that is served here? 0, or -1 with the response filled. */
int gate_check_host(const struct gate *gate, const struct request *request, struct response *response) MUST_USE;
/* Fills request->access. 0, or -1 with a 401 or 429 response when nothing opens. */
int gate_identify(struct gate *gate, struct request *request, struct response *response) MUST_USE;
/* Did the request come from our own page, as far as a browser tells? 0, or -1 with a 403 response. */
int gate_check_origin(const struct request *request, struct response *response) MUST_USE;

/* A code that opens a session once within ten minutes. */
void gate_make_code(struct gate *gate, char code[static TOKEN_SECRET_CHARS]);
/* Uses a code up: the caller may open a session. 0, or -1 with the response filled. */
int gate_use_code(struct gate *gate, const char *code, struct response *response) MUST_USE;
/* The open sessions; they are the gate's. */
struct sessions *gate_sessions(struct gate *gate);
/* Makes a bearer token; the secret is not kept. */
int gate_make_token(struct gate *gate, const char *name, char secret[static TOKEN_SECRET_CHARS], int64_t *ret_id,
		    struct error *err) MUST_USE;

#endif
