/* What a Python script needs beside itself: local modules that it imports go along, files that it seems to open are named. */
#ifndef CLI_SUBMIT_IMPORTS_H
#define CLI_SUBMIT_IMPORTS_H

#include "cli/submit.h"

/* After submit_find_files. Adds to submit->files the modules that the script imports from its own folder, those that they
 * import, and so on, and says so in submit->taken; names in submit->unseen what seems to be opened and does not go along. */
void submit_follow_imports(struct submit *submit);

#endif
