/* One connection: see conn.h. Requests are answered one after another; a pipelined one waits in the
 * buffer while the answer before it has not gone out. */
#include "http/conn.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/pace.h"
#include "http/chunked.h"
#include "http/gzip.h"
#include "http/upload.h"

#include <errno.h>

/* Unsent bytes at which the next pipelined request has to wait. */
#define CONN_UNSENT_MAX (256u << 10)
/* Requests of one connection that are answered before the loop looks at the others. */
#define CONN_TURN_REQUESTS 16
/* Bytes of an upload that earn it another LIMIT_BODY_MS. */
#define CONN_PROGRESS_BYTES (1u << 20)

struct exchange {
	struct conn *conn;
	struct buf text; /* the head's bytes, which `head` points into */
	struct head head;
	struct request request;
	struct response response;
	struct chunked chunked;
	uint64_t received; /* of the body */
	uint64_t progress; /* received when the deadline was last moved */
	bool begun; /* the head of an answer in pieces was sent */
};

void conn_init(struct conn *conn, const struct conn_io *io, const struct conn_app *handler, struct app *app, bool local)
{
	*conn = (struct conn){
		.io = io,
		.handler = handler,
		.app = app,
		.local = local,
		.pending = buf_make(1u << 20),
		.deadline_ms = clock_mono_ms() + LIMIT_HEAD_MS,
	};
}

static void exchange_free(struct conn *conn)
{
	struct exchange *x = conn->exchange;
	if (!x)
		return;
	request_clear(&x->request);
	response_clear(&x->response);
	buf_free(&x->text);
	free(x);
	conn->exchange = NULL;
}

void conn_free(struct conn *conn)
{
	exchange_free(conn);
	buf_free(&conn->pending);
}

void conn_close(struct conn *conn)
{
	if (conn->state == CONN_CLOSED)
		return;
	conn->state = CONN_CLOSED;
	exchange_free(conn);
	buf_free(&conn->pending);
	conn->io->close(conn);
}

/* The response is on its way: makes ready for the next request. */
static void conn_next(struct conn *conn, bool close)
{
	exchange_free(conn);
	conn->state = close ? CONN_DRAIN : CONN_IDLE;
	conn->skipped_line = false;
	conn->unsent_seen = conn->io->unsent(conn);
	conn->deadline_ms = clock_mono_ms() + (close ? CONN_DRAIN_MS : LIMIT_IDLE_MS);
	conn->drain_end_ms = clock_mono_ms() + LIMIT_IDLE_MS;
	if (close)
		conn->io->shutdown(conn);
}

static bool conn_closes(const struct exchange *x)
{
	return x->response.close || x->head.close || x->response.stream;
}

/* Sends the head, and the body unless it comes in pieces. */
static void conn_send(struct conn *conn, struct exchange *x)
{
	struct response *response = &x->response;
	struct buf head = buf_make(LIMIT_HEAD_BYTES * 2);
	struct blob *body = response->blob ? blob_ref(response->blob) : blob_take(&response->body);
	int64_t len = response->stream  ? RESPONSE_UNTIL_CLOSED
		: response->pieces.make ? RESPONSE_IN_PIECES
					: (int64_t)body->len;
	response_write_head(response, len, conn_closes(x), &head);
	struct blob *head_blob = blob_take(&head);
	bool bare = x->head.method == METHOD_HEAD || !body->len;
	conn->io->send(conn, head_blob, bare ? NULL : body);
	blob_unref(head_blob);
	blob_unref(body);
}

/* A piece in the chunked coding. */
static void conn_add_chunk(const struct buf *piece, struct buf *out)
{
	if (!piece->len)
		return;
	buf_addf(out, "%zx\r\n", piece->len);
	buf_add(out, buf_text(piece), piece->len);
	buf_add_text(out, "\r\n");
}

static void conn_respond(struct conn *conn)
{
	struct exchange *x = conn->exchange;
	struct response *response = &x->response;
	bool whole = x->head.method == METHOD_HEAD;
	if (!whole)
		gzip_answer(&x->head, response);
	if (response->pieces.make && !whole) {
		conn->state = CONN_ANSWER;
		conn->deadline_ms = clock_mono_ms() + LIMIT_IDLE_MS;
		conn->io->pump(conn);
		return;
	}
	conn_send(conn, x);
	if (conn->state == CONN_CLOSED)
		return;
	if (response->stream && !whole) {
		conn->state = CONN_STREAM;
		conn->deadline_ms = 0;
		conn->access = x->request.access;
		conn->io->stream(conn, response);
		exchange_free(conn);
	} else {
		conn_next(conn, conn_closes(x));
	}
}

/* Sends the head with the first piece. Where that one cannot be made the answer is a 500, and where it is the only one
 * the answer has a length. */
static void conn_begin_pieces(struct conn *conn, struct exchange *x, const struct buf *piece, int more)
{
	struct response *response = &x->response;
	x->begun = true;
	if (more <= 0)
		pieces_free(&response->pieces);
	if (more < 0) {
		buf_free(&response->headers);
		response_problem(response, 500,
				 "the answer could not be read (%s): `sluice doctor` checks the database",
				 strerror(-more));
	} else {
		buf_free(&response->body);
		response->body = buf_make(BUF_UNLIMITED);
		if (more)
			conn_add_chunk(piece, &response->body);
		else
			buf_add(&response->body, buf_text(piece), piece->len);
	}
	conn_send(conn, x);
}

/* Sends a piece after the first. */
static void conn_send_piece(struct conn *conn, const struct buf *piece, int more)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	if (more < 0) {
		/* Half of an answer must not look whole: without the last chunk the peer knows. */
		log_error("an answer was cut: %s", strerror(-more));
		conn_close(conn);
		return;
	}
	conn_add_chunk(piece, &text);
	if (!more)
		buf_add_text(&text, "0\r\n\r\n");
	struct blob *blob = blob_take(&text);
	conn->io->send(conn, blob, NULL);
	blob_unref(blob);
}

/* What arrived may wait: with the next request until the answers before it have gone out. Who has not signed in gets no
 * second answer while a part of the first is unread. */
static bool conn_must_wait(const struct conn *conn)
{
	return conn->state == CONN_ANSWER || conn->state == CONN_LATER ||
		(conn->state == CONN_IDLE && conn->io->unsent(conn) > (conn->stranger ? 0 : CONN_UNSENT_MAX));
}

void conn_pump(struct conn *conn)
{
	struct exchange *x = conn->exchange;
	struct buf piece = buf_make(BUF_UNLIMITED);
	if (conn->state != CONN_ANSWER) { /* its next requests */
		if (!conn_must_wait(conn))
			conn_resume(conn);
		return;
	}
	/* What the peer has not read yet is enough; it says so when it has. */
	if (conn->io->unsent(conn) > CONN_UNSENT_MAX)
		return;
	int more = x->response.pieces.make(x->response.pieces.ctx, &piece);
	if (x->begun)
		conn_send_piece(conn, &piece, more);
	else
		conn_begin_pieces(conn, x, &piece, more);
	buf_free(&piece);
	if (conn->state == CONN_CLOSED)
		return;
	conn->deadline_ms = clock_mono_ms() + LIMIT_IDLE_MS;
	conn->unsent_seen = conn->io->unsent(conn);
	if (more > 0) {
		conn->io->pump(conn);
		return;
	}
	conn_next(conn, conn_closes(x));
	conn_resume(conn);
}

/* The peer cannot be understood any more: says why and ends. */
static void conn_refuse(struct conn *conn, int status, const char *reason)
{
	if (!conn->exchange)
		conn->exchange = mem_alloc(sizeof(*conn->exchange));
	response_problem(&conn->exchange->response, status, "%s", reason);
	conn->exchange->response.close = true;
	conn_respond(conn);
}

static void conn_finish_body(struct conn *conn)
{
	struct exchange *x = conn->exchange;
	conn->handler->handle(conn->app, &x->request, &x->response);
	if (conn->state == CONN_CLOSED)
		return;
	if (!x->response.later.cancel) {
		conn_respond(conn);
		return;
	}
	conn->state = CONN_LATER;
	conn->deadline_ms = 0; /* the handler always answers */
}

static void conn_respond_later(struct request *request)
{
	struct exchange *x = (struct exchange *)((char *)request - offsetof(struct exchange, request));
	struct conn *conn = x->conn;
	x->response.later = (struct later){0};
	conn_respond(conn);
	conn_resume(conn);
}

/* The head is complete: may it have a body, and is there one? */
static void conn_begin_body(struct conn *conn)
{
	struct exchange *x = conn->exchange;
	bool has_body = x->head.chunked || x->head.length > 0;
	x->request.head = &x->head;
	x->request.app = conn->app;
	x->request.local = conn->local;
	x->request.respond = conn_respond_later;
	int rc = conn->handler->begin(conn->app, &x->request, &x->response);
	conn->stranger = x->request.access.kind == ACCESS_NONE;
	if (rc < 0) {
		/* An unread body would be taken for the next request. */
		if (has_body)
			x->response.close = true;
		conn_respond(conn);
		return;
	}
	if (x->head.length > (x->request.upload ? LIMIT_UPLOAD_BYTES : x->request.body.max)) {
		conn_refuse(conn, 413, "the body is larger than this address accepts");
		return;
	}
	if (!has_body) {
		conn_finish_body(conn);
		return;
	}
	conn->state = CONN_BODY;
	conn->deadline_ms = clock_mono_ms() + (conn->stranger ? LIMIT_STRANGER_BODY_MS : LIMIT_BODY_MS);
	if (x->head.expect_continue) {
		static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
		struct blob *blob = blob_borrow(go_on, sizeof(go_on) - 1);
		conn->io->send(conn, blob, NULL);
		blob_unref(blob);
	}
}

/* Returns how many bytes belonged to the head. */
static size_t conn_take_head(struct conn *conn, const char *data, size_t len)
{
	struct exchange *x = conn->exchange;
	size_t before = x->text.len;
	size_t room = LIMIT_HEAD_BYTES - before;
	size_t take = len < room ? len : room;
	const char *reason = "the head of the request is malformed";

	buf_add(&x->text, data, take);
	/* RFC 9112 2.2: an empty line before the request line is forgiven, once. */
	if (!conn->skipped_line && x->text.len >= 2 && !memcmp(x->text.data, "\r\n", 2)) {
		conn->skipped_line = true;
		buf_consume(&x->text, 2);
		before = 0;
	}
	int64_t end = parser_find_end(buf_text(&x->text), x->text.len, before);
	if (end < 0) {
		if (end == -431)
			reason = "the head of the request is too long";
		if (end == -505)
			reason = "only HTTP/1.1 is supported";
		conn_refuse(conn, (int)-end, reason);
		return len;
	}
	if (end == 0)
		return take;
	size_t excess = x->text.len - (size_t)end;
	x->text.len = (size_t)end;
	int status = parser_read_head(x->text.data, x->text.len, &x->head, &reason);
	if (status)
		conn_refuse(conn, status, reason);
	else
		conn_begin_body(conn);
	return take - excess;
}

/* Puts a piece of the body where it belongs. false: the request was refused. */
static bool conn_store_body(struct conn *conn, const char *data, size_t len)
{
	struct exchange *x = conn->exchange;
	x->received += len;
	if (!x->request.upload) {
		buf_add(&x->request.body, data, len);
		if (!x->request.body.full)
			return true;
		conn_refuse(conn, 413, "the body is larger than this address accepts");
		return false;
	}
	if (x->received - x->progress >= CONN_PROGRESS_BYTES) {
		x->progress = x->received;
		conn->deadline_ms = clock_mono_ms() + LIMIT_BODY_MS;
	}
	int rc = upload_write(x->request.upload, data, len);
	if (rc == 0)
		return true;
	response_error(&x->response, rc, NULL);
	x->response.close = true;
	conn_respond(conn);
	return false;
}

static size_t conn_take_body(struct conn *conn, const char *data, size_t len)
{
	struct exchange *x = conn->exchange;
	if (!x->head.chunked) {
		uint64_t left = x->head.length - x->received;
		size_t take = len < left ? len : (size_t)left;
		if (conn_store_body(conn, data, take) && x->received == x->head.length)
			conn_finish_body(conn);
		return take;
	}
	const char *at = data, *piece = NULL;
	size_t left = len, piece_len;
	int rc = chunked_read(&x->chunked, &at, &left, &piece, &piece_len);
	if (rc < 0)
		conn_refuse(conn, 400, "the chunked coding of the body is broken");
	else if ((!piece_len || conn_store_body(conn, piece, piece_len)) && rc == 1)
		conn_finish_body(conn);
	return len - left;
}

static void conn_throw_away(struct conn *conn)
{
	int64_t until = clock_mono_ms() + CONN_DRAIN_MS;
	conn->deadline_ms = until < conn->drain_end_ms ? until : conn->drain_end_ms;
}

/* One step; returns how many bytes it used. */
static size_t conn_take(struct conn *conn, const char *data, size_t len)
{
	switch (conn->state) {
	case CONN_IDLE:
		conn->exchange = mem_alloc(sizeof(*conn->exchange));
		conn->exchange->conn = conn;
		conn->exchange->text = buf_make(LIMIT_HEAD_BYTES);
		conn->state = CONN_HEAD;
		conn->deadline_ms = clock_mono_ms() + LIMIT_HEAD_MS;
		return conn_take_head(conn, data, len);
	case CONN_HEAD: return conn_take_head(conn, data, len);
	case CONN_BODY: return conn_take_body(conn, data, len);
	case CONN_DRAIN: conn_throw_away(conn); return len;
	default: return len;
	}
}

void conn_feed(struct conn *conn, const char *data, size_t len)
{
	if (conn->paused) {
		buf_add(&conn->pending, data, len);
		if (conn->pending.full)
			conn_close(conn);
		return;
	}
	for (unsigned answered = 0; len;) {
		size_t used = conn_take(conn, data, len);
		data += used;
		len -= used;
		answered += conn->state == CONN_IDLE;
		bool answering = conn->state == CONN_ANSWER || conn->state == CONN_LATER;
		bool waits = (len || answering) && conn_must_wait(conn);
		if (!waits && !(len && answered >= CONN_TURN_REQUESTS))
			continue;
		conn->paused = true;
		if (conn->state != CONN_LATER)
			conn->io->read(conn, false);
		buf_add(&conn->pending, data, len);
		if (!waits)
			conn->io->pump(conn);
		return;
	}
}

size_t conn_held(const struct conn *conn)
{
	return conn->pending.len + (conn->state == CONN_HEAD ? conn->exchange->text.len : 0);
}

void conn_resume(struct conn *conn)
{
	if (conn->state == CONN_ANSWER) {
		conn->io->pump(conn);
		return;
	}
	if (!conn->paused || conn->state == CONN_CLOSED || conn->state == CONN_LATER)
		return;
	struct buf pending = conn->pending;
	conn->pending = buf_make(pending.max);
	conn->paused = false;
	conn->io->read(conn, true);
	conn_feed(conn, buf_text(&pending), pending.len);
	buf_free(&pending);
}

void conn_tick(struct conn *conn, int64_t now_ms)
{
	if (!conn->deadline_ms || now_ms < conn->deadline_ms || conn->state == CONN_CLOSED)
		return;
	size_t unsent = conn->io->unsent(conn);
	if (conn->state == CONN_HEAD || conn->state == CONN_BODY) {
		conn_refuse(conn, 408, "the request took too long to arrive");
	} else if (unsent && unsent != conn->unsent_seen) {
		/* A slow reader that still reads. */
		conn->unsent_seen = unsent;
		conn->deadline_ms = now_ms + LIMIT_IDLE_MS;
	} else {
		conn_close(conn);
	}
}
