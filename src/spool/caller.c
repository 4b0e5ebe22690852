/* See caller.h. */
#include "spool/caller.h"

#include "base/buf.h"
#include "base/environ.h"
#include "base/fs.h"
#include "base/limits.h"

#include <string.h>

static bool caller_all(const struct node *list, bool (*good)(const struct node *item))
{
	for (size_t i = 0; i < list->count; i++)
		if (!good(list->items[i]))
			return false;
	return true;
}

static bool caller_good_module(const struct node *item)
{
	return environ_is_module(node_string(item));
}

static bool caller_good_variable(const struct node *item)
{
	return node_string(item) && environ_is_variable(item->key);
}

static bool caller_is_path(const struct node *node)
{
	const char *path = node_string(node);
	return path && path[0] == '/' && strlen(path) < 4096 && !strpbrk(path, "\n:");
}

void spool_caller_check(const struct node *node, struct problems *problems)
{
	if (!node)
		return;
	if (node->type != NODE_MAP) {
		problem_add(problems, node, "leave it out, or send {python, modules, variables, git}",
			    "'caller' must be a map");
		return;
	}
	const struct node *python = node_get(node, "python"), *modules = node_get(node, "modules");
	const struct node *variables = node_get(node, "variables");
	if (python && python->type != NODE_NULL && !caller_is_path(python))
		problem_add(problems, python, "send the absolute path of the environment's folder",
			    "'python' is not such a path");
	if (modules && (modules->type != NODE_LIST || !caller_all(modules, caller_good_module)))
		problem_add(problems, modules, "send a list of names, as in LOADEDMODULES",
			    "'modules' is not a list of names of modules");
	if (variables && (variables->type != NODE_MAP || !caller_all(variables, caller_good_variable)))
		problem_add(problems, variables, "send texts by name; SLUICE_… is taken",
			    "'variables' is not a map of variables");
}

struct spool_caller spool_caller_of(const struct node *node)
{
	struct spool_caller caller = {0};
	if (!node || node->type != NODE_MAP)
		return caller;
	const struct node *modules = node_get(node, "modules"), *variables = node_get(node, "variables");
	const struct node *git = node_get(node, "git");
	if (caller_is_path(node_get(node, "python")))
		caller.python = node_get_string(node, "python");
	if (modules && modules->type == NODE_LIST && caller_all(modules, caller_good_module))
		caller.modules = modules;
	if (variables && variables->type == NODE_MAP && caller_all(variables, caller_good_variable))
		caller.variables = variables;
	if (git && git->type == NODE_MAP)
		caller.git = git;
	caller.host = node_get_string(node, "host");
	caller.folder = node_get_string(node, "folder");
	return caller;
}

struct spool_caller spool_caller_read(const char *path)
{
	struct buf text = buf_make(LIMIT_DOCUMENT_BYTES);
	struct node *tree = NULL;
	if (!path || fs_read(path, LIMIT_DOCUMENT_BYTES, &text, NULL) < 0 ||
	    node_parse_json(buf_text(&text), text.len, &tree, NULL) < 0)
		tree = NULL;
	struct spool_caller caller = spool_caller_of(tree);
	caller.tree = tree;
	buf_free(&text);
	return caller;
}

void spool_caller_free(struct spool_caller *caller)
{
	node_free(caller->tree);
	*caller = (struct spool_caller){0};
}
