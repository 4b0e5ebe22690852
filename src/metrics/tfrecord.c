/* See tfrecord.h. Nothing is allocated because a length in the file says so: the buffer grows with the bytes that
 * really came, up to its limit. */
#include "metrics/tfrecord.h"

#include "base/limits.h"

/* CRC-32C four bits at a time: the table holds the sums of 0..15 under the reflected Castagnoli polynomial,
 * 0x82f63b78. Records of scalars have a hundred bytes, so a larger table would save nothing. */
static uint32_t tfrecord_crc(const char *data, size_t len)
{
	static const uint32_t table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};
	uint32_t crc = 0xffffffffu;

	for (size_t i = 0; i < len; i++) {
		crc ^= (unsigned char)data[i];
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return crc ^ 0xffffffffu;
}

uint32_t tfrecord_sum(const char *data, size_t len)
{
	uint32_t crc = tfrecord_crc(data, len);
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static uint64_t tfrecord_little(const char *data, size_t bytes)
{
	uint64_t value = 0;
	while (bytes--)
		value = value << 8 | (unsigned char)data[bytes];
	return value;
}

struct tfrecord tfrecord_make(void)
{
	return (struct tfrecord){.data = buf_make(LIMIT_TFRECORD_BYTES)};
}

static void tfrecord_next(struct tfrecord *record)
{
	record->head_len = record->tail_len = 0;
	record->taken = 0;
	buf_clear(&record->data);
	record->data.full = false;
}

/* Moves up to want - *have bytes into `to`. */
static void tfrecord_take(char *to, size_t *have, size_t want, const char **data, size_t *len)
{
	size_t n = want - *have < *len ? want - *have : *len;
	memcpy(to + *have, *data, n);
	*have += n;
	*data += n;
	*len -= n;
}

/* False when the length cannot be trusted. */
static bool tfrecord_take_head(struct tfrecord *record, const char **data, size_t *len)
{
	tfrecord_take(record->head, &record->head_len, sizeof(record->head), data, len);
	if (record->head_len < sizeof(record->head))
		return true;
	record->number++;
	record->size = tfrecord_little(record->head, 8);
	return tfrecord_little(record->head + 8, 4) == tfrecord_sum(record->head, 8);
}

static void tfrecord_take_data(struct tfrecord *record, const char **data, size_t *len)
{
	uint64_t left = record->size - record->taken;
	size_t n = left < *len ? (size_t)left : *len;
	size_t room = LIMIT_TFRECORD_BYTES - record->data.len;
	buf_add(&record->data, *data, n < room ? n : room);
	record->taken += n;
	*data += n;
	*len -= n;
}

static enum tfrecord_verdict tfrecord_judge(const struct tfrecord *record)
{
	if (record->size > LIMIT_TFRECORD_BYTES)
		return TFRECORD_LARGE;
	uint32_t sum = tfrecord_sum(buf_text(&record->data), record->data.len);
	return tfrecord_little(record->tail, 4) == sum ? TFRECORD_GOOD : TFRECORD_DAMAGED;
}

void tfrecord_feed(struct tfrecord *record, const char *data, size_t len, tfrecord_f give, void *ctx)
{
	while (len && !record->lost) {
		if (record->head_len < sizeof(record->head)) {
			record->lost = !tfrecord_take_head(record, &data, &len);
			if (record->lost)
				give(ctx, record->number, TFRECORD_LOST, "", 0, record->size);
			continue;
		}
		if (record->taken < record->size) {
			tfrecord_take_data(record, &data, &len);
			continue;
		}
		tfrecord_take(record->tail, &record->tail_len, sizeof(record->tail), &data, &len);
		if (record->tail_len < sizeof(record->tail))
			continue;
		give(ctx, record->number, tfrecord_judge(record), buf_text(&record->data), record->data.len,
		     record->size);
		tfrecord_next(record);
	}
}

void tfrecord_restart(struct tfrecord *record)
{
	tfrecord_next(record);
	record->number = 0;
	record->lost = false;
}

void tfrecord_free(struct tfrecord *record)
{
	buf_free(&record->data);
}
