/* Rendered answers, kept while the store has not changed: a list that ten pages ask for is made once. */
#ifndef HTTP_CACHE_H
#define HTTP_CACHE_H

#include "http/blob.h"

struct cache;

/* The whole daemon stays under 16 MB; a larger answer is not kept. */
#define CACHE_BYTES_MAX (6u << 20)
#define CACHE_ANSWER_MAX (CACHE_BYTES_MAX / 2)

struct cache *cache_new(void);
void cache_free(struct cache *cache);
/* The cached body for this target and version, not older than max_age_ms (0: any age). NULL if there is none. The cache
 * keeps the reference. */
struct blob *cache_find(struct cache *cache, const char *target, uint64_t version, int64_t max_age_ms);
void cache_put(struct cache *cache, const char *target, uint64_t version, struct blob *body);

#endif
