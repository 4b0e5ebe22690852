/* What git says about a folder. Git is asked as a program: its formats on disk are its own affair. */
#ifndef CLI_GIT_H
#define CLI_GIT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* Is there a .git in the folder or above it? Asking costs less than starting git. */
bool git_is_around(const char *folder);
/* Appends what `git -C FOLDER ARGS` prints. -EIO with git's own words in err where it fails; -E2BIG: `out` is full. */
int git_ask(const char *folder, const char *const *args, struct buf *out, struct error *err) MUST_USE;
/* The commit of HEAD, in 40 or 64 hex digits. NULL: there is none yet, or git does not say. The caller frees it. */
char *git_commit(const char *folder);
/* How many tracked files differ from the commit, and their paths from the top of the work tree, with a NUL behind each: those
 * below the folder ("."), or all of the work tree (":/"). -1: git does not say. */
int git_changes(const char *folder, const char *where, struct buf *paths);

#endif
