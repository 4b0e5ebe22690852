/* Output to a terminal: see term.h. Names, logs and metric keys come from other programs and users; none of them may
 * move the cursor, change the title or hide a line. */
#include "cli/term.h"

#include "base/num.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TERM_GAP 2
#define TERM_CELL_MIN 6 /* a flexible column never gets narrower */

static bool term_locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

struct term term_of(int fd)
{
	struct term term = {.width = 80, .height = 24, .utf8 = term_locale_is_utf8()};
	const char *no_colour = getenv("NO_COLOR"), *kind = getenv("TERM");
	struct winsize size;
	if (!isatty(fd))
		return term;
	term.tty = kind && strcmp(kind, "dumb") != 0;
	term.colour = term.tty && (!no_colour || !*no_colour);
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col) {
		term.width = size.ws_col;
		term.height = size.ws_row ? size.ws_row : term.height;
	}
	if (term.width < 20)
		term.width = 20;
	return term;
}

/* The next code point of valid UTF-8; *len its bytes. Invalid bytes give U+FFFD and length 1. */
static uint32_t term_decode(const char *text, size_t left, size_t *len)
{
	const unsigned char *p = (const unsigned char *)text;
	*len = 1;
	if (p[0] < 0x80)
		return p[0];
	size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (n > left || text_utf8_check(text, n) != n)
		return 0xfffd;
	*len = n;
	uint32_t c = p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

struct term_range {
	uint32_t from, to;
};

static bool term_in(const struct term_range *ranges, size_t count, uint32_t c)
{
	for (size_t i = 0; i < count; i++)
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	return false;
}

/* Controls, and what turns the direction of the text around it. */
static bool term_is_unsafe(uint32_t c)
{
	static const struct term_range unsafe[] = {
		{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200e, 0x200f},
		{0x2028, 0x202e}, {0x2066, 0x2069}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
	};
	return term_in(unsafe, COUNT_OF(unsafe), c);
}

/* Columns of one character: the ranges of Unicode 15 that matter, in broad strokes. */
static int term_char_width(uint32_t c)
{
	static const struct term_range none[] = {
		{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
		{0x6d6, 0x6dc},   {0x900, 0x902},   {0x93c, 0x93c},   {0xe31, 0xe31},   {0xe34, 0xe3a},
		{0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
		{0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
	};
	static const struct term_range wide[] = {
		{0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x2614, 0x2615},   {0x26a1, 0x26a1},
		{0x2705, 0x2705},   {0x274c, 0x274c},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
		{0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
		{0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
		{0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
	};
	if (c < 0x300)
		return 1;
	if (term_in(none, COUNT_OF(none), c))
		return 0;
	return term_in(wide, COUNT_OF(wide), c) ? 2 : 1;
}

void term_add_safe(struct buf *out, const char *text)
{
	size_t left = text ? strlen(text) : 0, len;
	for (; left; text += len, left -= len) {
		uint32_t c = term_decode(text, left, &len);
		if (c == '\n' || c == '\t')
			buf_add_char(out, ' ');
		else if (c < 0x20)
			buf_addf(out, "^%c", (int)c + '@');
		else if (term_is_unsafe(c) || (c == 0xfffd && len == 1))
			buf_add_text(out, "\xef\xbf\xbd");
		else
			buf_add(out, text, len);
	}
}

/* Bytes of the escape sequence at text ("\033[...m", "\033]...\007", "\033X"). */
static size_t term_escape_len(const char *text, size_t left)
{
	size_t n = 1;
	if (left < 2)
		return n;
	n = 2;
	if (text[1] == '[') {
		while (n < left && (unsigned char)text[n] >= 0x20 && (unsigned char)text[n] < 0x40)
			n++;
		return n < left && (unsigned char)text[n] >= 0x40 && (unsigned char)text[n] < 0x7f ? n + 1 : n;
	}
	if (text[1] == ']' || text[1] == 'P') {
		while (n < left && text[n] != '\a' && text[n] != '\n' && text[n] != '\033')
			n++;
		return n < left && text[n] == '\a' ? n + 1 : n;
	}
	return n;
}

void term_add_safe_output(struct buf *out, const char *text, size_t left)
{
	size_t len;
	for (; left; text += len, left -= len) {
		uint32_t c = term_decode(text, left, &len);
		if (c == '\033')
			len = term_escape_len(text, left);
		else if (c == '\n' || c == '\t' || c == '\r' || (!term_is_unsafe(c) && !(c == 0xfffd && len == 1)))
			buf_add(out, text, len);
		else if (c != '\b')
			buf_add_text(out, "\xef\xbf\xbd");
	}
}

int term_width(const char *text)
{
	int width = 0;
	size_t left = strlen(text), len;
	for (; left; text += len, left -= len)
		width += term_char_width(term_decode(text, left, &len));
	return width;
}

void term_add_cut(struct buf *out, const char *text, int width, const struct term *term)
{
	if (term_width(text) <= width) {
		buf_add_text(out, text);
		return;
	}
	size_t left = strlen(text), len;
	int used = 0;
	for (; left; text += len, left -= len) {
		int w = term_char_width(term_decode(text, left, &len));
		if (used + w > width - 1)
			break;
		buf_add(out, text, len);
		used += w;
	}
	if (width > 0)
		buf_add_text(out, term->utf8 ? "…" : "~");
}

void term_add_coloured(struct buf *out, enum term_colour colour, const char *text, const struct term *term)
{
	static const char *const codes[] = {
		[TERM_PLAIN] = "0", [TERM_BOLD] = "1",     [TERM_DIM] = "2",
		[TERM_RED] = "31",  [TERM_GREEN] = "32",   [TERM_YELLOW] = "33",
		[TERM_BLUE] = "34", [TERM_MAGENTA] = "35", [TERM_CYAN] = "36",
	};
	if (!term->colour || colour == TERM_PLAIN)
		buf_add_text(out, text);
	else
		buf_addf(out, "\033[%sm%s\033[0m", codes[colour], text);
}

enum term_colour term_state_colour(const char *state)
{
	static const struct {
		const char *state;
		enum term_colour colour;
	} colours[] = {
		{"running", TERM_BLUE},   {"finished", TERM_GREEN}, {"error", TERM_RED},   {"stopped", TERM_YELLOW},
		{"submitted", TERM_CYAN}, {"pruned", TERM_MAGENTA}, {"waiting", TERM_DIM}, {"paused", TERM_RED},
	};
	for (size_t i = 0; state && i < COUNT_OF(colours); i++)
		if (strcmp(state, colours[i].state) == 0)
			return colours[i].colour;
	return TERM_PLAIN;
}

void term_table_add(struct term_table *table, enum term_colour colour, const char *text)
{
	struct buf safe = buf_make(4096);
	term_add_safe(&safe, text ? text : "");
	struct term_cell cell = {.text = mem_strdup(buf_text(&safe)), .colour = colour};
	vec_push(&table->cells, cell);
	buf_free(&safe);
}

void term_table_addf(struct term_table *table, enum term_colour colour, const char *fmt, ...)
{
	char text[1024];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	term_table_add(table, colour, text);
}

/* Takes columns off the widest flexible column until the row fits. */
static void term_table_fit(const struct term_table *table, int *widths, int available)
{
	int total = 0;
	for (size_t i = 0; i < table->column_count; i++)
		total += widths[i] + (i ? TERM_GAP : 0);
	while (total > available) {
		size_t widest = table->column_count;
		for (size_t i = 0; i < table->column_count; i++)
			if (table->columns[i].flexible && widths[i] > TERM_CELL_MIN &&
			    (widest == table->column_count || widths[i] > widths[widest]))
				widest = i;
		if (widest == table->column_count)
			return;
		widths[widest]--;
		total--;
	}
}

static void term_table_write_row(const struct term_table *table, const struct term_cell *cells, const int *widths,
				 const struct term *term, struct buf *out)
{
	struct buf cut = buf_make(8192), line = buf_make(65536);
	int used = 0, room = term->tty ? term->width : 1 << 20;
	for (size_t i = 0; i < table->column_count; i++) {
		int gap = i ? TERM_GAP : 0, width = widths[i];
		if (used + gap >= room)
			break;
		if (used + gap + width > room)
			width = room - used - gap;
		buf_clear(&cut);
		term_add_cut(&cut, cells[i].text, width, term);
		int pad = width - term_width(buf_text(&cut));
		if (!table->columns[i].right && i + 1 == table->column_count)
			width -= pad, pad = 0;
		buf_addf(&line, "%*s", gap + (table->columns[i].right ? pad : 0), "");
		term_add_coloured(&line, cells[i].colour, buf_text(&cut), term);
		buf_addf(&line, "%*s", table->columns[i].right ? 0 : pad, "");
		used += gap + width;
	}
	while (line.len && line.data[line.len - 1] == ' ')
		line.data[--line.len] = 0;
	buf_add(out, buf_text(&line), line.len);
	buf_add_char(out, '\n');
	buf_free(&cut);
	buf_free(&line);
}

void term_table_write(const struct term_table *table, const struct term *term, struct buf *out)
{
	size_t columns = table->column_count, rows = table->cells.len / columns;
	int *widths = mem_array(columns, sizeof(*widths));
	struct term_cell *head = mem_array(columns, sizeof(*head));
	for (size_t i = 0; i < columns; i++) {
		struct buf title = buf_make(4096);
		term_add_safe(&title, table->columns[i].title); /* a metric's name may be in it */
		head[i] = (struct term_cell){buf_take(&title), TERM_DIM};
		widths[i] = term_width(head[i].text);
		for (size_t r = 0; r < rows; r++) {
			int width = term_width(table->cells.at[r * columns + i].text);
			if (width > widths[i])
				widths[i] = width;
		}
	}
	if (term->tty)
		term_table_fit(table, widths, term->width);
	term_table_write_row(table, head, widths, term, out);
	for (size_t r = 0; r < rows; r++)
		term_table_write_row(table, table->cells.at + r * columns, widths, term, out);
	for (size_t i = 0; i < columns; i++)
		free(head[i].text);
	free(head);
	free(widths);
}

void term_table_free(struct term_table *table)
{
	for (size_t i = 0; i < table->cells.len; i++)
		free(table->cells.at[i].text);
	free(table->cells.at);
}
