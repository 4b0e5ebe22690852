/* The store: all data of sluice, in one SQLite file that only the daemon opens. Writes go through typed functions
 * inside one transaction at a time; reads come out as JSON (json.h). */
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

/* There is one transaction at a time, with one owner. The function that begins it commits it or rolls it back before it
 * returns to the loop. Begin fails with -EALREADY when one is open. After a failed commit, nothing was written. If an
 * error made SQLite roll back by itself, then begin, writes and commit fail until a commit or a rollback has ended the
 * transaction. Commit also fails if a read failed in the transaction, because decisions on incomplete rows must not be
 * stored. */
int store_begin(struct store *store, struct error *err) MUST_USE;
int store_commit(struct store *store, struct error *err) MUST_USE;
void store_rollback(struct store *store);
/* Grows with every committed change. An answer that was made at the same version is still correct. */
uint64_t store_version(const struct store *store);

/* A statement that reads has failed: a damaged page, an I/O error. `text` is SQLite's message. The callback runs in the
 * middle of other work, so it may only remember the failure. */
typedef void (*store_failure_f)(void *ctx, const char *text);
void store_on_failure(struct store *store, store_failure_f failed, void *ctx);
/* SQLite's words about the last failure; "" when there was none. */
const char *store_failure(const struct store *store);
/* Checks the next table after `table` (by name; "": the first) with SQLite's quick_check. Returns 1: `table` has its
 * name, and `out` what is wrong with it (empty: nothing). 0: there are no more tables. A negative errno: the list of
 * tables cannot be read. */
#define STORE_TABLE_CHARS 64
int store_check(struct store *store, char table[static STORE_TABLE_CHARS], struct buf *out) MUST_USE;

#endif
