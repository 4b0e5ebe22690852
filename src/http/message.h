/* A request as a handler sees it and the response it fills. Handlers are plain functions: they read the
 * one and write the other, and know nothing of sockets. */
#ifndef HTTP_MESSAGE_H
#define HTTP_MESSAGE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/pieces.h"
#include "http/blob.h"
#include "http/parser.h"

struct app;
struct route;
struct upload;
struct node;

#define REQUEST_PATH_VALUES 3
#define REQUEST_QUERY_VALUES 8

/* Who asks. */
enum access_kind { ACCESS_NONE, ACCESS_OWNER, ACCESS_SESSION, ACCESS_TOKEN };
struct access {
	enum access_kind kind;
	uint64_t id; /* tells sessions and tokens apart; 0 for the owner */
};

struct query_value {
	char *text; /* NULL: not given */
	int64_t integer;
};

struct request {
	struct app *app;
	const struct head *head;
	const struct route *route; /* NULL for the dashboard's files */
	bool local; /* came over the unix socket, from our own uid */
	struct access access;
	char *path; /* decoded */
	const char *path_values[REQUEST_PATH_VALUES];
	int64_t path_numbers[REQUEST_PATH_VALUES];
	struct query_value query[REQUEST_QUERY_VALUES]; /* in the order of the route's parameters */
	struct buf body;
	struct node *json; /* the body, once read; request_json gives it away */
	struct upload *upload; /* the body went to a file instead */
	/* Sends an answer that was delayed (struct later). Request and response are freed by it. */
	void (*respond)(struct request *request);
};

/* A delayed answer: the handler that sets it fills the response later and calls request->respond. */
struct later {
	void (*cancel)(void *ctx); /* called instead if the peer has closed: do not use request and response any more */
	void *ctx;
};

enum response_caching {
	CACHING_NONE, /* no-store: data */
	CACHING_VALIDATE, /* no-cache: the page itself, asked for again with its ETag */
	CACHING_IMMUTABLE, /* a year: files that carry their hash in the name */
};

struct response {
	int status; /* default: 200 */
	const char *type; /* default: application/json */
	struct buf headers; /* further lines, each with CRLF */
	struct buf body;
	struct blob *blob; /* the body instead of `body` */
	struct pieces pieces; /* the body instead of both: sent as it is made */
	struct later later; /* nothing is sent yet */
	enum response_caching caching;
	bool close; /* afterwards */
	bool stream; /* an event stream begins; from stream_from */
	uint64_t stream_from;
	bool stream_reset;
};

void request_clear(struct request *request);
void response_clear(struct response *response);

/* The value of the route's query parameter of that name: as text (NULL when not given) or as a number (its default when
 * not given). The route's row must have the name. */
const char *request_text(const struct request *request, const char *name);
int64_t request_int(const struct request *request, const char *name);
/* The body as a JSON map; an empty body is an empty map. The caller frees it. On failure the response already holds the
 * problem. */
int request_json(struct request *request, struct node **ret, struct response *response) MUST_USE;

/* RFC 9457. Forgets what the body held before. */
void response_problem(struct response *response, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* 401, with the command that gives a login link. */
void response_sign_in(struct response *response, const char *detail, const char *login);
/* The same for a negative errno that an engine or store function gave, with its text. */
void response_error(struct response *response, int code, const struct error *err);
/* The same with the "errors" list. */
void response_problems(struct response *response, const struct problems *problems);
void response_header(struct response *response, const char *name, const char *fmt, ...) PRINTF_LIKE(3, 4);
#define RESPONSE_UNTIL_CLOSED (-1)
#define RESPONSE_IN_PIECES (-2)
/* The head that goes before a body of `len` bytes, or one of unknown length: up to the end of the connection, or in
 * the pieces of the chunked coding. */
void response_write_head(const struct response *response, int64_t len, bool close, struct buf *out);

#endif
