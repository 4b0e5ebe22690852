/* The reader of printed output against any bytes: the first byte says in which pieces they arrive, which must not matter.
 * Names must be fit to be kept, and no row may be empty. */
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "metrics/metrics.h"

#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct tally {
	size_t rows;
	uLong sum;
};

static void row(void *ctx, const struct metrics_row *given)
{
	struct tally *tally = ctx;
	if (!given->step_name || !given->count || given->count > LIMIT_METRIC_COLUMNS)
		abort();
	for (size_t i = 0; i < given->count; i++) {
		size_t len = strlen(given->metrics[i].name);
		if (!len || len > LIMIT_METRIC_NAME_BYTES || text_utf8_check(given->metrics[i].name, len) != len)
			abort();
		tally->sum = crc32(tally->sum, (const unsigned char *)given->metrics[i].name, (unsigned)len);
		tally->sum = crc32(tally->sum, (const unsigned char *)&given->metrics[i].value, sizeof(double));
	}
	tally->rows++;
	tally->sum = crc32(tally->sum, (const unsigned char *)&given->step, sizeof(given->step));
}

static struct tally read_pieces(const char *text, size_t len, size_t piece)
{
	struct tally tally = {0};
	struct metrics_reader *reader = metrics_open(metrics_format_printed(), row, &tally);
	for (size_t at = 0; at < len; at += piece)
		metrics_feed(reader, text + at, piece < len - at ? piece : len - at);
	metrics_finish(reader);
	metrics_free(reader);
	return tally;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	char *text = mem_copy(data + 1, size - 1);
	struct tally whole = read_pieces(text, size - 1, size), pieces = read_pieces(text, size - 1, data[0] + 1u);
	if (whole.rows != pieces.rows || whole.sum != pieces.sum)
		abort();
	free(text);
	return 0;
}
