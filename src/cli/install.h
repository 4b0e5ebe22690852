/* Keeps the daemon alive without a login session: with a systemd user unit and lingering, with lines in the crontab, or
 * with a small job of the cluster. All of them start it on this host, where the verbs can reach it. */
#ifndef CLI_INSTALL_H
#define CLI_INSTALL_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* Uses the first way that works here. Prints on stdout what it does and why, before it does it; dry_run: only prints.
 * -ENOTSUP, with what was tried, if no way works. Safe to call again. */
int install_daemon(const char *folder, bool dry_run, struct error *err) MUST_USE;
/* Reverts everything that install_daemon did for this folder; the daemon keeps running. ret_found: true if there was
 * anything. */
int install_remove(const char *folder, bool *ret_found, struct error *err) MUST_USE;
/* How the daemon of this folder is installed: "systemd", "crontab" or "job"; NULL: it is not. */
const char *install_found(const char *folder);
/* Was it installed, and what keeps it alive has ended by itself? Adds the name of the way and the reason to `out`. */
bool install_is_lost(const char *folder, struct buf *out);

#endif
