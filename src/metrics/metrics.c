/* What all readers share: cutting a file into records, the step of a row, and the table of formats. */
#include "metrics/metrics.h"

#include "base/limits.h"
#include "base/num.h"
#include "base/text.h"
#include "metrics/number.h"
#include "metrics/reader.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const metrics_csv_files[] = {"*.csv", "*.tsv", NULL},
			 *const metrics_text_files[] = {"*.txt", "*.log", "*.dat", NULL};
static const char *const metrics_jsonl_files[] = {"*.jsonl", "*.ndjson", NULL},
			 *const metrics_json_files[] = {"*.json", NULL};
static const char *const metrics_tfevents_files[] = {"*tfevents*", NULL}, *const metrics_log_files[] = {"*.log",
													"*log.txt",
													"log*.txt",
													"*result*.txt",
													"*metric*.txt",
													"*score*.txt",
													NULL};

const struct metrics_format metrics_formats[] = {
	{.name = "csv",
	 .files = metrics_csv_files,
	 .others = metrics_text_files,
	 .other = metrics_csv_begins,
	 .open = metrics_csv_open},
	{.name = "jsonl",
	 .files = metrics_jsonl_files,
	 .others = metrics_text_files,
	 .other = metrics_jsonl_begins,
	 .open = metrics_jsonl_open},
	{.name = "json", .files = metrics_json_files, .settings = true, .summary = true, .open = metrics_document_open},
	{.name = "tfevents",
	 .files = metrics_tfevents_files,
	 .begins = metrics_tfevents_begins,
	 .certain = true,
	 .folders = true,
	 .open = metrics_tfevents_open},
	{.name = "printed", .open = metrics_printed_open},
	/* What a logger writes into a file, mostly what is printed as well. */
	{.name = METRICS_LOG, .files = metrics_log_files, .open = metrics_printed_open},
	{0},
};

static bool metrics_is_called(const char *const *patterns, const char *path)
{
	const char *slash = strrchr(path, '/');
	for (; patterns && *patterns; patterns++)
		if (fnmatch(*patterns, slash ? slash + 1 : path, 0) == 0)
			return true;
	return false;
}

static bool metrics_fits(const struct metrics_format *f, const char *path, const char *head, size_t len)
{
	if (metrics_is_called(f->files, path))
		return !head || !f->begins || f->begins(head, len);
	return metrics_is_called(f->others, path) && (!head || f->other(head, len));
}

const struct metrics_format *metrics_format_for(const char *path, const char *head, size_t len)
{
	for (const struct metrics_format *f = metrics_formats; f->name; f++)
		if (metrics_fits(f, path, head, len))
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
	metrics_step_restart(&reader->step);
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

void metrics_remark(struct metrics_reader *reader, unsigned kind, const char *fmt, ...)
{
	va_list args;
	if (*reader->remarks[kind])
		return;
	va_start(args, fmt);
	vsnprintf(reader->remarks[kind], sizeof(reader->remarks[kind]), fmt, args);
	va_end(args);
}

const char *metrics_remark_of(const struct metrics_reader *reader, size_t which)
{
	_Static_assert(METRICS_REMARKS == METRICS_REMARK_KINDS, "a remark for every kind");
	return which < METRICS_REMARKS && *reader->remarks[which] ? reader->remarks[which] : NULL;
}

bool metrics_remark_is_change(size_t which)
{
	return which <= METRICS_REMARK_ROUNDED;
}

void metrics_remark_runs(struct metrics_reader *reader, const char *first, const char *other, const char *name,
			 const char *shown)
{
	metrics_remark(reader, METRICS_REMARK_RUNS,
		       "%.60s is that of %.40s alone; %.40s is shown as %.60s. An objective is one of these names: to "
		       "compare by all, report their mean",
		       name, first, other, shown);
}

/* Text that is not UTF-8 is taken as Latin-1, as Windows and old programs write it. */
static void metrics_add_latin(const char *text, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c >= 0xa0) {
			buf_add_char(out, (char)(0xc0 | c >> 6));
			buf_add_char(out, (char)(0x80 | (c & 0x3f)));
		} else if (c < 0x80) {
			buf_add_char(out, (char)c);
		}
	}
}

char *metrics_clean_name(const char *name, size_t len)
{
	while (len && (unsigned char)name[0] <= ' ')
		name++, len--;
	while (len && (unsigned char)name[len - 1] <= ' ')
		len--;
	struct buf clean = buf_make(BUF_UNLIMITED);
	if (text_utf8_check(name, len) < len)
		metrics_add_latin(name, len, &clean);
	else
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

void metrics_add_text(struct metrics_reader *reader, const char *name, double value, const char *text, size_t len)
{
	if (number_is_rounded(text, len, value))
		metrics_remark(reader, METRICS_REMARK_ROUNDED,
			       "line %" PRIu64 ": %.60s %.*s is kept as %.0f: whole numbers are exact up to 2^53",
			       reader->record_line, name, len < 40 ? (int)len : 40, text, value);
	metrics_add(reader, name, value);
}

static void metrics_give_row(struct metrics_reader *reader, const struct metrics_row *row)
{
	if (reader->cells.len) {
		struct metrics_row given = *row;
		given.whole = reader->whole;
		given.epochs = reader->epochs;
		given.metrics = reader->cells.at;
		given.count = reader->cells.len;
		reader->row(reader->ctx, &given);
	}
	reader->cells.len = 0;
}

/* Says that a row is shown under another step than its file has for it. */
static void metrics_remark_step(struct metrics_reader *reader, const struct metrics_step *s, int64_t step)
{
	const char *column = metrics_step_column(s);
	char line[40] = "", said[NUM_REAL_CHARS], before[NUM_REAL_CHARS];
	if (!s->moved || *reader->remarks[s->moved] || !column)
		return;
	if (reader->record_line > 1) /* what is printed has no lines with numbers */
		snprintf(line, sizeof(line), "line %" PRIu64 ": ", reader->record_line);
	num_format_real(s->raw, said);
	num_format_real(s->before, before);
	switch (s->moved) {
	case STEP_AGAIN:
		metrics_remark(reader, s->moved,
			       "%s%s %s is there already; the row is shown as %s %" PRId64 ", the next free one", line,
			       column, said, column, step);
		break;
	case STEP_BACK:
		metrics_remark(reader, s->moved,
			       "%s%s %s comes after %s; it is shown as %s %" PRId64
			       ", and the rows behind it count on from there",
			       line, column, said, before, column, step);
		break;
	case STEP_BARE:
		metrics_remark(reader, s->moved,
			       "%sthe row has no %s and brings values again; it is shown as %s %" PRId64, line, column,
			       column, step);
		break;
	case STEP_ROWS:
		metrics_remark(reader, s->moved, "%s%s %s %s; rows are counted from there on%s", line, column, said,
			       s->raw == floor(s->raw) ? "comes again" : "is not a whole number",
			       isnan(s->epoch) ? "" : ", with the epoch beside them");
		break;
	case STEP_AS_WRITTEN:
	case STEP_MOVED_KINDS: break;
	}
}

/* part: NULL, or the part whose steps count. */
static void metrics_give_by(struct metrics_reader *reader, struct metrics_part *part)
{
	struct metrics_step *s = part ? &part->step : &reader->step;
	int64_t step = metrics_step_take(s, reader->cells.at, &reader->cells.len);
	if (!part || part->plain)
		metrics_part_keep_own(&reader->parts, part, reader->cells.at, &reader->cells.len);
	if (reader->cells.len)
		metrics_remark_step(reader, s, step);
	metrics_give_row(reader,
			 &(struct metrics_row){.step = step, .step_name = s->name, .epoch = metrics_step_epoch(s)});
}

/* Says that the file has curves of several trainings. */
static void metrics_remark_part(struct metrics_reader *reader, const struct metrics_part *part)
{
	char first[64];
	size_t at = 0, around = strlen(part->word) + 1;
	while (at < reader->cells.len && metrics_is_count(reader->cells.at[at].name))
		at++;
	if (at == reader->cells.len)
		return;
	const char *shown = reader->cells.at[at].name;
	metrics_parts_say_first(&reader->parts, first, sizeof(first));
	metrics_remark_runs(reader, first, part->word, strlen(shown) > around ? shown + around : shown, shown);
}

/* A row of one part of the data: "val/loss", by the steps of that part. The number of a long table has the part's name. */
static void metrics_give_part(struct metrics_reader *reader, struct metrics_part *part)
{
	size_t count = reader->cells.len;
	char **names = mem_array(count, sizeof(*names));
	for (size_t i = 0; i < count; i++) {
		const char *column = reader->cells.at[i].name;
		bool value = part->names && metrics_part_is_value(column);
		char *name = value ? mem_strdup(part->word) : mem_printf("%s/%s", part->word, column);
		reader->cells.at[i].name = names[i] = metrics_clean_name(name, strlen(name));
		free(name);
	}
	if (part->run)
		metrics_remark_part(reader, part);
	metrics_give_by(reader, part);
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

void metrics_give(struct metrics_reader *reader)
{
	bool too_many;
	struct metrics_part *part = metrics_part_of_row(&reader->parts, &reader->step, reader->cells.at,
							&reader->cells.len, &too_many);
	if (too_many)
		metrics_complain(reader, "line %" PRIu64 ": too many parts of the data; '%.40s' is left out",
				 reader->record_line, reader->parts.metric ? reader->parts.metric : reader->parts.word);
	else if (reader->cells.len && part && part->plain)
		metrics_give_by(reader, part);
	else if (reader->cells.len && part)
		metrics_give_part(reader, part);
	else if (reader->cells.len)
		metrics_give_by(reader, NULL);
	reader->cells.len = 0;
	metrics_part_end_row(&reader->parts);
}

void metrics_give_at(struct metrics_reader *reader, int64_t step, const char *step_name, int64_t time_ms)
{
	metrics_give_row(reader,
			 &(struct metrics_row){.step = step, .step_name = step_name, .epoch = NAN, .time_ms = time_ms});
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
	metrics_part_end_row(&reader->parts);
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

void metrics_drop_line(struct metrics_reader *reader)
{
	if (reader->in_quotes)
		metrics_undo_quote(reader);
	if (reader->ops->record && reader->record.len)
		metrics_complain(reader, "line %" PRIu64 " has no end and does not count: the script was killed",
				 reader->record_line);
	buf_clear(&reader->record);
	reader->skipping = false;
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
	metrics_step_resume(&reader->step);
	metrics_parts_resume(&reader->parts);
	if (reader->ops->resume)
		reader->ops->resume(reader);
}

void metrics_want(struct metrics_reader *reader, const char *const *names, size_t count)
{
	if (reader->ops->want)
		reader->ops->want(reader, names, count);
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
	metrics_step_restart(&reader->step);
	metrics_parts_clear(&reader->parts);
	memset(reader->remarks, 0, sizeof(reader->remarks));
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
	free(reader->step.given.at);
	metrics_parts_clear(&reader->parts);
	free(reader);
}
