/* What the script of an attempt wrote before its runner was killed, and the runner did not come to read. A child of the
 * daemon (`sluice exec --collect`, node/collect.h) appends it to the journal before the attempt is settled. Nothing of this
 * is stored: a daemon that was killed has it done again, which is harmless. */
#ifndef ENGINE_COLLECT_H
#define ENGINE_COLLECT_H

#include "base/mem.h"

struct engine;
struct engine_live;
struct engine_collector;

/* Has the rest of an attempt's metrics read; the attempt hears of it when that is done (ATTEMPT_EVENT_COLLECTED). Does nothing
 * where it is being done, or too many are. Inside the transaction: 0 or a negative errno. */
int engine_collect(struct engine *engine, struct engine_live *live) MUST_USE;
/* Ends the children, and waits for them. */
void engine_end_collectors(struct engine *engine);

#endif
