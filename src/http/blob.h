/* Bytes that several writers share: an event goes to a thousand streams, a rendered list to every page
 * that asks, without a copy. */
#ifndef HTTP_BLOB_H
#define HTTP_BLOB_H

#include "base/buf.h"

struct blob {
	unsigned refs;
	const char *data;
	size_t len;
	char *owned; /* freed with the blob; NULL: the bytes belong to the program */
};

/* Each comes with one reference. */
/* Takes the buffer's bytes; the buffer is empty afterwards. */
struct blob *blob_take(struct buf *buf);
/* Uses bytes that live longer than every blob. */
struct blob *blob_borrow(const void *data, size_t len);
struct blob *blob_ref(struct blob *blob);
/* NULL is fine. */
void blob_unref(struct blob *blob);

#endif
