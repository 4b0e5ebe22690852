/* Which configurations were proposed or ran, by their hashes, so that none of them is proposed again. */
#ifndef SEARCH_SEEN_H
#define SEARCH_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seen {
	struct seen_slot {
		uint64_t hash; /* 0: free */
		uint32_t count; /* trials that have it; 0: none any more */
		bool returned; /* it was given back once */
	} * slots; /* open-addressed */
	size_t used, size;
};

void seen_free(struct seen *seen);
bool seen_has(const struct seen *seen, uint64_t hash);
/* One more trial has it. */
void seen_add(struct seen *seen, uint64_t hash);
/* One trial fewer has it. */
void seen_drop(struct seen *seen, uint64_t hash);
/* As seen_drop, for a proposal that did not run. False: the trial keeps it, since no other one has it and it was given back
 * before: a worker that always replaces it would get it for ever. *ret_free: it may now be proposed again. */
bool seen_give_back(struct seen *seen, uint64_t hash, bool *ret_free);

#endif
