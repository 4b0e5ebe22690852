/* The environment of processes: which names are taken, and what of our own must not reach others. */
#ifndef BASE_ENVIRON_H
#define BASE_ENVIRON_H

#include <stdbool.h>

/* Leaves the Python environment in which this process was started: VIRTUAL_ENV, CONDA_PREFIX and what belongs to them,
 * PYTHONHOME and PYTHONPATH are unset, and their folders leave PATH. Everything else stays: PATH and LD_LIBRARY_PATH may be
 * what makes sbatch work here. */
void environ_leave_python(void);

/* May `module load` get this name? No shell sees anything else in it. */
bool environ_is_module(const char *name);
/* May a variable have this name? SLUICE_ is taken. */
bool environ_is_variable(const char *name);
/* Does a variable of this name mostly hold a secret? Its value is not shown. */
bool environ_is_secret(const char *name);

#endif
