/* The framing of TensorBoard's event files: a length, its checksum, the bytes, their checksum, repeated. Sums are
 * CRC-32C (RFC 3720, appendix B.4), rotated and with a constant added. Bytes may arrive in any pieces. */
#ifndef METRICS_TFRECORD_H
#define METRICS_TFRECORD_H

#include "base/buf.h"

enum tfrecord_verdict {
	TFRECORD_GOOD,
	TFRECORD_LARGE, /* more than LIMIT_TFRECORD_BYTES: data and len are its beginning, and its sum is not known */
	TFRECORD_DAMAGED, /* the sum does not fit the bytes: they must not be used */
	TFRECORD_LOST, /* the sum does not fit the length: where the next record begins is not known; nothing follows */
};

/* `number` counts from 1; `size` is the length that the file gives. */
typedef void (*tfrecord_f)(void *ctx, uint64_t number, enum tfrecord_verdict verdict, const char *data, size_t len,
			   uint64_t size);

struct tfrecord {
	char head[12], tail[4];
	size_t head_len, tail_len;
	uint64_t size, taken; /* of the bytes of this record */
	struct buf data;
	uint64_t number;
	bool lost;
};

struct tfrecord tfrecord_make(void);
void tfrecord_feed(struct tfrecord *record, const char *data, size_t len, tfrecord_f give, void *ctx);
/* The file was replaced: starts from the beginning. */
void tfrecord_restart(struct tfrecord *record);
void tfrecord_free(struct tfrecord *record);

/* CRC-32C of `len` bytes, as TensorBoard writes it. */
uint32_t tfrecord_sum(const char *data, size_t len);

#endif
