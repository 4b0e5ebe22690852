/* Levels and brackets: see rungs.h. */
#include "search/rungs.h"

#include <math.h>

static uint64_t rungs_power(uint64_t base, size_t exponent)
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
	while (s_max + 1 < RUNGS_MOST && (double)rungs_power(eta, s_max + 1) <= ratio)
		s_max++;
	for (size_t i = 0; i <= s_max; i++)
		levels[i] = most / (double)rungs_power(eta, s_max - i);
	return s_max + 1;
}

uint64_t rungs_hyperband(size_t s_max, size_t s, unsigned eta)
{
	return ((s_max + 1) * rungs_power(eta, s) + s) / (s + 1);
}

uint64_t rungs_dehb(size_t s_max, size_t s, unsigned eta)
{
	return (s_max + 1) / (s + 1) * rungs_power(eta, s);
}

uint64_t rungs_left(uint64_t n, unsigned eta, size_t i)
{
	return n / rungs_power(eta, i);
}

/* How many configurations there are besides the fidelity; UINT64_MAX for more than LIMIT_TASKS. A bracket that waits
 * for more configurations than exist would wait for ever. Conditions, constraints or a fidelity that is a range may
 * leave fewer: then the strategy is told when they are exhausted. */
static uint64_t rungs_space_size(const struct search *s)
{
	uint64_t size = search_space_size(s->space);
	uint64_t values = space_cardinality(&s->space->params[s->spec->fidelity_param]);
	return size == UINT64_MAX || !values ? UINT64_MAX : (size + values - 1) / values;
}

/* Best first; those without a value are left out. Earlier ones first among equals. */
static void rungs_sort_done(struct bracket *b)
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

static void rungs_go_on(struct bracket *b, unsigned eta)
{
	rungs_sort_done(b);
	b->rung++;
	uint64_t size = b->rung <= b->s ? rungs_left(b->n, eta, b->rung) : 0;
	b->size = size < b->chosen.len ? size : b->chosen.len;
	b->asked = b->told = b->done.len = 0;
	b->chosen.len = b->size;
	b->over = b->size == 0;
}

void brackets_open(struct brackets *b, const struct search *s, rungs_start_f start)
{
	b->eta = (unsigned)search_option(s->spec, "eta");
	b->s_max = rungs_levels(s->spec->fidelity_min, s->spec->fidelity_max, b->eta, b->levels) - 1;
	b->left = rungs_space_size(s);
	b->start = start;
}

void brackets_free(struct brackets *b)
{
	for (size_t i = 0; i < b->at.len; i++) {
		free(b->at.at[i].done.at);
		free(b->at.at[i].chosen.at);
	}
	free(b->at.at);
}

enum search_answer brackets_ask(const struct brackets *b, const struct search *s, struct search_trial *trial,
				const struct bracket **ret, size_t *ret_level)
{
	size_t i = b->first;
	while (i < b->at.len && (b->at.at[i].over || b->at.at[i].asked == b->at.at[i].size))
		i++;
	*ret = i < b->at.len ? &b->at.at[i] : NULL;
	if (!*ret && !b->left)
		return s->pending ? SEARCH_WAIT : SEARCH_DONE;
	*ret_level = *ret ? b->s_max - (*ret)->s + (*ret)->rung : i % (b->s_max + 1);
	trial->tag = (int64_t)i;
	trial->fidelity = b->levels[*ret_level];
	return SEARCH_PROPOSED;
}

struct bracket *brackets_accept(struct brackets *b, const struct search_trial *trial)
{
	if ((size_t)trial->tag == b->at.len) {
		size_t s = b->s_max - b->at.len % (b->s_max + 1);
		struct bracket new = {.s = s, .n = b->start(b->s_max, s, b->eta)};
		new.n = new.n < b->left ? new.n : b->left;
		new.size = new.n;
		b->left -= b->left == UINT64_MAX ? 0 : new.n;
		vec_push(&b->at, new);
	}
	return &b->at.at[trial->tag];
}

void brackets_tell(struct brackets *b, struct search_trial *trial)
{
	struct bracket *its = &b->at.at[trial->tag];
	vec_push(&its->done, trial);
	if (++its->told == its->size)
		rungs_go_on(its, b->eta);
	while (b->first < b->at.len && b->at.at[b->first].over)
		b->first++;
}

bool brackets_cut(struct brackets *b)
{
	if (!b->left)
		return false;
	b->left = 0;
	for (size_t i = b->first; i < b->at.len; i++) {
		struct bracket *its = &b->at.at[i];
		if (its->over || its->rung || its->asked == its->size)
			continue;
		its->n = its->size = its->asked;
		if (its->told == its->size)
			rungs_go_on(its, b->eta);
	}
	return true;
}

void brackets_write(const struct brackets *brackets, struct json *out)
{
	json_key(out, "brackets");
	json_list(out);
	for (size_t i = 0; i < brackets->at.len; i++) {
		const struct bracket *b = &brackets->at.at[i];
		size_t rung = b->over && b->rung ? b->rung - 1 : b->rung; /* the last that there was */
		json_map(out);
		json_key_int(out, "start", (int64_t)b->n);
		json_key_real(out, "fidelity", brackets->levels[brackets->s_max - b->s + rung]);
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

uint64_t brackets_planned(const struct search_spec *spec, rungs_start_f start)
{
	double levels[RUNGS_MOST];
	unsigned eta = (unsigned)search_option(spec, "eta");
	size_t s_max = rungs_levels(spec->fidelity_min, spec->fidelity_max, eta, levels) - 1;
	uint64_t sum = 0;
	for (size_t s = 0; s <= s_max; s++)
		for (size_t i = 0; i <= s; i++)
			sum += rungs_left(start(s_max, s, eta), eta, i);
	return sum;
}
