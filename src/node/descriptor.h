/* What the daemon wants run: BATCH_DIR/INDEX.json, and what the local backend gave it: INDEX.slot. */
#ifndef NODE_DESCRIPTOR_H
#define NODE_DESCRIPTOR_H

#include "base/error.h"
#include "base/node.h"

struct descriptor {
	struct node *tree; /* owns the texts below */
	struct node *slot; /* NULL: there is none */
	const char *token, *experiment;
	int64_t index, task, attempt;
	const char *files_dir, *task_dir, *attempt_dir;
	const char *results; /* relative to the work folder; NULL */
	const struct node *argv, *setup, *env, *params, *metrics, *push; /* NULL or of the right type */
	bool fresh;
	int64_t grace_ms;
	const char *gpus; /* NULL: not assigned by us */
	int64_t gpus_hidden; /* GPUs of this machine that it was kept from, having asked for none */
	int64_t time_ms; /* limit that the runner enforces; 0: none */
	int64_t signal_before_ms;
	int checkpoint_signal;
	char *work_dir, *checkpoint_dir, *params_path, *report_path, *stop_path;
};

/* 0, or a negative errno with what is wrong with the file. */
int descriptor_read(const char *batch_dir, uint64_t index, struct descriptor *ret, struct error *err) MUST_USE;
void descriptor_free(struct descriptor *descriptor);

/* Does the script go on from an earlier attempt's checkpoint? */
static inline bool descriptor_resumes(const struct descriptor *d)
{
	return d->attempt > 1 && !d->fresh;
}

#endif
