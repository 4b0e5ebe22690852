/* HTTP/1.1 answers and event streams, parsed as they come: see reply.h. The daemon is ours, but what
 * answers on a socket may be anything, so every field is bounded. */
#include "cli/reply.h"

#include "base/limits.h"
#include "base/num.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>

enum {
	STAGE_STATUS,
	STAGE_HEADER,
	STAGE_LENGTH, /* a body of known length */
	STAGE_UNTIL_CLOSE,
	STAGE_CHUNK_SIZE,
	STAGE_CHUNK_DATA,
	STAGE_CHUNK_END, /* the line break behind a chunk */
	STAGE_TRAILER,
	STAGE_COMPLETE,
};

void reply_init(struct reply *reply, size_t body_max)
{
	*reply = (struct reply){
		.body = buf_make(body_max),
		.line = buf_make(LIMIT_HEAD_BYTES),
	};
}

void reply_free(struct reply *reply)
{
	buf_free(&reply->body);
	buf_free(&reply->line);
}

static int reply_bad(struct error *err, const char *what)
{
	return errorf(err, -EBADMSG, "the program that answers on the socket does not speak HTTP: %s", what);
}

static int reply_parse_status(struct reply *reply, struct error *err)
{
	const char *line = buf_text(&reply->line);
	uint64_t status;
	if (reply->line.len < 12 || strncmp(line, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)line[7]) ||
	    line[8] != ' ' || num_parse_unsigned(line + 9, 3, 599, &status) < 0 || status < 100 ||
	    (line[12] && line[12] != ' '))
		return reply_bad(err, "the first line is not a status");
	reply->status = (int)status;
	reply->stage = STAGE_HEADER;
	return 0;
}

static void reply_keep_type(struct reply *reply, const char *value)
{
	size_t len = strcspn(value, "; \t");
	if (len >= sizeof(reply->content_type))
		len = sizeof(reply->content_type) - 1;
	for (size_t i = 0; i < len; i++)
		reply->content_type[i] = (char)tolower((unsigned char)value[i]);
	reply->content_type[len] = 0;
}

static void reply_begin_body(struct reply *reply)
{
	if (reply->status < 200) { /* an interim answer: the real one follows */
		size_t body_max = reply->body.max, head_bytes = reply->head_bytes;
		reply_free(reply);
		reply_init(reply, body_max);
		reply->head_bytes = head_bytes;
		return;
	}
	reply->has_head = true;
	if (reply->status == 204 || reply->status == 304 || (!reply->chunked && reply->has_length && !reply->left))
		reply->stage = STAGE_COMPLETE;
	else if (reply->chunked)
		reply->stage = STAGE_CHUNK_SIZE;
	else
		reply->stage = reply->has_length ? STAGE_LENGTH : STAGE_UNTIL_CLOSE;
}

static int reply_parse_header(struct reply *reply, struct error *err)
{
	const char *line = buf_text(&reply->line), *value = strchr(line, ':');
	if (!reply->line.len) {
		reply_begin_body(reply);
		return 0;
	}
	if (!value || value == line || strlen(line) != reply->line.len)
		return reply_bad(err, "a header without a name");
	size_t name = (size_t)(value - line);
	value += 1 + strspn(value + 1, " \t");
	size_t len = strlen(value);
	while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
		len--;

	if (name == 14 && strncasecmp(line, "content-length", name) == 0) {
		uint64_t length;
		if (num_parse_unsigned(value, len, BUF_UNLIMITED, &length) < 0 ||
		    (reply->has_length && length != reply->left))
			return reply_bad(err, "the content length is not a number");
		reply->has_length = true;
		reply->left = length;
	} else if (name == 17 && strncasecmp(line, "transfer-encoding", name) == 0) {
		if (len != 7 || strncasecmp(value, "chunked", 7) != 0)
			return reply_bad(err, "an unknown transfer encoding");
		reply->chunked = true;
	} else if (name == 12 && strncasecmp(line, "content-type", name) == 0) {
		reply_keep_type(reply, value);
	}
	return 0;
}

static int reply_parse_chunk_size(struct reply *reply, struct error *err)
{
	const char *line = buf_text(&reply->line);
	uint64_t size = 0;
	size_t digits = 0;
	for (int digit; (digit = text_hex_digit(line[digits])) >= 0; digits++) {
		if (digits == 10)
			return reply_bad(err, "a chunk of impossible size");
		size = size * 16 + (uint64_t)digit;
	}
	if (!digits || !strchr("; \t", line[digits]))
		return reply_bad(err, "a chunk without a size");
	reply->left = size;
	reply->stage = size ? STAGE_CHUNK_DATA : STAGE_TRAILER;
	return 0;
}

static int reply_parse_line(struct reply *reply, struct error *err)
{
	switch (reply->stage) {
	case STAGE_STATUS: return reply_parse_status(reply, err);
	case STAGE_HEADER: return reply_parse_header(reply, err);
	case STAGE_CHUNK_SIZE: return reply_parse_chunk_size(reply, err);
	case STAGE_CHUNK_END:
		if (reply->line.len)
			return reply_bad(err, "a chunk longer than its size");
		reply->stage = STAGE_CHUNK_SIZE;
		return 0;
	default:
		if (!reply->line.len)
			reply->stage = STAGE_COMPLETE;
		return 0;
	}
}

/* Takes bytes up to the end of the current line. */
static int reply_feed_line(struct reply *reply, const char **data, size_t *len, struct error *err)
{
	const char *end = memchr(*data, '\n', *len);
	size_t n = end ? (size_t)(end - *data) : *len;
	buf_add(&reply->line, *data, n);
	n += end ? 1 : 0;
	*data += n;
	*len -= n;
	if (reply->stage == STAGE_STATUS || reply->stage == STAGE_HEADER || reply->stage == STAGE_TRAILER)
		reply->head_bytes += n;
	if (reply->line.full || reply->head_bytes > LIMIT_HEAD_BYTES)
		return errorf(err, -E2BIG, "the head of the answer is longer than %u bytes", LIMIT_HEAD_BYTES);
	if (!end)
		return 0;
	if (reply->line.len && reply->line.data[reply->line.len - 1] == '\r')
		reply->line.data[--reply->line.len] = 0;
	int rc = reply_parse_line(reply, err);
	buf_clear(&reply->line);
	return rc;
}

static int reply_feed_body(struct reply *reply, const char **data, size_t *len, struct error *err)
{
	size_t n = *len;
	if (reply->stage != STAGE_UNTIL_CLOSE && n > reply->left)
		n = (size_t)reply->left;
	buf_add(&reply->body, *data, n);
	if (reply->body.full)
		return errorf(err, -E2BIG, "the answer is longer than %zu bytes", reply->body.max);
	*data += n;
	*len -= n;
	if (reply->stage == STAGE_UNTIL_CLOSE)
		return 0;
	reply->left -= n;
	if (!reply->left)
		reply->stage = reply->stage == STAGE_LENGTH ? STAGE_COMPLETE : STAGE_CHUNK_END;
	return 0;
}

int reply_feed(struct reply *reply, const char *data, size_t len, struct error *err)
{
	while (len) {
		int rc;
		if (reply->stage == STAGE_COMPLETE)
			return reply_bad(err, "bytes after the end of the answer");
		if (reply->stage == STAGE_LENGTH || reply->stage == STAGE_UNTIL_CLOSE ||
		    reply->stage == STAGE_CHUNK_DATA)
			rc = reply_feed_body(reply, &data, &len, err);
		else
			rc = reply_feed_line(reply, &data, &len, err);
		if (rc < 0)
			return rc;
	}
	reply->complete = reply->stage == STAGE_COMPLETE;
	return 0;
}

int reply_close(struct reply *reply, struct error *err)
{
	if (reply->stage == STAGE_UNTIL_CLOSE)
		reply->stage = STAGE_COMPLETE;
	reply->complete = reply->stage == STAGE_COMPLETE;
	return reply->complete ? 0 : errorf(err, -EPIPE, "the daemon closed the connection in the middle of an answer");
}

void sse_init(struct sse *sse)
{
	*sse = (struct sse){
		.name = buf_make(128),
		.data = buf_make(LIMIT_STREAM_BYTES),
		.id = buf_make(256),
	};
}

void sse_free(struct sse *sse)
{
	buf_free(&sse->name);
	buf_free(&sse->data);
	buf_free(&sse->id);
}

const char *sse_id(const struct sse *sse)
{
	return buf_text(&sse->id);
}

static void sse_take_field(struct sse *sse, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	size_t name = colon ? (size_t)(colon - line) : len;
	const char *value = colon ? colon + 1 : line + len;
	size_t value_len = (size_t)(line + len - value);
	if (value_len && *value == ' ') {
		value++;
		value_len--;
	}
	if (name == 4 && memcmp(line, "data", 4) == 0) {
		if (sse->has_data)
			buf_add_char(&sse->data, '\n');
		buf_add(&sse->data, value, value_len);
		sse->has_data = true;
	} else if (name == 5 && memcmp(line, "event", 5) == 0) {
		buf_clear(&sse->name);
		buf_add(&sse->name, value, value_len);
	} else if (name == 2 && memcmp(line, "id", 2) == 0 && !memchr(value, 0, value_len)) {
		buf_clear(&sse->id);
		buf_add(&sse->id, value, value_len);
	}
}

bool sse_next(struct sse *sse, struct buf *bytes, struct sse_event *ret)
{
	const char *text = buf_text(bytes), *end;
	size_t at = 0;
	bool found = false;
	while (!found && (end = memchr(text + at, '\n', bytes->len - at))) {
		if (sse->given) {
			buf_clear(&sse->name);
			buf_clear(&sse->data);
			sse->given = sse->has_data = false;
		}
		size_t len = (size_t)(end - text) - at, whole = len + 1;
		if (len && text[at + len - 1] == '\r')
			len--;
		if (len)
			sse_take_field(sse, text + at, len);
		at += whole;
		if (len)
			continue;
		sse->given = true;
		found = sse->has_data && !sse->data.full;
	}
	buf_consume(bytes, at);
	if (found)
		*ret = (struct sse_event){
			.name = sse->name.len ? buf_text(&sse->name) : "message",
			.data = buf_text(&sse->data),
			.data_len = sse->data.len,
		};
	return found;
}
