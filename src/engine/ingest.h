/* Journals into the store. All of it happens inside the transaction. */
#ifndef ENGINE_INGEST_H
#define ENGINE_INGEST_H

#include "base/mem.h"

struct engine;
struct engine_live;
struct journal_record;

/* What is new in the journals of all live attempts. 0 or a negative errno. */
int engine_ingest(struct engine *engine) MUST_USE;
/* One record that came another way than through a file. */
int engine_ingest_record(struct engine *engine, struct engine_live *live, const struct journal_record *record) MUST_USE;
/* Takes an END that was read before, as the store keeps it (JSON), into the attempt. */
int engine_take_end(struct engine_live *live, const char *json) MUST_USE;

#endif
