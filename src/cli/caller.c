/* See caller.h. */
#include "cli/caller.h"

#include "base/environ.h"
#include "base/text.h"
#include "cli/git.h"

#include <fnmatch.h>
#include <libgen.h>
#include <unistd.h>

extern char **environ;

/* Where FOLDER/bin is in PATH, from 0; SIZE_MAX: it is not. */
static size_t caller_place(const char *folder)
{
	const char *path = getenv("PATH");
	char *bin = mem_printf("%s/bin", folder);
	size_t place = SIZE_MAX, n = 0;
	for (const char *at = path ? path : ""; *at && place == SIZE_MAX; n++) {
		size_t len = strcspn(at, ":");
		if (len == strlen(bin) && memcmp(at, bin, len) == 0)
			place = n;
		at += len + (at[len] == ':');
	}
	free(bin);
	return place;
}

/* Both may be set, one inside the other: the one that `python` finds counts. */
static const char *caller_python(void)
{
	const char *venv = getenv("VIRTUAL_ENV"), *conda = getenv("CONDA_PREFIX");
	venv = venv && *venv == '/' ? venv : NULL;
	conda = conda && *conda == '/' ? conda : NULL;
	if (!venv || !conda)
		return venv ? venv : conda;
	return caller_place(conda) < caller_place(venv) ? conda : venv;
}

static struct node *caller_modules(void)
{
	struct node *list = node_new(NODE_LIST);
	const char *text = getenv("LOADEDMODULES");
	for (const char *at = text ? text : ""; *at;) {
		size_t len = strcspn(at, ":");
		char *name = mem_copy(at, len);
		if (environ_is_module(name))
			node_add(list, NULL, node_new_string(name));
		free(name);
		at += len + (at[len] == ':');
	}
	return list;
}

static bool caller_keeps(const struct node *keep, const char *name)
{
	if (strcmp(name, "PYTHONPATH") == 0) /* what is imported depends on it */
		return true;
	for (size_t i = 0; keep && keep->type == NODE_LIST && i < keep->count; i++)
		if (node_string(keep->items[i]) && fnmatch(keep->items[i]->string, name, 0) == 0)
			return true;
	return false;
}

static struct node *caller_variables(const struct node *experiment)
{
	const struct node *keep = node_get(node_get(experiment, "environment"), "keep");
	struct node *map = node_new(NODE_MAP);
	for (char **e = environ; *e; e++) {
		const char *value = strchr(*e, '=');
		char *name = value ? mem_copy(*e, (size_t)(value - *e)) : NULL;
		if (name && environ_is_variable(name) && caller_keeps(keep, name) &&
		    text_utf8_check(value, strlen(value)) == strlen(value))
			node_add(map, name, node_new_string(value + 1));
		free(name);
	}
	return map;
}

static struct node *caller_git(const char *folder)
{
	char *commit = git_is_around(folder) ? git_commit(folder) : NULL;
	struct buf changed = buf_make(BUF_UNLIMITED);
	struct node *git = NULL;
	if (commit) {
		git = node_new(NODE_MAP);
		node_add(git, "commit", node_new_string(commit));
		int count = git_changes(folder, ":/", &changed);
		if (count >= 0) /* else git did not answer */
			node_add(git, "dirty", node_new_bool(count > 0));
	}
	buf_free(&changed);
	free(commit);
	return git;
}

struct node *caller_read(const struct node *experiment, const char *path, bool git)
{
	char *copy = mem_strdup(path), host[256] = "", folder[4096];
	struct node *caller = node_new(NODE_MAP), *commit = git ? caller_git(dirname(copy)) : NULL;
	if (gethostname(host, sizeof(host) - 1) == 0)
		node_add(caller, "host", node_new_string(host));
	if (getcwd(folder, sizeof(folder)) && text_utf8_check(folder, strlen(folder)) == strlen(folder))
		node_add(caller, "folder", node_new_string(folder));
	if (caller_python())
		node_add(caller, "python", node_new_string(caller_python()));
	node_add(caller, "modules", caller_modules());
	node_add(caller, "variables", caller_variables(experiment));
	if (commit)
		node_add(caller, "git", commit);
	free(copy);
	return caller;
}
