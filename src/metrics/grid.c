/* See grid.h. */
#include "metrics/grid.h"

#include "base/mem.h"
#include "base/text.h"
#include "metrics/number.h"
#include "metrics/words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

/* A line of dashes is at least as long. */
#define GRID_RULE_BYTES 8

struct grid_cell {
	const char *at;
	size_t len;
};

void grid_clear(struct grid *grid)
{
	grid->column_count = grid->above = 0;
	grid->separator = '\0';
	grid->boxed = grid->reports = grid->narrow = false;
	grid->section[0] = '\0';
	phrase_clear(&grid->box);
}

static bool grid_is_rule(const char *text, size_t len)
{
	return len >= GRID_RULE_BYTES && *text == '-' && memcmp(text, text + 1, GRID_RULE_BYTES - 1) == 0;
}

static bool grid_is_counted(const char *text, size_t len)
{
	static const char *const words[] = {"iter", "iteration", "epoch", "ep", "step", "E"};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (len > strlen(words[i]) + 1 && strncasecmp(text, words[i], strlen(words[i])) == 0 &&
		    strchr(" |,;\t", text[strlen(words[i])]))
			return true;
	return false;
}

/* The length of a bar between the columns of a table: | and the upright lines of Unicode; 0: there is none here. */
static size_t grid_bar(const char *text, size_t len)
{
	static const char *const bars[] = {"|", "\u2502", "\u2503", "\u2551"};
	for (size_t i = 0; i < COUNT_OF(bars); i++)
		if (len >= strlen(bars[i]) && memcmp(text, bars[i], strlen(bars[i])) == 0)
			return strlen(bars[i]);
	return 0;
}

/* "+-----+-----+", "|-----|:---:|", "┡━━━━━╇━━━━━┩": a line between the rows of a table with bars. */
static bool grid_is_border(const char *text, size_t len)
{
	size_t dashes = 0;
	for (size_t i = 0; i < len; i++) {
		bool drawn = len - i >= 3 && memcmp(text + i, "\xe2\x94", 2) == 0;
		drawn |= len - i >= 3 && memcmp(text + i, "\xe2\x95", 2) == 0;
		if (!drawn && !strchr("+-=|: ", text[i]))
			return false;
		dashes += drawn || text[i] == '-' || text[i] == '=';
		i += drawn ? 2 : 0;
	}
	return dashes >= 3;
}

bool grid_expects(const struct grid *grid, const char *text, size_t len)
{
	size_t at = 0, bar;
	while (at < len && (unsigned char)text[at] <= ' ')
		at++;
	if ((bar = grid_bar(text + at, len - at)) && !grid->column_count && !grid->boxed)
		for (at += bar; at < len && (unsigned char)text[at] <= ' ';)
			at++;
	if (grid->column_count || grid->above || (grid->boxed && at < len && text[at] == '|'))
		return true;
	return grid_is_rule(text + at, len - at) || grid_is_counted(text + at, len - at);
}

/* The columns of a line whose columns are so many spaces apart (1 or 2); 0: too many. */
static size_t grid_cut(const char *text, size_t len, size_t apart, struct grid_cell cells[GRID_COLUMNS_MAX])
{
	size_t count = 0, at = 0;
	while (at < len) {
		while (at < len && text[at] == ' ')
			at++;
		size_t end = at;
		while (end < len && !(text[end] == ' ' && (apart == 1 || end + 1 == len || text[end + 1] == ' ')))
			end++;
		if (end > at) {
			if (count == GRID_COLUMNS_MAX)
				return 0;
			cells[count++] = (struct grid_cell){text + at, end - at};
		}
		at = end;
	}
	return count;
}

/* The bytes of what stands between columns, if it does here. */
static size_t grid_border(const char *text, size_t len, char separator)
{
	return separator == '|' ? grid_bar(text, len) : len && *text == separator;
}

/* The columns of a line with bars around each, or another separator between them; 0: too many. */
static size_t grid_cut_by(char separator, const char *text, size_t len, struct grid_cell cells[GRID_COLUMNS_MAX])
{
	size_t count = 0, at = grid_border(text, len, separator);
	while (at < len) {
		size_t end = at;
		while (end < len && !grid_border(text + end, len - end, separator))
			end++;
		size_t next = end + (end < len ? grid_border(text + end, len - end, separator) : 0), last = end;
		while (at < last && text[at] == ' ')
			at++;
		while (last > at && text[last - 1] == ' ')
			last--;
		if (last > at && text[last - 1] == '%')
			last--;
		if (count == GRID_COLUMNS_MAX)
			return 0;
		cells[count++] = (struct grid_cell){text + at, last - at};
		at = next;
	}
	return count;
}

static void grid_name(char out[GRID_COLUMN_BYTES], const char *at, size_t len)
{
	snprintf(out, GRID_COLUMN_BYTES, "%.*s",
		 (int)text_utf8_check(at, len < GRID_COLUMN_BYTES - 1 ? len : GRID_COLUMN_BYTES - 1), at);
}

/* The second line of a header as MATLAB prints it: "|  Epoch  |  Mini-batch  |", "|         |   Accuracy   |". */
static bool grid_read_below(struct grid *grid, const struct grid_cell *cells, size_t count)
{
	bool metric = false, fits = count == grid->above && !cells[0].len;
	grid->above = 0;
	for (size_t i = 1; fits && i < count; i++) {
		char *name = grid->columns[i];
		size_t len = strlen(name), more = cells[i].len;
		if (!more)
			continue;
		fits = !memchr(cells[i].at, '-', more) && len + more + 1 < GRID_COLUMN_BYTES;
		if (!fits)
			break;
		name[len] = ' ';
		memcpy(name + len + 1, cells[i].at, more);
		name[len + 1 + more] = '\0';
		metric |= phrase_is_metric(name, strlen(name));
	}
	grid->column_count = fits && metric ? count : 0;
	return grid->column_count > 0;
}

/* A header: the first column counts, and another one is named like a metric. */
static bool grid_read_header(struct grid *grid, const struct grid_cell *cells, size_t count)
{
	bool spacy = count > 2 && cells[0].len == 1 && *cells[0].at == 'E' && cells[1].len == 1 && *cells[1].at == '#';
	enum word_kind first = count ? word_kind_of(cells[0].at, cells[0].len) : WORD_OTHER;
	bool metric = false;
	if (grid->above && grid_read_below(grid, cells, count))
		return true;
	if (count < 2 || (!spacy && first != WORD_EPOCH && first != WORD_STEP))
		return false;
	for (size_t i = 1; i < count; i++) {
		if (!cells[i].len || (!isalpha((unsigned char)*cells[i].at) && *cells[i].at != '#'))
			return false;
		for (size_t k = 0; k < cells[i].len; k++)
			if (strchr(":=;,|", cells[i].at[k]))
				return false;
		metric |= phrase_is_metric(cells[i].at, cells[i].len);
	}
	if (!metric && grid->separator != '|')
		return false;
	for (size_t i = 0; i < count; i++)
		grid_name(grid->columns[i], cells[i].at, cells[i].len);
	grid->above = metric ? 0 : count;
	if (!metric)
		return false;
	if (spacy)
		grid_name(grid->columns[1], "step", 4);
	grid->column_count = count;
	return true;
}

static bool grid_is_count(const struct grid_cell *cell)
{
	double value;
	return number_parse(cell->at, cell->len, &value) == 0 && value == floor(value);
}

/* Numbers, and what R and pandas print in place of one. */
static bool grid_are_numbers(const struct grid_cell *cells, size_t count)
{
	static const char *const missing[] = {"NA", "<NA>", "None"};
	for (size_t i = 0; i < count; i++) {
		double value;
		bool known = number_parse(cells[i].at, cells[i].len, &value) == 0;
		for (size_t k = 0; !known && k < COUNT_OF(missing); k++)
			known = cells[i].len == strlen(missing[k]) &&
				memcmp(cells[i].at, missing[k], cells[i].len) == 0;
		if (!known)
			return false;
	}
	return true;
}

/* A frame of pandas or R: its index has no name, and what counts stands behind it. */
static bool grid_has_index(const struct grid *grid, const struct grid_cell *cells, size_t count)
{
	return count == grid->column_count + 1 && grid_is_count(&cells[0]) &&
		(grid_is_count(&cells[1]) || grid_are_numbers(cells, count));
}

static enum grid_answer grid_read_row(struct grid *grid, const struct grid_cell *cells, size_t count,
				      struct phrase *ret)
{
	double first;
	if (grid_has_index(grid, cells, count))
		cells++, count--;
	if (count != grid->column_count || number_parse(cells[0].at, cells[0].len, &first) < 0)
		return GRID_NONE;
	phrase_clear(ret);
	if (word_kind_of(grid->columns[0], strlen(grid->columns[0])) == WORD_EPOCH ||
	    strcmp(grid->columns[0], "E") == 0)
		ret->epoch = first;
	else
		ret->step = first;
	for (size_t i = 1; i < count; i++) {
		struct phrase_pair *pair = &ret->pairs[ret->count];
		if (number_parse(cells[i].at, cells[i].len, &pair->value) < 0 ||
		    word_kind_of_name(grid->columns[i], strlen(grid->columns[i])) == WORD_NEVER)
			continue;
		if (word_kind_of(grid->columns[i], strlen(grid->columns[i])) == WORD_STEP && isnan(ret->step)) {
			ret->step = pair->value;
			continue;
		}
		snprintf(pair->name, sizeof(pair->name), "%s", grid->columns[i]);
		ret->count++;
	}
	return ret->count ? GRID_ROW : GRID_PART;
}

/* "0.8 *": a sign behind a number marks it, and is no column. */
static void grid_drop_mark(struct grid_cell *cell)
{
	size_t len = cell->len;
	double value;
	for (; len && cell->at[len - 1] != ' '; len--)
		if (isalnum((unsigned char)cell->at[len - 1]))
			return;
	while (len && cell->at[len - 1] == ' ')
		len--;
	if (len && number_parse(cell->at, len, &value) == 0)
		cell->len = len;
}

/* The columns of a row. A frame that R prints has one space between them where the numbers are as wide as the names. Words
 * that are no numbers may belong together ("3 s", "12 it/s", a date with a time): then two spaces are between columns,
 * unless the header has one. */
static size_t grid_cut_row(const struct grid *grid, const char *text, size_t len,
			   struct grid_cell cells[GRID_COLUMNS_MAX])
{
	size_t count = grid->column_count ? grid_cut(text, len, 1, cells) : 0;
	bool fits = count && (count == grid->column_count || grid_has_index(grid, cells, count));
	if (fits && ((grid->narrow && count == grid->column_count) || grid_are_numbers(cells, count)))
		return count;
	count = grid_cut(text, len, 2, cells);
	for (size_t i = 0; grid->column_count && i < count; i++)
		grid_drop_mark(&cells[i]);
	return count;
}

/* What stands between the columns of a header: a bar, else what a table in a file has; 0: spaces. */
static char grid_find_separator(const char *text, size_t len)
{
	static const char separators[] = {'\t', ';', ','};
	if (grid_bar(text, len) || memchr(text, '|', len))
		return '|';
	for (size_t i = 0; i < sizeof(separators); i++)
		if (memchr(text, separators[i], len))
			return separators[i];
	return '\0';
}

static enum grid_answer grid_read_table(struct grid *grid, const char *text, size_t len, struct phrase *ret)
{
	struct grid_cell cells[GRID_COLUMNS_MAX] = {0};
	if (!grid->column_count) {
		grid->separator = grid_find_separator(text, len);
		grid->narrow = false;
	}
	bool bars = grid->separator != '\0';
	size_t count = bars ? grid_cut_by(grid->separator, text, len, cells) : grid_cut_row(grid, text, len, cells);
	if (text_utf8_check(text, len) == len && grid_read_header(grid, cells, count))
		return GRID_PART;
	if (!grid->column_count && !bars) { /* a header with one space between its columns */
		count = grid_cut(text, len, 1, cells);
		grid->narrow = true;
		if (text_utf8_check(text, len) == len && grid_read_header(grid, cells, count))
			return GRID_PART;
	}
	if (!grid->column_count)
		return GRID_NONE;
	if ((len >= 3 && memcmp(text, "---", 3) == 0) || grid_is_border(text, len) ||
	    (!bars && memchr(text, '%', len))) /* the progress of an epoch is drawn in between */
		return GRID_PART;
	enum grid_answer answer = grid_read_row(grid, cells, count, ret);
	if (answer == GRID_NONE)
		grid->column_count = 0;
	return answer;
}

/* Does the box count by this? Then its number is kept. */
static bool grid_count(struct phrase *box, const char *name, double value)
{
	enum word_kind kind = word_kind_of(name, strlen(name));
	if (strcasecmp(name, "total_timesteps") == 0)
		box->step = value;
	else if (kind == WORD_EPOCH)
		box->epoch = value;
	else
		return false;
	return true;
}

/* False: it is no number. */
static bool grid_add_to_box(struct grid *grid, const char *name, const char *value, size_t value_len)
{
	struct phrase *box = &grid->box;
	struct phrase_pair *pair = &box->pairs[box->count];
	double number;
	if (!value_len) { /* "| train/ |      |" */
		grid_name(grid->section, name, strlen(name));
		return true;
	}
	if (number_parse(value, value_len, &number) < 0)
		return false;
	if (grid_count(box, name, number))
		return true;
	bool time = strcmp(grid->section, "time/") == 0 || word_kind_of_name(name, strlen(name)) == WORD_NEVER;
	if (time || box->count == PHRASE_PAIRS_MAX)
		return true;
	snprintf(pair->name, sizeof(pair->name), "%s%s", grid->section, name);
	pair->value = number;
	box->count++;
	grid->reports |= phrase_is_metric(name, strlen(name)) || strcasestr(name, "loss") || strcasestr(name, "rew") ||
		strcasestr(name, "epret");
	return true;
}

/* "|    ep_rew_mean  | -213   |" */
static bool grid_read_box_line(struct grid *grid, const char *text, size_t len)
{
	const char *middle = len > 2 ? memchr(text + 1, '|', len - 2) : NULL, *end = text + len - 1;
	if (len < 3 || *text != '|' || *end != '|' || !middle || middle == end ||
	    memchr(middle + 1, '|', (size_t)(end - middle - 1)) || text_utf8_check(text, len) != len)
		return false;
	const char *name = text + 1, *name_end = middle, *value = middle + 1;
	while (name < name_end && *name == ' ')
		name++;
	while (name_end > name && name_end[-1] == ' ')
		name_end--;
	while (value < end && *value == ' ')
		value++;
	while (end > value && end[-1] == ' ')
		end--;
	if (name == name_end)
		return false;
	char copy[GRID_COLUMN_BYTES];
	grid_name(copy, name, (size_t)(name_end - name));
	return grid_add_to_box(grid, copy, value, (size_t)(end - value));
}

/* A box opens and closes with a line of dashes; the line that closes one may open the next. */
static enum grid_answer grid_read_rule(struct grid *grid, struct phrase *ret)
{
	struct phrase *box = &grid->box;
	bool row = grid->boxed && grid->reports && box->count && (!isnan(box->step) || !isnan(box->epoch));
	if (row)
		*ret = *box;
	phrase_clear(box);
	grid->boxed = true;
	grid->reports = false;
	grid->section[0] = '\0';
	return row ? GRID_ROW : GRID_PART;
}

enum grid_answer grid_read(struct grid *grid, const char *text, size_t len, struct phrase *ret)
{
	if (!grid->column_count && grid_is_rule(text, len))
		return grid_read_rule(grid, ret);
	if (grid->boxed && grid_read_box_line(grid, text, len))
		return GRID_PART;
	grid->boxed = false;
	return grid_read_table(grid, text, len, ret);
}
