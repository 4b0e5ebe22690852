/* The descriptor: all that the runner on a node needs to know about one attempt. The daemon writes it before it submits
 * the attempt; the runner reads it, maybe days later and from another version. */
#ifndef SPOOL_DESCRIPTOR_H
#define SPOOL_DESCRIPTOR_H

#include "base/error.h"
#include "base/node.h"

/* The time between SIGTERM and SIGKILL. */
#define SPOOL_GRACE_MS 10000

struct spool_descriptor {
	struct node *tree; /* owns the texts and nodes below after reading; the writer leaves it NULL */
	const char *token, *experiment;
	uint32_t index;
	int64_t task, attempt;
	const char *files_dir, *task_dir, *attempt_dir;
	const char
		*script; /* which file of files_dir argv runs: its first line (#!) may say by what; NULL: a command */
	const char *caller; /* path of what the submitting shell looked like; NULL */
	const char *ran_dir; /* where what ran is written: spool/ran.h; NULL: an older daemon, which does not read it */
	const char *python; /* environment.python: NULL or "auto", "none", a folder or a program */
	const struct node *modules; /* environment.modules: texts; NULL: those of the caller */
	int64_t cpus; /* that were asked for; 0: none were */
	int64_t gpu_share; /* thousandths of one GPU that were asked for, also on a cluster; 0: whole ones */
	const char *warm_dir; /* where keepers are found for a warm start; NULL: it starts cold */
	const char *results; /* made below the work folder; NULL */
	size_t setup_added; /* lines that the runner has put before those of the user; not in the file */
	const struct node *objectives; /* names of metrics, a list of texts; NULL: none were named */
	const struct node *argv, *setup, *env, *params, *metrics; /* NULL, or of the right type; texts only */
	bool fresh; /* remove the work and checkpoint folders first */
	double stall_times; /* a silence of so many times the longest pause is reported; 0: the default */
	int64_t stall_after_ms; /* or after this time; 0: by stall_times */
	bool stall_ends; /* a script that makes no progress is ended */
	const char *power_limit; /* of each GPU: "300" (watts) or "auto"; NULL: as it is */
	const char *gpus; /* "0,1": assigned with the task; NULL: the slot or the cluster says */
	int64_t copy_limit_bytes; /* larger files are linked, not copied; default LIMIT_COPY_BYTES */
	int64_t grace_ms; /* default SPOOL_GRACE_MS */
	int checkpoint_signal; /* tells the script to save a checkpoint; 0: it knows none */
	char *work_dir, *checkpoint_dir, *params_path, *report_path, *stop_path; /* after reading: from the folders */
};

/* Writes BATCH_DIR/INDEX.json atomically. A second call writes the same content. */
int spool_descriptor_write(const char *batch_dir, const struct spool_descriptor *descriptor,
			   struct error *err) MUST_USE;
/* 0, or a negative errno with what is wrong with the file. */
int spool_descriptor_read(const char *batch_dir, uint32_t index, struct spool_descriptor *ret,
			  struct error *err) MUST_USE;
/* The attempt's folder according to its descriptor, relative to the task's folder: "" or "/attempts/1". The caller
 * frees it. NULL if there is no descriptor, or none that a runner could use. A negative errno with err: it cannot be
 * read now. */
int spool_descriptor_find(const char *batch_dir, uint32_t index, char **ret_below, struct error *err) MUST_USE;
/* The text of a descriptor; `name` is for messages. */
int spool_descriptor_parse(const char *name, const char *text, size_t len, struct spool_descriptor *ret,
			   struct error *err) MUST_USE;
void spool_descriptor_put(const struct spool_descriptor *descriptor, struct json *out);
void spool_descriptor_free(struct spool_descriptor *descriptor);

/* Does the script continue from an earlier attempt's checkpoint? */
static inline bool spool_descriptor_resumes(const struct spool_descriptor *d)
{
	return d->attempt > 1 && !d->fresh;
}

#endif
