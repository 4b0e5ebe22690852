/* Who may come in: bearer tokens and browser sessions, hashed. Writes commit by themselves. */
#ifndef STORE_ACCESS_H
#define STORE_ACCESS_H

#include "store/store.h"

#define STORE_CSRF_CHARS 48

int store_add_token(struct store *store, const char *name, const char *hash, int64_t now_ms, int64_t *ret_id,
		    struct error *err) MUST_USE;
/* The id of the token with that hash; -ENOENT. Notes when it was used, at most once an hour. */
int store_find_token(struct store *store, const char *hash, int64_t now_ms, int64_t *ret_id) MUST_USE;
/* -ENOENT. */
int store_delete_token(struct store *store, int64_t id, struct error *err) MUST_USE;
/* {"items":[{"id","name","created","used"}],"next":null,"total":N}; never a hash. */
void store_json_tokens(struct store *store, struct json *out);

int store_add_session(struct store *store, const char *hash, const char *csrf, int64_t now_ms, int64_t expires_ms,
		      struct error *err) MUST_USE;
/* The CSRF value of a session that has not expired; -ENOENT. */
int store_find_session(struct store *store, const char *hash, int64_t now_ms,
		       char ret_csrf[static STORE_CSRF_CHARS]) MUST_USE;
int store_delete_session(struct store *store, const char *hash, struct error *err) MUST_USE;

#endif
