/* Every write of the engine is one transaction with one owner: engine_transact. No transaction is open between two
 * callbacks of the loop, so a reader sees committed rows only. */
#ifndef ENGINE_TRANSACT_H
#define ENGINE_TRANSACT_H

#include "base/error.h"

struct engine;

/* The work inside a transaction. It must not refuse the request: check that before. Any error that it returns is
 * treated as a failed write. err may be filled. */
typedef int (*engine_transact_f)(struct engine *engine, void *ctx, struct error *err);

/* Begins, calls fn, brings the experiments' states up to date, commits. When any of that fails, the transaction is
 * rolled back and everything in memory is read again from the store: pointers to experiments and attempts are invalid
 * then. 0 or a negative errno with err; -EALREADY, and nothing happened, when a transaction is open. */
int engine_transact(struct engine *engine, engine_transact_f fn, void *ctx, struct error *err) MUST_USE;

/* Reads everything again if the last try to do so failed. Else does nothing. */
int engine_refresh(struct engine *engine, struct error *err) MUST_USE;

#endif
