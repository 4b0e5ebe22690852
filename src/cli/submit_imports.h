/* Other files that a Python script needs: local modules that it imports are sent; files that it seems to open are
 * named. */
#ifndef CLI_SUBMIT_IMPORTS_H
#define CLI_SUBMIT_IMPORTS_H

#include "cli/submit.h"

/* Call it after submit_find_files. Adds to submit->files the modules that the script imports from its own folder, those
 * that they import, and so on, and names them in submit->taken. Names in submit->unseen files that seem to be opened
 * but are not sent. */
void submit_follow_imports(struct submit *submit);

#endif
