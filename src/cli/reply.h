/* An incremental parser of HTTP/1.1 answers and of the event streams inside them. Pure: bytes go in,
 * a status and a body come out for any bytes. */
#ifndef CLI_REPLY_H
#define CLI_REPLY_H

#include "base/buf.h"
#include "base/error.h"

struct reply {
	int status; /* final once has_head is set */
	char content_type[64]; /* without parameters, lower case; "" where there is none */
	struct buf body; /* decoded; a reader of a stream may buf_consume it while it arrives */
	bool has_head, complete;
	int stage; /* what the next byte belongs to; see reply.c */
	uint64_t left; /* of the body or of the current chunk */
	bool chunked, has_length;
	struct buf line; /* of the head or of a chunk, while incomplete */
	size_t head_bytes;
};

/* A body that holds more than body_max unread bytes is refused. */
void reply_init(struct reply *reply, size_t body_max);
/* Takes the next bytes. 0, -EBADMSG when this is not an HTTP answer, -E2BIG when it is too large. After
 * `complete` further bytes are refused. */
int reply_feed(struct reply *reply, const char *data, size_t len, struct error *err) MUST_USE;
/* The peer closed. 0 when the answer is complete, else -EPIPE. */
int reply_close(struct reply *reply, struct error *err) MUST_USE;
void reply_free(struct reply *reply);

/* One event of a stream. The texts live until the next call of sse_next. */
struct sse_event {
	const char *name; /* "message" where the stream gives none */
	const char *data;
	size_t data_len;
};

struct sse {
	struct buf name, data, id;
	bool has_data, given;
};

void sse_init(struct sse *sse);
/* Takes whole lines off the front of `bytes`. True with an event; false when more bytes are needed.
 * sse_id is then the id to resume after this event. */
bool sse_next(struct sse *sse, struct buf *bytes, struct sse_event *ret);
const char *sse_id(const struct sse *sse); /* "" before the first */
void sse_free(struct sse *sse);

#endif
