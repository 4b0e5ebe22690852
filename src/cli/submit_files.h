/* The files that are sent with an experiment: found beside it, and sent inside the request or before it. */
#ifndef CLI_SUBMIT_FILES_H
#define CLI_SUBMIT_FILES_H

#include "cli/submit.h"

/* Fills submit->files with the script, the entries of `files:` (of a folder: everything in it) and --file, and
 * submit->missing with those that were not found. `given` is the experiment file or the script on the command line. If
 * a path cannot be kept (it leaves the experiment's folder), the tree is changed to the name under which the file is
 * sent. */
void submit_find_files(struct submit *submit, const char *given, bool is_script, const struct options *options);
/* Adds one file, or everything in a folder, under a name. Depth 0: the user named it. Other files must not be larger
 * than copy_limit: -E2BIG. */
int submit_add_path(struct submit *submit, const char *path, const char *local, int depth, struct error *err) MUST_USE;

#endif
