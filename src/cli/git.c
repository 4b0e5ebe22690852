/* See git.h. */
#include "cli/git.h"

#include "base/mem.h"
#include "base/proc.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define GIT_MS 20000
#define GIT_ARGS 12
#define GIT_DEPTH 64
#define GIT_STATUS_BYTES (1u << 20)

bool git_is_around(const char *folder)
{
	struct buf path = buf_make(8192);
	bool found = false;
	buf_add_text(&path, folder);
	for (int i = 0; i < GIT_DEPTH && !found; i++) {
		size_t len = path.len;
		buf_add_text(&path, "/.git");
		found = access(buf_text(&path), F_OK) == 0;
		path.len = len;
		buf_add_text(&path, "/..");
	}
	buf_free(&path);
	return found;
}

int git_ask(const char *folder, const char *const *args, struct buf *out, struct error *err)
{
	const char *argv[GIT_ARGS + 4] = {"git", "-C", folder};
	struct proc_spec spec = {.argv = argv, .timeout_ms = GIT_MS, .output_max = out->max};
	struct proc_result result;
	for (size_t i = 0; args[i] && i < GIT_ARGS; i++)
		argv[3 + i] = args[i];
	int rc = proc_run(&spec, &result, err);
	if (rc < 0)
		return rc;
	const char *words = buf_text(&result.err);
	if (result.overflow)
		rc = errorf(err, -E2BIG, "git %s prints more than %zu bytes", args[0], out->max);
	else if (result.timed_out)
		rc = errorf(err, -ETIMEDOUT, "git %s did not answer within %d seconds", args[0], GIT_MS / 1000);
	else if (result.exit_code != 0)
		rc = errorf(err, -EIO, "git %s: %.*s", args[0], (int)strcspn(words, "\n"), words);
	else
		buf_add(out, buf_text(&result.out), result.out.len);
	proc_result_free(&result);
	return rc;
}

char *git_commit(const char *folder)
{
	static const char *const args[] = {"rev-parse", "--verify", "HEAD", NULL};
	struct buf text = buf_make(4096);
	struct error err;
	char *commit = NULL;
	if (git_ask(folder, args, &text, &err) == 0) {
		size_t len = strspn(buf_text(&text), "0123456789abcdef");
		commit = len >= 40 ? mem_copy(buf_text(&text), len) : NULL;
	}
	buf_free(&text);
	return commit;
}

int git_changes(const char *folder, const char *where, struct buf *paths)
{
	const char *args[] = {"status", "--porcelain", "-z", "--untracked-files=no", "--no-renames", "--", where, NULL};
	struct buf text = buf_make(GIT_STATUS_BYTES);
	struct error err;
	int rc = git_ask(folder, args, &text, &err), count = rc == -E2BIG ? INT_MAX : rc < 0 ? -1 : 0;
	const char *at = buf_text(&text), *end = at + text.len;
	for (size_t len; rc == 0 && at < end; at += len + 1) {
		len = strlen(at);
		if (len <= 3) /* "XY PATH" */
			continue;
		buf_add(paths, at + 3, len - 3 + 1);
		count++;
	}
	buf_free(&text);
	return count;
}
