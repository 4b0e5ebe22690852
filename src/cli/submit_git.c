/* See submit_git.h. */
#include "cli/submit_git.h"

#include "base/fs.h"
#include "base/text.h"
#include "cli/git.h"
#include "cli/submit_files.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SUBMIT_GIT_LIST_BYTES (4u << 20)
#define SUBMIT_GIT_NAMED 5 /* changed files that are named */
#define SUBMIT_COMMIT_CHARS 10

struct tracked {
	struct submit *submit;
	const char *root; /* their paths are from here; absolute */
	int64_t files, bytes, deleted;
};

bool submit_wants_git(const struct node *tree)
{
	const struct node *files = node_get(tree, "files");
	const char *word = files ? node_string(files) : NULL;
	if (word)
		return strcmp(word, "git") == 0;
	for (size_t i = 0; files && files->type == NODE_LIST && i < files->count; i++)
		if (node_string(files->items[i]) && strcmp(node_string(files->items[i]), "git") == 0)
			return true;
	return false;
}

/* What is behind the folder in a path: "a/b" in /x and /x/a/b. NULL: it is not below it. */
static const char *tracked_below(const char *folder, const char *path)
{
	size_t len = strlen(folder);
	while (len && folder[len - 1] == '/')
		len--;
	return strncmp(path, folder, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

/* The absolute path of a file in a real folder; the file itself may be a link. NULL: there is no such folder. */
static char *tracked_place(const char *path)
{
	char *folder = mem_strdup(path), *name = mem_strdup(path);
	char *real = realpath(dirname(folder), NULL);
	char *place = real ? mem_printf("%s/%s", strcmp(real, "/") ? real : "", basename(name)) : NULL;
	free(real);
	free(folder);
	free(name);
	return place;
}

static int tracked_top(const char *folder, char **ret, struct error *err)
{
	static const char *const args[] = {"rev-parse", "--show-toplevel", NULL};
	struct buf text = buf_make(PATH_MAX + 2);
	int rc = git_is_around(folder) ? git_ask(folder, args, &text, err)
				       : errorf(err, -ENOENT, "%s is in no git work tree", folder);
	if (rc == 0)
		*ret = mem_copy(buf_text(&text), strcspn(buf_text(&text), "\n"));
	buf_free(&text);
	return rc;
}

/* Where the script lies; NULL: there is none. */
static char *tracked_script(const struct submit *submit, const char *folder, const char *given, bool is_script)
{
	const char *script = node_get_string(submit->tree, "script");
	char *local = is_script  ? mem_strdup(given)
		: !script        ? NULL
		: *script == '/' ? mem_strdup(script)
				 : mem_printf("%s/%s", folder, script);
	char *place = local ? tracked_place(local) : NULL;
	free(local);
	return place;
}

static int tracked_add_script(struct submit *submit, const char *root, const char *place, struct error *err)
{
	const char *name = tracked_below(root, place);
	if (!name)
		return errorf(err, -EINVAL, "the script %s is outside of the git work tree %s", place, root);
	int rc = submit_add_path(submit, name, place, 0, err);
	if (rc == 0 && strcmp(name, node_get_string(submit->tree, "script")) != 0) {
		node_add(submit->tree, "script", node_new_string(name));
		submit->changed = true;
	}
	return rc;
}

int submit_begin_git(struct submit *submit, const char *given, bool is_script, char **ret_root, struct error *err)
{
	char *copy = mem_strdup(given), *top = NULL;
	const char *folder = is_script ? "." : dirname(copy);
	char *root = realpath(folder, NULL), *place = tracked_script(submit, folder, given, is_script);
	int rc = root ? tracked_top(folder, &top, err) : errorf(err, -errno, "%s: %s", folder, strerror(errno));
	if (rc == 0 && place && !tracked_below(root, place)) {
		free(root);
		root = mem_strdup(top);
	}
	if (rc == 0 && place)
		rc = tracked_add_script(submit, root, place, err);
	if (rc == 0)
		*ret_root = root;
	else
		free(root);
	free(copy);
	free(top);
	free(place);
	return rc;
}

/* A path of git's list. What is not there as a file is left out, with a word about it. */
static int tracked_add(struct tracked *t, const char *path, struct error *err)
{
	char *local = mem_printf("%s/%s", t->root, path);
	struct stat link, st;
	int rc = 0;
	if (lstat(local, &link) < 0) {
		t->deleted++;
	} else if (S_ISLNK(link.st_mode) && stat(local, &st) < 0) {
		buf_addf(&t->submit->notes, "%s is a link to nothing: it does not go along\n", path);
	} else if (S_ISLNK(link.st_mode) && S_ISDIR(st.st_mode)) {
		buf_addf(&t->submit->notes,
			 "%s is a link to a folder: it does not go along; name it in files: if the "
			 "script needs it\n",
			 path);
	} else if (S_ISDIR(link.st_mode)) {
		buf_addf(&t->submit->notes,
			 "%s is a submodule that is not checked out: it does not go along; run "
			 "git submodule update --init\n",
			 path);
	} else if ((rc = submit_add_path(t->submit, path, local, 1, err)) == 0) {
		t->files++;
		t->bytes += S_ISLNK(link.st_mode) ? st.st_size : link.st_size;
	}
	free(local);
	return rc;
}

/* "train.py, lib/a.py and 3 more" of the list with a NUL behind each. */
static void tracked_name_changes(const struct buf *paths, int count, struct buf *out)
{
	const char *at = buf_text(paths), *end = at + paths->len;
	for (int i = 0; i < SUBMIT_GIT_NAMED && at < end; i++, at += strlen(at) + 1)
		buf_addf(out, "%s%s", i ? ", " : "", at);
	if (!paths->len)
		buf_add_text(out, "too many to name");
	else if (count > SUBMIT_GIT_NAMED)
		buf_addf(out, " and %d more", count - SUBMIT_GIT_NAMED);
}

static void tracked_say(const struct tracked *t)
{
	struct buf *out = &t->submit->notes, changed = buf_make(BUF_UNLIMITED);
	char *commit = git_commit(t->root), bytes[32];
	int count = git_changes(t->root, ".", &changed);
	text_format_bytes(t->bytes, bytes, sizeof(bytes));
	buf_addf(out, "%" PRId64 " tracked file%s (%s) go along", t->files, t->files == 1 ? "" : "s", bytes);
	if (commit)
		buf_addf(out, ", of commit %.*s", SUBMIT_COMMIT_CHARS, commit);
	else
		buf_add_text(out, "; no commit is known");
	if (commit && count > 0) {
		buf_add_text(out, " with changes that are not committed: ");
		tracked_name_changes(&changed, count, out);
	} else if (commit && count < 0) {
		buf_add_text(out, "; git does not say whether there are changes that are not committed");
	}
	buf_add_char(out, '\n');
	if (t->deleted)
		buf_addf(out, "%" PRId64 " tracked file%s not in the work tree, so %s left out\n", t->deleted,
			 t->deleted == 1 ? " is" : "s are", t->deleted == 1 ? "it is" : "they are");
	buf_free(&changed);
	free(commit);
}

int submit_add_tracked(struct submit *submit, const char *root, struct error *err)
{
	static const char *const args[] = {"ls-files", "-z", "--cached", "--recurse-submodules", NULL};
	struct tracked t = {.submit = submit, .root = root};
	struct buf list = buf_make(SUBMIT_GIT_LIST_BYTES);
	int rc = git_ask(t.root, args, &list, err);
	const char *last = NULL;
	for (const char *at = buf_text(&list), *end = at + list.len; rc == 0 && at < end; at += strlen(at) + 1) {
		if (!last || strcmp(last, at) != 0) /* a file in conflict is listed once for each side */
			rc = tracked_add(&t, at, err);
		last = at;
	}
	if (rc == 0)
		tracked_say(&t);
	buf_free(&list);
	return rc;
}
