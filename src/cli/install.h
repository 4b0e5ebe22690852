/* Keeps the daemon alive without a login session: by a systemd user unit with lingering, or by lines of the crontab. Both
 * start it on this host, where the verbs reach it. */
#ifndef CLI_INSTALL_H
#define CLI_INSTALL_H

#include "base/error.h"

#include <stdbool.h>

/* Takes the first way that works here. Says on stdout what it does and why, before it does it; dry_run: only that. -ENOTSUP,
 * with what was tried, when there is none. Harmless when it was done before. */
int install_daemon(const char *folder, bool dry_run, struct error *err) MUST_USE;
/* Takes everything back that install_daemon did for this folder; the daemon goes on. ret_found: was there anything? */
int install_remove(const char *folder, bool *ret_found, struct error *err) MUST_USE;
/* What keeps the daemon of this folder: "systemd", "crontab"; NULL: nothing. */
const char *install_found(const char *folder);

#endif
