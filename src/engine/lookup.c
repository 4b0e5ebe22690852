/* See lookup.h. */
#include "engine/lookup.h"

#include "engine/lacks.h"
#include "engine/spec.h"

#include "base/node.h"
#include "base/text.h"
#include "spool/caller.h"
#include "spool/interpreter.h"
#include "spool/python.h"
#include "spool/pythons.h"

#include <stdlib.h>

static bool lookup_runs_python(const struct spec *spec)
{
	const char *program = spec->script ? spool_interpreter_of(spec->script)
		: spec->command            ? spec->command[0]
					   : NULL;
	const char *slash = program ? strrchr(program, '/') : NULL;
	return program && text_starts(slash ? slash + 1 : program, "python");
}

/* Which Python the tasks get and why (`path` NULL: none), modules, and variables of the shell. */
static void lookup_write_environment(const struct spec *spec, const struct spool_caller *caller, const char *path,
				     const char *how, struct json *out)
{
	char *version = path ? spool_python_version(path) : NULL;
	json_map(out);
	json_key_string(out, "python", path);
	json_key_string(out, "version", version);
	free(version);
	json_key_string(out, "how", path ? how : NULL);
	json_key(out, "modules");
	json_list(out);
	for (size_t i = 0; spec->modules && spec->modules[i]; i++)
		json_put_string(out, spec->modules[i]);
	for (size_t i = 0; !spec->modules && caller->modules && i < caller->modules->count; i++)
		json_put_string(out, caller->modules->items[i]->string);
	json_end(out);
	json_key(out, "variables");
	json_list(out);
	for (size_t i = 0; caller->variables && i < caller->variables->count; i++)
		json_put_string(out, caller->variables->items[i]->key);
	json_end(out);
	json_end(out);
}

/* The interpreter of the tasks; NULL: they run none, or it is not on this machine. The caller frees it. */
static char *lookup_find_python(const struct lookup *lookup, const struct spool_python *python)
{
	char *path = lookup_runs_python(lookup->spec) ? spool_python_path(python) : NULL;
	char *real = path ? spool_python_unshim(path, getenv("PYENV_VERSION"), lookup->state_dir, getenv("PATH"))
			  : NULL;
	if (!real)
		return path;
	free(path);
	return real;
}

void lookup_write(const struct lookup *lookup, struct json *out)
{
	const struct spec *spec = lookup->spec;
	struct spool_caller caller = spool_caller_of(lookup->caller);
	struct spool_python python;
	struct error missing = {0};
	bool found = spool_python_choose(spec->python, caller.python, &python, &missing) == 0;
	char *path = found ? lookup_find_python(lookup, &python) : NULL;
	if (!found)
		json_put_string(out, missing.text);
	if (!lookup->caller && !lookup->elsewhere)
		lacks_write_reads(spec, lookup->files, out);
	bool loads = !spec->modules && caller.modules && caller.modules->count;
	lacks_write(spec, lookup->files, lookup->beside, loads || lookup->elsewhere ? NULL : path, out);
	json_key(out, "environment");
	lookup_write_environment(spec, &caller, path, found ? python.how : NULL, out);
	free(path);
	spool_python_free(&python);
}
