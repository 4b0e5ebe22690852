/* `files: git`: the tracked files of a git work tree go along, as they are in the work tree. */
#ifndef CLI_SUBMIT_GIT_H
#define CLI_SUBMIT_GIT_H

#include "cli/submit.h"

/* Does the experiment say `files: git`, or have `git` in the list? */
bool submit_wants_git(const struct node *tree);
/* Adds the script under its path below a folder, the root: the current folder for a script on the command line, the folder of
 * the experiment file else, and the top of the work tree where the script is outside of that. -errno with err where there is no
 * work tree. The caller frees the root. */
int submit_begin_git(struct submit *submit, const char *given, bool is_script, char **ret_root,
		     struct error *err) MUST_USE;
/* Adds every tracked file below the root that is not there yet, and says in submit->notes what goes along. */
int submit_add_tracked(struct submit *submit, const char *root, struct error *err) MUST_USE;

#endif
