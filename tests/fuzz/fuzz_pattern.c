/* The user's own pattern: the input's first line is the pattern, the rest is what a script prints. */
#include "base/limits.h"
#include "base/mem.h"
#include "metrics/metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void row(void *ctx, const struct metrics_row *given)
{
	size_t *rows = ctx;
	if (!given->count || given->count > LIMIT_METRIC_COLUMNS)
		abort();
	(*rows)++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_copy(data, size), *line = strchr(text, '\n');
	struct metrics_reader *reader;
	struct error err;
	size_t rows = 0;
	if (line)
		*line++ = '\0';
	if (metrics_open_pattern(text, row, &rows, &reader, &err) == 0) {
		if (line)
			metrics_feed(reader, line, size - (size_t)(line - text));
		metrics_finish(reader);
		metrics_free(reader);
	} else if (!*err.text) {
		abort();
	}
	free(text);
	return 0;
}
