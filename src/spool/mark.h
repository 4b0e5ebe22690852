/* Processes of a task, known by what the runner put into their environment. A number could have been given out again, a
 * parent may be gone and a group can be left; the environment goes with every process that is started. */
#ifndef SPOOL_MARK_H
#define SPOOL_MARK_H

#include <stdbool.h>
#include <stddef.h>

/* Kills every process of this attempt on this machine, and waits until they are gone: what a killed runner left behind. */
void spool_mark_kill_attempt(const char *attempt_dir);
/* The same for every attempt of a task, but not this process. How many were killed. */
size_t spool_mark_kill_task(const char *task_dir);
/* Is a process of this attempt alive on this machine? */
bool spool_mark_lives(const char *attempt_dir);

#endif
