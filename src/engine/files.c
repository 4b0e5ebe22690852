/* See files.h. */
#include "engine/files.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names that a file system or the runner would refuse later. NULL: none. */
static const char *path_fault(const char *path)
{
	int depth = 0;
	for (const char *p = path; *p; p += strspn(p, "/")) {
		size_t len = strcspn(p, "/");
		if (len > NAME_MAX)
			return "a name in it has more than 255 bytes";
		if (p[len] == '/' && ++depth > LIMIT_DOCUMENT_DEPTH)
			return "its folders are nested too deep";
		p += len;
	}
	return NULL;
}

/* In this order a folder stands right before what is in it. */
static int compare_paths(const void *a, const void *b)
{
	const char *x = node_get_string(*(const struct node *const *)a, "path");
	const char *y = node_get_string(*(const struct node *const *)b, "path");
	while (*x && *x == *y)
		x++, y++;
	return (*x == '/' ? 1 : (unsigned char)*x) - (*y == '/' ? 1 : (unsigned char)*y);
}

/* No path twice, and none both a file and a folder. All paths are good. */
static void check_clashes(const struct node *files, struct problems *problems)
{
	size_t count = files ? files->count : 0;
	const struct node **sorted = mem_alloc(count * sizeof(*sorted) + 1);
	for (size_t i = 0; i < count; i++)
		sorted[i] = files->items[i];
	qsort(sorted, count, sizeof(*sorted), compare_paths);
	for (size_t i = 1; i < count; i++) {
		const char *path = node_get_string(sorted[i - 1], "path"), *next = node_get_string(sorted[i], "path");
		size_t len = strlen(path);
		if (strcmp(path, next) == 0)
			problem_add(problems, sorted[i], "send it once", "the file '%.200s' is there twice", path);
		else if (strncmp(path, next, len) == 0 && next[len] == '/')
			problem_add(problems, sorted[i], "rename one of them", "'%.200s' is both a file and a folder",
				    path);
	}
	free(sorted);
}

void files_check(const struct node *files, struct problems *problems)
{
	size_t before = problems->list.len;
	static const char *const kinds[] = {"text", "base64", "upload"};
	if (files && files->type != NODE_LIST) {
		problem_add(problems, files, "send a list of {path, text}", "'files' must be a list");
		return;
	}
	for (size_t i = 0; files && i < files->count; i++) {
		const struct node *file = files->items[i];
		const char *path = node_get_string(file, "path");
		int contents = 0;
		for (size_t k = 0; k < COUNT_OF(kinds); k++)
			contents += node_get_string(file, kinds[k]) != NULL;
		if (!path || !fs_is_safe_relative(path))
			problem_add(problems, file, "give a relative path without '..'",
				    "a file's path is missing or leaves the experiment's folder");
		else if (path_fault(path))
			problem_add(problems, file, "use a shorter path", "'%.200s': %s", path, path_fault(path));
		else if (contents != 1)
			problem_add(problems, file, "send one of text, base64, upload",
				    "the file '%.200s' has no content", path);
		const char *upload = node_get_string(file, "upload");
		if (upload && !text_is_identifier(upload, 64))
			problem_add(problems, file, "use the id that the upload gave", "'%.64s' is not an upload",
				    upload);
	}
	if (problems->list.len == before)
		check_clashes(files, problems);
}

const struct node *files_find(const struct node *files, const char *path)
{
	for (size_t i = 0; files && files->type == NODE_LIST && i < files->count; i++) {
		const char *name = node_get_string(files->items[i], "path");
		if (name && strcmp(name, path) == 0)
			return files->items[i];
	}
	return NULL;
}

/* An upload is linked: a copy of gigabytes would hold the loop. It is copied where another experiment has it already,
 * because a script may write to its files. */
static int take_upload(const char *from, const char *to, struct error *err)
{
	struct stat st;
	if (lstat(from, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && link(from, to) == 0)
		return 0;
	return fs_copy_file(from, to, 0600, err);
}

static int write_file(const struct node *file, const char *state_dir, const char *dir, struct error *err)
{
	const char *rel = node_get_string(file, "path");
	const char *text = node_get_string(file, "text"), *coded = node_get_string(file, "base64");
	char *path = mem_printf("%s/%s", dir, rel);
	char *slash = strrchr(path, '/');
	*slash = 0;
	int rc = fs_make_dirs(path, 0700, err);
	*slash = '/';
	if (rc == 0 && text) {
		/* A script that names its interpreter is run by it. */
		rc = fs_write(path, text, strlen(text), text_starts(text, "#!") ? 0700 : 0600, false, err);
	} else if (rc == 0 && coded) {
		size_t max = strlen(coded) / 4 * 3 + 3, len = 0;
		unsigned char *bytes = mem_alloc(max);
		if (sodium_base642bin(bytes, max, coded, strlen(coded), "\r\n", &len, NULL,
				      sodium_base64_VARIANT_ORIGINAL) != 0)
			rc = errorf(err, -EINVAL, "the file '%.200s' is not valid base64", rel);
		else
			rc = fs_write(path, bytes, len, len > 2 && bytes[0] == '#' && bytes[1] == '!' ? 0700 : 0600,
				      false, err);
		free(bytes);
	} else if (rc == 0) {
		char *from = mem_printf("%s/uploads/%s", state_dir, node_get_string(file, "upload"));
		rc = take_upload(from, path, err);
		free(from);
	}
	free(path);
	return rc;
}

int files_write(const struct node *files, const char *state_dir, const char *dir, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && files && i < files->count; i++)
		rc = write_file(files->items[i], state_dir, dir, err);
	return rc;
}
