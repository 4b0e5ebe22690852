/* `sluice exec --collect`: what a killed runner did not come to. Reads the files that the script of an attempt wrote its
 * metrics to, and appends the rows that are not in its journal yet. The daemon starts it as a child before it settles an
 * attempt without END, so that it never reads users' files itself. Killed at any moment, it goes on when it is started
 * again. */
#ifndef NODE_COLLECT_H
#define NODE_COLLECT_H

#include <stdint.h>

/* The exit status: 0 when there is nothing left to do; otherwise it may be tried again, and stderr says why. */
int collect_run(const char *batch_dir, uint32_t index);

#endif
