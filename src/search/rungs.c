/* Levels and brackets: see rungs.h. */
#include "search/rungs.h"

#include <math.h>

static uint64_t power(uint64_t base, size_t exponent)
{
	uint64_t result = 1;
	for (; exponent; exponent--)
		result = result > UINT64_MAX / base ? UINT64_MAX : result * base;
	return result;
}

size_t rungs_levels(double least, double most, unsigned eta, double levels[static RUNGS_MOST])
{
	size_t s_max = 0;
	double ratio = most / least * (1 + 1e-9); /* 0.9 / 0.1 is 9 */
	while (s_max + 1 < RUNGS_MOST && (double)power(eta, s_max + 1) <= ratio)
		s_max++;
	for (size_t i = 0; i <= s_max; i++)
		levels[i] = most / (double)power(eta, s_max - i);
	return s_max + 1;
}

uint64_t rungs_hyperband(size_t s_max, size_t s, unsigned eta)
{
	return ((s_max + 1) * power(eta, s) + s) / (s + 1);
}

uint64_t rungs_dehb(size_t s_max, size_t s, unsigned eta)
{
	return (s_max + 1) / (s + 1) * power(eta, s);
}

uint64_t rungs_left(uint64_t n, unsigned eta, size_t i)
{
	return n / power(eta, i);
}

uint64_t rungs_space_size(const struct search *s)
{
	uint64_t size = search_space_size(s->space);
	uint64_t values = space_cardinality(&s->space->params[s->spec->fidelity_param]);
	return size == UINT64_MAX || !values ? UINT64_MAX : (size + values - 1) / values;
}

size_t bracket_level(const struct bracket *b, size_t s_max)
{
	return s_max - b->s + b->rung;
}

/* Best first; those without a value are left out. Earlier ones first among equals. */
static void sort_done(struct bracket *b)
{
	b->chosen.len = 0;
	for (size_t i = 0; i < b->done.len; i++) {
		struct search_trial *trial = b->done.at[i];
		if (!search_has_score(trial))
			continue;
		vec_push(&b->chosen, trial);
		size_t k = b->chosen.len - 1;
		for (; k; k--) {
			struct search_trial *left = b->chosen.at[k - 1];
			if (left->score[0] < trial->score[0] ||
			    (left->score[0] == trial->score[0] && left->index < trial->index))
				break;
			b->chosen.at[k] = left;
		}
		b->chosen.at[k] = trial;
	}
}

static void bracket_go_on(struct bracket *b, unsigned eta)
{
	sort_done(b);
	b->rung++;
	uint64_t size = b->rung <= b->s ? rungs_left(b->n, eta, b->rung) : 0;
	b->size = size < b->chosen.len ? size : b->chosen.len;
	b->asked = b->told = b->done.len = 0;
	b->chosen.len = b->size;
	b->over = b->size == 0;
}

bool bracket_tell(struct bracket *b, struct search_trial *trial, unsigned eta)
{
	vec_push(&b->done, trial);
	if (++b->told < b->size)
		return false;
	bracket_go_on(b, eta);
	return true;
}

void bracket_cut(struct bracket *b, unsigned eta)
{
	if (b->over || b->rung || b->asked == b->size)
		return;
	b->n = b->size = b->asked;
	if (b->told == b->size)
		bracket_go_on(b, eta);
}

void brackets_write(const struct bracket *list, size_t count, const double *levels, size_t s_max, struct json *out)
{
	json_key(out, "brackets");
	json_list(out);
	for (size_t i = 0; i < count; i++) {
		const struct bracket *b = &list[i];
		size_t rung = b->over && b->rung ? b->rung - 1 : b->rung; /* the last that there was */
		json_map(out);
		json_key_int(out, "start", (int64_t)b->n);
		json_key_real(out, "fidelity", levels[s_max - b->s + rung]);
		json_key_int(out, "rung", (int64_t)rung + 1);
		json_key_int(out, "rungs", (int64_t)b->s + 1);
		json_key_int(out, "asked", (int64_t)b->asked);
		json_key_int(out, "told", (int64_t)b->told);
		json_key_int(out, "size", (int64_t)b->size);
		json_key_bool(out, "over", b->over);
		json_end(out);
	}
	json_end(out);
}

void bracket_free(struct bracket *b)
{
	free(b->done.at);
	free(b->chosen.at);
}
