/* See packages.h. An installed package is a folder (or, of old, a file) NAME-VERSION.dist-info or .egg-info in one of the folders
 * that the interpreter searches. */
#include "node/packages.h"

#include "base/sum.h"
#include "base/text.h"
#include "spool/pythons.h"
#include "spool/site.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PACKAGES_MOST 2000

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

static void packages_search(void *ctx, const char *folder)
{
	struct packages *p = ctx;
	DIR *dir = p->sum ? NULL : opendir(folder);
	struct dirent *entry;
	if (p->sum)
		sum_add_file(p->sum, folder);
	while (dir && p->found.len < 4 * PACKAGES_MOST && (entry = readdir(dir)))
		packages_take(p, entry->d_name);
	if (dir)
		closedir(dir);
	p->folders++;
}

static int packages_compare(const void *a, const void *b)
{
	const struct package *x = a, *y = b;
	int rc = strcmp(x->name, y->name);
	if (rc == 0 && x->order != y->order)
		rc = x->order < y->order ? -1 : 1;
	return rc ? rc : strcmp(x->version, y->version);
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

void packages_sum(const char *program, const char *home, uint64_t *sum)
{
	struct packages p = {.sum = sum};
	char *bin = packages_parent(program), *prefix = packages_parent(bin);
	char *version = spool_python_version(program);
	sum_add_text(sum, program);
	sum_add_text(sum, version ? version : "");
	if (version)
		spool_site_folders(prefix, version, home, packages_search, &p);
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
		spool_site_folders(prefix, version, home, packages_search, &p);
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
