/* The live view of an experiment: what is known about it, and one frame drawn from that. It has no side effects beside
 * its own memory; follow.c feeds it. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "base/buf.h"
#include "base/node.h"
#include "cli/term.h"

struct progress {
	struct node *experiment; /* the last summary or detail; NULL before the first */
	struct node *varying; /* names of the parameters that differ; from the detail */
	VEC(struct node *) running; /* summaries of the tasks that run, by number */
	const char *unwritable; /* why the daemon cannot write; NULL: it can */
	const char *trouble; /* said in the frame: "reconnecting"; NULL */
};

void progress_free(struct progress *progress);
/* Each takes an answer or the data of an event. The caller must only pass data of this experiment. */
void progress_give_experiment(struct progress *progress, struct node *give);
void progress_give_task(struct progress *progress, struct node *give);
void progress_take_metrics(struct progress *progress, const struct node *event);
/* Forgets the running tasks, before a fresh list of them. */
void progress_clear_tasks(struct progress *progress);

/* The state of the experiment; "" before the first summary. */
const char *progress_state(const struct progress *progress);
/* How long it will take from now on, in ms; -1: no estimate yet. */
int64_t progress_estimate_ms(const struct progress *progress, int64_t now_ms);
/* Adds a frame: whole lines, none wider than the terminal, fewer than its height. */
void progress_render(const struct progress *progress, const struct term *term, int64_t now_ms, struct buf *out);
/* How many rows a frame takes on a terminal of this width: lines that are wider wrap. */
int progress_rows(const char *frame, int width);
/* "val_loss 0.3175 at epoch 40 in e1/19: batch_size=64", or "no result yet". */
void progress_add_best(const struct progress *progress, struct buf *out);

#endif
