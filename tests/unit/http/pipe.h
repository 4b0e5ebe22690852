/* A connection without a socket: what is fed to it goes in, what it sends is kept as text. */
#ifndef TEST_HTTP_PIPE_H
#define TEST_HTTP_PIPE_H

#include "http/conn.h"
#include "unit.h"

#include <stdio.h>
#include <unistd.h>

struct pipe {
	struct conn conn; /* first: the callbacks get it */
	struct buf sent;
	size_t unsent; /* pretended */
	bool closed, shut, streaming, reading, pumping;
};

static void pipe_send(struct conn *conn, struct blob *head, struct blob *body)
{
	struct pipe *pipe = (struct pipe *)conn;
	buf_add(&pipe->sent, head->data, head->len);
	if (body)
		buf_add(&pipe->sent, body->data, body->len);
}

static size_t pipe_unsent(const struct conn *conn)
{
	return ((const struct pipe *)conn)->unsent;
}

static void pipe_read(struct conn *conn, bool on)
{
	((struct pipe *)conn)->reading = on;
}

static void pipe_shutdown(struct conn *conn)
{
	((struct pipe *)conn)->shut = true;
}

static void pipe_closed(struct conn *conn)
{
	((struct pipe *)conn)->closed = true;
}

static void pipe_pump(struct conn *conn)
{
	((struct pipe *)conn)->pumping = true;
}

static void pipe_stream(struct conn *conn, const struct response *response)
{
	(void)response;
	((struct pipe *)conn)->streaming = true;
}

static const struct conn_io pipe_io = {
	.send = pipe_send,
	.unsent = pipe_unsent,
	.read = pipe_read,
	.shutdown = pipe_shutdown,
	.close = pipe_closed,
	.pump = pipe_pump,
	.stream = pipe_stream,
};

static inline void pipe_open(struct pipe *pipe, const struct conn_app *handler, struct app *app, bool local)
{
	*pipe = (struct pipe){.sent = buf_make(BUF_UNLIMITED), .reading = true};
	conn_init(&pipe->conn, &pipe_io, handler, app, local);
}

static inline void pipe_close(struct pipe *pipe)
{
	conn_free(&pipe->conn);
	buf_free(&pipe->sent);
}

/* The status of the first answer; 0 when there is none. */
static inline int pipe_status(const struct pipe *pipe)
{
	const char *text = buf_text(&pipe->sent);
	return strncmp(text, "HTTP/1.1 ", 9) == 0 ? atoi(text + 9) : 0;
}

static inline size_t pipe_count(const struct pipe *pipe, const char *what)
{
	size_t count = 0;
	for (const char *p = buf_text(&pipe->sent); (p = strstr(p, what)); p++)
		count++;
	return count;
}

#endif
