/* The folders in which a Python interpreter looks for packages, and whether a module is in one of them. From files only:
 * nothing is started. */
#ifndef SPOOL_SITE_H
#define SPOOL_SITE_H

#include <stdbool.h>

typedef void (*spool_site_f)(void *ctx, const char *folder);

/* Calls `each` for every folder that may have packages, in Python's order; a folder may not exist. `home` (may be NULL)
 * is the home folder, whose .local may have packages of the user. */
void spool_site_folders(const char *prefix, const char *version, const char *home, spool_site_f each, void *ctx);
/* Can the interpreter `program` import the module (a name without dots) without files of the user? True also if its
 * version is not known, and for modules of Python itself. */
bool spool_site_has(const char *program, const char *home, const char *module);

#endif
