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
 * Begin fails with -EALREADY when one is open. After a failed commit nothing of it happened. Where SQLite itself undid
 * it (an error while it was open), begin, writes and commit fail until the commit or a rollback has ended it. Commit
 * also fails when a read failed in the transaction: what was decided on half of the rows is not kept. */
int store_begin(struct store *store, struct error *err) MUST_USE;
int store_commit(struct store *store, struct error *err) MUST_USE;
void store_rollback(struct store *store);
/* Grows with every committed change: what was rendered under the same number is still true. */
uint64_t store_version(const struct store *store);

/* A statement that reads has failed: a damaged page, an I/O error. `text` is SQLite's. It is called in the middle of
 * other work: it may only remember that this happened. */
typedef void (*store_failure_f)(void *ctx, const char *text);
void store_on_failure(struct store *store, store_failure_f failed, void *ctx);
/* SQLite's words about the last failure; "" when there was none. */
const char *store_failure(const struct store *store);
/* The next table, by name, after `table` (empty: the first) is checked by SQLite's quick_check. 1: it was checked, its
 * name is in `table` and what is wrong with it in `out` (nothing: it is sound). 0: there is no further one. A negative
 * errno: the list of tables cannot be read. */
#define STORE_TABLE_CHARS 64
int store_check(struct store *store, char table[static STORE_TABLE_CHARS], struct buf *out) MUST_USE;

#endif
