/* Seeds of repeats. Repeats differ only by their seed, so where the script has an argument for one and the author gave
 * none, each task gets its own. Without repeats nothing is added: `sluice run train.py lr=0.1` is then the same as
 * `python train.py --lr 0.1`. */
#include "engine/fit.h"

#include "engine/call.h"
#include "engine/spec.h"

#include "script/script.h"

static const char *const seed_names[] = {"seed",        "random_seed", "rng_seed",     "manual_seed",
					 "global_seed", "seed_value",  "random_state", "train_seed"};

bool fit_is_seed(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(seed_names); i++)
		if (strcmp(seed_names[i], name) == 0)
			return true;
	return false;
}

static bool seed_is_given(const struct node *document)
{
	const struct node *parameters = node_get(document, "parameters");
	for (size_t i = 0; parameters && i < parameters->count; i++)
		if (fit_is_seed(parameters->items[i]->key))
			return true;
	return node_get(node_get(document, "arguments"), CALL_SEED) != NULL;
}

char *fit_seed(const struct node *document, const struct script *script, const struct script_argument **ret)
{
	const char *pass = node_get_string(document, "pass");
	bool overrides = pass && strcmp(pass, "overrides") == 0;
	if (node_get_int(document, "repeats", 1) <= 1 || seed_is_given(document) ||
	    (pass && !overrides && strcmp(pass, "flags") != 0))
		return NULL;
	for (size_t i = 0; i < COUNT_OF(seed_names); i++) {
		const struct script_argument *argument = script_find(script, seed_names[i]);
		bool number = argument &&
			(argument->type == SCRIPT_INT || argument->type == SCRIPT_ANY || argument->untyped);
		if (!number || (argument->shape != SCRIPT_VALUE && argument->shape != SCRIPT_SPACED))
			continue;
		*ret = argument;
		if (overrides)
			return mem_printf("%s={}", argument->name);
		return argument->flag ? fit_how(argument, argument->name) : NULL;
	}
	return NULL;
}

void fit_check_seed(struct spec *spec, const struct script *script)
{
	bool given = script->seeds;
	for (size_t i = 0; i < spec->argument_count; i++)
		given |= strcmp(spec->arguments[i].name, CALL_SEED) == 0;
	for (size_t i = 0; i < spec->space->count; i++)
		given |= fit_is_seed(spec->space->params[i].name);
	if (spec->repeats > 1 && !given)
		vec_push(&spec->cautions,
			 mem_strdup("repeats: no argument for a seed was found in the script, so its repeats may be "
				    "equal; let it read SLUICE_SEED, or write arguments: {seed: \"--seed={}\"}"));
}
