/* See spec_environment.h. */
#include "engine/spec_environment.h"

#include "base/environ.h"
#include "base/limits.h"
#include "base/text.h"
#include "engine/spec_part.h"
#include "spool/python.h"

static void spec_environment_read_python(struct spec *spec, const struct node *node, struct problems *problems)
{
	spec->python = node ? spec_part_text(node, 1024, problems) : NULL;
	if (spec->python && !spool_python_is_choice(spec->python))
		problem_add(
			problems, node,
			"write auto, none, the absolute path of a Python or of an environment's folder, or a program's name",
			"'%.200s' names no Python", spec->python);
}

static void spec_environment_read_modules(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const words[] = {"auto", "none", NULL};
	if (!node)
		return;
	if (node->type == NODE_STRING) {
		if (spec_part_word(node, words, problems) == 1)
			spec->modules = mem_alloc(sizeof(*spec->modules));
		return;
	}
	spec->modules = spec_part_texts(node, "[cuda/12.2, …], auto or none", problems);
	for (size_t i = 0; spec->modules[i]; i++)
		if (!environ_is_module(spec->modules[i]))
			problem_add(problems, node, "write a name as in `module load`", "'%.100s' is no module",
				    spec->modules[i]);
}

static void spec_environment_read_keep(struct spec *spec, const struct node *node, struct problems *problems)
{
	spec->keep = spec_part_texts(node, "[WANDB_MODE, \"HF_*\"]", problems);
	for (size_t i = 0; spec->keep[i]; i++) {
		size_t len = strlen(spec->keep[i]);
		char *name = mem_copy(spec->keep[i], text_ends(spec->keep[i], "*") ? len - 1 : len);
		if (!environ_is_variable(name))
			problem_add(problems, node, "name variables of your shell: [WANDB_MODE, \"HF_*\"]",
				    "'%.100s' cannot be a variable", spec->keep[i]);
		free(name);
	}
}

void spec_environment_read(struct spec *spec, const struct node *node, struct problems *problems)
{
	static const char *const known[] = {"setup", "vars", "python", "modules", "keep", NULL};
	static const struct space_hint hints[] = {{"conda", "write python: /path/to/environment"},
						  {"venv", "write python: /path/to/environment"},
						  {"virtualenv", "write python: /path/to/environment"},
						  {"env", "write vars: {NAME: value}"},
						  {"export", "write keep: [NAME]"},
						  {0}};
	if (!spec_part_map_hinted(node, known, hints, problems))
		return;
	spec_environment_read_python(spec, node_get(node, "python"), problems);
	spec_environment_read_modules(spec, node_get(node, "modules"), problems);
	if (node_get(node, "keep"))
		spec_environment_read_keep(spec, node_get(node, "keep"), problems);
	const struct node *setup = node_get(node, "setup"), *vars = node_get(node, "vars");
	if (setup)
		spec->setup = spec_part_texts(setup, "[\"module load cuda\", …]", problems);
	if (!vars || !spec_part_map(vars, NULL, problems))
		return;
	spec->vars = mem_array(vars->count, sizeof(*spec->vars));
	for (size_t i = 0; i < vars->count; i++) {
		const struct node *item = vars->items[i];
		if (!environ_is_variable(item->key))
			problem_add(problems, item, "use letters, digits and _; SLUICE_… is taken",
				    "'%.100s' cannot be a variable", item->key);
		char *value = spec_part_scalar(item, LIMIT_TEXT_BYTES, problems);
		if (value)
			spec->vars[spec->var_count++] = (struct spec_variable){.name = mem_strdup(item->key),
									       .value = value};
	}
}
