/* The shell in which `sluice run` or `check` was called: its Python environment, modules, the variables that the
 * experiment keeps, and the git commit of the script. It is sent with the experiment. */
#ifndef CLI_CALLER_H
#define CLI_CALLER_H

#include "base/node.h"

/* `experiment` says which variables to take (environment.keep), `path` is the file or script that was given. With
 * `git`, git is run to find the commit, which takes some milliseconds. The caller frees it. */
struct node *caller_read(const struct node *experiment, const char *path, bool git);

#endif
