/* `sluice exec --collect`: finishes the work of a killed runner. It reads the files to which the script of an attempt
 * wrote its metrics, and appends the rows that are not in the journal yet. The daemon starts it as a child before it
 * settles an attempt without END, so that it never reads users' files itself. It may be killed at any moment: started
 * again, it continues. */
#ifndef NODE_COLLECT_H
#define NODE_COLLECT_H

#include <stdint.h>

/* Returns the exit status: 0 when nothing is left to do; else it may be tried again, and stderr says why. */
int collect_run(const char *batch_dir, uint32_t index);

#endif
