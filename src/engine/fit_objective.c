/* The goal of an objective that the author wrote without one: as the script's own early stopping or checkpoint has it,
 * else by the metric's name. It is written into the document, and said: a wrong goal finds the worst configuration. */
#include "engine/fit.h"

#include "engine/spec_objective.h"

#include "script/script.h"

static void objective_fit_one(struct node *objective, const struct script *script, struct fit *fit)
{
	const char *metric = objective->type == NODE_STRING ? objective->string : node_get_string(objective, "metric");
	if (!metric || !*metric || node_get(objective, "goal") || spec_objective_is_limit(objective))
		return;
	bool same = script->goal && script->metric && strcmp(script->metric, metric) == 0;
	const char *goal = same ? script->goal : spec_objective_guess(metric) ? "max" : "min";
	bool named = spec_objective_is_named_for_it(metric);
	char *why = same ? mem_printf("as %s of the script has it", script->metric_from)
		: named  ? mem_strdup("by its name; write the goal if that is wrong")
			 : mem_strdup("the default, because its name does not say; write the goal: min or max");
	fit_choose(fit,
		   mem_printf("%s: %s is better (goal: %s, %s)", metric,
			      *goal == 'm' && goal[1] == 'a' ? "more" : "less", goal, why));
	free(why);
	if (objective->type == NODE_STRING) {
		struct node *text = node_new_string(objective->string);
		free(objective->string);
		objective->string = NULL;
		objective->type = NODE_MAP;
		node_add(objective, "metric", text);
	}
	node_add(objective, "goal", node_new_string(goal));
}

void fit_objective(struct node *document, const struct script *script, struct fit *fit)
{
	struct node *objective = node_get(document, "objective");
	if (!objective)
		return;
	if (objective->type != NODE_LIST)
		objective_fit_one(objective, script, fit);
	for (size_t i = 0; objective->type == NODE_LIST && i < objective->count; i++)
		objective_fit_one(objective->items[i], script, fit);
}
