/* See submit_imports.h. Python looks in the script's folder first, so a module that is there is the one that is imported. */
#include "cli/submit_imports.h"

#include "base/fs.h"
#include "base/imports.h"
#include "base/limits.h"
#include "base/text.h"
#include "cli/submit_files.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUBMIT_IMPORT_FILES 500 /* beyond it is no script with helpers any more: `files:` says what is needed */
#define SUBMIT_IMPORT_BYTES (4u << 20)
#define SUBMIT_IMPORT_DEPTH 16
#define SUBMIT_NAMED 8

struct follow_imports {
	struct submit *submit;
	size_t first; /* files from here on were added here */
	size_t unseen;
};

static bool imports_is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SUBMIT_IMPORT_BYTES;
}

/* Does this path go along, itself or something below it? */
static bool imports_goes_along(const struct submit *submit, const char *path)
{
	size_t len = strlen(path);
	for (size_t i = 0; i < submit->files.len; i++)
		if (strncmp(submit->files.at[i].path, path, len) == 0 &&
		    (!submit->files.at[i].path[len] || submit->files.at[i].path[len] == '/'))
			return true;
	return false;
}

static void imports_take(struct follow_imports *f, const char *path, const char *local)
{
	struct error err;
	if (f->submit->files.len - f->first < SUBMIT_IMPORT_FILES && imports_is_file(local) &&
	    !imports_goes_along(f->submit, path) && submit_add_path(f->submit, path, local, 0, &err) < 0)
		return;
}

/* Every module of a package: what it imports by name at run time is not in its text. */
static void imports_take_package(struct follow_imports *f, const char *path, const char *local, int depth)
{
	struct dirent **entries;
	int count = depth < SUBMIT_IMPORT_DEPTH ? scandir(local, &entries, NULL, alphasort) : -1;
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *below = mem_printf("%s/%s", path, name), *there = mem_printf("%s/%s", local, name);
		struct stat st;
		if (name[0] != '.' && strcmp(name, "__pycache__") != 0 && stat(there, &st) == 0) {
			if (S_ISDIR(st.st_mode))
				imports_take_package(f, below, there, depth + 1);
			else if (text_ends(name, ".py"))
				imports_take(f, below, there);
		}
		free(below);
		free(there);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

/* Path with the name below it, or the name alone where the path is "". */
static char *imports_join(const char *path, const char *name)
{
	return *path ? mem_printf("%s/%s", path, name) : mem_strdup(name);
}

/* One dotted name below a folder: NAME.py, or the package NAME and all of it. */
static void imports_resolve(struct follow_imports *f, const char *path, const char *local, const char *dotted)
{
	size_t len = strcspn(dotted, ".");
	char *first = mem_copy(dotted, len);
	char *below = imports_join(path, first), *there = mem_printf("%s/%s", local, first);
	char *module = mem_printf("%s.py", there), *name = mem_printf("%s.py", below);
	char *init = mem_printf("%s/__init__.py", there);
	if (!*first)
		;
	else if (imports_is_file(init))
		imports_take_package(f, below, there, 0);
	else if (imports_is_file(module))
		imports_take(f, name, module);
	else if (dotted[len] == '.') /* a package without __init__.py */
		imports_resolve(f, below, there, dotted + len + 1);
	free(first);
	free(below);
	free(there);
	free(module);
	free(name);
	free(init);
}

/* The folder of a path, dots - 1 levels up: "" where that is the top. False: it leaves the experiment. */
static bool imports_up(char *path, size_t levels)
{
	for (; levels; levels--) {
		char *slash = strrchr(path, '/');
		if (!slash && !*path)
			return false;
		*(slash ? slash : path) = 0;
	}
	return true;
}

static void imports_note_path(struct follow_imports *f, const char *folder, const char *local, const char *rel,
			      const char *by)
{
	char *path = imports_join(folder, rel), *there = mem_printf("%s/%s", local, rel);
	struct stat st;
	if (fs_is_safe_relative(rel) && stat(there, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
	    !imports_goes_along(f->submit, path) && f->unseen < SUBMIT_NAMED &&
	    !strstr(buf_text(&f->submit->unseen), path)) {
		buf_addf(&f->submit->unseen, "%s names %s, which does not go along: add --file %s, or files: [%s]\n",
			 by, path, there, path);
		f->unseen++;
	}
	free(path);
	free(there);
}

/* `folder` and `local`: the script's own folder, where Python begins to look. */
static void imports_follow_file(struct follow_imports *f, size_t at, const char *folder, const char *local)
{
	struct buf text = buf_make(SUBMIT_IMPORT_BYTES);
	struct imports imports = {0};
	char *path = mem_strdup(f->submit->files.at[at].path), *there = mem_strdup(f->submit->files.at[at].local);
	if (text_ends(path, ".py") && fs_read(there, SUBMIT_IMPORT_BYTES, &text, NULL) == 0)
		imports_read(buf_text(&text), text.len, &imports);
	for (size_t i = 0; i < imports.modules.len; i++) {
		const char *name = imports.modules.at[i];
		size_t dots = strspn(name, ".");
		char *from = mem_strdup(path), *base = mem_strdup(there);
		if (!dots)
			imports_resolve(f, folder, local, name);
		else if (imports_up(from, dots) && imports_up(base, dots))
			imports_resolve(f, from, *base ? base : ".", name + dots);
		free(from);
		free(base);
	}
	for (size_t i = 0; i < imports.paths.len; i++)
		imports_note_path(f, folder, local, imports.paths.at[i], path);
	imports_free(&imports);
	buf_free(&text);
	free(path);
	free(there);
}

static void imports_say(struct follow_imports *f)
{
	struct submit *submit = f->submit;
	size_t count = submit->files.len - f->first;
	for (size_t i = 0; i < count && i < SUBMIT_NAMED; i++)
		buf_addf(&submit->taken, "%s%s", i ? ", " : "", submit->files.at[f->first + i].path);
	if (count > SUBMIT_NAMED)
		buf_addf(&submit->taken, " and %zu more", count - SUBMIT_NAMED);
}

void submit_follow_imports(struct submit *submit)
{
	const char *script = node_get_string(submit->tree, "script");
	struct follow_imports f = {.submit = submit, .first = submit->files.len};
	if (!script || !text_ends(script, ".py") || !submit->files.len || strcmp(submit->files.at[0].path, script) != 0)
		return;
	char *folder = mem_strdup(script), *local = mem_strdup(submit->files.at[0].local);
	char *slash = strrchr(local, '/');
	if (slash)
		*slash = 0;
	imports_up(folder, 1);
	imports_follow_file(&f, 0, folder, slash ? *local ? local : "/" : ".");
	for (size_t i = f.first; i < submit->files.len; i++)
		imports_follow_file(&f, i, folder, slash ? *local ? local : "/" : ".");
	imports_say(&f);
	free(folder);
	free(local);
}
