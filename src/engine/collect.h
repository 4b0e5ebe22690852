/* Metrics that a script wrote but that its runner did not read, because the runner was killed first. A child of the
 * daemon (`sluice exec --collect`, node/collect.h) appends them to the journal before the attempt is settled. The store
 * does not record this step: after a crash the daemon does it again, which is safe. */
#ifndef ENGINE_COLLECT_H
#define ENGINE_COLLECT_H

#include "base/mem.h"

struct engine;
struct engine_live;
struct engine_collector;

/* Starts a child that reads the rest of an attempt's metrics. When it is done, the attempt gets
 * ATTEMPT_EVENT_COLLECTED. Does nothing if a child already works on this attempt, or if too many children run. Inside
 * the transaction: 0 or a negative errno. */
int engine_collect(struct engine *engine, struct engine_live *live) MUST_USE;
/* Ends the children, and waits for them a moment: one that hangs in the kernel ends when it can. */
void engine_end_collectors(struct engine *engine);

#endif
