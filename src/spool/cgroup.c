/* See cgroup.h. Version 1 counts a kill in the group of the process alone, version 2 also in all groups above it: so the
 * groups from the runner's up to the job's are added up, and only growth means anything. */
#include "spool/cgroup.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/num.h"

#include <string.h>

/* The nth word of a line, from 0; its length, or 0 where there are fewer. */
static size_t cgroup_word(const char *line, size_t len, size_t n, const char **ret)
{
	const char *end = line + len;
	for (;; n--) {
		while (line < end && *line == ' ')
			line++;
		const char *space = memchr(line, ' ', (size_t)(end - line));
		const char *stop = space ? space : end;
		if (n == 0 || stop == end) {
			*ret = line;
			return n == 0 ? (size_t)(stop - line) : 0;
		}
		line = stop;
	}
}

/* Is the word in a list with commas? */
static bool cgroup_lists(const char *list, size_t len, const char *word)
{
	size_t size = strlen(word);
	for (const char *end = list + len; list < end;) {
		const char *comma = memchr(list, ',', (size_t)(end - list));
		const char *stop = comma ? comma : end;
		if ((size_t)(stop - list) == size && memcmp(list, word, size) == 0)
			return true;
		list = stop + (comma != NULL);
	}
	return false;
}

/* "4:memory:/slurm/uid_0/job_5", or "0::/…" where no hierarchy of version 1 has the memory controller. */
static char *cgroup_own_path(const char *text, bool *ret_v2)
{
	char *path = NULL;
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		const char *list = memchr(line, ':', len);
		const char *colon = list ? memchr(list + 1, ':', (size_t)(line + len - list - 1)) : NULL;
		bool v1 = colon && cgroup_lists(list + 1, (size_t)(colon - list - 1), "memory");
		bool v2 = colon && colon == list + 1;
		if (v1 || (v2 && !path)) {
			free(path);
			path = mem_printf("%.*s", (int)(line + len - colon - 1), colon + 1);
			*ret_v2 = v2;
		}
		if (v1)
			return path;
		line += len + (line[len] == '\n');
	}
	return path;
}

/* "job_" and digits, as Slurm calls the group of a job: behind it, or NULL. */
static const char *cgroup_job_end(const char *path)
{
	for (const char *p = strstr(path, "/job_"); p; p = strstr(p + 1, "/job_")) {
		size_t digits = strspn(p + 5, "0123456789");
		if (digits && (p[5 + digits] == '/' || !p[5 + digits]))
			return p + 5 + digits;
	}
	return NULL;
}

/* Where one line of mountinfo shows the group, if it does. The mount's root is a part of the path, and no longer than `job`:
 * inside a container it may be less than the whole job. The words of proc(5): 3 root, 4 mount point; behind a lone "-" the
 * type, the source and the options. */
static char *cgroup_mounted(const char *line, size_t len, const char *path, size_t job, bool v2)
{
	const char *dash = memmem(line, len, " - ", 3);
	const char *root, *point, *type, *options;
	if (!dash)
		return NULL;
	size_t before = (size_t)(dash - line), after = len - before - 3;
	size_t root_len = cgroup_word(line, before, 3, &root), point_len = cgroup_word(line, before, 4, &point);
	size_t type_len = cgroup_word(dash + 3, after, 0, &type),
	       options_len = cgroup_word(dash + 3, after, 2, &options);
	const char *wanted = v2 ? "cgroup2" : "cgroup";
	if (!root_len || !point_len || type_len != strlen(wanted) || memcmp(type, wanted, type_len) != 0)
		return NULL;
	if ((!v2 && !cgroup_lists(options, options_len, "memory")) || memchr(point, '\\', point_len))
		return NULL;
	if (root_len == 1) /* "/" */
		root_len = 0;
	if (root_len > job || strncmp(path, root, root_len) != 0 || (path[root_len] && path[root_len] != '/'))
		return NULL;
	return mem_printf("%.*s%s", (int)point_len, point, path + root_len);
}

/* The first mount that shows the group. */
static char *cgroup_find_mounted(const char *mounts, const char *path, size_t job, bool v2)
{
	char *found = NULL;
	for (const char *line = mounts; !found && *line;) {
		size_t len = strcspn(line, "\n");
		found = cgroup_mounted(line, len, path, job, v2);
		line += len + (line[len] == '\n');
	}
	return found;
}

char *cgroup_find(const char *groups, const char *mounts, bool *ret_v2, size_t *ret_below)
{
	char *path = cgroup_own_path(groups, ret_v2);
	if (path && strcmp(path, "/") == 0)
		*path = 0;
	char *found = path ? cgroup_find_mounted(mounts, path, strlen(path), *ret_v2) : NULL;
	*ret_below = 0;
	for (const char *p = path; found && p && *p; p++)
		*ret_below += *p == '/';
	free(path);
	return found;
}

bool cgroup_parse(const char *groups, const char *mounts, struct cgroup *ret)
{
	struct cgroup found = {0};
	char *path = cgroup_own_path(groups, &found.v2);
	const char *job = path ? cgroup_job_end(path) : NULL;
	if (job)
		found.own = cgroup_find_mounted(mounts, path, (size_t)(job - path), found.v2);
	size_t below = job ? strlen(job) : 0;
	if (found.own) {
		found.job = mem_printf("%.*s", (int)(strlen(found.own) - below), found.own);
		*ret = found;
	}
	free(path);
	return found.own != NULL;
}

void cgroup_free(struct cgroup *cgroup)
{
	free(cgroup->own);
	free(cgroup->job);
	*cgroup = (struct cgroup){0};
}

int64_t cgroup_parse_kills(const char *text)
{
	uint64_t value;
	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		if (len > 9 && memcmp(line, "oom_kill ", 9) == 0)
			return num_parse_unsigned(line + 9, len - 9, INT64_MAX, &value) < 0 ? -1 : (int64_t)value;
		line += len + (line[len] == '\n');
	}
	return -1;
}

int64_t cgroup_read_kills(const char *folder, bool v2)
{
	char *path = mem_printf("%s/%s", folder, v2 ? "memory.events" : "memory.oom_control");
	struct buf text = buf_make(LIMIT_CGROUP_BYTES);
	int64_t kills = fs_read(path, LIMIT_CGROUP_BYTES, &text, NULL) < 0 ? -1 : cgroup_parse_kills(buf_text(&text));
	buf_free(&text);
	free(path);
	return kills;
}

static int64_t cgroup_count(const struct cgroup *cgroup)
{
	char *folder = mem_strdup(cgroup->own);
	size_t most = strlen(cgroup->job);
	int64_t sum = -1;
	while (strlen(folder) >= most) {
		int64_t kills = cgroup_read_kills(folder, cgroup->v2);
		if (kills >= 0)
			sum = (sum < 0 ? 0 : sum) + kills;
		*strrchr(folder, '/') = 0;
	}
	free(folder);
	return sum;
}

int64_t cgroup_oom_kills(void)
{
	struct buf groups = buf_make(LIMIT_CGROUP_BYTES), mounts = buf_make(LIMIT_MOUNTINFO_BYTES);
	struct cgroup cgroup;
	int64_t kills = -1;
	if (fs_read("/proc/self/cgroup", LIMIT_CGROUP_BYTES, &groups, NULL) == 0 &&
	    strstr(buf_text(&groups), "/job_") && /* outside of a job the mounts say nothing */
	    fs_read("/proc/self/mountinfo", LIMIT_MOUNTINFO_BYTES, &mounts, NULL) == 0 &&
	    cgroup_parse(buf_text(&groups), buf_text(&mounts), &cgroup)) {
		kills = cgroup_count(&cgroup);
		cgroup_free(&cgroup);
	}
	buf_free(&groups);
	buf_free(&mounts);
	return kills;
}
