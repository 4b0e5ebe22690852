/* The paths below the state folder that the daemon, its backends and the runner on a node share. No other folder of the
 * source builds such paths. Every function returns a path that the caller frees. docs/internals/node.md shows the
 * layout. */
#ifndef SPOOL_PATHS_H
#define SPOOL_PATHS_H

#include <stdint.h>

#define SPOOL_FOLDER_MODE 0700
#define SPOOL_FILE_MODE 0600

/* Folders below the state folder. */
char *spool_experiments_dir(const char *state_dir);
char *spool_experiment_dir(const char *state_dir, int64_t experiment);
char *spool_task_dir(const char *experiment_dir, int64_t task);
/* The first attempt has its files in the folder of the task, each later one in attempts/N. An earlier version also made
 * attempts/1: if that exists, it is the folder of the first attempt. */
char *spool_attempt_dir(const char *task_dir, int64_t attempt);
char *spool_batches_dir(const char *experiment_dir);
char *spool_batch_dir(const char *experiment_dir, const char *token);

/* Where the keepers of warm starts are found. */
char *spool_warm_dir(const char *state_dir);

/* In the folder of an experiment: the script and what it needs, as submitted. */
char *spool_files_dir(const char *experiment_dir);
/* The environment of the submitting shell: caller.h. */
char *spool_caller_path(const char *experiment_dir);
/* What its attempts ran: ran.h. */
char *spool_ran_dir(const char *experiment_dir);
/* The batch script of the newest submission, kept for people. */
char *spool_script_path(const char *experiment_dir);

/* In the folder of a task. */
char *spool_work_dir(const char *task_dir);
char *spool_checkpoint_dir(const char *task_dir);
char *spool_params_path(const char *task_dir);
/* Relative to the work folder: where a script of S-TFManager writes. */
char *spool_results(const char *experiment, int64_t task);

/* In the folder of an attempt. */
enum spool_file {
	SPOOL_JOURNAL,
	SPOOL_STDOUT,
	SPOOL_STDERR,
	SPOOL_STOP, /* it must not start, or must end */
	SPOOL_SAVE, /* it must save, and end */
	SPOOL_REPORT, /* what `sluice report` appends to */
	SPOOL_SETUP, /* the setup line that failed */
	SPOOL_STACK, /* where the script was when it made no progress */
	SPOOL_LOGTIMES, /* when the lines of stdout and stderr were written: logtimes.h */
	SPOOL_ENVIRON, /* the variables after the setup lines, until the runner has read them */
};
char *spool_path(const char *attempt_dir, enum spool_file file);
/* The name alone. The caller does not free it. */
const char *spool_name(enum spool_file file);

/* In the folder of a batch. */
enum spool_item {
	SPOOL_DESCRIPTOR, /* what to run */
	SPOOL_SLOT, /* what the local backend gave it */
	SPOOL_CLAIM, /* linked by the one runner that runs it */
	SPOOL_OUTPUT, /* what the runner itself printed */
};
char *spool_item_path(const char *batch_dir, uint64_t index, enum spool_item item);
/* Where an earlier version kept the script of each batch. */
char *spool_old_script_path(const char *batch_dir);

#endif
