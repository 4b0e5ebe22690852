/* The store: everything that is known, in one SQLite file that only the daemon opens. Writes go
 * through typed functions inside one transaction at a time; reads come out as JSON (json.h). */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/error.h"
#include "base/json.h"

/* The states of a task; stored as these numbers, shown as store_state_name(). */
enum store_state {
	STORE_WAITING,
	STORE_SUBMITTED,
	STORE_RUNNING,
	STORE_FINISHED,
	STORE_ERROR,
	STORE_STOPPED,
	STORE_PRUNED,
	STORE_STATE_COUNT,
};

const char *store_state_name(enum store_state state);
/* -1 when the name is unknown. */
int store_state_find(const char *name);
static inline bool store_state_is_over(enum store_state state)
{
	return state >= STORE_FINISHED;
}

struct store;

/* Opens (creates, migrates) the database at path. -EBUSY when another process has it. */
int store_open(const char *path, struct store **ret, struct error *err) MUST_USE;
void store_close(struct store *store);

/* One transaction at a time, with one owner: who begins it commits it or rolls it back before returning to the loop.
 * Begin fails with -EALREADY when one is open. After a failed commit nothing of it happened. Where SQLite itself undid it (an error while it was open), begin, writes and commit fail until the
 * commit or a rollback has ended it. */
int store_begin(struct store *store, struct error *err) MUST_USE;
int store_commit(struct store *store, struct error *err) MUST_USE;
void store_rollback(struct store *store);
/* Grows with every committed change: what was rendered under the same number is still true. */
uint64_t store_version(const struct store *store);

#endif
