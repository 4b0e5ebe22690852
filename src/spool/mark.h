/* Finds the processes of a task by a variable that the runner put into their environment. Process numbers are reused, a
 * parent may have ended, and a process can leave its group; but every child inherits the environment. */
#ifndef SPOOL_MARK_H
#define SPOOL_MARK_H

#include <stdbool.h>
#include <stddef.h>

/* Kills every process of this attempt on this machine, and waits until they have ended. For processes that a killed
 * runner left behind. */
void spool_mark_kill_attempt(const char *attempt_dir);
/* The same for every attempt of a task, except this process. Returns how many were killed. */
size_t spool_mark_kill_task(const char *task_dir);
/* Is a process of this attempt alive on this machine? */
bool spool_mark_lives(const char *attempt_dir);

#endif
