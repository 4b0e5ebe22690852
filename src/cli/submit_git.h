/* `files: git`: the tracked files of a git work tree are sent, as they are in the work tree. */
#ifndef CLI_SUBMIT_GIT_H
#define CLI_SUBMIT_GIT_H

#include "cli/submit.h"

/* Does the experiment say `files: git`, or have `git` in the list? */
bool submit_wants_git(const struct node *tree);
/* Adds the script under its path relative to the root. The root is the current folder for a script on the command line,
 * else the folder of the experiment file; if the script is outside of that, it is the top of the work tree. A negative
 * errno with err if there is no work tree. The caller frees the root. */
int submit_begin_git(struct submit *submit, const char *given, bool is_script, char **ret_root,
		     struct error *err) MUST_USE;
/* Adds every tracked file below the root that is not in the list yet, and says in submit->notes what is sent. */
int submit_add_tracked(struct submit *submit, const char *root, struct error *err) MUST_USE;

#endif
