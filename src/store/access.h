/* Bearer tokens, stored as hashes. Each write commits by itself. */
#ifndef STORE_ACCESS_H
#define STORE_ACCESS_H

#include "store/store.h"

int store_add_token(struct store *store, const char *name, const char *hash, int64_t now_ms, int64_t *ret_id,
		    struct error *err) MUST_USE;
/* The id of the token with that hash; -ENOENT. Stores when it was used, at most once an hour. */
int store_find_token(struct store *store, const char *hash, int64_t now_ms, int64_t *ret_id) MUST_USE;
/* -ENOENT. */
int store_delete_token(struct store *store, int64_t id, struct error *err) MUST_USE;
/* {"items":[{"id","name","created","used"}],"next":null,"total":N}; never a hash. */
int store_json_tokens(struct store *store, struct json *out) MUST_USE;

#endif
