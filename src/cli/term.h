/* The terminal: its abilities, safe text, widths, colours and tables. */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include "base/buf.h"

struct term {
	bool tty; /* it is a terminal: progress and colours make sense */
	bool colour; /* and NO_COLOR is not set */
	bool utf8; /* the locale takes more than ASCII */
	int width, height;
};

enum term_colour {
	TERM_PLAIN,
	TERM_BOLD,
	TERM_DIM,
	TERM_RED,
	TERM_GREEN,
	TERM_YELLOW,
	TERM_BLUE,
	TERM_MAGENTA,
	TERM_CYAN
};

/* What the descriptor (1 or 2) can do. Not a terminal: 80 columns wide, no colour. */
struct term term_of(int fd);
/* Adds text with control characters, invalid UTF-8 and characters that turn the writing direction
 * shown as visible marks. Line breaks and tabs become spaces. */
void term_add_safe(struct buf *out, const char *text);
/* The same for output of programs: line breaks, tabs and carriage returns stay, escape sequences are removed. */
void term_add_safe_output(struct buf *out, const char *text, size_t len);
/* Columns that safe text takes. */
int term_width(const char *text);
/* Adds at most `width` columns of the text, with … at the end where it is cut. */
void term_add_cut(struct buf *out, const char *text, int width, const struct term *term);
/* Adds text in a colour (and back). */
void term_add_coloured(struct buf *out, enum term_colour colour, const char *text, const struct term *term);
/* The colour of a task's or experiment's state. */
enum term_colour term_state_colour(const char *state);

/* A table: cells are added row by row, then it is written aligned to the terminal. */
struct term_cell {
	char *text; /* safe */
	enum term_colour colour;
};

struct term_column {
	const char *title;
	bool right; /* align to the right */
	bool flexible; /* may be cut when the terminal is too narrow */
};

struct term_table {
	const struct term_column *columns;
	size_t column_count;
	VEC(struct term_cell) cells;
};

/* Adds the next cell; NULL is an empty one. */
void term_table_add(struct term_table *table, enum term_colour colour, const char *text);
void term_table_addf(struct term_table *table, enum term_colour colour, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Writes the head line and every row. On a terminal no line is wider than it. */
void term_table_write(const struct term_table *table, const struct term *term, struct buf *out);
void term_table_free(struct term_table *table);

#endif
