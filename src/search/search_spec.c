/* Reads `search` and `fidelity` of an experiment file: the strategy, its budget and its options, all
 * from the table of strategies. */
#include "search/search_internal.h"

#include "base/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define KEYS_MOST 64
#define EXPERIMENT_ID_CHARS 18 /* "e" and digits, so that the number fits */
#define LEARN_MOST 100

static const char *const spec_common_keys[] = {"strategy",   "tasks", "parallel",  "seed",
					       "duplicates", "open",  "learn_from"};

void search_spec_free(struct search_spec *spec)
{
	if (!spec)
		return;
	free(spec->reason);
	free(spec->option_values);
	free(spec->maximise);
	free(spec->limits);
	free(spec->learn_ids);
	free(spec);
}

void search_set_goal(struct search_spec *spec, size_t objective, bool maximise)
{
	if (objective < spec->objective_count)
		spec->maximise[objective] = maximise;
}

void search_set_limits(struct search_spec *spec, const struct search_limit *limits, size_t count)
{
	free(spec->limits);
	spec->limits = mem_array(count + 1, sizeof(*limits));
	memcpy(spec->limits, limits, count * sizeof(*limits));
	spec->limit_count = count;
}

static size_t spec_option_index(const struct search_spec *spec, const char *name)
{
	const struct search_option *options = spec->strategy->options;
	for (size_t i = 0; options[i].name; i++)
		if (strcmp(options[i].name, name) == 0)
			return i;
	abort();
}

double search_option(const struct search_spec *spec, const char *name)
{
	return spec->option_values[spec_option_index(spec, name)];
}

static void search_set_option(struct search_spec *spec, const char *name, double value)
{
	spec->option_values[spec_option_index(spec, name)] = value;
}

uint64_t search_space_size(const struct space *space)
{
	return space_count(space, LIMIT_TASKS);
}

uint64_t search_default_tasks(const struct space *space)
{
	uint64_t tasks = 10 * space->dim_count;
	return tasks < 20 ? 20 : tasks > 200 ? 200 : tasks;
}

/* A whole number under a key; *ret stays as it is when absent. */
static int spec_read_whole(const struct node *map, const char *key, int64_t least, int64_t most, uint64_t *ret,
			   bool *ret_given, struct problems *problems)
{
	const struct node *node = node_get(map, key);
	if (ret_given)
		*ret_given = node != NULL;
	if (!node)
		return 0;
	char remedy[80];
	snprintf(remedy, sizeof(remedy), "give a whole number from %" PRId64 " to %" PRId64, least, most);
	if (node->type != NODE_INT)
		return problem_add(problems, node, remedy, "'%s' is a whole number, not %s", key,
				   node->type == NODE_REAL ? node->string : node_type_name(node));
	if (node->integer < least || node->integer > most)
		return problem_add(problems, node, remedy, "'%s' cannot be %s", key, node->string);
	*ret = (uint64_t)node->integer;
	return 0;
}

static int spec_unknown_strategy(const struct node *node, struct problems *problems)
{
	const char *names[KEYS_MOST];
	size_t n = 0;
	names[n++] = "auto";
	for (const struct strategy *s = search_strategies; s->name && n < KEYS_MOST - 1; s++)
		names[n++] = s->name;
	names[n] = NULL;
	const char *word = node_string(node);
	char *remedy = space_unknown_remedy(word ? word : "", names);
	struct buf all = buf_make(600);
	buf_addf(&all, "%s", remedy);
	if (strncmp(remedy, "one of", 6) != 0) {
		buf_add_text(&all, " there are:");
		for (size_t i = 0; i < n; i++)
			buf_addf(&all, "%s %s", i ? "," : "", names[i]);
	}
	int rc = word
		? problem_add(problems, node, buf_text(&all), "there is no strategy '%.60s'", word)
		: problem_add(problems, node, buf_text(&all), "'strategy' is a name, not %s", node_type_name(node));
	buf_free(&all);
	free(remedy);
	return rc;
}

/* The place of a word in "a|b|c", or -1. */
static int spec_word_index(const char *words, const char *word)
{
	size_t len = strlen(word);
	for (int i = 0;; i++) {
		size_t one = strcspn(words, "|");
		if (one == len && strncmp(words, word, len) == 0)
			return i;
		if (!words[one])
			return -1;
		words += one + 1;
	}
}

static int spec_read_option(const struct search_option *option, const struct node *node, double *ret,
			    struct problems *problems)
{
	char remedy[160];
	switch (option->type) {
	case SEARCH_OPTION_BOOL:
		if (node->type != NODE_BOOL)
			return problem_add(problems, node, "write true or false", "'%s' is true or false, not %s",
					   option->name, node_type_name(node));
		*ret = node->boolean;
		return 0;
	case SEARCH_OPTION_WORD: {
		int index = node_string(node) ? spec_word_index(option->words, node->string) : -1;
		snprintf(remedy, sizeof(remedy), "one of: %s", option->words);
		if (index < 0)
			return problem_add(problems, node, remedy, "'%s' cannot be %.60s", option->name,
					   node->string ? node->string : node_type_name(node));
		*ret = index;
		return 0;
	}
	default:
		snprintf(remedy, sizeof(remedy), "give a %snumber from %g to %g",
			 option->type == SEARCH_OPTION_INT ? "whole " : "", option->min, option->max);
		if (!node_is_number(node) || (option->type == SEARCH_OPTION_INT && node->type != NODE_INT) ||
		    !(node->real >= option->min && node->real <= option->max))
			return problem_add(problems, node, remedy, "'%s' cannot be %.60s", option->name,
					   node->string ? node->string : node_type_name(node));
		*ret = node->real;
		return 0;
	}
}

static int spec_unknown_key(const struct search_spec *spec, const struct node *member, struct problems *problems)
{
	const char *names[KEYS_MOST];
	size_t n = 0;
	for (; n < COUNT_OF(spec_common_keys); n++)
		names[n] = spec_common_keys[n];
	for (const struct search_option *o = spec->strategy->options; o->name && n < KEYS_MOST - 1; o++)
		names[n++] = o->name;
	names[n] = NULL;
	char *remedy = space_unknown_remedy(member->key, names);
	int rc = problem_add(problems, member, remedy, "the strategy '%s' has no option '%.60s'", spec->strategy->name,
			     member->key);
	free(remedy);
	return rc;
}

static int spec_read_options(struct search_spec *spec, const struct node *search, struct problems *problems)
{
	int rc = 0;
	for (size_t i = 0; search && i < search->count; i++) {
		const struct node *member = search->items[i];
		size_t k = 0;
		while (k < COUNT_OF(spec_common_keys) && strcmp(spec_common_keys[k], member->key) != 0)
			k++;
		if (k < COUNT_OF(spec_common_keys))
			continue;
		const struct search_option *o = spec->strategy->options;
		while (o->name && strcmp(o->name, member->key) != 0)
			o++;
		int one = o->name
			? spec_read_option(o, member, &spec->option_values[o - spec->strategy->options], problems)
			: spec_unknown_key(spec, member, problems);
		if (one < 0)
			rc = one;
	}
	return rc;
}

/* The number behind the id of an experiment ("e12"); 0 where it is none. */
static int64_t spec_experiment_of(const struct node *node)
{
	const char *text = node_string(node);
	int64_t id = 0;
	if (!text || text[0] != 'e' || strlen(text) > EXPERIMENT_ID_CHARS || text[1] == '0')
		return 0;
	for (text++; *text; text++) {
		if (*text < '0' || *text > '9')
			return 0;
		id = 10 * id + (*text - '0');
	}
	return id;
}

/* `learn_from`: auto, none, or a list of experiments. */
static int spec_read_learn_from(struct search_spec *spec, const struct node *node, struct problems *problems)
{
	static const char remedy[] = "write auto, none, or a list of experiments: [e3, e5]";
	const char *word = node_string(node);
	bool list = node && node->type == NODE_LIST;
	size_t count = list ? node->count : 1;
	if (!node || (word && strcmp(word, "auto") == 0))
		return 0;
	if (word && strcmp(word, "none") == 0) {
		spec->learn_from = SEARCH_LEARN_NONE;
		return 0;
	}
	if (!count || count > LEARN_MOST)
		return problem_add(problems, node, remedy, "'learn_from' has %zu experiments: 1 to %d", count,
				   LEARN_MOST);
	spec->learn_from = SEARCH_LEARN_LISTED;
	spec->learn_ids = mem_array(count, sizeof(*spec->learn_ids));
	for (size_t i = 0; i < count; i++) {
		const struct node *item = list ? node->items[i] : node;
		int64_t id = spec_experiment_of(item);
		if (!id)
			return problem_add(problems, item, remedy, "'learn_from' cannot be %.60s",
					   item->string ? item->string : node_type_name(item));
		spec->learn_ids[spec->learn_count++] = id;
	}
	return 0;
}

static int spec_read_bool(const struct node *search, const char *key, bool *ret, struct problems *problems)
{
	const struct node *node = node_get(search, key);
	if (node && node->type != NODE_BOOL)
		return problem_add(problems, node, "write true or false", "'%s' is true or false, not %s", key,
				   node_type_name(node));
	*ret = node && node->boolean;
	return 0;
}

static int spec_read_common(struct search_spec *spec, const struct node *search, struct problems *problems)
{
	int rc = 0;
	if (spec_read_whole(search, "tasks", 1, LIMIT_TASKS, &spec->tasks, &spec->tasks_given, problems) < 0)
		rc = -EINVAL;
	if (spec_read_whole(search, "parallel", 1, LIMIT_PARALLEL, &spec->parallel, NULL, problems) < 0)
		rc = -EINVAL;
	if (spec_read_whole(search, "seed", 0, INT64_MAX, &spec->seed, NULL, problems) < 0)
		rc = -EINVAL;
	if (spec_read_bool(search, "duplicates", &spec->duplicates, problems) < 0)
		rc = -EINVAL;
	if (spec_read_bool(search, "open", &spec->open, problems) < 0)
		rc = -EINVAL;
	if (spec_read_learn_from(spec, node_get(search, "learn_from"), problems) < 0)
		rc = -EINVAL;
	return rc;
}

static int spec_fidelity_bound(const struct node *map, const char *key, double fallback, double *ret,
			       struct problems *problems)
{
	const struct node *node = node_get(map, key);
	if (!node && isnan(fallback))
		return problem_add_missing(problems, map, key, "min is for a first short run, max is for a full run");
	if (node && (!node_is_number(node) || !isfinite(node->real) || node->real <= 0))
		return problem_add(problems, node, "give a number above 0", "'%s' cannot be %.60s", key,
				   node->string ? node->string : node_type_name(node));
	*ret = node ? node->real : fallback;
	return 0;
}

static int spec_read_fidelity(struct search_spec *spec, const struct node *map, const struct space *space,
			      struct problems *problems)
{
	static const char *const keys[] = {"parameter", "min", "max", NULL};
	int rc = 0;
	if (map->type != NODE_MAP)
		return problem_add(problems, map, "write fidelity: {parameter: epochs, min: 3, max: 81}",
				   "'fidelity' is a map, not %s", node_type_name(map));
	for (size_t i = 0; i < map->count; i++) {
		const char *key = map->items[i]->key;
		if (strcmp(key, "parameter") && strcmp(key, "min") && strcmp(key, "max")) {
			char *remedy = space_unknown_remedy(key, keys);
			rc = problem_add(problems, map->items[i], remedy, "'fidelity' has no key '%.60s'", key);
			free(remedy);
		}
	}
	const struct node *name = node_get(map, "parameter");
	if (!name)
		return problem_add_missing(problems, map, "parameter", "name the parameter that holds the epochs");
	spec->fidelity_param = node_string(name) ? space_find(space, name->string) : -1;
	if (spec->fidelity_param < 0)
		return problem_add(problems, name, "name one of `parameters`", "there is no parameter '%.60s'",
				   name->string ? name->string : node_type_name(name));
	const struct space_param *param = &space->params[spec->fidelity_param];
	if (param->optional)
		return problem_add(problems, name, "remove `optional`",
				   "every task has '%s', which says how long it runs", param->name);
	bool range = param->kind == SPACE_INT || param->kind == SPACE_REAL;
	if (!param->ordered || param->kind == SPACE_CHOICE || param->condition_count)
		return problem_add(problems, name, "make it a constant: epochs: 81",
				   "'%s' is not a number that can be raised", param->name);
	double most = range ? param->max : param->choices[0].real;
	if (spec_fidelity_bound(map, "min", range ? param->min : NAN, &spec->fidelity_min, problems) < 0 ||
	    spec_fidelity_bound(map, "max", most, &spec->fidelity_max, problems) < 0)
		return -EINVAL;
	if (!(spec->fidelity_min < spec->fidelity_max) || spec->fidelity_min <= 0)
		return problem_add(problems, map, "give a min above 0 and below max", "the fidelity goes from %g to %g",
				   spec->fidelity_min, spec->fidelity_max);
	return rc;
}

static const char *spec_first_continuous(const struct space *space)
{
	for (size_t i = 0; i < space->count; i++)
		if (!space->params[i].cardinality)
			return space->params[i].name;
	return NULL;
}

/* Does the strategy fit the space and the objectives? */
static int spec_check_fit(const struct search_spec *spec, const struct node *at, const struct space *space,
			  bool has_fidelity, struct problems *problems)
{
	unsigned can = spec->strategy->capabilities;
	const char *name = spec->strategy->name;
	if (can & SEARCH_FINITE_ONLY) {
		const char *continuous = spec_first_continuous(space);
		if (continuous)
			return problem_add(problems, at, "give it points or a step, or use strategy: random with tasks",
					   "a grid needs a finite number of values, but '%s' is continuous",
					   continuous);
		if (!spec->tasks && search_space_size(space) == UINT64_MAX)
			return problem_add(problems, at, "use fewer values, or set tasks",
					   "the grid has more than %d configurations", LIMIT_TASKS);
	}
	if (spec->objective_count > 1 && (can & SEARCH_ADAPTIVE) && !(can & SEARCH_MULTI_OBJECTIVE))
		return problem_add(problems, at, "use strategy: auto, or one objective",
				   "'%s' follows one objective, not %zu", name, spec->objective_count);
	if ((can & SEARCH_MULTI_FIDELITY) && !has_fidelity)
		return problem_add(problems, at, "add fidelity: {parameter: epochs, min: 3, max: 81}",
				   "'%s' needs a fidelity: the parameter that makes a task shorter or longer", name);
	return 0;
}

static void spec_fill_options(struct search_spec *spec)
{
	size_t n = 0;
	while (spec->strategy->options[n].name)
		n++;
	spec->option_values = mem_array(n, sizeof(double));
	for (size_t i = 0; i < n; i++)
		spec->option_values[i] = spec->strategy->options[i].fallback;
}

static void spec_fill_budget(struct search_spec *spec, const struct space *space)
{
	if (spec->tasks || (spec->strategy->capabilities & SEARCH_FINITE_ONLY))
		return;
	uint64_t size = search_space_size(space);
	spec->tasks = spec->strategy->ops->planned ? spec->strategy->ops->planned(spec, space)
						   : search_default_tasks(space);
	if (size < spec->tasks && !(spec->strategy->capabilities & SEARCH_MULTI_FIDELITY))
		spec->tasks = size;
}

/* Its parameters are added while it runs: until then there is nothing to search. */
#define SPEC_NOTHING_YET "no parameter is known yet"
static bool spec_has_nothing_yet(const struct search_spec *spec, const struct space *space)
{
	return spec->open && spec->duplicates && !space->dim_count;
}

/* The strategy by name, or chosen. */
static int spec_read_strategy(struct search_spec *spec, const struct node *search, const struct space *space,
			      bool has_fidelity, struct problems *problems)
{
	const struct node *name = node_get(search, "strategy");
	if (name && !(node_string(name) && strcmp(name->string, "auto") == 0)) {
		spec->strategy = node_string(name) ? search_find(name->string) : NULL;
		if (!spec->strategy)
			return spec_unknown_strategy(name, problems);
		if (space && spec_has_nothing_yet(spec, space)) {
			spec->strategy = search_find("random");
			spec->reason = mem_strdup(SPEC_NOTHING_YET);
		}
		spec_fill_options(spec);
		return 0;
	}
	const char *option = NULL;
	if (spec_has_nothing_yet(spec, space)) {
		spec->strategy = search_find("random");
		spec->reason = mem_strdup(SPEC_NOTHING_YET);
		spec_fill_options(spec);
		return 0;
	}
	spec->strategy = search_choose(spec, space, has_fidelity, &option, &spec->reason);
	spec_fill_options(spec);
	if (option)
		search_set_option(spec, option, 1);
	return 0;
}

static bool spec_is_any_key(const char *key)
{
	for (size_t i = 0; i < COUNT_OF(spec_common_keys); i++)
		if (strcmp(spec_common_keys[i], key) == 0)
			return true;
	for (const struct strategy *s = search_strategies; s->name; s++)
		for (const struct search_option *o = s->options; o->name; o++)
			if (strcmp(o->name, key) == 0)
				return true;
	return false;
}

/* Where the strategy cannot be chosen: names the keys that none of them has. */
static int spec_check_keys(const struct node *search, struct problems *problems)
{
	const char *names[COUNT_OF(spec_common_keys) + 1] = {0};
	int rc = 0;
	memcpy(names, spec_common_keys, sizeof(spec_common_keys));
	for (size_t i = 0; search && i < search->count; i++) {
		const struct node *member = search->items[i];
		if (spec_is_any_key(member->key))
			continue;
		char *remedy = space_unknown_remedy(member->key, names);
		rc = problem_add(problems, member, remedy, "no strategy has the option '%.60s'", member->key);
		free(remedy);
	}
	return rc;
}

/* Without a space, or with a wrong budget: the options of a strategy that is named. */
static int spec_read_spaceless(struct search_spec *spec, const struct node *search, struct problems *problems)
{
	const struct node *name = node_get(search, "strategy");
	if (!name || (node_string(name) && strcmp(name->string, "auto") == 0))
		return spec_check_keys(search, problems);
	if (spec_read_strategy(spec, search, NULL, false, problems) < 0)
		return -EINVAL;
	return spec_read_options(spec, search, problems);
}

static int spec_parse_into(struct search_spec *spec, const struct node *search, const struct node *fidelity,
			   const struct space *space, struct problems *problems)
{
	if (search && search->type != NODE_MAP)
		return problem_add(problems, search, "write search: {strategy: auto, tasks: 60}",
				   "'search' is a map, not %s", node_type_name(search));
	int rc = spec_read_common(spec, search, problems);
	if (!space)
		return spec_read_spaceless(spec, search, problems) < 0 ? -EINVAL : rc;
	if (fidelity && spec_read_fidelity(spec, fidelity, space, problems) < 0)
		rc = -EINVAL;
	if (rc < 0) {
		(void)spec_read_spaceless(spec, search, problems);
		return rc;
	}
	if (spec_read_strategy(spec, search, space, fidelity != NULL, problems) < 0)
		return -EINVAL;
	rc = spec_read_options(spec, search, problems);
	const struct node *at = node_get(search, "strategy") ? node_get(search, "strategy") : search;
	if (spec_check_fit(spec, at, space, fidelity != NULL, problems) < 0)
		rc = -EINVAL;
	if (rc < 0)
		return rc;
	spec_fill_budget(spec, space);
	return 0;
}

int search_spec_parse(const struct node *search, const struct node *fidelity, const struct space *space,
		      uint64_t repeats, size_t objective_count, struct problems *problems, struct search_spec **ret)
{
	struct search_spec *spec = mem_alloc(sizeof(*spec));
	spec->repeats = repeats ? repeats : 1;
	spec->objective_count = objective_count ? objective_count : 1;
	spec->maximise = mem_array(spec->objective_count, sizeof(bool));
	spec->fidelity_param = -1;
	int rc = spec_parse_into(spec, search, fidelity, space, problems);
	if (rc < 0) {
		search_spec_free(spec);
		return rc;
	}
	*ret = spec;
	return 0;
}

uint64_t search_planned(const struct search_spec *spec, const struct space *space)
{
	uint64_t count = spec->tasks;
	if (!spec->duplicates && !(spec->strategy->capabilities & SEARCH_MULTI_FIDELITY)) {
		uint64_t size = search_space_size(space);
		if (!count || size < count)
			count = size;
	}
	return count > UINT64_MAX / spec->repeats ? UINT64_MAX : count * spec->repeats;
}

static void spec_write_word(const char *words, size_t index, struct json *out)
{
	for (; index; index--)
		words += strcspn(words, "|") + 1;
	json_put_string_n(out, words, strcspn(words, "|"));
}

static void spec_write_option_value(const struct search_option *option, double value, struct json *out)
{
	switch (option->type) {
	case SEARCH_OPTION_BOOL: json_put_bool(out, value != 0); break;
	case SEARCH_OPTION_INT: json_put_int(out, (int64_t)value); break;
	case SEARCH_OPTION_REAL: json_put_real(out, value); break;
	case SEARCH_OPTION_WORD: spec_write_word(option->words, (size_t)value, out); break;
	}
}

static void spec_write_option(const struct search_option *option, struct json *out)
{
	static const char *const types[] = {"bool", "int", "real", "word"};
	json_map(out);
	json_key_string(out, "name", option->name);
	json_key_string(out, "type", types[option->type]);
	json_key(out, "default");
	spec_write_option_value(option, option->fallback, out);
	if (option->type == SEARCH_OPTION_INT || option->type == SEARCH_OPTION_REAL) {
		json_key_real(out, "min", option->min);
		json_key_real(out, "max", option->max);
	}
	if (option->type == SEARCH_OPTION_WORD) {
		json_key(out, "words");
		json_list(out);
		const char *end = option->words + strlen(option->words);
		for (const char *w = option->words; w < end; w += strcspn(w, "|") + 1)
			json_put_string_n(out, w, strcspn(w, "|"));
		json_end(out);
	}
	json_key_string(out, "help", option->help);
	json_end(out);
}

void search_write_strategies(struct json *out)
{
	json_list(out);
	for (const struct strategy *s = search_strategies; s->name; s++) {
		json_map(out);
		json_key_string(out, "name", s->name);
		json_key_string(out, "title", s->title);
		json_key_string(out, "help", s->help);
		json_key_bool(out, "adaptive", s->capabilities & SEARCH_ADAPTIVE);
		json_key_bool(out, "multi_objective", s->capabilities & SEARCH_MULTI_OBJECTIVE);
		json_key_bool(out, "multi_fidelity", s->capabilities & SEARCH_MULTI_FIDELITY);
		json_key_bool(out, "finite_only", s->capabilities & SEARCH_FINITE_ONLY);
		json_key(out, "options");
		json_list(out);
		for (const struct search_option *o = s->options; o->name; o++)
			spec_write_option(o, out);
		json_end(out);
		json_end(out);
	}
	json_end(out);
}
