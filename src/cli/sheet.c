/* CSV files: see sheet.h. */
#include "cli/sheet.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>

#define SHEET_COLUMNS 1000 /* every row has a cell for each */

struct reader {
	const char *at, *end;
	char separator;
	size_t line;
};

static char reader_separator(const char *text, const char *end)
{
	static const char candidates[] = {',', ';', '\t'};
	size_t counts[sizeof(candidates)] = {0}, best = 0;
	for (; text < end && *text != '\n'; text++)
		for (size_t i = 0; i < sizeof(candidates); i++)
			counts[i] += *text == candidates[i];
	for (size_t i = 1; i < sizeof(candidates); i++)
		best = counts[i] > counts[best] ? i : best;
	return candidates[best];
}

/* One field; *ret_last: it was the last of its line. */
static int reader_field(struct reader *r, struct buf *field, bool *ret_last, struct error *err)
{
	buf_clear(field);
	if (r->at < r->end && *r->at == '"') {
		for (r->at++;; r->at++) {
			if (r->at == r->end)
				return errorf(err, -EINVAL, "line %zu: a quote is not closed", r->line);
			if (*r->at == '"' && (r->at + 1 == r->end || r->at[1] != '"'))
				break;
			r->at += *r->at == '"';
			r->line += *r->at == '\n';
			buf_add_char(field, *r->at);
		}
		r->at++;
	}
	while (r->at < r->end && *r->at != r->separator && *r->at != '\n') {
		if (*r->at != '\r')
			buf_add_char(field, *r->at);
		r->at++;
	}
	*ret_last = r->at == r->end || *r->at == '\n';
	r->line += r->at < r->end && *r->at == '\n';
	r->at += r->at < r->end;
	return 0;
}

static char *trimmed(const struct buf *field)
{
	const char *text = buf_text(field);
	size_t len = field->len;
	while (len && (text[0] == ' ' || text[0] == '\t'))
		text++, len--;
	while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	return mem_copy(text, len);
}

static int sheet_read_row(struct sheet *sheet, struct reader *r, struct buf *field, struct error *err)
{
	size_t line = r->line, count = 0, columns = sheet->header.len;
	bool last = false, empty = true;
	while (!last) {
		int rc = reader_field(r, field, &last, err);
		if (rc < 0)
			return rc;
		empty = empty && !field->len;
		if (columns && count == columns)
			return errorf(err, -EINVAL, "line %zu has more fields than the header", line);
		if (count == SHEET_COLUMNS)
			return errorf(err, -EINVAL, "line %zu has more than %d columns", line, SHEET_COLUMNS);
		char *text = trimmed(field);
		if (columns)
			vec_push(&sheet->cells, text);
		else
			vec_push(&sheet->header, text);
		count++;
	}
	if (!columns)
		return 0;
	while (count++ < columns)
		vec_push(&sheet->cells, mem_strdup(""));
	if (empty) /* a line with nothing in it */
		for (size_t i = 0; i < columns; i++)
			free(sheet->cells.at[--sheet->cells.len]);
	else {
		vec_push(&sheet->lines, line);
		sheet->rows++;
	}
	return 0;
}

int sheet_parse(const char *text, size_t len, struct sheet *ret, struct error *err)
{
	struct buf field = buf_make(1 << 20);
	struct reader r = {.at = text, .end = text + len, .line = 1};
	*ret = (struct sheet){0};
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.at += 3;
	r.separator = reader_separator(r.at, r.end);
	int rc = r.at < r.end ? 0 : errorf(err, -EINVAL, "it is empty; expected a header and a row per result");
	while (rc == 0 && r.at < r.end)
		rc = sheet_read_row(ret, &r, &field, err);
	buf_free(&field);
	return rc;
}

void sheet_free(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->header.len; i++)
		free(sheet->header.at[i]);
	for (size_t i = 0; i < sheet->cells.len; i++)
		free(sheet->cells.at[i]);
	free(sheet->header.at);
	free(sheet->cells.at);
	free(sheet->lines.at);
}
