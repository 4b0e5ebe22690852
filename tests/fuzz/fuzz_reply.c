/* What answers on the daemon's socket may be anything: the parser must survive any bytes, in any pieces, and
 * come to the same end however they are cut. The first byte is the size of the pieces. */
#include "cli/reply.h"

#include <stdint.h>

static int reply_run(const char *data, size_t len, size_t step, struct buf *body, struct buf *events)
{
	struct reply reply;
	struct sse sse;
	struct sse_event event;
	int rc = 0;
	reply_init(&reply, 1 << 20);
	sse_init(&sse);
	for (size_t at = 0; rc == 0 && at < len; at += step)
		rc = reply_feed(&reply, data + at, len - at < step ? len - at : step, NULL);
	if (rc == 0)
		rc = reply_close(&reply, NULL);
	if (rc == 0) {
		buf_add(body, buf_text(&reply.body), reply.body.len);
		while (sse_next(&sse, &reply.body, &event))
			buf_addf(events, "%s %zu\n", event.name, event.data_len);
	}
	sse_free(&sse);
	reply_free(&reply);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = buf_make(1 << 21), cut = buf_make(1 << 21), events = buf_make(1 << 21);
	if (!size)
		return 0;
	const char *text = (const char *)data + 1;
	int first = reply_run(text, size - 1, size, &whole, &events);
	int second = reply_run(text, size - 1, (size_t)data[0] + 1, &cut, &events);
	if (first != second || whole.len != cut.len || memcmp(buf_text(&whole), buf_text(&cut), whole.len) != 0)
		abort();
	buf_free(&whole);
	buf_free(&cut);
	buf_free(&events);
	return 0;
}
