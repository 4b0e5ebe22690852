/* Allows only one daemon per state folder, with a locked file that names its holder. */
#ifndef HTTP_LEASE_H
#define HTTP_LEASE_H

#include "base/error.h"

/* Takes the lease of the folder. Returns a descriptor that holds it until it is closed or the process ends; -EBUSY with
 * the holder in err; or another negative errno. */
int lease_take(const char *state_dir, struct error *err) MUST_USE;
/* Gives it back. */
void lease_give(int fd);

#endif
