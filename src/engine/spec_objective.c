/* The key objective of the experiment file: what to improve, one metric or several. */
#include "engine/spec_objective.h"

#include "engine/spec_part.h"

#include "base/limits.h"
#include "base/mem.h"

#include <string.h>

bool spec_objective_guess(const char *metric)
{
	static const char *const words[] = {"acc",  "auc", "f1",   "precision", "recall", "iou",
					    "dice", "r2",  "bleu", "reward",    "score",  "return"};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strcasestr(metric, words[i]))
			return true;
	return false;
}

static void spec_objective_add(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const known[] = {"metric", "goal", "take", "of", NULL};
	static const char *const goals[] = {"min", "max", "minimize", "maximize", "minimise", "maximise", NULL};
	static const char *const takes[] = {"best", "last", "mean", NULL};
	static const struct space_hint hints[] = {
		{"name", "write metric"}, {"direction", "write goal"}, {"mode", "write goal"}, {0}};
	struct spec_objective objective = {.mean_of = 1};

	if (node->type == NODE_STRING) { /* objective: val_loss */
		objective.metric = spec_part_text(node, LIMIT_METRIC_NAME_BYTES, problems);
	} else if (spec_part_map_hinted(node, known, hints, problems)) {
		const struct node *metric = node_get(node, "metric");
		if (metric)
			objective.metric = spec_part_text(metric, LIMIT_METRIC_NAME_BYTES, problems);
		else
			problem_add_missing(problems, node, "metric", "name what to improve: metric: val_loss");
	}
	if (!objective.metric)
		return;
	if (!*objective.metric)
		problem_add(problems, node, "name what to improve: metric: val_loss", "the metric is empty");
	objective.maximise = spec_objective_guess(objective.metric);
	const struct node *goal = node_get(node, "goal"), *take = node_get(node, "take");
	if (goal)
		objective.maximise = spec_part_word(goal, goals, problems) % 2 == 1;
	if (take)
		objective.take = (enum spec_take)spec_part_word(take, takes, problems);
	if (node_get(node, "of"))
		objective.mean_of = spec_part_int(node_get(node, "of"), 1, 100000, 1, problems);
	for (size_t i = 0; i < spec->objective_count; i++)
		if (strcmp(spec->objectives[i].metric, objective.metric) == 0)
			problem_add(problems, node, "keep one of them", "the metric '%s' is there twice",
				    objective.metric);
	spec->objectives = mem_resize(spec->objectives, spec->objective_count + 1, sizeof(objective));
	spec->objectives[spec->objective_count++] = objective;
}

void spec_objective_read(struct spec *spec, const struct node *node, struct problems *problems)
{
	if (node->type != NODE_LIST) {
		spec_objective_add(spec, node, problems);
		return;
	}
	if (node->count == 0 || node->count > 8)
		problem_add(problems, node, "give one to eight objectives", "%zu objectives", node->count);
	for (size_t i = 0; i < node->count && i < 8; i++)
		spec_objective_add(spec, node->items[i], problems);
}

void spec_objective_choose(struct spec *spec, const char *metric, bool maximise)
{
	if (spec->objective_count)
		free(spec->objectives[0].metric);
	else
		spec->objectives = mem_alloc(sizeof(*spec->objectives));
	spec->objective_chosen = true;
	spec->objectives[0] = (struct spec_objective){.metric = mem_strdup(metric), .maximise = maximise, .mean_of = 1};
	spec->objective_count = 1;
	search_set_goal(spec->search, 0, maximise);
}

void spec_objective_write(const struct spec *spec, struct json *out)
{
	json_list(out);
	for (size_t i = 0; i < spec->objective_count; i++) {
		json_map(out);
		json_key_string(out, "metric", spec->objectives[i].metric);
		json_key_string(out, "goal", spec->objectives[i].maximise ? "max" : "min");
		json_end(out);
	}
	json_end(out);
}
