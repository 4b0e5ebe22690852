/* Bytes in, answers out: what is refused, with which status, and what keeps the connection. */
#include "base/clock.h"
#include "base/limits.h"
#include "pipe.h"

#include <errno.h>

/* An application that answers with what it was asked and what came with it. */
static int echo_begin(struct app *app, struct request *request, struct response *response)
{
	(void)app;
	if (!strcmp(request->head->target, "/refuse")) {
		response_problem(response, 403, "no");
		return -1;
	}
	request->body = buf_make(64);
	request->access.kind = strcmp(request->head->target, "/stranger") == 0 ? ACCESS_NONE : ACCESS_OWNER;
	return 0;
}

/* Three pieces, the second of them empty. */
static int count_make(void *ctx, struct buf *out)
{
	int *count = ctx;
	if (++*count != 2)
		buf_addf(out, "<piece %d>", *count);
	return *count < 3;
}

static unsigned counts_freed;
static int broken_at; /* the piece that cannot be made; the last one is the third */

static int broken_make(void *ctx, struct buf *out)
{
	int *count = ctx;
	buf_addf(out, "<piece %d>", ++*count);
	return *count == broken_at ? -EIO : *count < 3;
}

static int single_make(void *ctx, struct buf *out)
{
	(void)ctx;
	buf_add_text(out, "<all of it>");
	return 0;
}

static void count_free(void *ctx)
{
	counts_freed++;
	free(ctx);
}

static struct request *later_request;
static struct response *later_response;
static unsigned laters_cancelled;

static void later_cancel(void *ctx)
{
	(void)ctx;
	laters_cancelled++;
}

static void echo_handle(struct app *app, struct request *request, struct response *response)
{
	(void)app;
	if (!strcmp(request->head->target, "/pieces")) {
		response->pieces = (struct pieces){count_make, count_free, mem_alloc(sizeof(int))};
		return;
	}
	if (!strcmp(request->head->target, "/broken") || !strcmp(request->head->target, "/single")) {
		bool broken = !strcmp(request->head->target, "/broken");
		response_header(response, "Content-Disposition", "attachment");
		response->pieces = (struct pieces){broken ? broken_make : single_make, count_free,
						   mem_alloc(sizeof(int))};
		return;
	}
	if (!strcmp(request->head->target, "/later")) {
		response->later = (struct later){later_cancel, NULL};
		later_request = request;
		later_response = response;
		return;
	}
	response->body = buf_make(1000);
	buf_addf(&response->body, "[%s %s %s]", method_name(request->head->method), request->head->target,
		 buf_text(&request->body));
}

static const struct conn_app echo = {.begin = echo_begin, .handle = echo_handle};

#define HOST "Host: localhost\r\n"

struct raw_case {
	const char *name, *request;
	int status;
	const char *has; /* in the answer; NULL: nothing in particular */
};

static const struct raw_case raw_cases[] = {
	{"plain", "GET / HTTP/1.1\r\n" HOST "\r\n", 200, "[GET / ]"},
	{"one empty line before", "\r\nGET / HTTP/1.1\r\n" HOST "\r\n", 200, "[GET / ]"},
	{"two empty lines before", "\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n", 400, NULL},
	{"query", "GET /a?b=c%20d HTTP/1.1\r\n" HOST "\r\n", 200, "[GET /a?b=c%20d ]"},
	{"body", "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc", 200, "[POST / abc]"},
	{"no body with POST", "POST / HTTP/1.1\r\n" HOST "\r\n", 200, "[POST / ]"},
	{"empty header value", "GET / HTTP/1.1\r\n" HOST "X-A:\r\n\r\n", 200, NULL},
	{"chunks", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n",
	 200, "[POST / abc]"},

	{"bare LF after the first line", "GET / HTTP/1.1\n" HOST "\r\n", 400, NULL},
	{"bare LF in the headers", "GET / HTTP/1.1\r\nHost: localhost\n\r\n", 400, NULL},
	{"bare CR", "GET / HTTP/1.1\r\nHost: local\rhost\r\n\r\n", 400, NULL},
	{"folded header", "GET / HTTP/1.1\r\n" HOST "X-A: b\r\n c\r\n\r\n", 400, NULL},
	{"folded with a tab", "GET / HTTP/1.1\r\n" HOST "X-A: b\r\n\tc\r\n\r\n", 400, NULL},
	{"space before the first header", "GET / HTTP/1.1\r\n Host: localhost\r\n\r\n", 400, NULL},
	{"space before the colon", "GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", 400, NULL},
	{"tab before the colon", "GET / HTTP/1.1\r\n" HOST "X-A\t: b\r\n\r\n", 400, NULL},
	{"header without colon", "GET / HTTP/1.1\r\n" HOST "nonsense\r\n\r\n", 400, NULL},
	{"header without name", "GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n", 400, NULL},
	{"control byte in a value", "GET / HTTP/1.1\r\n" HOST "X-A: b\x01\r\n\r\n", 400, NULL},
	{"length and coding",
	 "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, NULL},
	{"two lengths", "POST / HTTP/1.1\r\n" HOST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400, NULL},
	{"length list", "POST / HTTP/1.1\r\n" HOST "Content-Length: 3, 3\r\n\r\nabc", 400, NULL},
	{"signed length", "POST / HTTP/1.1\r\n" HOST "Content-Length: +3\r\n\r\nabc", 400, NULL},
	{"hex length", "POST / HTTP/1.1\r\n" HOST "Content-Length: 0x3\r\n\r\nabc", 400, NULL},
	{"negative length", "POST / HTTP/1.1\r\n" HOST "Content-Length: -1\r\n\r\n", 400, NULL},
	{"empty length", "POST / HTTP/1.1\r\n" HOST "Content-Length: \r\n\r\n", 400, NULL},
	{"huge length", "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\n", 400, NULL},
	{"length over the limit", "POST / HTTP/1.1\r\n" HOST "Content-Length: 65\r\n\r\n", 413, NULL},
	{"chunks over the limit",
	 "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n41\r\n"
	 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n0\r\n\r\n",
	 413, NULL},
	{"unknown coding", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n", 501, NULL},
	{"coding list", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n", 501, NULL},
	{"two codings", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
	 400, NULL},
	{"coding with a tail", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\x0b\r\n\r\n", 400, NULL},
	{"chunk size without digits", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n\r\nab\r\n", 400,
	 NULL},
	{"chunk size with sign", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n+2\r\nab\r\n0\r\n\r\n",
	 400, NULL},
	{"chunk size with 0x", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0x2\r\nab\r\n0\r\n\r\n",
	 400, NULL},
	{"chunk size with bare LF", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\nab\r\n0\r\n\r\n",
	 400, NULL},
	{"chunk size too large", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
	 400, NULL},
	{"chunk longer than said", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n",
	 400, NULL},
	{"trailer", "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\nX-A: b\r\n\r\n", 400, NULL},
	{"no host", "GET / HTTP/1.1\r\nX-A: b\r\n\r\n", 400, "Host"},
	{"no headers", "GET / HTTP/1.1\r\n\r\n", 400, "Host"},
	{"two hosts", "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400, "Host"},
	{"empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400, "Host"},
	{"two sessions", "GET / HTTP/1.1\r\n" HOST "X-Sluice-Session: a\r\nX-Sluice-Session: b\r\n\r\n", 400, NULL},
	{"two credentials", "GET / HTTP/1.1\r\n" HOST "Authorization: a\r\nAuthorization: b\r\n\r\n", 400, NULL},
	{"absolute form", "GET http://localhost/ HTTP/1.1\r\n" HOST "\r\n", 400, NULL},
	{"authority form", "CONNECT localhost:80 HTTP/1.1\r\n" HOST "\r\n", 400, NULL},
	{"asterisk form", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n", 400, NULL},
	{"fragment", "GET /#a HTTP/1.1\r\n" HOST "\r\n", 400, NULL},
	{"byte above ASCII", "GET /\xc3\xa4 HTTP/1.1\r\n" HOST "\r\n", 400, NULL},
	{"two spaces", "GET  / HTTP/1.1\r\n" HOST "\r\n", 400, NULL},
	{"space in the target", "GET /a b HTTP/1.1\r\n" HOST "\r\n", 400, NULL},
	{"small letters", "get / HTTP/1.1\r\n" HOST "\r\n", 400, NULL},
	{"HTTP/0.9", "GET /\r\n", 400, NULL},
	{"HTTP/1.0", "GET / HTTP/1.0\r\n" HOST "\r\n", 505, NULL},
	{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, NULL},
	{"HTTP/2.0 with a path", "GET / HTTP/2.0\r\n" HOST "\r\n", 505, NULL},
	{"HTTP/1.10", "GET / HTTP/1.10\r\n" HOST "\r\n", 400, NULL},
	{"not HTTP", "hello\r\n", 400, NULL},
	{"TLS", "\x16\x03\x01", 400, NULL},
	{"unknown method", "BREW / HTTP/1.1\r\n" HOST "\r\n", 501, NULL},
	{"unknown expectation", "POST / HTTP/1.1\r\n" HOST "Expect: miracles\r\nContent-Length: 1\r\n\r\n", 417, NULL},
};

static void test_raw_requests_get_the_status_they_deserve(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(raw_cases); i++) {
		const struct raw_case *c = &raw_cases[i];
		size_t len = strlen(c->request);
		/* all at once, and byte by byte: the answer is the same */
		for (int pass = 0; pass < 2; pass++) {
			struct pipe pipe;
			pipe_open(&pipe, &echo, NULL, true);
			for (size_t at = 0; at < len; at += pass ? 1 : len)
				conn_feed(&pipe.conn, c->request + at, pass ? 1 : len);
			if (pipe_status(&pipe) != c->status)
				fail_msg("%s: %d instead of %d", c->name, pipe_status(&pipe), c->status);
			if (c->has && !strstr(buf_text(&pipe.sent), c->has))
				fail_msg("%s: no %s in %s", c->name, c->has, buf_text(&pipe.sent));
			/* what was not understood ends the connection, and says so */
			if (c->status != 200) {
				assert_true(pipe.shut);
				assert_int_equal(pipe.conn.state, CONN_DRAIN);
				assert_non_null(strstr(buf_text(&pipe.sent), "\r\nConnection: close\r\n"));
				assert_non_null(strstr(buf_text(&pipe.sent), "application/problem+json"));
				assert_int_equal(pipe_count(&pipe, "\r\nDate: "), 1);
			}
			pipe_close(&pipe);
		}
	}
}

static void test_nul_byte_is_refused(void **state)
{
	(void)state;
	static const char request[] = "GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n";
	struct pipe pipe;
	pipe_open(&pipe, &echo, NULL, true);
	conn_feed(&pipe.conn, request, sizeof(request) - 1);
	assert_int_equal(pipe_status(&pipe), 400);
	pipe_close(&pipe);
}

static void feed_text(struct pipe *pipe, const char *text)
{
	conn_feed(&pipe->conn, text, strlen(text));
}

static void test_long_head_is_refused_before_it_is_complete(void **state)
{
	(void)state;
	struct pipe pipe;
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "GET / HTTP/1.1\r\nX-A: ");
	for (int i = 0; i < LIMIT_HEAD_BYTES && !pipe.shut; i++)
		feed_text(&pipe, "a");
	assert_int_equal(pipe_status(&pipe), 431);
	pipe_close(&pipe);
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "GET / HTTP/1.1\r\n" HOST);
	for (int i = 0; i < PARSER_HEADERS_MAX; i++)
		feed_text(&pipe, "a: b\r\n");
	feed_text(&pipe, "\r\n");
	assert_int_equal(pipe_status(&pipe), 431);
	pipe_close(&pipe);
}

static void test_pipelined_requests_are_answered_in_order(void **state)
{
	(void)state;
	struct pipe pipe;
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe,
		  "GET /1 HTTP/1.1\r\n" HOST "\r\nPOST /2 HTTP/1.1\r\n" HOST
		  "Content-Length: 2\r\n\r\nabGET /3 HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"
		  "GET /4 HTTP/1.1\r\n" HOST "\r\n");
	const char *one = strstr(buf_text(&pipe.sent), "[GET /1 ]");
	const char *two = one ? strstr(one, "[POST /2 ab]") : NULL;
	assert_non_null(two ? strstr(two, "[GET /3 ]") : NULL);
	/* nothing after the one that said close */
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 3);
	assert_int_equal(pipe_count(&pipe, "Connection: close"), 1);
	assert_true(pipe.shut);
	pipe_close(&pipe);
}

static void test_pipelined_request_waits_for_a_slow_reader(void **state)
{
	(void)state;
	struct pipe pipe;
	pipe_open(&pipe, &echo, NULL, true);
	pipe.unsent = 1u << 20;
	feed_text(&pipe, "GET /1 HTTP/1.1\r\n" HOST "\r\nGET /2 HTTP/1.1\r\n" HOST "\r\n");
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 1);
	assert_false(pipe.reading);
	pipe.unsent = 0;
	conn_resume(&pipe.conn);
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 2);
	assert_true(pipe.reading);
	pipe_close(&pipe);
}

/* Calls the connection as often as it asks for it. */
static void pump(struct pipe *pipe)
{
	while (pipe->pumping) {
		pipe->pumping = false;
		conn_pump(&pipe->conn);
	}
}

static void feed_many(struct pipe *pipe, const char *target, int count)
{
	struct buf text = buf_make(BUF_UNLIMITED);
	for (int i = 0; i < count; i++)
		buf_addf(&text, "GET %s HTTP/1.1\r\n" HOST "\r\n", target);
	conn_feed(&pipe->conn, buf_text(&text), text.len);
	buf_free(&text);
}

static void test_many_pipelined_requests_do_not_hold_the_loop(void **state)
{
	struct pipe pipe;
	(void)state;
	pipe_open(&pipe, &echo, NULL, false);
	feed_many(&pipe, "/1", 100);
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 16);
	assert_true(pipe.pumping);
	assert_false(pipe.reading);
	assert_true(conn_held(&pipe.conn) > 0);
	pump(&pipe);
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 100);
	assert_true(pipe.reading);
	assert_int_equal(conn_held(&pipe.conn), 0);
	pipe_close(&pipe);
}

static void test_a_stranger_who_does_not_read_gets_one_answer(void **state)
{
	struct pipe pipe;
	(void)state;
	pipe_open(&pipe, &echo, NULL, false);
	pipe.unsent = 1;
	feed_many(&pipe, "/1", 3); /* signed in */
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 3);
	feed_many(&pipe, "/stranger", 3);
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 4);
	pump(&pipe);
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 4);
	pipe.unsent = 0;
	conn_resume(&pipe.conn);
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 6);
	pipe_close(&pipe);
}

static void test_what_a_half_sent_head_takes_is_counted(void **state)
{
	static const char half[] = "GET /1 HTTP/1.1\r\nX-A: aaaa";
	struct pipe pipe;
	(void)state;
	pipe_open(&pipe, &echo, NULL, false);
	conn_feed(&pipe.conn, half, sizeof(half) - 1);
	assert_int_equal(conn_held(&pipe.conn), sizeof(half) - 1);
	feed_text(&pipe, "\r\n" HOST "\r\n");
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 1);
	assert_int_equal(conn_held(&pipe.conn), 0);
	pipe_close(&pipe);
}

static void test_an_answer_in_pieces_is_whole_and_the_next_request_waits(void **state)
{
	static const char text[] = "GET /pieces HTTP/1.1\r\n" HOST "\r\nGET /next HTTP/1.1\r\n" HOST "\r\n";
	struct pipe pipe;
	(void)state;
	counts_freed = 0;
	pipe_open(&pipe, &echo, NULL, true);
	conn_feed(&pipe.conn, text, sizeof(text) - 1);
	assert_true(pipe.pumping);
	assert_false(pipe.reading);
	assert_int_equal(pipe_count(&pipe, "piece"), 0); /* not before the loop has turned */
	pump(&pipe);
	assert_non_null(strstr(buf_text(&pipe.sent), "Transfer-Encoding: chunked\r\n"));
	assert_non_null(
		strstr(buf_text(&pipe.sent), "\r\n\r\n9\r\n<piece 1>\r\n9\r\n<piece 3>\r\n0\r\n\r\nHTTP/1.1 200"));
	assert_int_equal(pipe_count(&pipe, "[GET /next ]"), 1);
	assert_true(pipe.reading);
	assert_int_equal(counts_freed, 1);
	pipe_close(&pipe);
}

static void test_an_answer_in_pieces_waits_for_a_slow_reader_and_may_be_left(void **state)
{
	static const char text[] = "GET /pieces HTTP/1.1\r\n" HOST "\r\n";
	struct pipe pipe;
	(void)state;
	counts_freed = 0;
	pipe_open(&pipe, &echo, NULL, true);
	conn_feed(&pipe.conn, text, sizeof(text) - 1);
	pipe.unsent = 1u << 20;
	pump(&pipe);
	assert_int_equal(pipe_count(&pipe, "piece"), 0);
	pipe.unsent = 0;
	conn_resume(&pipe.conn);
	assert_true(pipe.pumping);
	pipe.pumping = false;
	conn_pump(&pipe.conn);
	assert_int_equal(pipe_count(&pipe, "<piece 1>"), 1);
	conn_close(&pipe.conn);
	assert_int_equal(counts_freed, 1);
	pipe_close(&pipe);
}

static void test_an_answer_that_fails_in_its_first_piece_is_a_500(void **state)
{
	struct pipe pipe;
	(void)state;
	counts_freed = 0;
	broken_at = 1;
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "GET /broken HTTP/1.1\r\n" HOST "\r\nGET /next HTTP/1.1\r\n" HOST "\r\n");
	pump(&pipe);
	assert_int_equal(pipe_status(&pipe), 500);
	assert_int_equal(pipe_count(&pipe, "sluice doctor"), 1);
	assert_int_equal(pipe_count(&pipe, "piece"), 0);
	assert_int_equal(pipe_count(&pipe, "Content-Disposition"), 0);
	assert_int_equal(pipe_count(&pipe, "[GET /next ]"), 1);
	assert_int_equal(counts_freed, 1);
	assert_false(pipe.closed);
	pipe_close(&pipe);
}

static void test_an_answer_that_fails_later_is_cut_and_never_looks_whole(void **state)
{
	struct pipe pipe;
	(void)state;
	for (broken_at = 2; broken_at <= 3; broken_at++) {
		counts_freed = 0;
		pipe_open(&pipe, &echo, NULL, true);
		feed_text(&pipe, "GET /broken HTTP/1.1\r\n" HOST "\r\nGET /next HTTP/1.1\r\n" HOST "\r\n");
		pump(&pipe);
		assert_int_equal(pipe_status(&pipe), 200);
		assert_int_equal(pipe_count(&pipe, "<piece 1>"), 1);
		assert_int_equal(pipe_count(&pipe, "0\r\n\r\n"), 0);
		assert_int_equal(pipe_count(&pipe, "/next"), 0);
		assert_true(pipe.closed);
		assert_int_equal(counts_freed, 1);
		pipe_close(&pipe);
	}
}

static void test_an_answer_of_one_piece_has_a_length(void **state)
{
	struct pipe pipe;
	(void)state;
	counts_freed = 0;
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "GET /single HTTP/1.1\r\n" HOST "\r\n");
	pump(&pipe);
	assert_non_null(strstr(buf_text(&pipe.sent), "Content-Length: 11\r\n"));
	assert_non_null(strstr(buf_text(&pipe.sent), "\r\n\r\n<all of it>"));
	assert_int_equal(pipe_count(&pipe, "chunked"), 0);
	assert_int_equal(counts_freed, 1);
	pipe_close(&pipe);
}

static void test_an_answer_may_come_later_and_the_next_request_waits(void **state)
{
	(void)state;
	struct pipe pipe;
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "GET /later HTTP/1.1\r\n" HOST "\r\nGET /second HTTP/1.1\r\n" HOST "\r\n");
	feed_text(&pipe, "GET /third HTTP/1.1\r\n" HOST "\r\n");
	conn_tick(&pipe.conn, clock_mono_ms() + 100 * LIMIT_IDLE_MS); /* it may take as long as it takes */
	conn_resume(&pipe.conn);
	assert_false(pipe.closed);
	assert_int_equal(pipe.sent.len, 0);
	assert_true(pipe.reading); /* a peer that goes is noticed */
	later_response->body = buf_make(100);
	buf_add_text(&later_response->body, "[late]");
	later_request->respond(later_request);
	const char *first = strstr(buf_text(&pipe.sent), "[late]"),
		   *second = strstr(buf_text(&pipe.sent), "[GET /second ]");
	assert_true(first && second && first < second);
	assert_non_null(strstr(second, "[GET /third ]"));
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 3);
	assert_int_equal(laters_cancelled, 0);
	pipe_close(&pipe);
	assert_int_equal(laters_cancelled, 0);
}

static void test_a_peer_that_goes_before_its_answer_is_said_so_once(void **state)
{
	(void)state;
	struct pipe pipe;
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "GET /later HTTP/1.1\r\n" HOST "\r\n");
	conn_close(&pipe.conn);
	assert_int_equal(laters_cancelled, 1);
	pipe_close(&pipe);
	assert_int_equal(laters_cancelled, 1);
}

static void test_refused_request_with_a_body_ends_the_connection(void **state)
{
	(void)state;
	struct pipe pipe;
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "GET /refuse HTTP/1.1\r\n" HOST "\r\nGET /2 HTTP/1.1\r\n" HOST "\r\n");
	assert_int_equal(pipe_count(&pipe, "HTTP/1.1 200"), 1);
	feed_text(&pipe,
		  "POST /refuse HTTP/1.1\r\n" HOST "Content-Length: 40\r\n\r\nGET /smuggled HTTP/1.1\r\n" HOST "\r\n");
	assert_true(pipe.shut);
	assert_null(strstr(buf_text(&pipe.sent), "smuggled"));
	pipe_close(&pipe);
}

static void test_expect_continue_is_asked_for_only_when_welcome(void **state)
{
	(void)state;
	struct pipe pipe;
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "POST / HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	assert_string_equal(buf_text(&pipe.sent), "HTTP/1.1 100 Continue\r\n\r\n");
	feed_text(&pipe, "ab");
	assert_int_equal(pipe_count(&pipe, "[POST / ab]"), 1);
	pipe_close(&pipe);
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "POST /refuse HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	assert_int_equal(pipe_status(&pipe), 403);
	assert_int_equal(pipe_count(&pipe, "100 Continue"), 0);
	pipe_close(&pipe);
}

static void test_head_has_the_length_but_no_body(void **state)
{
	(void)state;
	struct pipe pipe;
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "HEAD / HTTP/1.1\r\n" HOST "\r\n");
	assert_non_null(strstr(buf_text(&pipe.sent), "Content-Length: 9\r\n"));
	assert_true(!strcmp(buf_text(&pipe.sent) + pipe.sent.len - 4, "\r\n\r\n"));
	pipe_close(&pipe);
}

static void test_every_answer_has_the_security_headers(void **state)
{
	(void)state;
	static const char *const requests[] = {"GET / HTTP/1.1\r\n" HOST "\r\n", "nonsense\r\n"};
	static const char *const lines[] = {
		("\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src "
		 "'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'\r\n"),
		"\r\nX-Content-Type-Options: nosniff\r\n",
		"\r\nReferrer-Policy: no-referrer\r\n",
		"\r\nCross-Origin-Opener-Policy: same-origin\r\n",
		"\r\nCross-Origin-Resource-Policy: same-origin\r\n",
		"\r\nCache-Control: no-store\r\n",
	};
	for (size_t i = 0; i < COUNT_OF(requests); i++) {
		struct pipe pipe;
		pipe_open(&pipe, &echo, NULL, true);
		feed_text(&pipe, requests[i]);
		for (size_t n = 0; n < COUNT_OF(lines); n++)
			if (!strstr(buf_text(&pipe.sent), lines[n]))
				fail_msg("no %s in %s", lines[n], buf_text(&pipe.sent));
		pipe_close(&pipe);
	}
}

static int64_t fake_ms;
static int64_t fake_clock(void)
{
	return fake_ms;
}

static void test_slow_peers_are_cut_off(void **state)
{
	(void)state;
	struct pipe pipe;
	fake_ms = 1000000;
	clock_replace(fake_clock);
	/* a head that drips in: every byte does not buy more time */
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "GET / HT");
	fake_ms += LIMIT_HEAD_MS - 1;
	conn_tick(&pipe.conn, fake_ms);
	assert_int_equal(pipe_status(&pipe), 0);
	feed_text(&pipe, "TP/1.1\r\n");
	fake_ms += 1;
	conn_tick(&pipe.conn, fake_ms);
	assert_int_equal(pipe_status(&pipe), 408);
	fake_ms += 5000;
	conn_tick(&pipe.conn, fake_ms);
	assert_true(pipe.closed);
	pipe_close(&pipe);
	/* a body that does not come */
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "POST / HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\nab");
	fake_ms += LIMIT_BODY_MS - 1;
	conn_tick(&pipe.conn, fake_ms);
	assert_int_equal(pipe_status(&pipe), 0);
	fake_ms += 1;
	conn_tick(&pipe.conn, fake_ms);
	assert_int_equal(pipe_status(&pipe), 408);
	pipe_close(&pipe);
	/* the same of who has not signed in: less patience */
	pipe_open(&pipe, &echo, NULL, false);
	feed_text(&pipe, "POST /stranger HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\nab");
	fake_ms += LIMIT_STRANGER_BODY_MS;
	conn_tick(&pipe.conn, fake_ms);
	assert_int_equal(pipe_status(&pipe), 408);
	pipe_close(&pipe);
	/* an idle connection is closed without a word */
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "GET / HTTP/1.1\r\n" HOST "\r\n");
	buf_clear(&pipe.sent);
	fake_ms += LIMIT_IDLE_MS;
	conn_tick(&pipe.conn, fake_ms);
	assert_true(pipe.closed);
	assert_int_equal(pipe.sent.len, 0);
	pipe_close(&pipe);
	clock_replace(NULL);
}

static void test_a_refused_peer_may_send_to_its_end(void **state)
{
	(void)state;
	struct pipe pipe;
	int64_t begin = fake_ms = 1000000;
	clock_replace(fake_clock);
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999\r\n\r\n");
	assert_int_equal(pipe_status(&pipe), 413);
	/* as long as it sends it is read, but not for ever */
	while (!pipe.closed && fake_ms < begin + 2 * LIMIT_IDLE_MS) {
		feed_text(&pipe, "more of it");
		fake_ms += 1500;
		conn_tick(&pipe.conn, fake_ms);
	}
	assert_in_range(fake_ms - begin, LIMIT_IDLE_MS, LIMIT_IDLE_MS + 1500);
	pipe_close(&pipe);
	/* when it has nothing more to say it goes soon */
	pipe_open(&pipe, &echo, NULL, true);
	feed_text(&pipe, "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999\r\n\r\n");
	feed_text(&pipe, "more of it");
	fake_ms += 2500;
	conn_tick(&pipe.conn, fake_ms);
	assert_true(pipe.closed);
	pipe_close(&pipe);
	clock_replace(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw_requests_get_the_status_they_deserve),
		cmocka_unit_test(test_nul_byte_is_refused),
		cmocka_unit_test(test_long_head_is_refused_before_it_is_complete),
		cmocka_unit_test(test_pipelined_requests_are_answered_in_order),
		cmocka_unit_test(test_pipelined_request_waits_for_a_slow_reader),
		cmocka_unit_test(test_many_pipelined_requests_do_not_hold_the_loop),
		cmocka_unit_test(test_a_stranger_who_does_not_read_gets_one_answer),
		cmocka_unit_test(test_what_a_half_sent_head_takes_is_counted),
		cmocka_unit_test(test_an_answer_in_pieces_is_whole_and_the_next_request_waits),
		cmocka_unit_test(test_an_answer_in_pieces_waits_for_a_slow_reader_and_may_be_left),
		cmocka_unit_test(test_an_answer_that_fails_in_its_first_piece_is_a_500),
		cmocka_unit_test(test_an_answer_that_fails_later_is_cut_and_never_looks_whole),
		cmocka_unit_test(test_an_answer_of_one_piece_has_a_length),
		cmocka_unit_test(test_an_answer_may_come_later_and_the_next_request_waits),
		cmocka_unit_test(test_a_peer_that_goes_before_its_answer_is_said_so_once),
		cmocka_unit_test(test_refused_request_with_a_body_ends_the_connection),
		cmocka_unit_test(test_expect_continue_is_asked_for_only_when_welcome),
		cmocka_unit_test(test_head_has_the_length_but_no_body),
		cmocka_unit_test(test_every_answer_has_the_security_headers),
		cmocka_unit_test(test_slow_peers_are_cut_off),
		cmocka_unit_test(test_a_refused_peer_may_send_to_its_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
