/* A population kept by rank and crowding (Deb et al. 2002): see crowd.h. */
#include "search/crowd.h"

#include "search/pareto.h"

struct crowd *crowd_new(size_t most)
{
	struct crowd *c = mem_alloc(sizeof(*c));
	c->most = most;
	c->ranks = mem_alloc((most + 1) * sizeof(*c->ranks));
	c->crowding = mem_alloc((most + 1) * sizeof(*c->crowding));
	return c;
}

void crowd_free(struct crowd *c)
{
	if (!c)
		return;
	free(c->members.at);
	free(c->ranks);
	free(c->crowding);
	free(c);
}

bool crowd_prefers(const struct crowd *c, size_t a, size_t b)
{
	if (c->ranks[a] != c->ranks[b])
		return c->ranks[a] < c->ranks[b];
	return c->crowding[a] > c->crowding[b];
}

static void judge(struct crowd *c, size_t objectives)
{
	double *scores = mem_resize(NULL, c->members.len * objectives + 1, sizeof(*scores));
	for (size_t i = 0; i < c->members.len; i++)
		memcpy(scores + i * objectives, c->members.at[i]->score, objectives * sizeof(*scores));
	pareto_fitness(scores, c->members.len, objectives, c->ranks, c->crowding);
	free(scores);
}

void crowd_add(struct crowd *c, const struct search *s, const struct search_trial *trial)
{
	vec_push(&c->members, trial);
	judge(c, s->objectives);
	if (c->members.len <= c->most)
		return;
	size_t worst = 0;
	for (size_t i = 1; i < c->members.len; i++)
		if (crowd_prefers(c, worst, i))
			worst = i;
	c->members.len--;
	memmove(c->members.at + worst, c->members.at + worst + 1,
		(c->members.len - worst) * sizeof(*c->members.at));
	judge(c, s->objectives);
}

void crowd_replace(struct crowd *c, const struct search *s, size_t member, const struct search_trial *trial)
{
	c->members.at[member] = trial;
	judge(c, s->objectives);
}

size_t crowd_find(const struct crowd *c, int64_t index)
{
	for (size_t i = 0; i < c->members.len; i++)
		if ((int64_t)c->members.at[i]->index == index)
			return i;
	return SIZE_MAX;
}

void crowd_write(const struct crowd *c, struct json *out)
{
	int64_t front = 0;
	for (size_t i = 0; i < c->members.len; i++)
		front += c->ranks[i] == 0 && search_has_score(c->members.at[i]);
	json_key_string(out, "mode", "steady state");
	json_key_int(out, "population", (int64_t)c->members.len);
	json_key_int(out, "front", front);
}
