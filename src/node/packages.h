/* Finds which Python a script gets, and the packages that are installed for it, from files only: starting the
 * interpreter to ask it would take longer than many tasks do. */
#ifndef NODE_PACKAGES_H
#define NODE_PACKAGES_H

#include "base/json.h"

/* Writes the members "python" ({program, version, prefix}, or null for program NULL), "packages" ({name: version}) and
 * "packages_left_out" (how many are over the limit) into the open map. `program` is the absolute path of the
 * interpreter. `home` (may be NULL) is the home folder, whose .local may have packages of the user. */
void packages_write(const char *program, const char *home, struct json *out);
/* Adds what decides that: the interpreter, its version, and when each folder of packages was last changed. */
void packages_sum(const char *program, const char *home, uint64_t *sum);

#endif
