/* Shared bytes: see blob.h. One thread, so a plain counter. */
#include "http/blob.h"

struct blob *blob_borrow(const void *data, size_t len)
{
	struct blob *blob = mem_alloc(sizeof(*blob));
	*blob = (struct blob){.refs = 1, .data = data, .len = len};
	return blob;
}

struct blob *blob_take(struct buf *buf)
{
	size_t len = buf->len;
	char *data = buf_take(buf);
	struct blob *blob = blob_borrow(data, len);
	blob->owned = data;
	return blob;
}

struct blob *blob_ref(struct blob *blob)
{
	blob->refs++;
	return blob;
}

void blob_unref(struct blob *blob)
{
	if (!blob || --blob->refs)
		return;
	free(blob->owned);
	free(blob);
}
