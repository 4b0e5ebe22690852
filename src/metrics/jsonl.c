/* JSON lines: an object a line, as `sluice report`, the Python callback and many loggers write it. The numbers in it are
 * the row. */
#include "metrics/json.h"

#include <inttypes.h>
#include <stdio.h>

struct jsonl {
	struct metrics_reader reader;
	struct json_names names; /* of the row being read */
};

static void jsonl_restart(struct metrics_reader *reader)
{
	json_names_clear(&((struct jsonl *)reader)->names);
}

static void jsonl_record(struct metrics_reader *reader, const char *text, size_t len)
{
	struct jsonl *jsonl = (struct jsonl *)reader;
	struct json_cursor c = {text, text + len};
	bool whole = json_take_row(&c, reader, &jsonl->names);
	json_skip_space(&c);
	if (whole && c.at == c.end)
		metrics_give(reader);
	else
		metrics_complain(reader, "line %" PRIu64 " is not a JSON object", reader->record_line);
	jsonl_restart(reader);
}

bool metrics_jsonl_begins(const char *head, size_t len)
{
	struct json_cursor c = {head, head + len};
	json_skip_space(&c);
	return c.at < c.end && *c.at == '{';
}

struct metrics_reader *metrics_jsonl_open(metrics_row_f row, void *ctx)
{
	static const struct metrics_ops ops = {.record = jsonl_record, .restart = jsonl_restart};
	struct jsonl *jsonl = metrics_reader_new(sizeof(*jsonl), &ops, row, ctx);
	return &jsonl->reader;
}
