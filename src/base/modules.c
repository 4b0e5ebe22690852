/* See modules.h. Python looks in the script's folder first, so a module that is there is the one that is imported. */
#include "base/modules.h"

#include "base/imports.h"
#include "base/text.h"

#define MODULES_DEPTH 16

struct modules {
	const struct modules_tree *tree;
	VEC(char *) taken; /* and still to be read, from the front on */
};

static void modules_entries_free(struct modules_entries *entries)
{
	for (size_t i = 0; i < entries->list.len; i++)
		free(entries->list.at[i].name);
	free(entries->list.at);
	*entries = (struct modules_entries){0};
}

static void modules_take(struct modules *m, const char *path)
{
	const struct modules_tree *tree = m->tree;
	if (m->taken.len < MODULES_MAX && tree->is_file(tree->ctx, path) && tree->take(tree->ctx, path))
		vec_push(&m->taken, mem_strdup(path));
	else if (m->taken.len >= MODULES_MAX && tree->leave && tree->is_file(tree->ctx, path))
		tree->leave(tree->ctx, path);
}

/* Every module of a package (what it imports by name at run time is not in its text), or every file of a folder of hydra. */
static void modules_take_package(struct modules *m, const char *path, bool config, int depth)
{
	struct modules_entries entries = {0};
	if (depth < MODULES_DEPTH)
		m->tree->list(m->tree->ctx, path, &entries);
	for (size_t i = 0; i < entries.list.len; i++) {
		const char *name = entries.list.at[i].name;
		char *below = mem_printf("%s/%s", path, name);
		if (name[0] == '.' || strcmp(name, "__pycache__") == 0)
			;
		else if (entries.list.at[i].is_folder)
			modules_take_package(m, below, config, depth + 1);
		else if (config ? text_ends(name, ".yaml") || text_ends(name, ".yml") : text_ends(name, ".py"))
			modules_take(m, below);
		free(below);
	}
	modules_entries_free(&entries);
}

/* One dotted name below a folder: NAME.py, or the package NAME and all of it. */
static void modules_resolve(struct modules *m, const char *folder, const char *dotted)
{
	size_t len = strcspn(dotted, ".");
	char *first = mem_copy(dotted, len);
	char *path = *folder ? mem_printf("%s/%s", folder, first) : mem_strdup(first);
	char *module = mem_printf("%s.py", path), *init = mem_printf("%s/__init__.py", path);
	if (!*first)
		;
	else if (m->tree->is_file(m->tree->ctx, init))
		modules_take_package(m, path, false, 0);
	else if (m->tree->is_file(m->tree->ctx, module))
		modules_take(m, module);
	else if (dotted[len] == '.') /* a package without __init__.py */
		modules_resolve(m, path, dotted + len + 1);
	free(first);
	free(path);
	free(module);
	free(init);
}

/* The configuration without which a script of hydra does not begin. */
static void modules_take_config(struct modules *m, const char *folder, const char *rel)
{
	char *path = *folder ? mem_printf("%s/%s", folder, rel) : mem_strdup(rel);
	if (m->tree->is_file(m->tree->ctx, path))
		modules_take(m, path);
	else
		modules_take_package(m, path, true, 0);
	free(path);
}

/* Cuts the last `levels` parts of a path; "" is the top. False: it leaves the tree. */
static bool modules_up(char *path, size_t levels)
{
	for (; levels; levels--) {
		char *slash = strrchr(path, '/');
		if (!slash && !*path)
			return false;
		*(slash ? slash : path) = 0;
	}
	return true;
}

static void modules_follow_file(struct modules *m, const char *path, const char *folder)
{
	struct buf text = buf_make(MODULES_FILE_BYTES);
	struct imports imports = {0};
	if (text_ends(path, ".py") && m->tree->read(m->tree->ctx, path, &text) == 0)
		imports_read(buf_text(&text), text.len, &imports);
	for (size_t i = 0; i < imports.modules.len; i++) {
		const char *name = imports.modules.at[i];
		size_t dots = strspn(name, ".");
		char *from = mem_strdup(path);
		if (!dots)
			modules_resolve(m, folder, name);
		else if (modules_up(from, dots))
			modules_resolve(m, from, name + dots);
		free(from);
	}
	for (size_t i = 0; i < imports.configs.len; i++)
		modules_take_config(m, folder, imports.configs.at[i]);
	for (size_t i = 0; m->tree->note_path && i < imports.paths.len; i++)
		m->tree->note_path(m->tree->ctx, folder, imports.paths.at[i], path);
	imports_free(&imports);
	buf_free(&text);
}

void modules_follow(const struct modules_tree *tree, const char *script)
{
	struct modules m = {.tree = tree};
	char *folder = mem_strdup(script);
	if (text_ends(script, ".py") && modules_up(folder, 1)) {
		modules_follow_file(&m, script, folder);
		for (size_t i = 0; i < m.taken.len; i++)
			modules_follow_file(&m, m.taken.at[i], folder);
	}
	for (size_t i = 0; i < m.taken.len; i++)
		free(m.taken.at[i]);
	free(m.taken.at);
	free(folder);
}
