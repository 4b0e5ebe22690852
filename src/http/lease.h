/* One daemon a state folder: a locked file that says who holds it. */
#ifndef HTTP_LEASE_H
#define HTTP_LEASE_H

#include "base/error.h"

/* Takes the lease in the folder. A descriptor that holds it until it is closed or the process ends, or
 * -EBUSY with who has it, or another negative errno. */
int lease_take(const char *state_dir, struct error *err) MUST_USE;
/* Gives it back. */
void lease_give(int fd);

#endif
