/* The browser sessions of this run of the daemon. They live in memory only, so all of them end when a daemon starts:
 * another user who took a dead daemon's port and collected a secret there can open nothing with it. */
#ifndef HTTP_SESSIONS_H
#define HTTP_SESSIONS_H

#include "base/json.h"
#include "base/token.h"

#include <stdint.h>

struct sessions;

struct sessions *sessions_new(void);
void sessions_free(struct sessions *sessions);
/* Opens a session for 30 days and gives its secret, which is not kept. `browser` is the User-Agent (NULL: not known).
 * Where there are too many, the one that was not used for the longest time ends. Returns
 * the id of the session whose place was taken (its event streams must end), or 0. */
uint64_t sessions_open(struct sessions *sessions, const char *browser, char secret[static TOKEN_SECRET_CHARS]);
/* The id of the session with that secret, and notes the use; 0: there is none, or it has expired. */
uint64_t sessions_find(struct sessions *sessions, const char *secret);
/* false: there is no such session. */
bool sessions_end(struct sessions *sessions, uint64_t id);
/* {"items":[{"id","created","used","expires","browser","current"}],"next":null,"total":N}; never a secret or a hash. */
void sessions_write(const struct sessions *sessions, uint64_t current, struct json *out);

#endif
