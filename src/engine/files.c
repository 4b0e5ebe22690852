/* See files.h. */
#include "engine/files.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
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
	const struct node **sorted = mem_array(count, sizeof(*sorted));
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

/* "755", as chmod(1) takes it: what the owner may do, and always reading. */
static bool read_mode(const struct node *file, mode_t *ret)
{
	const char *text = node_get_string(file, "mode");
	size_t len = text ? strlen(text) : 0;
	unsigned long mode = 0;
	if (len < 3 || len > 6 || strspn(text, "01234567") != len)
		return false;
	for (size_t i = 0; i < len; i++)
		mode = mode * 8 + (unsigned long)(text[i] - '0');
	*ret = (mode_t)((mode & 0700) | 0400);
	return true;
}

/* A browser and many programs know no mode: what says how it is run, may be. */
static mode_t choose_mode(const struct node *file, const void *head, size_t len)
{
	mode_t mode;
	if (read_mode(file, &mode))
		return mode;
	bool program = (len >= 2 && memcmp(head, "#!", 2) == 0) || (len >= 4 && memcmp(head, "\177ELF", 4) == 0);
	return program ? 0700 : 0600;
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
		mode_t mode;
		if (node_get(file, "mode") && !read_mode(file, &mode))
			problem_add(problems, file, "send the mode in octal digits: \"755\"",
				    "the mode of the file '%.200s' is not valid", path ? path : "");
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

/* An upload is linked: a copy of gigabytes would hold the loop. It is copied where another experiment has it already. */
static int take_upload(const char *from, const char *to, struct error *err)
{
	struct stat st;
	if (lstat(from, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && link(from, to) == 0)
		return 0;
	return fs_copy_file(from, to, 0600, err);
}

/* The folders above it, and its bytes. */
static int write_content(const struct node *file, const char *state_dir, const char *path, struct error *err)
{
	const char *text = node_get_string(file, "text"), *coded = node_get_string(file, "base64");
	const char *rel = node_get_string(file, "path");
	char *folder = mem_copy(path, (size_t)(strrchr(path, '/') - path));
	int rc = fs_make_dirs(folder, 0700, err);
	free(folder);
	if (rc == 0 && text) {
		rc = fs_write(path, text, strlen(text), 0600, false, err);
	} else if (rc == 0 && coded) {
		size_t max = strlen(coded) / 4 * 3 + 3, len = 0;
		unsigned char *bytes = mem_alloc(max);
		if (sodium_base642bin(bytes, max, coded, strlen(coded), "\r\n", &len, NULL,
				      sodium_base64_VARIANT_ORIGINAL) != 0)
			rc = errorf(err, -EINVAL, "the file '%.200s' is not valid base64", rel);
		else
			rc = fs_write(path, bytes, len, 0600, false, err);
		free(bytes);
	} else if (rc == 0) {
		char *from = mem_printf("%s/uploads/%s", state_dir, node_get_string(file, "upload"));
		rc = take_upload(from, path, err);
		free(from);
	}
	return rc;
}

static int set_mode(const struct node *file, const char *path, int64_t copy_limit_bytes, struct error *err)
{
	char head[4];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));
	int rc = n < 0 || fstat(fd, &st) < 0 ? -errno : 0;
	if (rc == 0) {
		mode_t mode = choose_mode(file, head, (size_t)n);
		if (st.st_size > copy_limit_bytes)
			mode &= ~(mode_t)0200;
		if ((st.st_mode & 07777) != mode && fchmod(fd, mode) < 0)
			rc = -errno;
	}
	if (fd >= 0)
		close(fd);
	return rc < 0 ? errorf(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

int files_write(const struct node *files, const char *state_dir, const char *dir, int64_t copy_limit_bytes,
		struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && files && i < files->count; i++) {
		char *path = mem_printf("%s/%s", dir, node_get_string(files->items[i], "path"));
		rc = write_content(files->items[i], state_dir, path, err);
		if (rc == 0)
			rc = set_mode(files->items[i], path, copy_limit_bytes, err);
		free(path);
	}
	return rc;
}
