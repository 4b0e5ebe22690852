/* The programs that run a script: the engine chooses one by the script's ending, the runner knows them by name. */
#ifndef SPOOL_INTERPRETER_H
#define SPOOL_INTERPRETER_H

#include "base/node.h"

/* "python3" for model.py; NULL: the script must name it itself (#!). */
const char *spool_interpreter_of(const char *script);
/* The option between that program and the script: "-f" for a Makefile; NULL: none. */
const char *spool_interpreter_option(const char *script);
/* Does this program run the file named by its first argument? Also with a path and a version: /usr/bin/python3.11. */
bool spool_is_interpreter(const char *program);
/* What the first line of a script says: ["python3", "-u"] for "#!/usr/bin/env -S python3 -u". NULL if it is not such a
 * line. The caller frees it. */
struct node *spool_read_shebang(const char *text, size_t len);

#endif
