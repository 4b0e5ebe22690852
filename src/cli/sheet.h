/* A table read from a CSV file: a header and rows of texts. */
#ifndef CLI_SHEET_H
#define CLI_SHEET_H

#include "base/error.h"
#include "base/mem.h"

struct sheet {
	VEC(char *) header;
	VEC(char *) cells; /* row by row, as many as the header has; missing ones are "" */
	VEC(size_t) lines; /* of the rows in the file */
	size_t rows;
};

/* RFC 4180 with a header; comma, semicolon or tab, whichever the header has most of. -EINVAL with the line. */
int sheet_parse(const char *text, size_t len, struct sheet *ret, struct error *err) MUST_USE;
/* Must be called after a failure too. */
void sheet_free(struct sheet *sheet);
static inline const char *sheet_cell(const struct sheet *sheet, size_t row, size_t column)
{
	return sheet->cells.at[row * sheet->header.len + column];
}

#endif
