/* See bars.h. */
#include "metrics/bars.h"

#include "base/mem.h"
#include "base/num.h"
#include "metrics/bar.h"
#include "metrics/line.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* The states of one bar that are kept until the end: more than that is no loop over epochs. */
#define BARS_LONE_BYTES (256 << 10)

void bars_open(struct bars *bars, size_t max, bars_give_f give, void *ctx)
{
	*bars = (struct bars){.give = give, .ctx = ctx};
	bars->end = buf_make(2 * max);
	bars->counted = buf_make(max);
	bars->lone = buf_make(BARS_LONE_BYTES);
	bars_clear(bars);
}

void bars_clear(struct bars *bars)
{
	buf_clear(&bars->end);
	buf_clear(&bars->counted);
	buf_clear(&bars->lone);
	bars->lone.full = bars->several = false;
	bars->counted_at = bars->at = NAN;
}

void bars_free(struct bars *bars)
{
	buf_free(&bars->end);
	buf_free(&bars->counted);
	buf_free(&bars->lone);
}

void bars_end(struct bars *bars)
{
	if (bars->end.len)
		bars->give(bars->ctx, bars->end.data, bars->end.len, NAN, NAN);
	buf_clear(&bars->end);
}

static void bars_end_counted(struct bars *bars)
{
	double count = bars->counted_at + bars->lead;
	if (bars->counted.len && count > bars->given) {
		bars->given = count;
		bars->give(bars->ctx, bars->counted.data, bars->counted.len, bars->by_step ? NAN : count,
			   bars->by_step ? count : NAN);
	}
	buf_clear(&bars->counted);
}

static bool bars_begins(const struct bar *bar, const char *word)
{
	size_t len = strlen(word);
	return bar->desc_len >= len && strncasecmp(bar->desc, word, len) == 0;
}

static bool bars_has_digit(const struct bar *bar)
{
	for (size_t i = 0; i < bar->desc_len; i++)
		if (isdigit((unsigned char)bar->desc[i]))
			return true;
	return false;
}

/* "loss 0.53:  20%|...": its description has a value. */
static bool bars_has_value(const struct bar *bar)
{
	for (size_t i = 1; i + 1 < bar->desc_len; i++)
		if ((bar->desc[i] == '.' || bar->desc[i] == ',') && isdigit((unsigned char)bar->desc[i - 1]) &&
		    isdigit((unsigned char)bar->desc[i + 1]))
			return true;
	return false;
}

/* set_postfix of tqdm draws before the bar has counted, so that the last state at 2/10 is of epoch 3, and at 0 there is
 * one already. In a script that counts first it is of epoch 2. */
static bool bars_take_counted(struct bars *bars, const struct bar *bar)
{
	bool by_step = bars_begins(bar, "step") || bars_begins(bar, "iter") || bars_begins(bar, "training step");
	if (bars_has_digit(bar) || !bar->shown_len || (!by_step && !bars_begins(bar, "epoch")))
		return false;
	bars_end(bars); /* of the batches */
	if (bars->counted.len && bar->at != bars->counted_at)
		bars_end_counted(bars);
	if (bar->at < bars->counted_at || isnan(bars->counted_at)) { /* it begins */
		bars->lead = bar->at == 0;
		bars->given = 0;
	}
	bars->counted_at = bar->at;
	bars->by_step = by_step;
	bars->several = true;
	buf_clear(&bars->counted);
	if (!bars->lead || bar->at < bar->of) /* at the end it shows the last one once more */
		buf_add(&bars->counted, bar->shown, bar->shown_len);
	return true;
}

static void bars_add_text(struct buf *out, const struct bar *bar)
{
	buf_add(out, bar->desc, bar->desc_len);
	buf_add_text(out, " | ");
	buf_add(out, bar->shown, bar->shown_len);
}

/* "Epoch 3", "Iteration 10": it says itself what it is of. */
static bool bars_is_counted(const struct bar *bar)
{
	static const char *const words[] = {"epoch", "step", "iter", "batch", "fold"};
	for (size_t i = 0; i < bar->desc_len; i++)
		for (size_t k = 0; k < COUNT_OF(words); k++)
			if (bar->desc_len - i >= strlen(words[k]) &&
			    strncasecmp(bar->desc + i, words[k], strlen(words[k])) == 0)
				return true;
	return false;
}

static void bars_keep_lone(struct bars *bars, const struct bar *bar)
{
	char at[NUM_REAL_CHARS];
	bars->several |= bars_is_counted(bar);
	if (bars->several)
		return;
	num_format_real(bar->at, at);
	buf_add_text(&bars->lone, at);
	buf_add_char(&bars->lone, ' ');
	bars_add_text(&bars->lone, bar);
	buf_add_char(&bars->lone, '\n');
	bars->several = bars->lone.full;
}

/* The last state of a bar that is through may be drawn again with more behind it (Lightning draws the bar of validation in
 * between), so it waits until another bar has begun. */
bool bars_take(struct bars *bars, const char *text, size_t len)
{
	struct bar bar;
	if (!bar_read(text, len, &bar))
		return false;
	if ((!bar.shown_len && !bars_has_value(&bar)) || isnan(bar.at) || bars_take_counted(bars, &bar))
		return true;
	uint32_t key = line_key(bar.desc, bar.desc_len);
	bool other = !isnan(bars->at) && (key != bars->key || bar.at < bars->at);
	bars->several |= other;
	if (bars->end.len && other)
		bars_end(bars);
	bars->key = key;
	bars->at = bar.at;
	bars_keep_lone(bars, &bar);
	if (bar.at == bar.of) {
		buf_clear(&bars->end);
		bars_add_text(&bars->end, &bar);
	}
	return true;
}

/* Every state of the only bar, as the step that it was of. */
static void bars_give_lone(struct bars *bars)
{
	const char *line = buf_text(&bars->lone), *end = line + bars->lone.len, *next, *text;
	double at = NAN, last = NAN;
	for (; line < end && (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1) {
		if (!(text = memchr(line, ' ', (size_t)(next - line))) ||
		    num_parse_real(line, (size_t)(text - line), &at) < 0)
			continue;
		if (isnan(last))
			bars->lead = at == 0;
		/* Of the states at one count the last one holds. */
		const char *after = next + 1 < end ? memchr(next, ' ', (size_t)(end - next)) : NULL;
		bool again = after && (size_t)(after - next - 1) == (size_t)(text - line) &&
			memcmp(next + 1, line, (size_t)(text - line)) == 0;
		last = at;
		if (!again && (!bars->lead || next + 1 < end))
			bars->give(bars->ctx, text + 1, (size_t)(next - text - 1), NAN, at + bars->lead);
	}
}

void bars_finish(struct bars *bars, bool counts)
{
	bool lone = !bars->several && !counts && bars->end.len && bars->lone.len;
	if (lone) {
		buf_clear(&bars->end);
		bars_give_lone(bars);
	}
	bars_end(bars);
	bars_end_counted(bars);
	bars_clear(bars);
}
