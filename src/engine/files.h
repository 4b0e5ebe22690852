/* The files that come with a new experiment: a list of {path, text | base64 | upload, mode}. */
#ifndef ENGINE_FILES_H
#define ENGINE_FILES_H

#include "base/error.h"
#include "base/node.h"

/* Adds everything that is wrong with the list (NULL: no files). */
void files_check(const struct node *files, struct problems *problems);
/* The file with this path, or NULL. */
const struct node *files_find(const struct node *files, const char *path);
/* Writes them below dir; uploads lie in the state folder. Of the mode that was sent, only the owner's bits are used.
 * Without a mode, a file that begins like a program is executable. Files larger than copy_limit_bytes are read-only,
 * because all tasks share them. */
int files_write(const struct node *files, const char *state_dir, const char *dir, int64_t copy_limit_bytes,
		struct error *err) MUST_USE;

#endif
