/* The checkpoint folder of a task, which is kept across its attempts. */
#ifndef SPOOL_CHECKPOINT_H
#define SPOOL_CHECKPOINT_H

#include <stdbool.h>

/* True if it has any file. False also if it does not exist or cannot be read. */
bool spool_checkpoint_exists(const char *task_dir);

#endif
