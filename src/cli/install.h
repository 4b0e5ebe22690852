/* Keeps the daemon alive without a login session: with a systemd user unit and lingering, or with lines in the crontab.
 * Both start it on this host, where the verbs can reach it. */
#ifndef CLI_INSTALL_H
#define CLI_INSTALL_H

#include "base/error.h"

#include <stdbool.h>

/* Uses the first way that works here. Prints on stdout what it does and why, before it does it; dry_run: only prints.
 * -ENOTSUP, with what was tried, if no way works. Safe to call again. */
int install_daemon(const char *folder, bool dry_run, struct error *err) MUST_USE;
/* Reverts everything that install_daemon did for this folder; the daemon keeps running. ret_found: true if there was
 * anything. */
int install_remove(const char *folder, bool *ret_found, struct error *err) MUST_USE;
/* How the daemon of this folder is installed: "systemd" or "crontab"; NULL: it is not. */
const char *install_found(const char *folder);

#endif
