/* See submit_objective.h. */
#include "cli/submit_objective.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>

typedef VEC(char *) objective_texts;

static void objective_free_texts(objective_texts *texts)
{
	for (size_t i = 0; i < texts->len; i++)
		free(texts->at[i]);
	free(texts->at);
}

/* Adds what stands between commas; mAP[0.5,0.95] is one name. */
static void objective_split(objective_texts *texts, const char *value)
{
	bool whole = strpbrk(value, "([{");
	for (;;) {
		size_t len = whole ? strlen(value) : strcspn(value, ",");
		vec_push(texts, mem_copy(value, len));
		if (!value[len])
			return;
		value += len + 1;
	}
}

static void objective_read(const struct options *options, const char *name, objective_texts *ret)
{
	for (size_t i = 0; i < options->given.len; i++)
		if (options_is(options->given.at[i].option, name))
			objective_split(ret, options->given.at[i].value);
}

/* The goal behind a metric, as scales stand behind ranges: accuracy:max. NULL: there is none. */
static const char *objective_goal(const char *metric)
{
	static const char *const goals[] = {":min", ":max", ":minimize", ":maximize", ":minimise", ":maximise"};
	const char *colon = strrchr(metric, ':');
	for (size_t i = 0; colon > metric && i < COUNT_OF(goals); i++)
		if (strcmp(colon, goals[i]) == 0)
			return colon + 1;
	return NULL;
}

static struct node *objective_make(const char *metric, const char *goal)
{
	struct node *one = node_new(NODE_MAP);
	const char *behind = objective_goal(metric);
	char *name = mem_copy(metric, behind ? (size_t)(behind - 1 - metric) : strlen(metric));
	node_add(one, "metric", node_new_string(name));
	if (goal || behind)
		node_add(one, "goal", node_new_string(goal ? goal : behind));
	free(name);
	return one;
}

static struct node *objective_make_all(const objective_texts *metrics, const objective_texts *goals)
{
	if (metrics->len == 1)
		return objective_make(metrics->at[0], goals->len ? goals->at[0] : NULL);
	struct node *list = node_new(NODE_LIST);
	for (size_t i = 0; i < metrics->len; i++)
		node_add(list, NULL, objective_make(metrics->at[i], i < goals->len ? goals->at[i] : NULL));
	return list;
}

int submit_apply_objective(struct node *tree, const struct options *options, struct error *err)
{
	objective_texts metrics = {0}, goals = {0};
	objective_read(options, "objective", &metrics);
	objective_read(options, "goal", &goals);
	struct node *old = node_get(tree, "objective");
	int rc = metrics.len || goals.len;
	if (goals.len > metrics.len && metrics.len)
		rc = errorf(err, -EINVAL, "there are more --goal than --objective");
	else if (metrics.len)
		node_add(tree, "objective", objective_make_all(&metrics, &goals));
	else if (goals.len == 1 && old && old->type == NODE_MAP)
		node_add(old, "goal", node_new_string(goals.at[0]));
	else if (goals.len)
		rc = errorf(err, -EINVAL, "--goal needs --objective: say which metric is meant");
	objective_free_texts(&metrics);
	objective_free_texts(&goals);
	return rc;
}
