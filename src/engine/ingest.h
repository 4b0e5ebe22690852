/* Reads journals into the store. All of this happens inside the transaction. */
#ifndef ENGINE_INGEST_H
#define ENGINE_INGEST_H

#include "base/mem.h"

struct engine;
struct engine_live;
struct cost;
struct journal_record;

/* Reads what is new in the journals of all live attempts. 0 or a negative errno. */
int engine_ingest(struct engine *engine) MUST_USE;
/* Adds one record that did not come from a journal file. */
int engine_ingest_record(struct engine *engine, struct engine_live *live, const struct journal_record *record) MUST_USE;
/* Adds an END record that was read earlier, as the store keeps it (JSON), to the facts of the attempt. */
int engine_take_end(struct engine_live *live, const char *json) MUST_USE;

/* Adds the GPU time that belongs to the time used, unless the cost has it. */
void engine_add_gpu_time(const struct engine_live *live, struct cost *cost);

#endif
