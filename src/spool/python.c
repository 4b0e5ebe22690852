/* See python.h. */
#include "spool/python.h"

#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool spool_python_is_choice(const char *choice)
{
	if (!*choice || strlen(choice) > 1024 || strpbrk(choice, "\n\r:"))
		return false;
	return !strchr(choice, '/') || choice[0] == '/' || text_starts(choice, "~/");
}

static bool python_exists(const char *folder, const char *name)
{
	char *path = mem_printf("%s/%s", folder, name);
	bool exists = access(path, F_OK) == 0;
	free(path);
	return exists;
}

static bool python_is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Both are marked by what made them. */
static bool python_is_environment(const char *folder)
{
	return python_exists(folder, "pyvenv.cfg") || python_exists(folder, "conda-meta");
}

static int python_take_folder(const char *folder, bool active, struct spool_python *ret, struct error *err)
{
	if (!python_exists(folder, "bin/python3") && !python_exists(folder, "bin/python"))
		return errorf(
			err, -ENOENT,
			"%s has no bin/python on this machine%s; environment: {python: none} uses no environment, "
			"{python: /path/to/environment} uses another",
			folder, active ? " (it was the active environment when the experiment was submitted)" : "");
	ret->prefix = mem_strdup(folder);
	ret->conda = python_exists(folder, "conda-meta");
	if (active)
		ret->how = ret->conda ? "the active conda environment" : "the active virtual environment";
	return 0;
}

/* /home/u/venv/bin/python belongs to the environment /home/u/venv. */
static int python_take_program(const char *path, struct spool_python *ret, struct error *err)
{
	if (access(path, X_OK) < 0)
		return errorf(err, -ENOENT, "%s: %s; environment.python names a Python or the folder of an environment",
			      path, errno == ENOENT ? "there is no such program on this machine" : strerror(errno));
	char *folder = mem_strdup(path), *slash = strrchr(folder, '/');
	*slash = 0;
	slash = strrchr(folder, '/');
	if (slash) {
		*slash = 0;
		if (python_is_environment(folder)) {
			ret->prefix = mem_strdup(folder);
			ret->conda = python_exists(folder, "conda-meta");
		}
	}
	ret->program = mem_strdup(path);
	free(folder);
	return 0;
}

int spool_python_choose(const char *choice, const char *active, struct spool_python *ret, struct error *err)
{
	*ret = (struct spool_python){.how = "environment.python"};
	if (!choice || strcmp(choice, "auto") == 0) {
		ret->how = "no environment was active";
		return active ? python_take_folder(active, true, ret, err) : 0;
	}
	if (strcmp(choice, "none") == 0)
		return 0;
	if (!strchr(choice, '/')) {
		ret->program = mem_strdup(choice);
		return 0;
	}
	const char *home = getenv("HOME");
	char *path = text_starts(choice, "~/") ? mem_printf("%s%s", home ? home : "", choice + 1) : mem_strdup(choice);
	while (strlen(path) > 1 && text_ends(path, "/"))
		path[strlen(path) - 1] = 0;
	int rc = python_is_folder(path) ? python_take_folder(path, false, ret, err)
					: python_take_program(path, ret, err);
	free(path);
	return rc;
}

void spool_python_free(struct spool_python *python)
{
	free(python->prefix);
	free(python->program);
	*python = (struct spool_python){0};
}

static char *python_in_path(const char *name)
{
	const char *path = getenv("PATH");
	for (const char *at = path && *path ? path : "/usr/local/bin:/usr/bin:/bin"; *at;) {
		size_t len = strcspn(at, ":");
		char *found = mem_printf("%.*s/%s", (int)len, at, name);
		if (len && access(found, X_OK) == 0)
			return found;
		free(found);
		at += len + (at[len] == ':');
	}
	return NULL;
}

char *spool_python_path(const struct spool_python *python)
{
	if (python->program)
		return strchr(python->program, '/') ? mem_strdup(python->program) : python_in_path(python->program);
	if (!python->prefix)
		return python_in_path("python3");
	return mem_printf("%s/bin/%s", python->prefix,
			  python_exists(python->prefix, "bin/python3") ? "python3" : "python");
}
