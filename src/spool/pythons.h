/* Finds the Pythons of this machine from files only: their versions, the interpreter behind a shim of pyenv, and a list
 * of environments to choose from. No interpreter is started. */
#ifndef SPOOL_PYTHONS_H
#define SPOOL_PYTHONS_H

#include "base/json.h"

/* The version of an interpreter (an absolute path): "3.11.2" if its environment says so, "3.11" if only its name does.
 * NULL: not known. The caller frees it. */
char *spool_python_version(const char *program);

/* The interpreter that a shim of pyenv starts in `folder`: PYENV_VERSION, .python-version in the folder or above it, or
 * the global choice of pyenv. The version "system" is looked up in `path`. NULL: it is not a shim, or pyenv would find
 * nothing. The caller frees it. */
char *spool_python_unshim(const char *program, const char *pyenv_version, const char *folder, const char *path);

/* Writes a list of {path, kind, version, found}, each environment once: those that were active for the newest
 * experiments below state_dir, or that are in the folders from which these were submitted (venv, .venv, env); those in
 * the usual folders of virtualenvwrapper, pipenv, poetry, conda and pyenv; and the python3 in PATH. */
void spool_python_list(const char *state_dir, const char *home, const char *path, struct json *out);

/* The value of `key` in lines of "key = value" or "key: value", trimmed; NULL if there is none. The caller frees it. */
char *spool_find_value(const char *text, const char *key);

#endif
