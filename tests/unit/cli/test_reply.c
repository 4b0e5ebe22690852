/* The HTTP answers and event streams that the command line reads: whole, in pieces, and hostile. */
#include "cli/reply.h"

#include "../unit.h"

#include <errno.h>

/* Feeds the text in pieces of `step` bytes; closes at the end when asked to. */
static int feed(struct reply *reply, const char *text, size_t len, size_t step, bool close)
{
	struct error err;
	int rc = 0;
	for (size_t at = 0; rc == 0 && at < len; at += step)
		rc = reply_feed(reply, text + at, len - at < step ? len - at : step, &err);
	if (rc == 0 && close)
		rc = reply_close(reply, &err);
	return rc;
}

static void assert_reply(const char *text, int status, const char *type, const char *body, bool close)
{
	for (size_t step = 1; step <= strlen(text); step++) {
		struct reply reply;
		reply_init(&reply, 1000);
		assert_int_equal(feed(&reply, text, strlen(text), step, close), 0);
		assert_true(reply.complete);
		assert_true(reply.has_head);
		assert_int_equal(reply.status, status);
		assert_string_equal(reply.content_type, type);
		assert_string_equal(buf_text(&reply.body), body);
		reply_free(&reply);
	}
}

static void answers_are_the_same_in_any_pieces(void **state)
{
	(void)state;
	assert_reply(
		"HTTP/1.1 200 OK\r\nContent-Type: Application/JSON; charset=utf-8\r\nContent-Length: 5\r\n\r\nhello",
		200, "application/json", "hello", false);
	assert_reply("HTTP/1.1 204 No Content\r\n\r\n", 204, "", "", false);
	assert_reply("HTTP/1.0 404\r\ncontent-length:\t0 \r\n\r\n", 404, "", "", false);
	assert_reply("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n", 200,
		     "", "abcdefg", false);
	assert_reply("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
		     200, "", "0123456789", false);
	assert_reply("HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, "", "until the end", true);
	assert_reply("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok", 201, "", "ok",
		     false);
	assert_reply("HTTP/1.1 200 OK\nContent-Length: 1\n\nx", 200, "", "x", false);
}

static void a_cut_answer_is_not_taken_for_a_whole_one(void **state)
{
	(void)state;
	static const char *const cut[] = {
		"",
		"HTTP/1.1 200 OK\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
	};
	for (size_t i = 0; i < COUNT_OF(cut); i++) {
		struct reply reply;
		reply_init(&reply, 1000);
		assert_int_equal(feed(&reply, cut[i], strlen(cut[i]), 7, true), -EPIPE);
		reply_free(&reply);
	}
}

static void what_is_not_http_is_refused(void **state)
{
	(void)state;
	static const char *const hostile[] = {
		"SSH-2.0-OpenSSH_9.2\r\n",
		"HTTP/2 200\r\n",
		"HTTP/1.1 99 x\r\n",
		"HTTP/1.1 600 x\r\n",
		"HTTP/1.1 20 x\r\n",
		"HTTP/1.1 2000 x\r\n",
		"HTTP/1.x 200 x\r\n",
		"\r\n",
		"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
		"HTTP/1.1 200 OK\r\n: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
		"HTTP/1.1 204 x\r\n\r\nmore",
	};
	for (size_t i = 0; i < COUNT_OF(hostile); i++) {
		struct reply reply;
		reply_init(&reply, 1000);
		if (feed(&reply, hostile[i], strlen(hostile[i]), 3, false) != -EBADMSG)
			fail_msg("taken: %s", hostile[i]);
		reply_free(&reply);
	}
}

static void endless_answers_are_cut_off(void **state)
{
	(void)state;
	struct reply reply;
	struct error err;
	int rc = 0;
	reply_init(&reply, 1000);
	for (int i = 0; rc == 0 && i < 100000; i++)
		rc = reply_feed(&reply, "xxxxxxxxxxxxxxxx", 16, &err);
	assert_int_equal(rc, -E2BIG);
	reply_free(&reply);

	reply_init(&reply, 1000);
	assert_int_equal(reply_feed(&reply, "HTTP/1.1 200 OK\r\n", 17, &err), 0);
	for (rc = 0; rc == 0;)
		rc = reply_feed(&reply, "A: b\r\n", 6, &err);
	assert_int_equal(rc, -E2BIG);
	reply_free(&reply);

	reply_init(&reply, 1000); /* interim answers without end */
	for (rc = 0; rc == 0;)
		rc = reply_feed(&reply, "HTTP/1.1 100 x\r\n\r\n", 18, &err);
	assert_int_equal(rc, -E2BIG);
	reply_free(&reply);

	reply_init(&reply, 10);
	assert_int_equal(feed(&reply, "HTTP/1.1 200 OK\r\n\r\n01234567890", 30, 30, false), -E2BIG);
	reply_free(&reply);
}

static void events_are_the_same_in_any_pieces(void **state)
{
	(void)state;
	static const char text[] =
		": ping\n\nid: B-1\nevent: task\ndata: {\"a\":1}\n\ndata:x\r\ndata: y\r\n\r\nevent: empty\n\n"
		"id: B-2\nevent: metrics\ndata: z\n\ndata: unfinished\n";
	for (size_t step = 1; step < sizeof(text); step++) {
		struct sse sse;
		struct buf bytes = buf_make(10000), seen = buf_make(10000);
		struct sse_event event;
		sse_init(&sse);
		for (size_t at = 0; at < sizeof(text) - 1; at += step) {
			buf_add(&bytes, text + at, sizeof(text) - 1 - at < step ? sizeof(text) - 1 - at : step);
			while (sse_next(&sse, &bytes, &event))
				buf_addf(&seen, "%s=%s@%s;", event.name, event.data, sse_id(&sse));
		}
		assert_string_equal(buf_text(&seen), "task={\"a\":1}@B-1;message=x\ny@B-1;metrics=z@B-2;");
		buf_free(&bytes);
		buf_free(&seen);
		sse_free(&sse);
	}
}

static void an_event_that_is_too_long_is_dropped_and_the_next_is_read(void **state)
{
	(void)state;
	struct sse sse;
	struct buf bytes = buf_make(BUF_UNLIMITED);
	struct sse_event event;
	sse_init(&sse);
	for (int i = 0; i < 3000; i++)
		buf_addf(&bytes, "data: %01000d\n", i);
	buf_add_text(&bytes, "\nevent: next\ndata: ok\n\n");
	assert_true(sse_next(&sse, &bytes, &event));
	assert_string_equal(event.name, "next");
	assert_string_equal(event.data, "ok");
	assert_false(sse_next(&sse, &bytes, &event));
	buf_free(&bytes);
	sse_free(&sse);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_the_same_in_any_pieces),
		cmocka_unit_test(a_cut_answer_is_not_taken_for_a_whole_one),
		cmocka_unit_test(what_is_not_http_is_refused),
		cmocka_unit_test(endless_answers_are_cut_off),
		cmocka_unit_test(events_are_the_same_in_any_pieces),
		cmocka_unit_test(an_event_that_is_too_long_is_dropped_and_the_next_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
