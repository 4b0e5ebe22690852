/* Which Python runs a script: the choice of `environment: {python: …}` and the caller's active environment. The daemon
 * shows the choice before anything runs; the runner applies it. */
#ifndef SPOOL_PYTHON_H
#define SPOOL_PYTHON_H

#include "base/error.h"

#include <stdbool.h>

struct spool_python {
	char *prefix; /* the folder of a virtual or conda environment; NULL: none */
	char *program; /* the interpreter to use whatever PATH says; NULL: python3 of the prefix or in PATH */
	bool conda; /* the prefix is a conda environment */
	const char *how; /* "the active virtual environment": where the choice comes from */
};

/* `choice` is "auto" (or NULL), "none", a folder, a program's path or name; `~/` is the home folder. -ENOENT with err
 * if the choice does not exist on this machine. */
int spool_python_choose(const char *choice, const char *active, struct spool_python *ret, struct error *err) MUST_USE;
void spool_python_free(struct spool_python *python);
/* The path of the interpreter, looked up as when the script is started. The caller frees it. NULL: there is none. */
char *spool_python_path(const struct spool_python *python);
/* Is this a valid value of `environment.python`? */
bool spool_python_is_choice(const char *choice);

#endif
