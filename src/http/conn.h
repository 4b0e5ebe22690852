/* One connection: bytes in, requests to the application, responses out, in order. It knows no sockets, so
 * that tests and the fuzzer can feed it. */
#ifndef HTTP_CONN_H
#define HTTP_CONN_H

#include "http/message.h"

struct conn;

/* What carries the bytes. */
struct conn_io {
	/* Sends both (body may be NULL). Takes its own reference if it needs one. */
	void (*send)(struct conn *conn, struct blob *head, struct blob *body);
	/* How many bytes wait to be sent. */
	size_t (*unsent)(const struct conn *conn);
	/* Starts or stops reading. */
	void (*read)(struct conn *conn, bool on);
	/* Nothing more will be sent: close the sending half once everything has been sent. */
	void (*shutdown)(struct conn *conn);
	/* The connection has ended; the conn must not be used after the loop turns. */
	void (*close)(struct conn *conn);
	/* Asks for a call of conn_pump, after the loop has handled everything else. */
	void (*pump)(struct conn *conn);
	/* The response began an event stream. */
	void (*stream)(struct conn *conn, const struct response *response);
};

/* What answers. */
struct conn_app {
	/* The head has arrived. Decides whether the body is accepted, and where it goes (request->body.max, or
	 * request->upload). 0, or -1 with the response filled. */
	int (*begin)(struct app *app, struct request *request, struct response *response);
	/* The body has arrived too. */
	void (*handle)(struct app *app, struct request *request, struct response *response);
};

enum conn_state {
	CONN_IDLE, /* between requests */
	CONN_HEAD,
	CONN_BODY,
	CONN_LATER, /* the answer comes later; input waits, and a closed connection is noticed */
	CONN_ANSWER, /* the answer is being made, piece by piece; input waits */
	CONN_STREAM, /* an event stream: nothing more is read */
	CONN_DRAIN, /* the last answer was sent: input is discarded until the peer closes */
	CONN_CLOSED,
};

struct exchange;

struct conn {
	const struct conn_io *io;
	const struct conn_app *handler;
	struct app *app;
	bool local; /* over the unix socket, from our own uid */
	bool paused;
	bool skipped_line; /* one empty line before a request was ignored, which is allowed once */
	bool stranger; /* the sender of the last request has not signed in */
	enum conn_state state;
	int64_t deadline_ms; /* monotonic; 0: none */
	int64_t drain_end_ms; /* end of CONN_DRAIN, even if input still arrives */
	size_t unsent_seen; /* at the last deadline */
	struct exchange *exchange; /* the request being read; NULL between requests */
	struct buf pending; /* arrived while paused */
	struct access access; /* of the event stream */
};

void conn_init(struct conn *conn, const struct conn_io *io, const struct conn_app *handler, struct app *app,
	       bool local);
/* Takes bytes from the peer. */
void conn_feed(struct conn *conn, const char *data, size_t len);
/* Makes and sends the next piece of the answer, or goes on with pipelined requests. */
void conn_pump(struct conn *conn);
/* Everything was sent: continues with the answer, or with the input that has arrived since. */
void conn_resume(struct conn *conn);
/* Bytes that are kept of requests that are not answered yet; without bodies. */
size_t conn_held(const struct conn *conn);
/* Looks at the deadline. */
void conn_tick(struct conn *conn, int64_t now_ms);
/* Closes at once. */
void conn_close(struct conn *conn);
/* Frees what the conn holds, not the conn. */
void conn_free(struct conn *conn);

#endif
