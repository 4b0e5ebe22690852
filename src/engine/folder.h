/* The folders of experiments and of their batches; those of tasks and attempts are in engine.h. */
#ifndef ENGINE_FOLDER_H
#define ENGINE_FOLDER_H

#include <stdint.h>

struct engine;

/* The name of an experiment's folder begins with this until its row is in the store. After a crash, the next start
 * removes such folders. */
#define ENGINE_NEW_FOLDER ".new-"

/* The caller frees it. */
char *engine_batch_folder(struct engine *engine, int64_t experiment, const char *token);

#endif
