/* The request of `run` and `check`: an experiment file, or a script with name=values and flags, and the files that are
 * sent with it. */
#ifndef CLI_SUBMIT_H
#define CLI_SUBMIT_H

#include "base/node.h"
#include "cli/client.h"
#include "cli/options.h"
#include "cli/term.h"

/* What a task asks for: flags of `run`, `check` and `change`. */
#define SUBMIT_RESOURCES                                                                                               \
	{"partition", "NAME", "Slurm partition"}, {"gpus", "N", "GPUs a task; also TYPE:N"},                           \
		{"cpus", "N", "CPU cores a task"}, {"memory", "SIZE", "memory a task: 16G"},                           \
		{"time", "DURATION", "time limit of a task: 2h, 1h30m"}, {"nodes", "N", "Slurm nodes a task"},         \
		{"exclusive", NULL, "Slurm nodes for the task alone"},                                                 \
		{"features", "EXPR", "features that its Slurm nodes must have (sbatch --constraint)"},                 \
		{"account", "NAME", "Slurm account"}, {"qos", "NAME", "Slurm quality of service"},                     \
	{                                                                                                              \
		"option", "SLURMOPT...", "a further sbatch option: --option=--nice=100"                                \
	}
#define SUBMIT_RETRY                                                                                                   \
	{                                                                                                              \
		"retry", "CAUSE=N...",                                                                                 \
			"how often to run a task again: lost=5; memory=2x1.5 asks for 1.5 times as much each time"     \
	}

/* The flags for keys of the experiment file; rows of both verbs' tables. */
#define SUBMIT_OPTIONS                                                                                                 \
	{"name", "TEXT", "name of the experiment"}, {"description", "TEXT", "what it is about"},                       \
		{"pass", "flags|positional|values|overrides|env|json",                                                 \
		 "how values reach the script (found by reading it)"},                                                 \
		{"style", "auto|dash|underscore",                                                                      \
		 "spelling of flags: as the script has it, --batch-size, --batch_size"},                               \
		{"separator", "equals|space", "--lr=0.1 or --lr 0.1"},                                                 \
		{"metrics", "PATTERN",                                                                                 \
		 "where metrics are: 'logs/*.csv', or printed lines: 'val_loss is (?P<val_loss>[0-9.]+)'"},            \
		{"metrics-from", "csv|jsonl|json|tfevents|log|stdout|stderr|report...",                                \
		 "read metrics only from here; with --metrics: what the pattern is for"},                              \
		{"strategy", "STRATEGY", "search strategy: auto, grid, random, tpe, ..."},                             \
		{"tasks", "N", "tasks in all, for strategies that do not end by themselves"},                          \
		{"parallel", "N", "tasks at the same time"}, {"seed", "N", "seed of the search"},                      \
		{"repeats", "N", "run every configuration under N seeds"},                                             \
		{"objective", "METRIC...", "metric to optimise; or metric:max; a,b for several"},                      \
		{"goal", "min|max...", "is the objective better small or large? (guessed from its name)"},             \
		{"constraint", "EXPR...", "only configurations for which this holds: 'units * layers <= 512'"},        \
		{"prune", "median|asha|threshold", "end tasks early that fall behind"},                                \
		{"stop-when", "CONDITION", "end the experiment once this holds: 'val_loss < 0.05'"},                   \
		{"failures", "N|off", "pause after N equal failures in a row (3; 12 after a success)"},                \
		{"backend", "auto|local|slurm|external", "where tasks run"}, SUBMIT_RESOURCES,                         \
		{"setup", "LINE...", "a line of bash to run before the script: 'module load cuda'"},                   \
		{"env", "NAME=VALUE...", "a variable for the script"},                                                 \
		{"keep", "NAME...", "a variable of this shell for the script: WANDB_MODE, 'HF_*'"},                    \
		{"python", "auto|none|PATH", "the Python or the environment (auto: the one that is active here)"},     \
		{"file", "PATH...", "a further file or folder to take along"},                                         \
		{"git", NULL, "take the tracked files of the git work tree along (files: git)"},                       \
		{"copy-limit", "SIZE", "larger files are linked if named, refused if found in a folder (64M)"},        \
		{"warm", "WHEN",                                                                                       \
		 "start Python scripts from a process that has imported their libraries (auto, on, off)"},             \
		{"stall-after", "TIMES|TIME",                                                                          \
		 "a task makes no progress after 3x its longest pause between metrics (default), or after 10m"},       \
		{"stall-do", "warn|restart|stop", "what to do with a task that makes no progress (warn)"},             \
		SUBMIT_RETRY

struct submit_file {
	char *path; /* as the daemon knows it: relative */
	char *local; /* where it lies here */
	uint64_t bytes;
	unsigned mode; /* permission bits */
	char *upload; /* its id if it was uploaded separately; NULL: it is part of the request */
};

struct submit {
	char *name; /* of the experiment file, as given; NULL: a script */
	struct buf source; /* its text */
	struct node *tree; /* the experiment */
	bool changed; /* the tree differs from the text: send the tree */
	VEC(struct submit_file) files;
	int64_t copy_limit_bytes; /* larger files are only sent if they are named */
	struct node *caller; /* the shell it was called from, to be sent along; NULL */
	struct buf notes; /* notes about the files that are sent, one per line */
	struct buf taken; /* names of imported modules that are sent, for people */
	struct buf unseen; /* a line for each file that the script seems to open but that is not sent */
	struct buf missing; /* a line for each file that cannot be sent, with its position in front */
};

/* Reads the file or builds the experiment, and finds the files; those that cannot be found are in `missing`. 0, or a
 * negative errno: then err holds the whole message, with the place in front. Must be freed either way. */
int submit_load(struct submit *submit, const struct options *options, struct error *err) MUST_USE;
void submit_free(struct submit *submit);

/* Applies one option to the experiment: 1 if it is one of the flags above, 0 if not. */
int submit_apply_flag(struct node *tree, const struct options_given *given, struct error *err) MUST_USE;

/* Uploads large files, and writes the body of POST /experiments. */
int submit_write_request(struct submit *submit, struct client *client, struct buf *out, struct error *err) MUST_USE;
/* The body of POST /check: the script for reading, no other files. */
int submit_write_check(struct submit *submit, struct buf *out, struct error *err) MUST_USE;
/* Every error of a problem answer as FILE:LINE:COLUMN: key: message; remedy. False when it lists none. */
bool submit_add_problems(const struct submit *submit, const struct reply *reply, const struct term *term,
			 struct buf *out);

#endif
