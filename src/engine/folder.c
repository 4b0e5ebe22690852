/* The folders of experiments, tasks, attempts and batches. */
#include "engine/folder.h"

#include "engine/engine.h"

#include "spool/paths.h"

char *engine_folder(struct engine *engine, int64_t experiment, int64_t number, int64_t attempt)
{
	char *root = spool_experiment_dir(engine_state_dir(engine), experiment);
	if (!number)
		return root;
	char *task = spool_task_dir(root, number);
	free(root);
	if (!attempt)
		return task;
	char *folder = spool_attempt_dir(task, attempt);
	free(task);
	return folder;
}

char *engine_batch_folder(struct engine *engine, int64_t experiment, const char *token)
{
	char *root = spool_experiment_dir(engine_state_dir(engine), experiment), *folder = spool_batch_dir(root, token);
	free(root);
	return folder;
}
