/* Asks git about a folder, by running the program git. Its file formats are not read directly. */
#ifndef CLI_GIT_H
#define CLI_GIT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* Is there a .git in the folder or above it? This is cheaper than starting git. */
bool git_is_around(const char *folder);
/* Appends what `git -C FOLDER ARGS` prints. -EIO with git's message in err if it fails; -E2BIG: `out` is full. */
int git_ask(const char *folder, const char *const *args, struct buf *out, struct error *err) MUST_USE;
/* The commit of HEAD, in 40 or 64 hex digits. NULL: there is none yet, or git does not say. The caller frees it. */
char *git_commit(const char *folder);
/* How many tracked files differ from the commit. Adds their paths from the top of the work tree, each followed by a
 * NUL. where: "." for those below the folder, ":/" for the whole work tree. -1: git does not say. */
int git_changes(const char *folder, const char *where, struct buf *paths);

#endif
