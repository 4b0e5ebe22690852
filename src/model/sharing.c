/* See sharing.h. */
#include "model/sharing.h"

#include "base/text.h"

#include <math.h>

/* Fewer finished tasks are no measure of a level. */
#define SHARING_TASKS_LEAST 2
/* Twice the neighbours must give at least this many times as many tasks. */
#define SHARING_GAIN 1.1
/* Of the card's memory that may be promised, and room above the most that a task was seen to use. */
#define SHARING_CARD_PART 0.95
#define SHARING_ROOM 1.2

size_t sharing_parts(const struct sharing *s)
{
	return (size_t)1 << s->level;
}

/* Finished tasks in an hour at a level; NAN: too few were seen. Little's law: those that run, by the time each takes. */
static double sharing_rate(const struct sharing *s, size_t level)
{
	const struct sharing_seen *seen = &s->seen[level];
	size_t parts = (size_t)1 << level, least = parts > SHARING_TASKS_LEAST ? parts : SHARING_TASKS_LEAST;
	return seen->tasks >= least && seen->wall_ms > 0 ? seen->beside / seen->wall_ms * 3600e3 : NAN;
}

/* Do so many fit, each with its equal part of the memory? */
static bool sharing_fits(const struct sharing *s, size_t level)
{
	double part = s->card_bytes * SHARING_CARD_PART / (double)((size_t)1 << level);
	return s->peak_bytes > 0 && s->card_bytes > 0 && s->peak_bytes * SHARING_ROOM <= part;
}

/* The next step up, back, or none. */
static bool sharing_decide(struct sharing *s)
{
	double now = sharing_rate(s, s->level);
	while (s->level > 0 && !sharing_fits(s, s->level)) { /* a later task needs more */
		s->level--;
		s->settled = true;
		return true;
	}
	if (s->settled || isnan(now))
		return false;
	if (s->level > 0 && now < SHARING_GAIN * sharing_rate(s, s->level - 1)) {
		s->level--;
		s->settled = true;
		return true;
	}
	if (s->level + 1 == SHARING_LEVELS || !sharing_fits(s, s->level + 1))
		return false;
	s->level++;
	return true;
}

void sharing_set_memory(struct sharing *s, double peak_bytes, double card_bytes)
{
	s->peak_bytes = peak_bytes > 0 ? peak_bytes : 0;
	s->card_bytes = card_bytes > 0 ? card_bytes : 0;
}

bool sharing_take(struct sharing *s, size_t parts, double running, double wall_ms)
{
	size_t level = 0;
	while (level + 1 < SHARING_LEVELS && (size_t)1 << level < parts)
		level++;
	s->seen[level].tasks++;
	s->seen[level].beside += running < (double)parts ? running : (double)parts;
	s->seen[level].wall_ms += wall_ms;
	return sharing_decide(s);
}

void sharing_fail(struct sharing *s, size_t parts)
{
	if (s->level > 0 && sharing_parts(s) <= parts)
		s->level--;
	s->settled = true;
}

void sharing_write(const struct sharing *s, struct json *out)
{
	json_map(out);
	json_key_int(out, "level", (int64_t)s->level);
	json_key_bool(out, "settled", s->settled);
	json_key_real(out, "peak_bytes", s->peak_bytes);
	json_key_real(out, "card_bytes", s->card_bytes);
	json_key(out, "seen");
	json_list(out);
	for (size_t i = 0; i < SHARING_LEVELS; i++) {
		json_map(out);
		json_key_int(out, "tasks", (int64_t)s->seen[i].tasks);
		json_key_real(out, "wall_ms", s->seen[i].wall_ms);
		json_key_real(out, "beside", s->seen[i].beside);
		json_end(out);
	}
	json_end(out);
	json_end(out);
}

bool sharing_read(const struct node *measured, struct sharing *ret)
{
	const struct node *seen = measured ? node_get(measured, "seen") : NULL;
	int64_t level = measured ? node_get_int(measured, "level", -1) : -1;
	if (level < 0 || level >= SHARING_LEVELS || !seen || seen->type != NODE_LIST || seen->count != SHARING_LEVELS)
		return false;
	*ret = (struct sharing){.level = (size_t)level, .settled = node_get_bool(measured, "settled", false)};
	sharing_set_memory(ret, node_get_real(measured, "peak_bytes", 0), node_get_real(measured, "card_bytes", 0));
	for (size_t i = 0; i < SHARING_LEVELS; i++)
		ret->seen[i] = (struct sharing_seen){
			.tasks = (size_t)node_get_int(seen->items[i], "tasks", 0),
			.wall_ms = node_get_real(seen->items[i], "wall_ms", 0),
			.beside = node_get_real(seen->items[i], "beside", 0),
		};
	return true;
}

void sharing_explain(const struct sharing *s, struct buf *out)
{
	char peak[32], card[32];
	double alone = sharing_rate(s, 0), now = sharing_rate(s, s->level);
	buf_addf(out, "%zu task%s on a GPU", sharing_parts(s), sharing_parts(s) == 1 ? "" : "s");
	if (s->level > 0 && !isnan(alone) && !isnan(now))
		buf_addf(out, ", %.1f times as many tasks an hour as one alone", now / alone);
	else if (isnan(now))
		buf_add_text(out, ", being measured");
	if (s->settled && s->level + 1 < SHARING_LEVELS && !isnan(sharing_rate(s, s->level + 1)) && !isnan(now))
		buf_addf(out, "; %zu gave %.2f times as many as %zu", sharing_parts(s) * 2,
			 sharing_rate(s, s->level + 1) / now, sharing_parts(s));
	if (s->peak_bytes > 0 && s->card_bytes > 0) {
		text_format_bytes((int64_t)s->peak_bytes, peak, sizeof(peak));
		text_format_bytes((int64_t)s->card_bytes, card, sizeof(card));
		buf_addf(out, "; a task uses up to %s of %s", peak, card);
	} else {
		buf_add_text(out, "; not more, because the GPU memory of a task is not measured");
	}
}
