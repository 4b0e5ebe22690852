/* The folders of experiments and of their batches; those of tasks and attempts are in engine.h. */
#ifndef ENGINE_FOLDER_H
#define ENGINE_FOLDER_H

#include <stdint.h>

struct engine;

/* An experiment's folder has a name that begins so until its row is written; what a crash leaves goes at the start. */
#define ENGINE_NEW_FOLDER ".new-"

/* The caller frees it. */
char *engine_batch_folder(struct engine *engine, int64_t experiment, const char *token);

#endif
