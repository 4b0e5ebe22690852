/* `share: auto`: how many tasks of an experiment share a GPU (model/sharing.h), from its tasks as they end. */
#ifndef ENGINE_SHARE_H
#define ENGINE_SHARE_H

#include "base/cause.h"
#include "base/json.h"
#include "store/store.h"

struct engine;
struct engine_backend;
struct engine_experiment;
struct engine_live;

/* An attempt has ended in this state. Changes what the next attempts ask for. 0 or a negative errno. */
int engine_share_ended(struct engine *engine, const struct engine_live *live, enum store_state state,
		       enum cause cause) MUST_USE;
/* Before tasks of it are handed over: what an earlier experiment, or this one before a restart of the daemon, has measured
 * of the same script. Does nothing the second time. 0 or a negative errno. */
int engine_share_recall(struct engine *engine, struct engine_experiment *e) MUST_USE;
/* Its settings are others: it goes on with as many as before, and what is measured now is kept for them. */
void engine_share_change(struct engine_experiment *e);
/* Writes the member "sharing": a sentence with the figures, or null. */
void engine_write_sharing(const struct engine_experiment *experiment, struct json *out);
/* The memory of this machine's smallest GPU; NAN where there is none, or tasks run elsewhere. */
double engine_card_bytes(const struct engine_backend *backend);

#endif
