/* A growing buffer with a maximum: see buf.h. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

char *buf_reserve(struct buf *buf, size_t len)
{
	if (len > buf->max || buf->len > buf->max - len) {
		buf->full = true;
		return NULL;
	}
	size_t need = buf->len + len + 1;
	if (need > buf->cap) {
		size_t cap = buf->cap ? buf->cap : 64;
		while (cap < need)
			cap *= 2;
		buf->data = mem_resize(buf->data, cap, 1);
		buf->cap = cap;
	}
	return buf->data + buf->len;
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
	char *to = buf_reserve(buf, len);
	if (!to)
		return;
	if (len)
		memcpy(to, data, len);
	buf->len += len;
	buf->data[buf->len] = 0;
}

void buf_add_text(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_add_char(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_addf(struct buf *buf, const char *fmt, ...)
{
	va_list args;
	size_t space = buf->cap - buf->len;
	va_start(args, fmt);
	int len = vsnprintf(space ? buf->data + buf->len : NULL, space, fmt, args);
	va_end(args);
	char *to = buf_reserve(buf, len > 0 ? (size_t)len : 0);
	if (to && (size_t)len >= space) { /* it was cut */
		va_start(args, fmt);
		vsnprintf(to, (size_t)len + 1, fmt, args);
		va_end(args);
	}
	if (to)
		buf->len += (size_t)len;
	else if (space)
		buf->data[buf->len] = 0;
}

void buf_consume(struct buf *buf, size_t len)
{
	if (len > buf->len)
		len = buf->len;
	if (!len)
		return;
	memmove(buf->data, buf->data + len, buf->len - len + 1);
	buf->len -= len;
}

const char *buf_text(const struct buf *buf)
{
	return buf->len ? buf->data : "";
}

char *buf_take(struct buf *buf)
{
	char *text = buf->data ? buf->data : mem_copy("", 0);
	text[buf->len] = 0;
	*buf = buf_make(buf->max);
	return text;
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->full = false;
	if (buf->data)
		buf->data[0] = 0;
}

void buf_free(struct buf *buf)
{
	free(buf->data);
	*buf = buf_make(buf->max);
}
