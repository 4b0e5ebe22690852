/* See paths.h. */
#include "spool/paths.h"

#include "base/mem.h"

#include <inttypes.h>
#include <unistd.h>

char *spool_warm_dir(const char *state_dir)
{
	return mem_printf("%s/warm", state_dir);
}

char *spool_experiments_dir(const char *state_dir)
{
	return mem_printf("%s/experiments", state_dir);
}

char *spool_experiment_dir(const char *state_dir, int64_t experiment)
{
	return mem_printf("%s/experiments/e%" PRId64, state_dir, experiment);
}

char *spool_task_dir(const char *experiment_dir, int64_t task)
{
	return mem_printf("%s/tasks/%" PRId64, experiment_dir, task);
}

char *spool_attempt_dir(const char *task_dir, int64_t attempt)
{
	char *own = mem_printf("%s/attempts/%" PRId64, task_dir, attempt);
	if (attempt != 1 || access(own, F_OK) == 0)
		return own;
	free(own);
	return mem_strdup(task_dir);
}

char *spool_batches_dir(const char *experiment_dir)
{
	return mem_printf("%s/batches", experiment_dir);
}

char *spool_batch_dir(const char *experiment_dir, const char *token)
{
	return mem_printf("%s/batches/%s", experiment_dir, token);
}

char *spool_files_dir(const char *experiment_dir)
{
	return mem_printf("%s/files", experiment_dir);
}

char *spool_caller_path(const char *experiment_dir)
{
	return mem_printf("%s/caller.json", experiment_dir);
}

char *spool_ran_dir(const char *experiment_dir)
{
	return mem_printf("%s/ran", experiment_dir);
}

char *spool_script_path(const char *experiment_dir)
{
	return mem_printf("%s/script", experiment_dir);
}

char *spool_work_dir(const char *task_dir)
{
	return mem_printf("%s/work", task_dir);
}

char *spool_checkpoint_dir(const char *task_dir)
{
	return mem_printf("%s/checkpoint", task_dir);
}

char *spool_params_path(const char *task_dir)
{
	return mem_printf("%s/params.json", task_dir);
}

char *spool_results(const char *experiment, int64_t task)
{
	return mem_printf("results/%s/%" PRId64, experiment, task);
}

const char *spool_name(enum spool_file file)
{
	static const char *const names[] = {
		[SPOOL_JOURNAL] = "journal",   [SPOOL_STDOUT] = "stdout", [SPOOL_STDERR] = "stderr",
		[SPOOL_STOP] = "stop",         [SPOOL_SAVE] = "save",     [SPOOL_REPORT] = "report.jsonl",
		[SPOOL_SETUP] = "setup",       [SPOOL_STACK] = "stack",   [SPOOL_ENVIRON] = "environ",
		[SPOOL_LOGTIMES] = "logtimes",
	};
	return names[file];
}

char *spool_path(const char *attempt_dir, enum spool_file file)
{
	return mem_printf("%s/%s", attempt_dir, spool_name(file));
}

char *spool_item_path(const char *batch_dir, uint64_t index, enum spool_item item)
{
	static const char *const suffixes[] = {
		[SPOOL_DESCRIPTOR] = "json",
		[SPOOL_SLOT] = "slot",
		[SPOOL_CLAIM] = "claim",
		[SPOOL_OUTPUT] = "out",
	};
	return mem_printf("%s/%" PRIu64 ".%s", batch_dir, index, suffixes[item]);
}

char *spool_old_script_path(const char *batch_dir)
{
	return mem_printf("%s/script", batch_dir);
}
