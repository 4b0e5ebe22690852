/* What all readers share: cutting a file into records, the step of a row, and the table of formats. */
#include "metrics/metrics.h"

#include "base/limits.h"
#include "base/text.h"
#include "metrics/reader.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

static const char *const csv_files[] = {"*.csv", NULL}, *const jsonl_files[] = {"*.jsonl", NULL};
static const char *const tfevents_files[] = {"*tfevents*", NULL};

const struct metrics_format metrics_formats[] = {
	{.name = "csv", .files = csv_files, .open = metrics_csv_open},
	{.name = "jsonl", .files = jsonl_files, .open = metrics_jsonl_open},
	{.name = "tfevents",
	 .files = tfevents_files,
	 .begins = metrics_tfevents_begins,
	 .certain = true,
	 .folders = true,
	 .open = metrics_tfevents_open},
	{0},
};

/* Columns that count, the one to prefer first: a file with epochs and steps is drawn over its epochs. */
static const char *const step_names[] = {
	"epoch", "step", "global_step", "iteration", "iter", "round", "generation", "total_timesteps",
};

/* A step beyond this is no count, and would not be exact in a double. */
#define METRICS_STEP_MAX 9007199254740992.0
#define METRICS_COUNT_MAX (INT64_MAX / 4)

static bool metrics_is_called(const struct metrics_format *format, const char *path)
{
	const char *slash = strrchr(path, '/');
	for (const char *const *pattern = format->files; pattern && *pattern; pattern++)
		if (fnmatch(*pattern, slash ? slash + 1 : path, 0) == 0)
			return true;
	return false;
}

const struct metrics_format *metrics_format_for(const char *path, const char *head, size_t len)
{
	for (const struct metrics_format *f = metrics_formats; f->name; f++)
		if (metrics_is_called(f, path) && (!head || !f->begins || f->begins(head, len)))
			return f;
	return NULL;
}

const struct metrics_format *metrics_format_printed(void)
{
	const struct metrics_format *f = metrics_formats;
	while (f->name && f->files)
		f++;
	return f->name ? f : NULL;
}

void *metrics_reader_new(size_t size, const struct metrics_ops *ops, metrics_row_f row, void *ctx)
{
	struct metrics_reader *reader = mem_alloc(size);
	reader->ops = ops;
	reader->row = row;
	reader->ctx = ctx;
	reader->record = buf_make(LIMIT_METRIC_LINE_BYTES);
	reader->line = reader->record_line = 1;
	return reader;
}

struct metrics_reader *metrics_open(const struct metrics_format *format, metrics_row_f row, void *ctx)
{
	return format->open(row, ctx);
}

void metrics_complain(struct metrics_reader *reader, const char *fmt, ...)
{
	/* The first complaint is kept: the others mostly follow from it. */
	if (reader->complaints++)
		return;
	va_list args;
	va_start(args, fmt);
	vsnprintf(reader->complaint, sizeof(reader->complaint), fmt, args);
	va_end(args);
}

const char *metrics_complaint(const struct metrics_reader *reader)
{
	return reader->complaints ? reader->complaint : NULL;
}

char *metrics_clean_name(const char *name, size_t len)
{
	while (len && (unsigned char)name[0] <= ' ')
		name++, len--;
	while (len && (unsigned char)name[len - 1] <= ' ')
		len--;
	struct buf clean = buf_make(BUF_UNLIMITED);
	text_utf8_clean(name, len, &clean);
	size_t kept = clean.len < LIMIT_METRIC_NAME_BYTES ? clean.len : LIMIT_METRIC_NAME_BYTES;
	kept = text_utf8_check(buf_text(&clean), kept);
	char *copy = mem_copy(buf_text(&clean), kept);
	buf_free(&clean);
	for (size_t i = 0; i < kept; i++)
		if ((unsigned char)copy[i] < ' ' || copy[i] == 0x7f)
			copy[i] = ' ';
	return copy;
}

void metrics_add(struct metrics_reader *reader, const char *name, double value)
{
	struct metric metric = {name, value};
	if (!*name)
		return;
	for (size_t i = 0; i < reader->cells.len; i++)
		if (strcmp(reader->cells.at[i].name, name) == 0)
			return;
	if (reader->cells.len == LIMIT_METRIC_COLUMNS) {
		metrics_complain(reader, "line %" PRIu64 " has more than %d metrics: '%s' is left out",
				 reader->record_line, LIMIT_METRIC_COLUMNS, name);
		return;
	}
	vec_push(&reader->cells, metric);
}

static size_t metrics_step_rank(const char *name)
{
	size_t rank = 0;
	while (rank < COUNT_OF(step_names) && strcasecmp(name, step_names[rank]) != 0)
		rank++;
	return rank;
}

/* The first row decides what counts: the best-ranked column with a whole number, else the rows. */
static void metrics_choose_step(struct metrics_reader *reader)
{
	size_t best = COUNT_OF(step_names);
	for (size_t i = 0; i < reader->cells.len; i++) {
		double value = reader->cells.at[i].value;
		size_t rank = metrics_step_rank(reader->cells.at[i].name);
		if (rank < best && fabs(value) <= METRICS_STEP_MAX && value == floor(value))
			best = rank;
	}
	reader->step_name = best < COUNT_OF(step_names) ? step_names[best] : "row";
}

/* The step of the row, taken out of the cells together with every other column that counts. */
static int64_t metrics_take_step(struct metrics_reader *reader)
{
	bool found = false;
	int64_t step = 0;
	size_t kept = 0;

	for (size_t i = 0; i < reader->cells.len; i++) {
		struct metric cell = reader->cells.at[i];
		if (metrics_step_rank(cell.name) == COUNT_OF(step_names)) {
			reader->cells.at[kept++] = cell;
		} else if (strcasecmp(cell.name, reader->step_name) == 0 && fabs(cell.value) <= METRICS_STEP_MAX) {
			step = (int64_t)floor(cell.value);
			found = true;
		}
	}
	reader->cells.len = kept;
	if (strcmp(reader->step_name, "row") == 0) {
		step = reader->rows;
		found = true;
	}
	if (!found) /* Lightning leaves out the epoch of some rows: they belong to the one before */
		return reader->has_step ? reader->last_step : 0;
	step += reader->offset;
	if (step > METRICS_COUNT_MAX) { /* nonsense that goes up and down: no more counting on */
		reader->offset = 0;
		return reader->last_step;
	}
	if (reader->has_step && (step < reader->last_step || (reader->anew && step == reader->last_step))) {
		reader->offset += reader->last_step + 1 - step;
		step = reader->last_step + 1;
	}
	reader->last_step = step;
	reader->has_step = true;
	reader->anew = false;
	return step;
}

void metrics_give(struct metrics_reader *reader)
{
	if (!reader->cells.len)
		return;
	if (!reader->step_name)
		metrics_choose_step(reader);
	reader->rows++;
	int64_t step = metrics_take_step(reader);
	metrics_give_at(reader, step, reader->step_name, 0);
}

void metrics_give_at(struct metrics_reader *reader, int64_t step, const char *step_name, int64_t time_ms)
{
	if (reader->cells.len)
		reader->row(reader->ctx,
			    &(struct metrics_row){.step = step,
						  .step_name = step_name,
						  .time_ms = time_ms,
						  .metrics = reader->cells.at,
						  .count = reader->cells.len});
	reader->cells.len = 0;
}

static void metrics_end_record(struct metrics_reader *reader)
{
	size_t len = reader->record.len;
	if (len && reader->record.data[len - 1] == '\r')
		len--;
	if (reader->skipping)
		metrics_complain(reader, "line %" PRIu64 " is longer than %d bytes", reader->record_line,
				 LIMIT_METRIC_LINE_BYTES);
	else if (len)
		reader->ops->record(reader, reader->record.data, len);
	buf_clear(&reader->record);
	reader->cells.len = 0;
	reader->in_quotes = reader->skipping = false;
	reader->record_line = reader->line;
}

/* Quotes open only at the beginning of a field, so that 5" is no surprise. */
static void metrics_track_quote(struct metrics_reader *reader)
{
	const struct buf *record = &reader->record;
	char before = record->len ? record->data[record->len - 1] : ',';
	if (reader->in_quotes || (before && strchr(",;\t\"", before)))
		reader->in_quotes = !reader->in_quotes;
}

static void metrics_cut(struct metrics_reader *reader, const char *data, size_t len);

/* A quote that nothing closes would swallow every later line: those that it has are read again, with the quote as a
 * character like any other. */
static void metrics_undo_quote(struct metrics_reader *reader)
{
	size_t len = reader->record.len;
	char *text = buf_take(&reader->record);
	metrics_complain(reader, "line %" PRIu64 " opens a quote that is not closed", reader->record_line);
	reader->line = reader->record_line;
	reader->in_quotes = reader->skipping = false;
	reader->unquoted = true;
	metrics_cut(reader, text, len);
	reader->unquoted = false;
	free(text);
}

static void metrics_cut(struct metrics_reader *reader, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = data[i];
		if (c == '\n') {
			reader->line++;
			if (!reader->in_quotes || reader->skipping) {
				metrics_end_record(reader);
				continue;
			}
		}
		if (reader->skipping)
			continue;
		if (c == '"' && reader->ops->quotes && !reader->unquoted)
			metrics_track_quote(reader);
		buf_add_char(&reader->record, c);
		reader->skipping = reader->record.full;
		if (reader->skipping && reader->in_quotes) {
			metrics_undo_quote(reader);
			i--; /* it had no place */
		}
	}
}

void metrics_feed(struct metrics_reader *reader, const char *data, size_t len)
{
	if (reader->ops->feed)
		reader->ops->feed(reader, data, len);
	else
		metrics_cut(reader, data, len);
}

void metrics_finish(struct metrics_reader *reader)
{
	if (reader->in_quotes)
		metrics_undo_quote(reader);
	if (reader->ops->record && (reader->record.len || reader->skipping))
		metrics_end_record(reader);
	if (reader->ops->finish)
		reader->ops->finish(reader);
}

void metrics_resume(struct metrics_reader *reader)
{
	reader->has_step = reader->anew = false;
	reader->offset = 0;
	if (reader->ops->resume)
		reader->ops->resume(reader);
}

void metrics_join(struct metrics_reader *reader, const char *prefix, struct metrics_reader *other)
{
	if (reader->ops->join)
		reader->ops->join(reader, prefix, other);
}

void metrics_restart(struct metrics_reader *reader)
{
	buf_clear(&reader->record);
	reader->in_quotes = reader->skipping = false;
	reader->line = reader->record_line = 1;
	reader->cells.len = 0;
	reader->step_name = NULL;
	reader->rows = 0;
	metrics_resume(reader);
	if (reader->ops->restart)
		reader->ops->restart(reader);
}

void metrics_free(struct metrics_reader *reader)
{
	if (!reader)
		return;
	if (reader->ops->free)
		reader->ops->free(reader);
	else if (reader->ops->restart)
		reader->ops->restart(reader);
	buf_free(&reader->record);
	free(reader->cells.at);
	free(reader);
}
