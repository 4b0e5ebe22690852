/* CSV with a header, as Keras' CSVLogger, Lightning, pandas and people write it. Columns whose cell is a number become
 * metrics; every other cell is ignored. */
#include "base/limits.h"
#include "metrics/number.h"
#include "metrics/phrase.h"
#include "metrics/reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

struct csv {
	struct metrics_reader reader;
	VEC(char *) header; /* names; "" for a column that has none */
	char separator;
	char *comment; /* the last line with # before the header, which may be the header; NULL */
	bool refused; /* there is no header: nothing in this file can be named */
	struct buf field; /* the text of one quoted field */
};

static size_t csv_count_separator(const char *text, size_t len, char separator)
{
	size_t count = 0;
	bool quoted = false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			quoted = !quoted;
		else if (text[i] == separator && !quoted)
			count++;
	}
	return count;
}

static char csv_find_separator(const char *text, size_t len)
{
	static const char candidates[] = {',', ';', '\t', '|'};
	char best = csv_count_separator(text, len, ' ') ? ' ' : ',';
	size_t most = 0;
	for (size_t i = 0; i < sizeof(candidates); i++) {
		size_t count = csv_count_separator(text, len, candidates[i]);
		if (count > most) {
			most = count;
			best = candidates[i];
		}
	}
	return best;
}

/* The field at *at, without its quotes and the space around it; *at moves behind its separator, or
 * past len at the end. Valid until the next call. */
static const char *csv_next_field(struct csv *csv, const char *text, size_t len, size_t *at, size_t *ret_len)
{
	while (csv->separator == ' ' && *at < len && text[*at] == ' ')
		++*at; /* columns that spaces line up */
	size_t i = *at;
	const char *field = text + i;
	size_t n = 0;

	if (i < len && text[i] == '"') {
		buf_clear(&csv->field);
		for (i++; i < len; i++) {
			if (text[i] == '"') {
				if (i + 1 >= len || text[i + 1] != '"')
					break;
				i++;
			}
			buf_add_char(&csv->field, text[i]);
		}
		while (i < len && text[i] != csv->separator)
			i++;
		field = buf_text(&csv->field);
		n = csv->field.len;
	} else {
		while (i < len && text[i] != csv->separator)
			i++;
		n = i - *at;
	}
	while (n && (field[0] == ' ' || field[0] == '\t'))
		field++, n--;
	while (n && (field[n - 1] == ' ' || field[n - 1] == '\t'))
		n--;
	*at = i + 1;
	*ret_len = n;
	return field;
}

/* What Python prints around a number: tensor(0.5, device='cuda:0'), np.float64(0.5), [0.5]. */
static void csv_unwrap(const char **field, size_t *len)
{
	const char *open = *len > 2 ? memchr(*field, (*field)[*len - 1] == ']' ? '[' : '(', *len) : NULL;
	size_t before = open ? (size_t)(open - *field) : 0;
	if (!open || !strchr(")]", (*field)[*len - 1]) ||
	    (*open == '[' ? before > 0 : !phrase_is_wrapper(*field, before)))
		return;
	size_t inner = *len - before - 2;
	const char *comma = *open == '(' ? memchr(open + 1, ',', inner) : NULL;
	*field = open + 1;
	*len = comma ? (size_t)(comma - open - 1) : inner;
}

/* A number; also with a decimal comma where the comma does not separate, and in percent, as it is written. */
static bool csv_number(const struct csv *csv, const char *field, size_t len, double *ret)
{
	char copy[64];
	const char *comma;
	if (len && (field[len - 1] == ')' || field[len - 1] == ']'))
		csv_unwrap(&field, &len);
	if (len > 1 && field[len - 1] == '%')
		len -= 1 + (field[len - 2] == ' ');
	if (number_parse(field, len, ret) == 0)
		return true;
	if (csv->separator == ',' || len >= sizeof(copy) || !(comma = memchr(field, ',', len)))
		return false;
	memcpy(copy, field, len);
	copy[comma - field] = '.';
	return number_parse(copy, len, ret) == 0;
}

static void csv_read_header(struct csv *csv, const char *text, size_t len)
{
	size_t names = 0, at = 0;

	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3, len -= 3;
	csv->separator = csv_find_separator(text, len);
	while (at <= len) {
		size_t n;
		double number;
		const char *field = csv_next_field(csv, text, len, &at, &n);
		names += n && !csv_number(csv, field, n, &number);
		bool index = n >= 8 && memcmp(field, "Unnamed:", 8) == 0; /* pandas' name for one without a name */
		vec_push(&csv->header, metrics_clean_name(field, index ? 0 : n));
	}
	for (size_t i = 0; i < csv->header.len; i++)
		for (size_t k = 0; k < i && *csv->header.at[i]; k++)
			if (strcmp(csv->header.at[i], csv->header.at[k]) == 0)
				metrics_complain(&csv->reader,
						 "the column '%.60s' is there twice: the first one counts",
						 csv->header.at[i]);
	csv->refused = names == 0;
	if (csv->refused)
		metrics_complain(&csv->reader,
				 "line %" PRIu64 " has numbers where the names of the columns are expected; "
				 "write a header such as epoch,loss",
				 csv->reader.record_line);
}

static void csv_forget_header(struct csv *csv)
{
	for (size_t i = 0; i < csv->header.len; i++)
		free(csv->header.at[i]);
	free(csv->header.at);
	csv->header.at = NULL;
	csv->header.len = csv->header.cap = 0;
}

/* How many fields the line has, and how many of them are numbers. */
static size_t csv_count_fields(struct csv *csv, const char *text, size_t len, size_t *ret_numbers)
{
	size_t at = 0, count = 0;
	*ret_numbers = 0;
	for (; at <= len; count++) {
		size_t n;
		double number;
		const char *field = csv_next_field(csv, text, len, &at, &n);
		*ret_numbers += n && csv_number(csv, field, n, &number);
	}
	return count;
}

/* Is the comment before the first row of numbers its header? Then it is read. */
static bool csv_take_comment(struct csv *csv, const char *text, size_t len)
{
	const char *names = csv->comment ? csv->comment + strspn(csv->comment, "# ") : "";
	size_t named, numbers;
	if (!*names)
		return false;
	csv->separator = csv_find_separator(names, strlen(names));
	size_t columns = csv_count_fields(csv, names, strlen(names), &named);
	bool fits = csv_count_fields(csv, text, len, &numbers) == columns && numbers && !named;
	if (fits)
		csv_read_header(csv, names, strlen(names));
	return fits;
}

enum csv_header { CSV_NO_HEADER, CSV_SAME_HEADER, CSV_NEW_HEADER };

/* A header may come again, and with other columns: it holds no number, and begins as before or has a column that counts. */
static enum csv_header csv_find_header(struct csv *csv, const char *text, size_t len)
{
	size_t at = 0, column = 0;
	bool same = true, counts = false, begins = false;
	for (; at <= len; column++) {
		size_t n;
		double number;
		const char *field = csv_next_field(csv, text, len, &at, &n);
		if (n && csv_number(csv, field, n, &number))
			return CSV_NO_HEADER;
		char *name = metrics_clean_name(field, n);
		bool here = column < csv->header.len && strcmp(name, csv->header.at[column]) == 0;
		same &= here;
		begins |= here && *name && column == 0;
		counts |= metrics_is_count(name);
		free(name);
	}
	if (!begins && !counts)
		return CSV_NO_HEADER;
	return same && column == csv->header.len ? CSV_SAME_HEADER : CSV_NEW_HEADER;
}

/* A cell that is no number. "1.2k" in a column of a metric: nothing is read there, and that must not go without a word. */
static void csv_take_text(struct csv *csv, const char *name, const char *cell, size_t len)
{
	bool digit = false;
	metrics_part_note(&csv->reader.parts, name, cell, len);
	for (size_t i = 0; i < len; i++)
		digit |= isdigit((unsigned char)cell[i]) != 0;
	if (digit && metrics_is_count(name)) /* "Epoch 3", "3/10" */
		metrics_complain(&csv->reader,
				 "line %" PRIu64 ": '%.*s' in the column '%.60s' is not a number; without it the rows "
				 "are counted",
				 csv->reader.record_line, len < 40 ? (int)len : 40, cell, name);
	size_t at = len && (*cell == '-' || *cell == '+');
	if (at < len && (cell[at] == '.' || isdigit((unsigned char)cell[at])) && phrase_is_metric(name, strlen(name)))
		metrics_complain(&csv->reader, "line %" PRIu64 ": '%.*s' in the column '%.60s' is not a number",
				 csv->reader.record_line, len < 40 ? (int)len : 40, cell, name);
}

static void csv_record(struct metrics_reader *reader, const char *text, size_t len)
{
	struct csv *csv = (struct csv *)reader;
	size_t columns = 0, surplus = 0, at = 0;

	if (len && *text == '#') { /* a comment; numpy.savetxt writes the header in one */
		if (!csv->header.len) {
			free(csv->comment);
			csv->comment = mem_copy(text, len);
		}
		return;
	}
	if (!csv->header.len && !csv_take_comment(csv, text, len)) {
		csv_read_header(csv, text, len);
		return;
	}
	if (csv->refused)
		return;
	switch (csv_find_header(csv, text, len)) {
	case CSV_NO_HEADER: break;
	case CSV_SAME_HEADER: reader->step.anew = true; return;
	case CSV_NEW_HEADER:
		csv_forget_header(csv);
		csv_read_header(csv, text, len);
		return;
	}
	while (at <= len) {
		size_t n;
		double value;
		const char *field = csv_next_field(csv, text, len, &at, &n);
		if (columns >= csv->header.len)
			surplus += n > 0; /* a separator at the end of the line is no field */
		else if (csv_number(csv, field, n, &value))
			metrics_add_text(reader, csv->header.at[columns], value, field, n);
		else
			csv_take_text(csv, csv->header.at[columns], field, n);
		columns++;
	}
	if (columns < csv->header.len || surplus)
		metrics_complain(reader, "line %" PRIu64 " has %zu fields, the header %zu", reader->record_line,
				 columns, csv->header.len);
	else
		metrics_give(reader);
}

static void csv_restart(struct metrics_reader *reader)
{
	struct csv *csv = (struct csv *)reader;
	csv_forget_header(csv);
	csv->refused = false;
	free(csv->comment);
	csv->comment = NULL;
	buf_free(&csv->field);
}

/* A text that is no CSV by its name: two lines of as many fields, the first of names with one that counts, the second with
 * numbers. */
bool metrics_csv_begins(const char *head, size_t len)
{
	struct csv csv = {0};
	const char *end = memchr(head, '\n', len);
	const char *next = end ? memchr(end + 1, '\n', len - (size_t)(end + 1 - head)) : NULL;
	size_t fields[2] = {0}, numbers[2] = {0};
	bool counts = false;
	if (!next)
		return false;
	head += strspn(head, "# "); /* numpy.savetxt; the text has a newline */
	csv.field = buf_make(LIMIT_METRIC_LINE_BYTES);
	csv.separator = csv_find_separator(head, (size_t)(end - head));
	for (int line = 0; line < 2; line++) {
		const char *text = line ? end + 1 : head;
		size_t at = 0, text_len = (size_t)((line ? next : end) - text);
		if (text_len && text[text_len - 1] == '\r')
			text_len--;
		while (at <= text_len) {
			size_t n;
			double number;
			const char *field = csv_next_field(&csv, text, text_len, &at, &n);
			char *name = metrics_clean_name(field, n);
			counts |= !line && metrics_is_count(name);
			numbers[line] += n && csv_number(&csv, field, n, &number);
			fields[line]++;
			free(name);
		}
	}
	buf_free(&csv.field);
	return counts && fields[0] > 1 && fields[0] == fields[1] && !numbers[0] && numbers[1];
}

struct metrics_reader *metrics_csv_open(metrics_row_f row, void *ctx)
{
	static const struct metrics_ops ops = {.quotes = true, .record = csv_record, .restart = csv_restart};
	struct csv *csv = metrics_reader_new(sizeof(*csv), &ops, row, ctx);
	csv->field = buf_make(LIMIT_METRIC_LINE_BYTES);
	return &csv->reader;
}
