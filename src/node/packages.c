/* See packages.h. An installed package is a folder (or, of old, a file) NAME-VERSION.dist-info or .egg-info in one of the folders
 * that the interpreter searches. */
#include "node/packages.h"

#include "base/fs.h"
#include "base/sum.h"
#include "base/text.h"
#include "spool/pythons.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PACKAGES_MOST 2000
#define PACKAGES_CONFIG_BYTES 65536

struct package {
	char *name, *version;
	size_t order; /* of the folder: Python takes the first */
};

struct packages {
	VEC(struct package) found;
	size_t folders;
	uint64_t *sum; /* not NULL: of the folders alone, whose content is not read */
};

/* NAME-VERSION.dist-info; the name as PEP 503 has it. */
static void packages_take(struct packages *p, const char *file)
{
	const char *dash = strchr(file, '-');
	size_t len = strlen(file);
	bool egg = text_ends(file, ".egg-info");
	if (!dash || dash == file || (!egg && !text_ends(file, ".dist-info")))
		return;
	const char *end = file + len - strlen(".dist-info") + egg;
	const char *stop = egg ? memchr(dash + 1, '-', (size_t)(end - dash - 1)) : NULL; /* NAME-1.0-py3.11 */
	struct package one = {.name = mem_copy(file, (size_t)(dash - file)),
			      .version = mem_copy(dash + 1, (size_t)((stop ? stop : end) - dash - 1)),
			      .order = p->folders};
	for (char *c = one.name; *c; c++)
		*c = *c == '_' || *c == '.' ? '-' : (char)tolower((unsigned char)*c);
	vec_push(&p->found, one);
}

static void packages_search(struct packages *p, char *give_folder)
{
	DIR *dir = p->sum ? NULL : opendir(give_folder);
	struct dirent *entry;
	if (p->sum)
		sum_add_file(p->sum, give_folder);
	while (dir && p->found.len < 4 * PACKAGES_MOST && (entry = readdir(dir)))
		packages_take(p, entry->d_name);
	if (dir)
		closedir(dir);
	p->folders++;
	free(give_folder);
}

static int packages_compare(const void *a, const void *b)
{
	const struct package *x = a, *y = b;
	int rc = strcmp(x->name, y->name);
	if (rc == 0 && x->order != y->order)
		rc = x->order < y->order ? -1 : 1;
	return rc ? rc : strcmp(x->version, y->version);
}

/* lib/pythonX.Y of a prefix, for versions that are known to X.Y at least. */
static void packages_search_prefix(struct packages *p, const char *prefix, const char *version)
{
	static const char *const libs[] = {"lib", "lib64", "local/lib"};
	static const char *const ends[] = {"site-packages", "dist-packages"};
	size_t first = strcspn(version, "."),
	       len = version[first] ? first + 1 + strcspn(version + first + 1, ".") : first;
	for (size_t i = 0; i < COUNT_OF(libs); i++)
		for (size_t k = 0; k < COUNT_OF(ends); k++)
			packages_search(p,
					mem_printf("%s/%s/python%.*s/%s", prefix, libs[i], (int)len, version, ends[k]));
}

static void packages_search_base(struct packages *p, const char *prefix, const char *version, const char *home)
{
	char *local = home ? mem_printf("%s/.local", home) : NULL;
	if (local)
		packages_search_prefix(p, local, version);
	packages_search_prefix(p, prefix, version);
	if (strcmp(prefix, "/usr") == 0) /* Debian's */
		packages_search(p, mem_strdup("/usr/lib/python3/dist-packages"));
	free(local);
}

static char *packages_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash != path ? mem_copy(path, (size_t)(slash - path)) : mem_strdup("/");
}

static void packages_put(struct packages *p, struct json *out)
{
	const char *last = NULL;
	int64_t written = 0, left = 0;
	if (p->found.len)
		qsort(p->found.at, p->found.len, sizeof(*p->found.at), packages_compare);
	json_key(out, "packages");
	json_map(out);
	for (size_t i = 0; i < p->found.len; i++) {
		const struct package *one = &p->found.at[i];
		if (last && strcmp(last, one->name) == 0)
			continue;
		last = one->name;
		if (written++ < PACKAGES_MOST)
			json_key_string(out, one->name, one->version);
		else
			left++;
	}
	json_end(out);
	json_key_int(out, "packages_left_out", left);
	for (size_t i = 0; i < p->found.len; i++) {
		free(p->found.at[i].name);
		free(p->found.at[i].version);
	}
	free(p->found.at);
}

/* A virtual environment may see the packages of what made it. */
static void packages_search_venv(struct packages *p, const char *prefix, const char *version, const char *config,
				 const char *home)
{
	char *base = spool_find_value(config, "home");
	char *system = spool_find_value(config, "include-system-site-packages");
	packages_search_prefix(p, prefix, version);
	if (base && system && strcasecmp(system, "true") == 0) {
		char *above = packages_parent(base);
		packages_search_base(p, above, version, home);
		free(above);
	}
	free(base);
	free(system);
}

static void packages_search_all(struct packages *p, const char *prefix, const char *version, const char *home)
{
	char *config = mem_printf("%s/pyvenv.cfg", prefix), *conda = mem_printf("%s/conda-meta", prefix);
	struct buf text = buf_make(PACKAGES_CONFIG_BYTES);
	if (fs_read_regular(config, PACKAGES_CONFIG_BYTES, &text, NULL) == 0)
		packages_search_venv(p, prefix, version, buf_text(&text), home);
	else if (access(conda, F_OK) == 0)
		packages_search_prefix(p, prefix, version);
	else
		packages_search_base(p, prefix, version, home);
	buf_free(&text);
	free(config);
	free(conda);
}

void packages_sum(const char *program, const char *home, uint64_t *sum)
{
	struct packages p = {.sum = sum};
	char *bin = packages_parent(program), *prefix = packages_parent(bin);
	char *version = spool_python_version(program);
	sum_add_text(sum, program);
	sum_add_text(sum, version ? version : "");
	if (version)
		packages_search_all(&p, prefix, version, home);
	free(version);
	free(prefix);
	free(bin);
}

void packages_write(const char *program, const char *home, struct json *out)
{
	struct packages p = {0};
	char *bin = program ? packages_parent(program) : NULL, *prefix = bin ? packages_parent(bin) : NULL;
	char *version = program ? spool_python_version(program) : NULL;
	if (version)
		packages_search_all(&p, prefix, version, home);
	json_key(out, "python");
	if (program) {
		json_map(out);
		json_key_string(out, "program", program);
		json_key_string(out, "version", version);
		json_key_string(out, "prefix", prefix);
		json_end(out);
	} else {
		json_put_null(out);
	}
	packages_put(&p, out);
	free(version);
	free(prefix);
	free(bin);
}
