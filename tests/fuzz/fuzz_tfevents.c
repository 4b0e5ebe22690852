/* TensorBoard's event files against any bytes. The first byte says in which pieces they arrive, which must not matter.
 * Sums keep a fuzzer out, so the bytes are also read as one event. */
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "metrics/metrics.h"
#include "metrics/tfmessage.h"
#include "metrics/tfrecord.h"

#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tally {
	size_t rows;
	uLong sum;
};

static void row(void *ctx, const struct metrics_row *given)
{
	struct tally *tally = ctx;
	size_t len = strlen(given->metrics[0].name);
	if (given->count != 1 || !len || len > LIMIT_METRIC_NAME_BYTES ||
	    text_utf8_check(given->metrics[0].name, len) != len)
		abort();
	tally->rows++;
	tally->sum = crc32(tally->sum, (const unsigned char *)&given->step, sizeof(given->step));
	tally->sum = crc32(tally->sum, (const unsigned char *)given->metrics[0].name, (unsigned)len);
}

static struct tally read_pieces(const char *data, size_t len, size_t piece)
{
	struct tally tally = {0};
	struct metrics_reader *reader = metrics_open(metrics_format_for("tfevents", NULL, 0), row, &tally);
	for (size_t at = 0; at < len; at += piece)
		metrics_feed(reader, data + at, piece < len - at ? piece : len - at);
	metrics_finish(reader);
	const char *complaint = metrics_complaint(reader);
	if (complaint && !*complaint)
		abort();
	metrics_free(reader);
	return tally;
}

static void value(void *ctx, const struct tfmessage_value *given)
{
	struct tally *tally = ctx;
	if (!given->tag_len || given->tag_len > LIMIT_TFRECORD_BYTES)
		abort();
	tally->sum = crc32(tally->sum, (const unsigned char *)given->tag, (unsigned)given->tag_len);
}

/* The bytes as a record with good sums, so that the fuzzer reaches what is behind them. */
static void read_as_record(const char *data, size_t len)
{
	char head[12], tail[4];
	uint64_t size = len;
	memcpy(head, &size, 8);
	uint32_t sum = tfrecord_sum(head, 8);
	memcpy(head + 8, &sum, 4);
	sum = tfrecord_sum(data, len);
	memcpy(tail, &sum, 4);
	struct tally tally = {0};
	struct metrics_reader *reader = metrics_open(metrics_format_for("tfevents", NULL, 0), row, &tally);
	metrics_feed(reader, head, sizeof(head));
	metrics_feed(reader, data, len);
	metrics_feed(reader, tail, sizeof(tail));
	metrics_finish(reader);
	metrics_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally tally = {0};
	if (!size)
		return 0;
	char *copy = mem_copy(data + 1, size - 1);
	struct tally whole = read_pieces(copy, size - 1, size), pieces = read_pieces(copy, size - 1, data[0] + 1u);
	if (whole.rows != pieces.rows || whole.sum != pieces.sum)
		abort();
	tfmessage_read(copy, size - 1, value, &tally);
	tfmessage_is_summary(copy, size - 1);
	read_as_record(copy, size - 1);
	free(copy);
	return 0;
}
