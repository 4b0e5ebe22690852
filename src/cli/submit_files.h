/* The files that travel with an experiment: found beside it, sent inside the request or before it. */
#ifndef CLI_SUBMIT_FILES_H
#define CLI_SUBMIT_FILES_H

#include "cli/submit.h"

/* Fills submit->files with the script, the entries of `files:` (of a folder: everything in it) and
 * --file, and submit->missing with those that were not found. `given` is the experiment file or the script on the command line. Where a path cannot be kept (it
 * leaves the experiment's folder), the tree is changed to the name under which the file goes. */
void submit_find_files(struct submit *submit, const char *given, bool is_script, const struct options *options);
/* Adds one file, or everything in a folder, under a name. Depth 0: it was asked for by its name. What was not, may not be larger
 * than copy_limit: -E2BIG. */
int submit_add_path(struct submit *submit, const char *path, const char *local, int depth, struct error *err) MUST_USE;

#endif
