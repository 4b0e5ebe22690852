/* See pythons.h. */
#include "spool/pythons.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "spool/caller.h"
#include "spool/paths.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PYTHONS_CONFIG_BYTES 65536
#define PYTHONS_MOST 200
#define PYTHONS_EXPERIMENTS 40 /* the newest: what people used last year is in the usual folders or gone */
#define PYTHONS_DEPTH 64

char *spool_find_value(const char *text, const char *key)
{
	size_t len = strlen(key);
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *at = line + len;
		if (strncasecmp(line, key, len) != 0)
			continue;
		at += strspn(at, " \t");
		if (*at != '=' && *at != ':')
			continue;
		at++;
		at += strspn(at, " \t\"");
		size_t n = strcspn(at, "\r\n");
		while (n && strchr(" \t\"", at[n - 1]))
			n--;
		return n ? mem_copy(at, n) : NULL;
	}
	return NULL;
}

static char *pythons_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash != path ? mem_copy(path, (size_t)(slash - path)) : mem_strdup("/");
}

static const char *pythons_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool pythons_exists(const char *folder, const char *name)
{
	char *path = mem_printf("%s/%s", folder, name);
	bool exists = access(path, F_OK) == 0;
	free(path);
	return exists;
}

/* A virtual environment says in its pyvenv.cfg what made it. */
static char *pythons_venv_version(const char *prefix)
{
	struct buf text = buf_make(PYTHONS_CONFIG_BYTES);
	char *config = mem_printf("%s/pyvenv.cfg", prefix), *version = NULL;
	if (fs_read_regular(config, PYTHONS_CONFIG_BYTES, &text, NULL) == 0) {
		version = spool_find_value(buf_text(&text), "version_info");
		if (!version)
			version = spool_find_value(buf_text(&text), "version");
	}
	free(config);
	buf_free(&text);
	return version;
}

/* python-3.11.5-h955ad1f_0.json among what conda installed. */
static char *pythons_conda_version(const char *prefix)
{
	char *folder = mem_printf("%s/conda-meta", prefix), *version = NULL;
	DIR *dir = opendir(folder);
	struct dirent *entry;
	while (dir && !version && (entry = readdir(dir)))
		if (text_starts(entry->d_name, "python-") && isdigit((unsigned char)entry->d_name[7]))
			version = mem_copy(entry->d_name + 7, strcspn(entry->d_name + 7, "-"));
	if (dir)
		closedir(dir);
	free(folder);
	return version;
}

/* pyenv calls the folder by the version: …/versions/3.11.7. */
static char *pythons_pyenv_version(const char *prefix)
{
	char *parent = pythons_parent(prefix);
	const char *name = pythons_name(prefix);
	bool is_version = strcmp(pythons_name(parent), "versions") == 0 && isdigit((unsigned char)*name) &&
		strchr(name, '.');
	free(parent);
	return is_version ? mem_strdup(name) : NULL;
}

/* "3.11" out of python3.11, which a link may name. */
static char *pythons_name_version(const char *program)
{
	char *real = realpath(program, NULL);
	const char *name = real ? pythons_name(real) : NULL;
	const char *at = name && text_starts(name, "python") ? name + strlen("python") : "";
	size_t n = strspn(at, "0123456789.");
	char *version = n > 1 ? mem_copy(at, n) : NULL;
	free(real);
	return version;
}

char *spool_python_version(const char *program)
{
	char *bin = pythons_parent(program), *prefix = pythons_parent(bin);
	char *version = pythons_venv_version(prefix);
	if (!version)
		version = pythons_conda_version(prefix);
	if (!version)
		version = pythons_pyenv_version(prefix);
	if (!version)
		version = pythons_name_version(program);
	free(bin);
	free(prefix);
	return version;
}

/* The versions that pyenv is set to, separated by blanks, colons or lines; "" where there are none. */
static char *unshim_words(const char *root, const char *pyenv_version, const char *folder)
{
	struct buf text = buf_make(PYTHONS_CONFIG_BYTES);
	char *place = mem_strdup(folder);
	bool found = pyenv_version && *pyenv_version;
	if (found)
		buf_add_text(&text, pyenv_version);
	for (int i = 0; i < PYTHONS_DEPTH && !found && *place == '/'; i++) {
		char *file = mem_printf("%s/.python-version", strcmp(place, "/") ? place : "");
		found = fs_read_regular(file, PYTHONS_CONFIG_BYTES, &text, NULL) == 0;
		free(file);
		if (strcmp(place, "/") == 0)
			break;
		char *above = pythons_parent(place);
		free(place);
		place = above;
	}
	char *global = mem_printf("%s/version", root);
	if (!found && fs_read_regular(global, PYTHONS_CONFIG_BYTES, &text, NULL) < 0)
		buf_clear(&text);
	free(global);
	free(place);
	return buf_take(&text);
}

/* "3.11" is the newest 3.11.x that is installed. NULL: there is none. */
static char *unshim_version(const char *root, const char *word, const char *program)
{
	char *versions = mem_printf("%s/versions", root), *best = NULL, *found = NULL;
	char *exact = mem_printf("%s/%s/bin/%s", versions, word, program);
	if (access(exact, X_OK) == 0) {
		free(versions);
		return exact;
	}
	free(exact);
	DIR *dir = opendir(versions);
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		size_t len = strlen(word);
		if (strncmp(entry->d_name, word, len) == 0 && entry->d_name[len] == '.' &&
		    (!best || strverscmp(entry->d_name, best) > 0)) {
			free(best);
			best = mem_strdup(entry->d_name);
		}
	}
	if (dir)
		closedir(dir);
	if (best)
		found = mem_printf("%s/%s/bin/%s", versions, best, program);
	if (found && access(found, X_OK) < 0) {
		free(found);
		found = NULL;
	}
	free(best);
	free(versions);
	return found;
}

/* The first in PATH, but for the folder `except` (NULL: no exception). */
static char *pythons_in_path(const char *path, const char *name, const char *except)
{
	for (const char *at = path && *path ? path : "/usr/local/bin:/usr/bin:/bin"; *at;) {
		size_t len = strcspn(at, ":");
		char *folder = mem_copy(at, len), *found = mem_printf("%s/%s", folder, name);
		bool good = *folder == '/' && (!except || strcmp(folder, except) != 0) && access(found, X_OK) == 0;
		free(folder);
		if (good)
			return found;
		free(found);
		at += len + (at[len] == ':');
	}
	return NULL;
}

char *spool_python_unshim(const char *program, const char *pyenv_version, const char *folder, const char *path)
{
	char *shims = pythons_parent(program), *root = pythons_parent(shims), *found = NULL;
	if (strcmp(pythons_name(shims), "shims") == 0 && pythons_exists(root, "versions")) {
		char *words = unshim_words(root, pyenv_version, folder);
		const char *at = words;
		bool any = false;
		while (!found && *(at += strspn(at, " \t\r\n:"))) {
			size_t len = strcspn(at, " \t\r\n:");
			char *word = mem_copy(at, len);
			any = true;
			if (*word == '#')
				len = strcspn(at, "\n");
			else if (strcmp(word, "system") == 0)
				found = pythons_in_path(path, pythons_name(program), shims);
			else if (!strchr(word, '/'))
				found = unshim_version(root, word, pythons_name(program));
			free(word);
			at += len;
		}
		if (!any)
			found = pythons_in_path(path, pythons_name(program), shims);
		free(words);
	}
	free(shims);
	free(root);
	return found;
}

struct pythons {
	struct json *out;
	VEC(char *) seen;
};

static void pythons_write(struct pythons *p, const char *path, const char *kind, const char *program, const char *found)
{
	for (size_t i = 0; i < p->seen.len; i++)
		if (strcmp(p->seen.at[i], path) == 0)
			return;
	if (p->seen.len >= PYTHONS_MOST || text_utf8_check(path, strlen(path)) != strlen(path))
		return;
	char *version = spool_python_version(program);
	vec_push(&p->seen, mem_strdup(path));
	json_map(p->out);
	json_key_string(p->out, "path", path);
	json_key_string(p->out, "kind", kind);
	json_key_string(p->out, "version", version);
	json_key_string(p->out, "found", found);
	json_end(p->out);
	free(version);
}

/* An environment is named by its folder; a Python that is none by its program, since nothing is to be activated. */
static void pythons_try(struct pythons *p, const char *folder, const char *found)
{
	bool three = pythons_exists(folder, "bin/python3");
	if (!three && !pythons_exists(folder, "bin/python"))
		return;
	char *program = mem_printf("%s/bin/%s", folder, three ? "python3" : "python");
	char *version = pythons_pyenv_version(folder);
	if (pythons_exists(folder, "pyvenv.cfg"))
		pythons_write(p, folder, "venv", program, found);
	else if (pythons_exists(folder, "conda-meta"))
		pythons_write(p, folder, "conda", program, found);
	else
		pythons_write(p, program, version ? "pyenv" : "system", program, found);
	free(version);
	free(program);
}

static int pythons_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Every environment in a folder of environments. */
static void pythons_try_all(struct pythons *p, const char *folder, const char *found)
{
	struct dirent **names = NULL;
	int count = scandir(folder, &names, pythons_visible, versionsort);
	for (int i = 0; i < count; i++) {
		char *one = mem_printf("%s/%s", folder, names[i]->d_name);
		pythons_try(p, one, found);
		free(one);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

/* An installation of conda, and its environments. */
static void pythons_try_conda(struct pythons *p, const char *folder)
{
	char *envs = mem_printf("%s/envs", folder);
	if (pythons_exists(folder, "conda-meta"))
		pythons_try(p, folder, "conda");
	pythons_try_all(p, envs, "conda");
	free(envs);
}

static int pythons_is_experiment(const struct dirent *entry)
{
	return entry->d_name[0] == 'e' && isdigit((unsigned char)entry->d_name[1]);
}

/* What was active for an experiment, and what lies where it was submitted. */
static void pythons_try_caller(struct pythons *p, const char *root, const char *id)
{
	static const char *const beside[] = {"venv", ".venv", "env"};
	char *path = spool_caller_path(root);
	struct spool_caller caller = spool_caller_read(path);
	char *active = mem_printf("active for %s", id), *there = mem_printf("in the folder of %s", id);
	if (caller.python)
		pythons_try(p, caller.python, active);
	for (size_t i = 0; caller.folder && *caller.folder == '/' && i < COUNT_OF(beside); i++) {
		char *folder = mem_printf("%s/%s", caller.folder, beside[i]);
		pythons_try(p, folder, there);
		free(folder);
	}
	spool_caller_free(&caller);
	free(active);
	free(there);
	free(path);
}

static void pythons_try_callers(struct pythons *p, const char *state_dir)
{
	char *experiments = mem_printf("%s/experiments", state_dir);
	struct dirent **names = NULL;
	int count = scandir(experiments, &names, pythons_is_experiment, versionsort);
	for (int i = count - 1; i >= 0; i--) {
		char *root = mem_printf("%s/%s", experiments, names[i]->d_name);
		if (count - i <= PYTHONS_EXPERIMENTS)
			pythons_try_caller(p, root, names[i]->d_name);
		free(root);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
	free(experiments);
}

/* conda lists every environment that it made, one path a line. */
static void pythons_try_conda_list(struct pythons *p, const char *home)
{
	struct buf text = buf_make(PYTHONS_CONFIG_BYTES);
	char *path = mem_printf("%s/.conda/environments.txt", home);
	const char *at = fs_read_regular(path, PYTHONS_CONFIG_BYTES, &text, NULL) == 0 ? buf_text(&text) : "";
	while (*at) {
		size_t len = strcspn(at, "\r\n");
		char *folder = mem_copy(at, len);
		if (*folder == '/')
			pythons_try(p, folder, "conda");
		free(folder);
		at += len + strspn(at + len, "\r\n");
	}
	buf_free(&text);
	free(path);
}

static void pythons_try_home(struct pythons *p, const char *home)
{
	static const char *const many[] = {".virtualenvs", ".venvs", ".local/share/virtualenvs",
					   ".cache/pypoetry/virtualenvs", ".pyenv/versions"};
	static const char *const conda[] = {"miniconda3", "anaconda3", "miniforge3", "mambaforge",
					    "micromamba", "miniconda", "anaconda",   ".conda"};
	for (size_t i = 0; i < COUNT_OF(many); i++) {
		char *folder = mem_printf("%s/%s", home, many[i]), *found = mem_printf("~/%s", many[i]);
		pythons_try_all(p, folder, found);
		free(folder);
		free(found);
	}
	pythons_try_conda_list(p, home);
	for (size_t i = 0; i < COUNT_OF(conda); i++) {
		char *folder = mem_printf("%s/%s", home, conda[i]);
		pythons_try_conda(p, folder);
		free(folder);
	}
}

void spool_python_list(const char *state_dir, const char *home, const char *path, struct json *out)
{
	struct pythons p = {.out = out};
	json_list(out);
	pythons_try_callers(&p, state_dir);
	if (home && *home == '/')
		pythons_try_home(&p, home);
	pythons_try_conda(&p, "/opt/conda");
	pythons_try_conda(&p, "/opt/miniconda3");
	char *first = pythons_in_path(path, "python3", NULL);
	char *real = first ? spool_python_unshim(first, NULL, "/", path) : NULL;
	if (first)
		pythons_write(&p, real ? real : first, "system", real ? real : first, "PATH");
	json_end(out);
	for (size_t i = 0; i < p.seen.len; i++)
		free(p.seen.at[i]);
	free(p.seen.at);
	free(first);
	free(real);
}
