/* Whatever bytes a peer sends: the connection must survive, must answer each request at most once, and must
 * not depend on how the bytes were cut. The first byte picks where the input is cut; requests go through the
 * real route table to an application that answers with what it was asked. */
#include "http/conn.h"
#include "http/route.h"

#include <stdio.h>

struct sink {
	struct conn conn; /* first: the callbacks get it */
	struct buf sent;
	bool over, pumping;
};

static void sink_send(struct conn *conn, struct blob *head, struct blob *body)
{
	struct sink *sink = (struct sink *)conn;
	if (sink->over)
		abort();
	/* the Date line changes with the clock: only what follows it is compared */
	const char *date = strstr(head->data, "Date: ");
	size_t skip = date ? (size_t)(strchr(date, '\n') - head->data) : 0;
	buf_add(&sink->sent, head->data, 12);
	buf_add(&sink->sent, head->data + skip, head->len - skip);
	if (body)
		buf_add(&sink->sent, body->data, body->len);
}

static size_t sink_unsent(const struct conn *conn)
{
	(void)conn;
	return 0;
}

static void sink_read(struct conn *conn, bool on)
{
	(void)conn;
	(void)on;
}

static void sink_end(struct conn *conn)
{
	((struct sink *)conn)->over = true;
}

static void sink_stream(struct conn *conn, const struct response *response)
{
	(void)response;
	sink_end(conn);
}

static void sink_pump(struct conn *conn)
{
	((struct sink *)conn)->pumping = true;
}

static const struct conn_io sink_io = {
	.send = sink_send,
	.unsent = sink_unsent,
	.read = sink_read,
	.shutdown = sink_end,
	.close = sink_end,
	.pump = sink_pump,
	.stream = sink_stream,
};

static int echo_begin(struct app *app, struct request *request, struct response *response)
{
	(void)app;
	const char *target = request->head->target;
	if (route_decode(target, strcspn(target, "?"), false, &request->path) < 0) {
		response_problem(response, 400, "the address is not properly encoded");
		return -1;
	}
	if (!strncmp(request->path, ROUTE_PREFIX "/", strlen(ROUTE_PREFIX) + 1) && route_find(request, response) < 0)
		return -1;
	request->body = buf_make(1000);
	return 0;
}

static void echo_handle(struct app *app, struct request *request, struct response *response)
{
	(void)app;
	response->body = buf_make(1u << 20);
	buf_addf(&response->body, "%s %s %s\n", method_name(request->head->method), request->head->target,
		 request->route ? request->route->operation : "-");
	buf_add(&response->body, buf_text(&request->body), request->body.len);
	response->stream = request->route && request->route->flags & ROUTE_STREAM;
}

static const struct conn_app echo = {.begin = echo_begin, .handle = echo_handle};

static void feed(struct sink *sink, const char *data, size_t len, size_t step)
{
	*sink = (struct sink){.sent = buf_make(BUF_UNLIMITED)};
	conn_init(&sink->conn, &sink_io, &echo, NULL, true);
	for (size_t at = 0; at < len; at += step) {
		conn_feed(&sink->conn, data + at, len - at < step ? len - at : step);
		for (; sink->pumping; conn_pump(&sink->conn))
			sink->pumping = false;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sink whole, cut;
	if (!size)
		return 0;
	const char *text = (const char *)data + 1;
	feed(&whole, text, size - 1, size);
	feed(&cut, text, size - 1, data[0] ? data[0] : 1);
	/* A refusal may come earlier when the end of a head is not there yet, but what was understood before it
	 * is the same: compare up to the first answer that closes. */
	if (!whole.over && !cut.over &&
	    (whole.sent.len != cut.sent.len || memcmp(buf_text(&whole.sent), buf_text(&cut.sent), cut.sent.len))) {
		fprintf(stderr, "whole:\n%s\ncut by %d:\n%s\n", buf_text(&whole.sent), data[0], buf_text(&cut.sent));
		abort();
	}
	if (whole.over != cut.over) {
		fprintf(stderr, "one way it ended, the other it did not\n");
		abort();
	}
	conn_free(&whole.conn);
	conn_free(&cut.conn);
	buf_free(&whole.sent);
	buf_free(&cut.sent);
	return 0;
}
