/* JSON files of metrics against any bytes: the first byte says where the file is cut. Steps must
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

static void add_row(void *ctx, const struct metrics_row *row)
{
	struct tally *tally = ctx;
	if (!row->step_name || !row->count || row->count > LIMIT_METRIC_COLUMNS ||
	    (tally->any && row->step < tally->last))
		abort();
	for (size_t i = 0; i < row->count; i++) {
		const char *name = row->metrics[i].name;
		size_t len = strlen(name);
		if (!len || len > LIMIT_METRIC_NAME_BYTES || text_utf8_check(name, len) != len)
			abort();
		tally->sum = crc32(tally->sum, (const unsigned char *)name, (unsigned)len);
	}
	tally->any = true;
	tally->last = row->step;
	tally->rows++;
	tally->sum = crc32(tally->sum, (const unsigned char *)&row->step, sizeof(row->step));
}

static struct tally read_pieces(const struct metrics_format *format, const char *text, size_t len, size_t piece)
{
	struct tally tally = {0};
	struct metrics_reader *reader = metrics_open(format, add_row, &tally);
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
	const struct metrics_format *format = metrics_format_for("x.json", NULL, 0);
	size_t piece = (data[0] >> 1) + 1u;
	char *text = mem_copy(data + 1, size - 1);
	struct tally whole = read_pieces(format, text, size - 1, size);
	struct tally pieces = read_pieces(format, text, size - 1, piece);
	if (whole.rows != pieces.rows || whole.sum != pieces.sum)
		abort();
	free(text);
	return 0;
}
