/* The key objective of the experiment file: what to improve, one metric or several. */
#include "engine/spec_objective.h"

#include "engine/spec_part.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* Is one of the words in the name? whole: not as a part of a longer word. */
static bool guess_has(const char *metric, const char *const *words, bool whole)
{
	for (; *words; words++) {
		const char *at = strcasestr(metric, *words), *end = at ? at + strlen(*words) : NULL;
		bool apart = at && (at == metric || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)*end);
		if (at && (apart || !whole))
			return true;
	}
	return false;
}

/* 1: more of it is better, -1: less, 0: its name does not say. */
static int guess_goal(const char *metric)
{
	/* Errors come first: accuracy_loss and test_error_score are better small. */
	static const char *const less[] = {"loss",       "error",    "mse",     "mae",        "mape",
					   "perplexity", "fid",      "regret",  "divergence", "entropy",
					   "latency",    "deviance", "brier",   "bouldin",    "verlust",
					   "fehler",     "perte",    "pérdida", "perdida",    NULL};
	static const char *const more[] = {
		"acc",       "auc",         "f1",          "precision",   "recall",      "iou",         "dice",
		"r2",        "bleu",        "reward",      "score",       "return",      "rouge",       "psnr",
		"ssim",      "kappa",       "f-score",     "ndcg",        "elbo",        "likelihood",  "jaccard",
		"win",       "throughput",  "similarity",  "auroc",       "auprc",       "correlation", "pearson",
		"spearman",  "sensitivity", "specificity", "logprob",     "log_prob",    "log prob",    "meteor",
		"cider",     "silhouette",  "modularity",  "concordance", "hypervolume", "genauigkeit", "précision",
		"precisión", "exactitud",   NULL};
	/* Too short to be looked for inside of other words. */
	static const char *const whole_less[] = {"err", "wer", "cer", "ter",  "eer",    "ppl",  "nll",  "bpc",
						 "bpb", "kl",  "gap", "time", "energy", "cost", "dist", NULL};
	static const char *const whole_more[] = {
		"map",  "ap",   "mrr",  "mcc",  "corr", "success", "hits", "hit",    "rew",    "r",      "top",
		"pesq", "stoi", "sdr",  "snr",  "nmi",  "ari",     "prec", "sens",   "spec",   "mos",    "gini",
		"tpr",  "fps",  "gain", "lift", "tau",  "elo",     "logp", "loglik", "sharpe", "profit", NULL};
	/* scikit-learn turns errors round; of a likelihood the negative is an error. */
	if (text_starts(metric, "neg_"))
		return -guess_goal(metric + 4);
	if (text_starts(metric, "negative_"))
		return -guess_goal(metric + 9);
	if (guess_has(metric, less, false) || guess_has(metric, whole_less, true))
		return -1;
	return guess_has(metric, more, false) || guess_has(metric, whole_more, true);
}

bool spec_objective_guess(const char *metric)
{
	return guess_goal(metric) > 0;
}

bool spec_objective_is_named_for_it(const char *metric)
{
	return guess_goal(metric) != 0;
}

bool spec_objective_uses(const struct spec *spec, const char *metric)
{
	for (size_t i = 0; i < spec->objective_count; i++)
		if (strcmp(spec->objectives[i].metric, metric) == 0)
			return true;
	for (size_t i = 0; i < spec->limit_count; i++)
		if (strcmp(spec->limits[i].of.metric, metric) == 0)
			return true;
	return false;
}

bool spec_objective_is_limit(const struct node *node)
{
	return (node_get(node, "at_most") || node_get(node, "at_least")) && !node_get(node, "goal");
}

/* A number; of time also 2h, of energy also 2MJ. */
static double spec_objective_bound(const struct node *node, const char *metric, struct problems *problems)
{
	bool time = strcmp(metric, "time") == 0, energy = strcmp(metric, "energy") == 0;
	int64_t ms;
	double bound;
	if (node_is_number(node) && isfinite(node->real))
		return node->real;
	if (time && node_string(node) && text_parse_duration(node->string, &ms) == 0)
		return (double)ms / 1000;
	if (energy && node_string(node) && text_parse_energy(node->string, &bound) == 0)
		return bound;
	problem_add(problems, node,
		    time             ? "write a time, for example 2h"
			    : energy ? "write an energy, for example 2MJ"
				     : "write a number",
		    "'%s' cannot be %.60s", node->key, node->string ? node->string : node_type_name(node));
	return NAN;
}

/* Its last value counts where it is no objective: that is what the model of the task is in the end. */
static void spec_objective_add_limits(struct spec *spec, const struct node *node,
				      const struct spec_objective *objective, struct problems *problems)
{
	static const char *const keys[] = {"at_most", "at_least"};
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		const struct node *bound = node_get(node, keys[i]);
		if (!bound)
			continue;
		struct spec_limit limit = {.of = *objective, .at_least = i == 1};
		limit.bound = spec_objective_bound(bound, objective->metric, problems);
		limit.of.metric = mem_strdup(objective->metric);
		if (spec_objective_is_limit(node) && !node_get(node, "take"))
			limit.of.take = SPEC_TAKE_LAST;
		spec->limits = mem_resize(spec->limits, spec->limit_count + 1, sizeof(limit));
		spec->limits[spec->limit_count++] = limit;
	}
}

void spec_objective_limit(struct spec *spec)
{
	struct search_limit *limits = mem_array(spec->limit_count + 1, sizeof(*limits));
	for (size_t i = 0; i < spec->limit_count; i++)
		limits[i] = (struct search_limit){spec->limits[i].bound, spec->limits[i].at_least};
	search_set_limits(spec->search, limits, spec->limit_count);
	free(limits);
}

static void spec_objective_add(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const known[] = {"metric", "goal", "take", "of", "at_most", "at_least", NULL};
	static const char *const goals[] = {"min", "max", "minimize", "maximize", "minimise", "maximise", NULL};
	static const char *const takes[] = {"best", "last", "mean", NULL};
	static const struct space_hint hints[] = {{"name", "write metric"},
						  {"direction", "write goal"},
						  {"mode", "write goal"},
						  {"max", "write at_most"},
						  {"min", "write at_least"},
						  {"limit", "write at_most or at_least"},
						  {0}};
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
	if (spec_objective_uses(spec, objective.metric))
		problem_add(problems, node, "keep one of them", "the metric '%s' is there twice", objective.metric);
	spec_objective_add_limits(spec, node, &objective, problems);
	if (spec_objective_is_limit(node)) {
		free(objective.metric);
		return;
	}
	spec->objectives = mem_resize(spec->objectives, spec->objective_count + 1, sizeof(objective));
	spec->objectives[spec->objective_count++] = objective;
}

void spec_objective_read(struct spec *spec, const struct node *node, struct problems *problems)
{
	if (node->type != NODE_LIST)
		spec_objective_add(spec, node, problems);
	else if (node->count == 0 || node->count > 8)
		problem_add(problems, node, "give one to eight objectives", "%zu objectives", node->count);
	for (size_t i = 0; node->type == NODE_LIST && i < node->count && i < 8; i++)
		spec_objective_add(spec, node->items[i], problems);
	if (spec->limit_count && !spec->objective_count)
		problem_add(problems, node, "add what to improve: {metric: val_loss, goal: min}",
			    "there are limits and nothing to improve");
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
		if (spec->objectives[i].take != SPEC_TAKE_BEST) {
			json_key_string(out, "take", spec->objectives[i].take == SPEC_TAKE_LAST ? "last" : "mean");
			json_key_int(out, "of", spec->objectives[i].mean_of);
		}
		json_end(out);
	}
	json_end(out);
}

void spec_objective_write_limits(const struct spec *spec, struct json *out)
{
	if (!spec->limit_count) {
		json_put_null(out);
		return;
	}
	json_list(out);
	for (size_t i = 0; i < spec->limit_count; i++) {
		json_map(out);
		json_key_string(out, "metric", spec->limits[i].of.metric);
		json_key_real(out, spec->limits[i].at_least ? "at_least" : "at_most", spec->limits[i].bound);
		json_end(out);
	}
	json_end(out);
}
