/* The metric readers against any bytes: the first byte picks the format and where the file is cut. Steps must
 * not go backwards, and the pieces in which a file arrives must not matter. */
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "metrics/metrics.h"

#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tally {
	bool any;
	int64_t last;
	size_t rows;
	uLong sum;
};

static void row(void *ctx, int64_t step, const char *step_name, const struct metric *metrics, size_t count)
{
	struct tally *tally = ctx;
	if (!step_name || !count || count > LIMIT_METRIC_COLUMNS || (tally->any && step < tally->last))
		abort();
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(metrics[i].name);
		if (!len || len > LIMIT_METRIC_NAME_BYTES || text_utf8_check(metrics[i].name, len) != len)
			abort();
		tally->sum = crc32(tally->sum, (const unsigned char *)metrics[i].name, (unsigned)len);
	}
	tally->any = true;
	tally->last = step;
	tally->rows++;
	tally->sum = crc32(tally->sum, (const unsigned char *)&step, sizeof(step));
}

static struct tally read_pieces(const struct metrics_format *format, const char *text, size_t len, size_t piece)
{
	struct tally tally = {0};
	struct metrics_reader *reader = metrics_open(format, row, &tally);
	for (size_t at = 0; at < len; at += piece)
		metrics_feed(reader, text + at, piece < len - at ? piece : len - at);
	metrics_finish(reader);
	const char *complaint = metrics_complaint(reader);
	if (complaint && !*complaint)
		abort();
	metrics_free(reader);
	return tally;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	const struct metrics_format *format = &metrics_formats[data[0] & 1];
	size_t piece = (data[0] >> 1) + 1u;
	char *text = mem_copy(data + 1, size - 1);
	struct tally whole = read_pieces(format, text, size - 1, size);
	struct tally pieces = read_pieces(format, text, size - 1, piece);
	if (whole.rows != pieces.rows || whole.sum != pieces.sum)
		abort();
	free(text);
	return 0;
}
