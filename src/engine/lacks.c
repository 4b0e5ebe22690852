/* See lacks.h. Only imports at the start of a line count: one in `try:` or in a function may never be needed. */
#include "engine/lacks.h"

#include "engine/files.h"
#include "engine/spec.h"

#include "base/imports.h"
#include "base/node.h"
#include "base/text.h"
#include "spool/interpreter.h"
#include "spool/site.h"

#include <stdlib.h>
#include <string.h>

#define LACKS_MOST 20

struct lacks {
	VEC(char *) modules; /* "truth" */
};

/* Is a part of the path NAME or NAME.py? */
static bool lacks_names(const char *path, const char *module)
{
	size_t len = strlen(module);
	for (const char *part = path; part; part = strchr(part, '/')) {
		part += *part == '/';
		if (strncmp(part, module, len) == 0 && (!part[len] || part[len] == '/' || part[len] == '.'))
			return true;
	}
	return false;
}

static bool lacks_goes_along(const struct spec *spec, const struct node *files, const struct node *beside,
			     const char *module)
{
	for (size_t i = 0; beside && i < beside->count; i++)
		if (lacks_names(beside->items[i]->string, module))
			return true;
	for (size_t i = 0; files && i < files->count; i++) {
		const char *path = node_get_string(files->items[i], "path");
		if (path && lacks_names(path, module))
			return true;
	}
	for (size_t i = 0; spec->files && spec->files[i]; i++)
		if (lacks_names(spec->files[i], module))
			return true;
	return false;
}

/* Does something decide at run time where modules are found? */
static bool lacks_is_open(const struct spec *spec, const char *text)
{
	for (size_t i = 0; spec->files && spec->files[i]; i++)
		if (strcmp(spec->files[i], SPEC_GIT) == 0)
			return true;
	for (size_t i = 0; i < spec->var_count; i++)
		if (strcmp(spec->vars[i].name, "PYTHONPATH") == 0)
			return true;
	return (spec->setup && spec->setup[0]) || (spec->modules && spec->modules[0]) || getenv("PYTHONPATH") ||
		strstr(text, "sys.path");
}

static bool lacks_has(const struct lacks *lacks, const char *module)
{
	for (size_t i = 0; i < lacks->modules.len; i++)
		if (strcmp(lacks->modules.at[i], module) == 0)
			return true;
	return false;
}

static void lacks_find(const struct spec *spec, const struct node *files, const struct node *beside, const char *python,
		       struct lacks *ret)
{
	const struct node *file = spec->script ? files_find(files, spec->script) : NULL;
	const char *text = node_get_string(file, "text");
	struct imports imports = {0};
	*ret = (struct lacks){0};
	if (!python || !text || !text_ends(spec->script, ".py") || lacks_is_open(spec, text))
		return;
	imports_read(text, strlen(text), &imports);
	for (size_t i = 0; i < imports.top.len && ret->modules.len < LACKS_MOST; i++) {
		char *module = mem_copy(imports.top.at[i], strcspn(imports.top.at[i], "."));
		if (*module && !lacks_has(ret, module) && !lacks_goes_along(spec, files, beside, module) &&
		    !spool_site_has(python, getenv("HOME"), module))
			vec_push(&ret->modules, mem_strdup(module));
		free(module);
	}
	imports_free(&imports);
}

/* Does the file go along, or a folder with it? */
static bool lacks_has_path(const struct spec *spec, const struct node *files, const char *path)
{
	for (size_t i = 0; files && i < files->count; i++) {
		const char *there = node_get_string(files->items[i], "path");
		size_t len = strlen(path);
		if (there && strncmp(there, path, len) == 0 && (!there[len] || there[len] == '/'))
			return true;
	}
	for (size_t i = 0; spec->files && spec->files[i]; i++) {
		size_t len = strlen(spec->files[i]);
		if (strcmp(spec->files[i], SPEC_GIT) == 0 ||
		    (strncmp(spec->files[i], path, len) == 0 && (!path[len] || path[len] == '/')))
			return true;
	}
	return false;
}

void lacks_write_reads(const struct spec *spec, const struct node *files, struct json *out)
{
	const struct node *file = spec->script ? files_find(files, spec->script) : NULL;
	const char *text = node_get_string(file, "text");
	struct imports imports = {0};
	if (!text || !text_ends(spec->script, ".py") || (spec->setup && spec->setup[0]))
		return;
	imports_read(text, strlen(text), &imports);
	for (size_t i = 0; i < imports.reads.len && i < LACKS_MOST; i++) {
		const char *path = imports.reads.at[i];
		/* One that is named elsewhere too may be written there first. */
		size_t before = 0, read = 0, named = 0;
		for (size_t k = 0; k < imports.reads.len; k++) {
			bool same = strcmp(imports.reads.at[k], path) == 0;
			before += same && k < i;
			read += same;
		}
		for (size_t k = 0; k < imports.paths.len; k++)
			named += strcmp(imports.paths.at[k], path) == 0;
		if (before || named > read || lacks_has_path(spec, files, path))
			continue;
		char *said = mem_printf(
			"%.200s reads %.200s, which is not among the files: add it, or give its whole path",
			spec->script, path);
		json_put_string(out, said);
		free(said);
	}
	imports_free(&imports);
}

void lacks_caution_program(struct spec *spec, const struct node *files)
{
	const struct node *file = spec->script ? files_find(files, spec->script) : NULL;
	const char *text = node_get_string(file, "text"); /* a compiled program is no text */
	if (text && !spool_interpreter_of(spec->script) && !text_starts(text, "#!"))
		vec_push(&spec->cautions,
			 mem_printf("%.200s does not name its program, so /bin/sh runs it: write one in its first "
				    "line (#!/usr/bin/env python3), or give it an ending (.py, .sh)",
				    spec->script));
}

void lacks_write(const struct spec *spec, const struct node *files, const struct node *beside, const char *python,
		 struct json *out)
{
	struct lacks lacks;
	lacks_find(spec, files, beside, python, &lacks);
	for (size_t i = 0; i < lacks.modules.len; i++) {
		const char *module = lacks.modules.at[i];
		char *text = mem_printf("%.200s imports %s, which is not installed in %.200s on this machine and not "
					"among the files: add %s.py, or install it",
					spec->script, module, python, module);
		json_put_string(out, text);
		free(text);
	}
	json_end(out);
	json_key(out, "lacks");
	json_list(out);
	for (size_t i = 0; i < lacks.modules.len; i++) {
		json_put_string(out, lacks.modules.at[i]);
		free(lacks.modules.at[i]);
	}
	json_end(out);
	free(lacks.modules.at);
}
