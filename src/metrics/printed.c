/* What a script prints: reports of training on stdout and stderr, as people and frameworks write them, without any
 * configuration. Lines are cut at newlines; carriage returns and backspaces redraw a line, and of a progress bar only its
 * last state counts. Every kind of line has steps of its own: a loop may print its loss for every hundredth batch and its
 * accuracy once an epoch. A line that is not clearly a report gives nothing. */
#include "base/limits.h"
#include "base/num.h"
#include "base/text.h"
#include "metrics/bars.h"
#include "metrics/counted.h"
#include "metrics/early.h"
#include "metrics/grid.h"
#include "metrics/held.h"
#include "metrics/line.h"
#include "metrics/object.h"
#include "metrics/phrase.h"
#include "metrics/printed_phrase.h"
#include "metrics/reader.h"
#include "metrics/runs.h"
#include "metrics/section.h"
#include "metrics/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

/* A longer line is no report; a dictionary of that length is noted. */
#define PRINTED_LINE_BYTES 16384
#define PRINTED_SHAPES_MAX 64

/* Lines that report the same thing. */
struct printed_shape {
	uint32_t key;
	struct metrics_step step;
};

struct printed {
	struct metrics_reader reader;
	uint64_t bytes; /* read so far */
	struct word_filter filter;
	struct buf clean; /* the line being read */
	struct object object; /* a dictionary that is printed over several lines, up to here */
	struct buf state; /* what a bar showed last; empty: none */
	uint32_t state_key;
	struct bars bars;
	double epoch, step, first_epoch; /* of the last line that counted; NAN */
	double whole; /* lines begin with a place in so many; NAN */
	char section[SECTION_BYTES]; /* the heading since the last count: whose the numbers below it are; empty: none */
	struct runs runs;
	bool commas, thousands; /* numbers such as 0,25 were read; such as 1,234 */
	bool repeats; /* the line before announced the best iteration: it is printed once more */
	bool bar_due; /* Keras: an epoch was announced, its bar comes next */
	struct grid grid;
	VEC(struct printed_shape) shapes;
	struct counted counted;
	struct held held; /* uncounted, and may be of before the training */
	struct early early;
	uint32_t last_line; /* the sum of the last line that gave a row */
	struct phrase phrase;
	struct word_names wanted;
};

static struct printed_shape *printed_shape_of(struct printed *p, uint32_t key)
{
	for (size_t i = 0; i < p->shapes.len; i++)
		if (p->shapes.at[i].key == key)
			return &p->shapes.at[i];
	if (p->shapes.len == PRINTED_SHAPES_MAX)
		return NULL;
	struct printed_shape shape = {.key = key};
	metrics_step_restart(&shape.step);
	vec_push(&p->shapes, shape);
	return &p->shapes.at[p->shapes.len - 1];
}

/* "[TRAIN]", "loss: 0.5", "[VALID]", "loss: 0.6": a name that came under another heading before is of another part of the
 * data, and gets its heading in front. */
static void printed_name_section(struct printed *p)
{
	size_t len = strlen(p->section);
	for (size_t i = 0; len && i < p->phrase.count; i++) {
		char *name = p->phrase.pairs[i].name;
		const struct counted_name *known = counted_find(&p->counted, name);
		if (!known || known->section == line_hash(p->section, len) ||
		    strlen(name) + len + 1 > LIMIT_METRIC_NAME_BYTES)
			continue;
		memmove(name + len + 1, name, strlen(name) + 1);
		memcpy(name, p->section, len);
		name[len] = ' ';
	}
}

/* Does the line sum up what was counted? It has no count, and a name of it stood on the line with the last one. */
static bool printed_is_summary(struct printed *p, enum counted_kind kind)
{
	struct counted_at at = {p->epoch, p->step};
	for (size_t i = 0; i < p->phrase.count; i++) {
		const struct counted_name *name = counted_find(&p->counted, p->phrase.pairs[i].name);
		if (name && counted_stood_at(name, at, kind))
			return true;
	}
	return false;
}

/* Of several processes that print their own values number 0 has the plain names. */
static void printed_name_rank(struct printed *p)
{
	char prefix[32];
	if (isnan(p->phrase.rank) || p->phrase.rank == 0)
		return;
	snprintf(prefix, sizeof(prefix), "rank %.0f ", fmin(fmax(p->phrase.rank, 0), 1e9));
	runs_prefix(&p->phrase, prefix);
}

/* Gives pairs whose names are settled. */
static void printed_give_pairs(struct printed *p, const struct phrase_pair *pairs, size_t count, double epoch,
			       double step)
{
	enum counted_kind kind = counted_kind_of((struct counted_at){epoch, step});
	struct printed_shape *shape = printed_shape_of(p, line_hash(pairs[0].name, strlen(pairs[0].name)) * 4 + kind);
	if (!shape)
		return;
	if (!isnan(epoch))
		metrics_add(&p->reader, "epoch", epoch);
	if (!isnan(step))
		metrics_add(&p->reader, "step", step);
	for (size_t i = 0; i < count; i++)
		metrics_add(&p->reader, pairs[i].name, pairs[i].value);
	struct metrics_step own = p->reader.step;
	p->reader.step = shape->step;
	metrics_give(&p->reader);
	shape->step = p->reader.step;
	p->reader.step = own;
}

static void printed_give_held(struct printed *p, struct held_row *row)
{
	for (size_t i = 0; i < row->pairs.len; i++)
		counted_settle(&p->counted, row->pairs.at[i].name, COUNTED_ROWS, line_hash("", 0), NULL);
	if (row->pairs.len)
		printed_give_pairs(p, row->pairs.at, row->pairs.len, NAN, NAN);
	free(row->pairs.at);
}

static void printed_end_held(struct printed *p, size_t most)
{
	while (p->held.pairs.len > most) {
		struct held_row row = {0};
		held_take(&p->held, p->held.pairs.at[0].row, &row);
		printed_give_held(p, &row);
	}
}

/* The names of the line are counted: what is held under them is of before the training, and no part of the curve. */
static void printed_part_held(struct printed *p)
{
	const struct phrase *counted = &p->phrase;
	uint32_t at;
	bool begins = false;
	while ((at = held_find(&p->held, counted->pairs, counted->count))) {
		begins = true;
		struct held_row row = {0};
		held_take_named(&p->held, at, counted->pairs, counted->count, &row);
		printed_give_held(p, &row);
	}
	if (!printed_has_count(counted))
		early_see(&p->early, counted, (struct counted_at){p->epoch, p->step}, begins);
}

/* A row without a count, none of whose names came before, is held back. When a name of it comes again without a count, it
 * was the first row of a series. */
static bool printed_hold(struct printed *p)
{
	const struct phrase *phrase = &p->phrase;
	uint32_t at;
	bool known = false;
	while ((at = held_find(&p->held, phrase->pairs, phrase->count))) {
		struct held_row row = {0};
		held_take(&p->held, at, &row);
		printed_give_held(p, &row);
		known = true;
	}
	for (size_t i = 0; i < phrase->count && !known; i++)
		known = counted_find(&p->counted, phrase->pairs[i].name);
	if (known)
		return false;
	held_add(&p->held, phrase->pairs, phrase->count);
	printed_end_held(p, HELD_PAIRS_MAX);
	return true;
}

/* Gives the pairs of the line under its own count, or under that of the line before. */
static void printed_give(struct printed *p, double epoch, double step)
{
	struct phrase *phrase = &p->phrase;
	bool counted = printed_has_count(phrase);

	runs_name(&p->runs, phrase, epoch, step, &p->reader);
	printed_name_rank(p);
	if (*phrase->part) {
		char prefix[sizeof(phrase->part) + 1];
		snprintf(prefix, sizeof(prefix), "%s/", phrase->part);
		runs_prefix(phrase, prefix);
	}
	printed_name_section(p);
	if (!counted && printed_is_summary(p, counted_kind_of((struct counted_at){epoch, step})))
		epoch = step = NAN;
	enum counted_kind kind = counted_kind_of((struct counted_at){epoch, step});
	if (kind == COUNTED_ROWS && printed_hold(p))
		return;
	uint32_t section = line_hash(p->section, strlen(p->section));
	struct counted_at at = {p->epoch, p->step};
	for (size_t i = 0; i < phrase->count; i++)
		counted_settle(&p->counted, phrase->pairs[i].name, kind, section, counted ? &at : NULL);
	if (kind != COUNTED_ROWS)
		printed_part_held(p);
	printed_give_pairs(p, phrase->pairs, phrase->count, epoch, step);
}

/* The count of a line that has one: a place within the epoch becomes a step when the epoch's length is known. */
static void printed_count(struct printed *p)
{
	struct phrase *phrase = &p->phrase;
	*p->section = '\0';
	if (!isnan(phrase->epoch)) {
		if (isnan(p->first_epoch))
			p->first_epoch = phrase->epoch;
		if (phrase->epochs >= phrase->epoch && phrase->epochs > 0 && phrase->epochs < PRINTED_EPOCHS_MAX)
			p->reader.epochs = (int64_t)phrase->epochs;
		if (!isnan(phrase->at) && phrase->of > 0 && isnan(phrase->step))
			phrase->step = (phrase->epoch - (p->first_epoch == 0 ? 0 : 1)) * phrase->of + phrase->at;
	}
	double step = isnan(phrase->epoch) ? phrase->step : NAN;
	early_count(&p->early, (struct counted_at){p->epoch, p->step}, (struct counted_at){phrase->epoch, step});
	p->epoch = phrase->epoch;
	p->step = step;
}

/* What a line that was read means. */
static void printed_judge(struct printed *p, const char *text, size_t len)
{
	struct phrase *phrase = &p->phrase;
	bool counted;

	if (runs_see(&p->runs, phrase))
		p->epoch = p->step = NAN;
	if (phrase->partial)
		return;
	if (printed_is_boosting(phrase, text, len)) {
		if (p->repeats)
			return;
		phrase->step = phrase->begins;
		printed_name_boosting(phrase);
		p->epoch = NAN;
		p->step = phrase->step;
		printed_give(p, NAN, phrase->step);
		return;
	}
	if (!isnan(phrase->begins) && isnan(phrase->step))
		phrase->step = phrase->begins;
	counted = !isnan(phrase->epoch) || !isnan(phrase->step);
	if (counted && phrase->best)
		return;
	if (counted && phrase->count && phrase->metric) {
		printed_count(p);
		printed_give(p, phrase->epoch, phrase->step);
	} else if (counted && phrase->alone && !phrase->count) {
		printed_count(p);
		p->bar_due = true;
	} else if (phrase->count && phrase->metric && phrase->alone) {
		bool bar = !isnan(phrase->begins_of), has_count = !isnan(p->epoch) || !isnan(p->step);
		if (bar && !has_count && (phrase->begins_of == 0 || phrase->whole == p->whole)) {
			p->whole = phrase->whole; /* "1/5 loss: 0.5": nothing else counts */
			printed_give(p, NAN, phrase->place);
			return;
		}
		if ((bar && phrase->begins_of == 0) || (has_count && phrase->best))
			return;
		if (!isnan(phrase->at) && !isnan(p->epoch) && phrase->of > 0) {
			printed_give(p, p->epoch, (p->epoch - (p->first_epoch != 0)) * phrase->of + phrase->at);
			return;
		}
		if (bar && has_count && !p->bar_due)
			runs_prefix(phrase, "evaluate ");
		if (bar)
			p->bar_due = false;
		printed_give(p, p->epoch, p->step);
	}
}

/* What a bar showed. What follows the state of an epoch is of the next one. */
static void printed_bar_cb(void *ctx, const char *text, size_t len, double epoch, double step)
{
	struct printed *p = ctx;
	double last_epoch = p->epoch, last_step = p->step;
	bool counted = !isnan(epoch) || !isnan(step);
	if (!phrase_read(text, len, &p->phrase) || !p->phrase.count)
		return;
	if (counted) {
		p->phrase.epoch = epoch;
		p->phrase.step = step;
	}
	printed_judge(p, text, len);
	if (counted) {
		p->epoch = last_epoch;
		p->step = last_step;
	}
}

/* Could this be a report at all? Most lines of a flood are not: they are left after one look at their bytes. */
static bool printed_is_candidate(const struct printed *p, const char *text, size_t len)
{
	size_t i = 0;
	if (len > PRINTED_LINE_BYTES)
		return false;
	while (i < len && (unsigned char)(text[i] - '0') > 9)
		i++;
	if (grid_expects(&p->grid, text, len))
		return true;
	if (memmem(text, len, "est iteration", 13))
		return true;
	if (i == len && !memmem(text, len, "nan", 3) && !memmem(text, len, "inf", 3))
		return false;
	/* A colour hides where a word begins. */
	for (size_t k = 0; k < p->wanted.count; k++)
		if (memmem(text, len, p->wanted.at[k], strlen(p->wanted.at[k])))
			return true;
	return memchr(text, '\t', len) || memchr(text, 0x1b, len) || word_filter_pass(&p->filter, text, len);
}

/* Numbers that were left out, or that may mean something else. */
static void printed_check_numbers(struct printed *p, const char *text, size_t len)
{
	if (p->phrase.many)
		metrics_complain(&p->reader, "a dictionary has more than %d numbers; the others are left out",
				 PHRASE_PAIRS_MAX);
	if (p->phrase.spaced)
		metrics_complain(&p->reader, "a number such as 1 234 is left out, since it may be two: \"%.*s\"",
				 len < 60 ? (int)len : 60, text);
	if (p->phrase.shortened)
		metrics_complain(&p->reader, "numbers are printed shortened (1.2k is read as 1200): \"%.*s\"",
				 len < 60 ? (int)len : 60, text);
	if (p->phrase.left && (!isnan(p->phrase.epoch) || !isnan(p->phrase.step)))
		metrics_remark(&p->reader, METRICS_REMARK_LEFT,
			       "what stands behind the name of a metric is not a number, and is left out: \"%.*s\"",
			       len < 60 ? (int)len : 60, text);
	p->thousands |= p->phrase.thousands;
	p->commas |= p->phrase.comma;
	if (p->thousands && p->commas)
		metrics_complain(&p->reader, "numbers have decimal commas, but one such as 1,234 was read as 1234");
}

static void printed_read_line(struct printed *p, const char *text, size_t len)
{
	double rank = NAN;
	while (len && (unsigned char)text[len - 1] <= ' ')
		len--;
	while (len && (unsigned char)*text <= ' ')
		text++, len--;
	size_t tag = line_skip_tag(text, len, &rank);
	text += tag;
	len -= tag;
	size_t glog = line_skip_glog(text, len);
	text += glog;
	len -= glog;
	size_t quoted = line_skip_r(text, &len);
	text += quoted;
	len -= quoted;
	if (!len)
		return;
	enum grid_answer answer = grid_read(&p->grid, text, len, &p->phrase);
	if (answer == GRID_ROW)
		printed_give(p, p->phrase.epoch, p->phrase.step);
	if (answer != GRID_NONE)
		return;
	uint32_t sum = line_hash(text, len);
	bool read = printed_read_phrase(&p->phrase, text, len);
	if (!isnan(rank))
		p->phrase.rank = rank;
	printed_check_numbers(p, text, len);
	/* Processes that train together print the same line several times. */
	if (read && (sum != p->last_line || (isnan(p->phrase.epoch) && isnan(p->phrase.step))))
		printed_judge(p, text, len);
	p->repeats = memmem(text, len, "est iteration", 13) != NULL;
	p->last_line = sum;
}

/* A heading within what was counted last. What a bar showed before it is not below it. */
static bool printed_take_section(struct printed *p, const char *text, size_t len)
{
	char word[SECTION_BYTES];
	if ((isnan(p->epoch) && isnan(p->step)) || !section_read(text, len, word))
		return false;
	bars_end(&p->bars);
	memcpy(p->section, word, sizeof(word));
	return true;
}

static void printed_read_raw(struct printed *p, const char *text, size_t len)
{
	if (printed_take_section(p, text, len) || !printed_is_candidate(p, text, len))
		return;
	buf_clear(&p->clean);
	line_clean(text, len, &p->clean);
	printed_read_line(p, buf_text(&p->clean), p->clean.len);
}

/* A dictionary that is too long to be read is not passed over in silence. */
static void printed_note_long(struct printed *p, const char *begin)
{
	metrics_complain(&p->reader, "a dictionary of more than %d bytes is not read; it begins %.20s",
			 PRINTED_LINE_BYTES, begin);
}

/* What began as a dictionary is none: its lines mean what they would mean elsewhere. */
static void printed_give_up_object(struct printed *p)
{
	const char *at = buf_text(&p->object.lines), *end = at + p->object.lines.len, *line_end;
	for (; at < end && (line_end = memchr(at, '\n', (size_t)(end - at))); at = line_end + 1)
		printed_read_raw(p, at, (size_t)(line_end - at));
	object_clear(&p->object);
}

static void printed_line(struct printed *p, const char *text, size_t len)
{
	enum object_answer answer = object_take(&p->object, text, len);
	if (answer == OBJECT_KEPT)
		return;
	if (answer == OBJECT_WHOLE) {
		buf_clear(&p->clean);
		line_clean(p->object.lines.data, p->object.lines.len, &p->clean);
		object_clear(&p->object);
		printed_read_line(p, buf_text(&p->clean), p->clean.len);
		return;
	}
	if (answer == OBJECT_LONG)
		printed_note_long(p, p->object.lines.len ? buf_text(&p->object.lines) : text);
	if (answer != OBJECT_NONE)
		printed_give_up_object(p);
	printed_read_raw(p, text, len);
}

static void printed_end_state(struct printed *p)
{
	if (p->state.len)
		printed_line(p, p->state.data, p->state.len);
	buf_clear(&p->state);
	p->state.full = false;
}

/* A piece of output between two of newline, carriage return and backspace. */
static void printed_piece(struct printed *p, const char *text, size_t len, bool newline)
{
	bool blank = line_is_blank(text, len);
	if (!blank && memmem(text, len, "%|", 2)) {
		printed_end_state(p);
		buf_clear(&p->clean);
		line_clean(text, len, &p->clean);
		bars_take(&p->bars, buf_text(&p->clean), p->clean.len);
	} else if (!blank) {
		uint32_t key = p->state.len || !newline ? line_key(text, len) : 0;
		if (p->state.len && key != p->state_key)
			printed_end_state(p);
		buf_clear(&p->state);
		p->state.full = false;
		if (newline) {
			printed_line(p, text, len);
		} else {
			p->state_key = key;
			buf_add(&p->state, text, len);
			if (p->state.full)
				buf_clear(&p->state);
		}
	} else if (newline) {
		printed_end_state(p);
	}
}

static void printed_feed(struct metrics_reader *reader, const char *data, size_t len)
{
	struct printed *p = (struct printed *)reader;
	while (len && p->bytes < LIMIT_PRINTED_BYTES) {
		size_t end = line_find_end(data, len);
		bool complete = end < len, newline = complete && data[end] == '\n';
		const char *begin = reader->record.len ? buf_text(&reader->record) : data;
		if (!reader->skipping && reader->record.len + end > PRINTED_LINE_BYTES && *begin == '{')
			printed_note_long(p, begin);
		if (reader->record.len || reader->skipping || !complete) {
			if (reader->record.len + end <= PRINTED_LINE_BYTES)
				buf_add(&reader->record, data, end);
			else
				reader->skipping = true;
			if (complete && !reader->skipping)
				printed_piece(p, buf_text(&reader->record), reader->record.len, newline);
			if (complete) {
				buf_clear(&reader->record);
				reader->skipping = false;
			}
		} else if (end <= PRINTED_LINE_BYTES) {
			printed_piece(p, data, end, newline);
		}
		end += complete;
		p->bytes += end;
		data += end;
		len -= end;
	}
	if (len && p->bytes >= LIMIT_PRINTED_BYTES)
		metrics_complain(reader, "only the first %u MB were searched for metrics", LIMIT_PRINTED_BYTES >> 20);
}

static void printed_finish(struct metrics_reader *reader)
{
	struct printed *p = (struct printed *)reader;
	if (reader->record.len && !reader->skipping)
		printed_piece(p, buf_text(&reader->record), reader->record.len, false);
	buf_clear(&reader->record);
	printed_end_state(p);
	printed_give_up_object(p);
	bars_finish(&p->bars, !isnan(p->epoch) || !isnan(p->step));
	printed_end_held(p, 0);
	if (early_is_behind(&p->early, (struct counted_at){p->epoch, p->step}))
		metrics_remark(
			reader, METRICS_REMARK_EARLY,
			"%.40s is printed without an epoch, before a line that has one: it is shown in the epoch "
			"before that. If it is of that line's epoch, print both on one line",
			p->early.name);
}

static void printed_restart(struct metrics_reader *reader)
{
	struct printed *p = (struct printed *)reader;
	for (size_t i = 0; i < p->shapes.len; i++)
		free(p->shapes.at[i].step.given.at);
	p->shapes.len = p->counted.names.len = 0;
	grid_clear(&p->grid);
	p->bytes = 0;
	p->epoch = p->step = p->first_epoch = p->whole = NAN;
	runs_clear(&p->runs);
	*p->section = '\0';
	p->bar_due = p->repeats = p->commas = p->thousands = false;
	p->last_line = 0;
	early_clear(&p->early);
	object_clear(&p->object);
	held_clear(&p->held);
	buf_clear(&p->state);
	bars_clear(&p->bars);
}

static void printed_free(struct metrics_reader *reader)
{
	struct printed *p = (struct printed *)reader;
	printed_restart(reader);
	free(p->shapes.at);
	free(p->counted.names.at);
	held_free(&p->held);
	buf_free(&p->state);
	bars_free(&p->bars);
	buf_free(&p->clean);
	object_free(&p->object);
}

static void printed_want(struct metrics_reader *reader, const char *const *names, size_t count)
{
	struct printed *p = (struct printed *)reader;
	p->wanted = (struct word_names){.at = names, .count = count};
	p->phrase.names = &p->wanted;
}

struct metrics_reader *metrics_printed_open(metrics_row_f row, void *ctx)
{
	static const struct metrics_ops ops = {.feed = printed_feed,
					       .finish = printed_finish,
					       .restart = printed_restart,
					       .want = printed_want,
					       .free = printed_free};
	struct printed *p = metrics_reader_new(sizeof(*p), &ops, row, ctx);
	p->state = buf_make(PRINTED_LINE_BYTES);
	bars_open(&p->bars, PRINTED_LINE_BYTES, printed_bar_cb, p);
	p->clean = buf_make(PRINTED_LINE_BYTES + 1);
	p->object = object_make(PRINTED_LINE_BYTES);
	word_filter_make(&p->filter);
	grid_clear(&p->grid);
	p->epoch = p->step = p->first_epoch = p->whole = NAN;
	runs_clear(&p->runs);
	return &p->reader;
}
