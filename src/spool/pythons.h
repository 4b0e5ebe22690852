/* The Pythons of this machine, found by looking at files: their versions, what a shim of pyenv stands for, and a list of
 * environments to choose from. No interpreter is started. */
#ifndef SPOOL_PYTHONS_H
#define SPOOL_PYTHONS_H

#include "base/json.h"

/* The version of an interpreter (an absolute path): "3.11.2" where its environment says so, "3.11" where only its name does.
 * NULL: not known. The caller frees it. */
char *spool_python_version(const char *program);

/* The interpreter that a shim of pyenv starts in `folder`: PYENV_VERSION, .python-version in the folder or above it, or the
 * global choice of pyenv; `path` is where its version "system" is looked for. NULL: it is no shim, or pyenv would find
 * nothing. The caller frees it. */
char *spool_python_unshim(const char *program, const char *pyenv_version, const char *folder, const char *path);

/* Writes a list of {path, kind, version, found}: environments that were active for the newest experiments below state_dir, or lie
 * where these were submitted (venv, .venv, env); those in the usual folders of virtualenvwrapper, pipenv, poetry, conda and
 * pyenv; and the python3 in PATH. None twice. */
void spool_python_list(const char *state_dir, const char *home, const char *path, struct json *out);

/* The value of `key` in lines of "key = value" or "key: value", trimmed; NULL where there is none. The caller frees it. */
char *spool_find_value(const char *text, const char *key);

#endif
