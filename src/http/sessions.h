/* The browser sessions of this run of the daemon. They are only in memory, so all of them end when a daemon restarts.
 * Another user could take the port of a dead daemon and collect a secret there; that secret is then worthless. */
#ifndef HTTP_SESSIONS_H
#define HTTP_SESSIONS_H

#include "base/json.h"
#include "base/token.h"

#include <stdint.h>

struct sessions;

struct sessions *sessions_new(void);
void sessions_free(struct sessions *sessions);
/* Opens a session for 30 days and returns its secret, which is not kept. `browser` is the User-Agent (NULL: not known).
 * If there are too many, the one with the oldest last use ends. Returns the id of that session (the caller ends its
 * event streams), or 0. */
uint64_t sessions_open(struct sessions *sessions, const char *browser, char secret[static TOKEN_SECRET_CHARS]);
/* Returns the id of the session with that secret, and records its use; 0: there is none, or it has expired. */
uint64_t sessions_find(struct sessions *sessions, const char *secret);
/* false: there is no such session. */
bool sessions_end(struct sessions *sessions, uint64_t id);
/* {"items":[{"id","created","used","expires","browser","current"}],"next":null,"total":N}; never a secret or a hash. */
void sessions_write(const struct sessions *sessions, uint64_t current, struct json *out);

#endif
