/* The pruning rules: see prune.h. Median: Golovin et al. 2017, section 3.1 (Vizier), as Optuna and Ray run
 * it. ASHA stopping: Li et al. 2020, algorithm 2 in its stopping form: at a rung a task goes on only if it
 * is among the best 1/eta of those that reached it. */
#include "search/prune.h"

#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

static const char *const prune_rules[] = {"none", "median", "asha", "threshold"};

static void prune_read_rule(const struct node *node, struct problems *problems, struct prune_spec *spec)
{
	const char *word = node_string(node);
	for (size_t i = 0; word && i < COUNT_OF(prune_rules); i++) {
		if (strcmp(word, prune_rules[i]) == 0) {
			spec->rule = (enum prune_rule)i;
			return;
		}
	}
	problem_add(problems, node, "use one of: median, asha, threshold, none", "'%.100s' is not a pruning rule",
		    word ? word : node_type_name(node));
}

static void prune_read_int(const struct node *map, const char *key, int64_t min, int64_t max, struct problems *problems,
			   int64_t *ret)
{
	const struct node *node = node_get(map, key);
	if (!node)
		return;
	if (node->type != NODE_INT || node->integer < min || node->integer > max)
		problem_add(problems, node, NULL, "'%s' is a whole number from %" PRId64 " to %" PRId64, key, min, max);
	else
		*ret = node->integer;
}

static void prune_read_warmup(const struct node *map, struct problems *problems, struct prune_spec *spec)
{
	const struct node *node = node_get(map, "warmup");
	if (node && (!node_is_number(node) || !(node->real >= 0 && node->real <= 1e9)))
		problem_add(problems, node, "write warmup: 2, or 0.5 for half an epoch",
			    "'warmup' is a number from 0 to 1000000000");
	else if (node)
		spec->warmup = node->real;
}

int prune_parse(const struct node *node, struct problems *problems, struct prune_spec *ret)
{
	static const char *const known[] = {"rule", "warmup", "min_tasks", "reduction", "threshold"};
	struct prune_spec spec = {.rule = PRUNE_MEDIAN, .warmup = 1, .min_tasks = 4, .reduction = 3};
	size_t before = problems->list.len;

	if (node->type == NODE_STRING) {
		prune_read_rule(node, problems, &spec);
		if (spec.rule == PRUNE_THRESHOLD)
			problem_add(problems, node,
				    "write prune: {rule: threshold, threshold: 2.5} in the experiment file",
				    "'threshold' needs the worst value that may go on");
	} else if (node->type == NODE_MAP) {
		for (size_t i = 0; i < node->count; i++) {
			bool found = false;
			for (size_t k = 0; k < COUNT_OF(known); k++)
				found |= strcmp(known[k], node->items[i]->key) == 0;
			if (!found)
				problem_add(problems, node->items[i],
					    "known here: rule, warmup, min_tasks, reduction, threshold",
					    "the key '%.100s' is not known", node->items[i]->key);
		}
		if (node_get(node, "rule"))
			prune_read_rule(node_get(node, "rule"), problems, &spec);
		prune_read_warmup(node, problems, &spec);
		prune_read_int(node, "min_tasks", 1, 100000, problems, &spec.min_tasks);
		prune_read_int(node, "reduction", 2, 100, problems, &spec.reduction);
		const struct node *threshold = node_get(node, "threshold");
		if (threshold && (!node_is_number(threshold) || !isfinite(threshold->real)))
			problem_add(problems, threshold, NULL, "'threshold' must be a number");
		else if (threshold)
			spec.threshold = threshold->real;
		else if (spec.rule == PRUNE_THRESHOLD)
			problem_add_missing(problems, node, "threshold",
					    "give the worst value that may go on: threshold: 2.5");
	} else {
		problem_add(problems, node, "write prune: median", "'prune' must be a word or a map, not %s",
			    node_type_name(node));
	}
	if (problems->list.len > before)
		return -EINVAL;
	*ret = spec;
	return 0;
}

bool prune_is_due(const struct prune_spec *spec, double before, double reached, double *ret_at)
{
	if (spec->rule == PRUNE_NONE || reached < spec->warmup)
		return false;
	*ret_at = reached;
	if (spec->rule != PRUNE_ASHA)
		return true;
	/* The highest rung crossed by this row. */
	bool due = false;
	for (double rung = spec->warmup > 0 ? spec->warmup : 1; rung <= reached; rung *= (double)spec->reduction) {
		if (rung > before) {
			*ret_at = rung;
			due = true;
		}
	}
	return due;
}

bool prune_decide(const struct prune_spec *spec, bool maximise, double value, const double *others, size_t count)
{
	double sign = maximise ? -1 : 1;
	if (spec->rule == PRUNE_THRESHOLD)
		return isnan(value) || sign * value > sign * spec->threshold;
	double *sorted = mem_array(count + 1, sizeof(*sorted));
	size_t n = 0, better = 0;
	for (size_t i = 0; i < count; i++) {
		if (isnan(others[i]))
			continue;
		sorted[n++] = sign * others[i];
		better += isnan(value) || sign * others[i] < sign * value;
	}
	bool prune = false;
	if ((int64_t)n >= spec->min_tasks && spec->rule == PRUNE_MEDIAN) {
		qsort(sorted, n, sizeof(*sorted), num_compare_reals);
		double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
		prune = isnan(value) || sign * value > median;
	} else if ((int64_t)n >= spec->min_tasks && spec->rule == PRUNE_ASHA) {
		/* Among the best ⌊(n+1)/eta⌋ of the rung, itself included; at least one goes on. */
		size_t keep = (n + 1) / (size_t)spec->reduction;
		prune = better >= (keep ? keep : 1);
	}
	free(sorted);
	return prune;
}
