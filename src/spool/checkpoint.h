/* The checkpoint folder of a task, which is kept across its attempts. */
#ifndef SPOOL_CHECKPOINT_H
#define SPOOL_CHECKPOINT_H

#include <stdbool.h>

/* Is anything in it? False also where it does not exist or cannot be read. */
bool spool_checkpoint_exists(const char *task_dir);

#endif
