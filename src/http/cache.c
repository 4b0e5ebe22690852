/* Rendered answers: see cache.h. There are a few entries; the one that was not used for the longest time is removed
 * first. */
#include "http/cache.h"

#include "base/clock.h"

#define CACHE_ENTRIES 16

struct cache {
	struct cache_entry {
		char *target;
		struct blob *body;
		uint64_t version, used;
		int64_t made_ms;
	} entries[CACHE_ENTRIES];
	uint64_t uses;
	size_t bytes;
};

struct cache *cache_new(void)
{
	return mem_alloc(sizeof(struct cache));
}

static void cache_drop(struct cache *cache, struct cache_entry *entry)
{
	if (!entry->target)
		return;
	cache->bytes -= entry->body->len;
	free(entry->target);
	blob_unref(entry->body);
	*entry = (struct cache_entry){0};
}

void cache_free(struct cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < CACHE_ENTRIES; i++)
		cache_drop(cache, &cache->entries[i]);
	free(cache);
}

struct blob *cache_find(struct cache *cache, const char *target, uint64_t version, int64_t max_age_ms)
{
	for (size_t i = 0; i < CACHE_ENTRIES; i++) {
		struct cache_entry *entry = &cache->entries[i];
		if (!entry->target || strcmp(entry->target, target) != 0)
			continue;
		if (entry->version != version || (max_age_ms && clock_mono_ms() - entry->made_ms >= max_age_ms)) {
			cache_drop(cache, entry);
			return NULL;
		}
		entry->used = ++cache->uses;
		return entry->body;
	}
	return NULL;
}

/* The longest unused that holds something; NULL when the cache is empty. */
static struct cache_entry *cache_oldest(struct cache *cache)
{
	struct cache_entry *oldest = NULL;
	for (size_t i = 0; i < CACHE_ENTRIES; i++)
		if (cache->entries[i].target && (!oldest || cache->entries[i].used < oldest->used))
			oldest = &cache->entries[i];
	return oldest;
}

static struct cache_entry *cache_empty(struct cache *cache)
{
	for (size_t i = 0; i < CACHE_ENTRIES; i++)
		if (!cache->entries[i].target)
			return &cache->entries[i];
	struct cache_entry *oldest = cache_oldest(cache);
	cache_drop(cache, oldest);
	return oldest;
}

void cache_put(struct cache *cache, const char *target, uint64_t version, struct blob *body)
{
	if (body->len > CACHE_ANSWER_MAX)
		return;
	/* What was rendered before the store changed is of no use to anyone. */
	for (size_t i = 0; i < CACHE_ENTRIES; i++)
		if (cache->entries[i].target &&
		    (cache->entries[i].version != version || !strcmp(cache->entries[i].target, target)))
			cache_drop(cache, &cache->entries[i]);
	while (cache->bytes + body->len > CACHE_BYTES_MAX)
		cache_drop(cache, cache_oldest(cache));
	*cache_empty(cache) = (struct cache_entry){
		.target = mem_strdup(target),
		.body = blob_ref(body),
		.version = version,
		.used = ++cache->uses,
		.made_ms = clock_mono_ms(),
	};
	cache->bytes += body->len;
}
