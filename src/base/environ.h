/* The environment of processes: which names are reserved, and which of our variables child processes must not get. */
#ifndef BASE_ENVIRON_H
#define BASE_ENVIRON_H

#include <stdbool.h>

/* Leaves the Python environment in which this process was started: VIRTUAL_ENV, CONDA_PREFIX and what belongs to them,
 * PYTHONHOME and PYTHONPATH are unset, and their folders are removed from PATH. Everything else stays: sbatch may need
 * the rest of PATH and LD_LIBRARY_PATH. */
void environ_leave_python(void);

/* Is this a valid name for `module load`? Such a name is safe in a shell. */
bool environ_is_module(const char *name);
/* Is this an allowed name of a variable? Names that begin with SLUICE_ are reserved. */
bool environ_is_variable(const char *name);
/* Does a variable with this name usually hold a secret? Then its value is not shown. */
bool environ_is_secret(const char *name);

#endif
