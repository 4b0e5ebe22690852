/* What every reader of metric files must keep, whatever the bytes are. The steps of a name do not go backwards, and the
 * pieces in which a file arrives do not matter. */
#ifndef TESTS_FUZZ_ROWS_H
#define TESTS_FUZZ_ROWS_H

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "metrics/metrics.h"

#include <zlib.h>

/* The last step of a name. Names whose sums fall into one place are not looked at: the later one takes it. */
#define ROWS_NAMES 1024

struct rows {
	struct rows_name {
		uLong name;
		int64_t step;
	} last[ROWS_NAMES];
	size_t count;
	uLong sum;
};

static inline void rows_check_step(struct rows *rows, const char *name, size_t len, int64_t step)
{
	uLong sum = crc32(1, (const unsigned char *)name, (unsigned)len);
	struct rows_name *last = &rows->last[sum % ROWS_NAMES];
	if (last->name == sum && step < last->step)
		abort();
	*last = (struct rows_name){sum, step};
}

static inline void rows_add(void *ctx, const struct metrics_row *row)
{
	struct rows *rows = ctx;
	if (!row->step_name || !row->count || row->count > LIMIT_METRIC_COLUMNS)
		abort();
	for (size_t i = 0; i < row->count; i++) {
		const char *name = row->metrics[i].name;
		size_t len = strlen(name);
		if (!len || len > LIMIT_METRIC_NAME_BYTES || text_utf8_check(name, len) != len)
			abort();
		rows->sum = crc32(rows->sum, (const unsigned char *)name, (unsigned)len);
		rows_check_step(rows, name, len, row->step);
	}
	rows->count++;
	rows->sum = crc32(rows->sum, (const unsigned char *)&row->step, sizeof(row->step));
}

static inline struct rows rows_read(const struct metrics_format *format, const char *text, size_t len, size_t piece)
{
	struct rows rows = {0};
	struct metrics_reader *reader = metrics_open(format, rows_add, &rows);
	for (size_t at = 0; at < len; at += piece)
		metrics_feed(reader, text + at, piece < len - at ? piece : len - at);
	metrics_finish(reader);
	const char *complaint = metrics_complaint(reader);
	if (complaint && !*complaint)
		abort();
	metrics_free(reader);
	return rows;
}

/* Reads the bytes at once and in pieces. */
static inline void rows_check(const struct metrics_format *format, const uint8_t *data, size_t size, size_t piece)
{
	char *text = mem_copy(data, size);
	struct rows whole = rows_read(format, text, size, size + 1);
	struct rows pieces = rows_read(format, text, size, piece);
	if (whole.count != pieces.count || whole.sum != pieces.sum)
		abort();
	free(text);
}

#endif
