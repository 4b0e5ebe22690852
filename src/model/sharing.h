/* How many tasks share one GPU: measured, never guessed. It begins with one task alone, doubles as long as that gives
 * clearly more finished tasks in the same time and the memory suffices, and goes back one step when it does not. Pure. */
#ifndef MODEL_SHARING_H
#define MODEL_SHARING_H

#include "base/buf.h"
#include "base/json.h"
#include "base/node.h"

#include <stdbool.h>
#include <stdint.h>

/* 1, 2, 4, 8, 16 tasks. */
#define SHARING_LEVELS 5

struct sharing {
	size_t level;
	bool settled; /* more gained nothing: it stays */
	struct sharing_seen {
		size_t tasks;
		double wall_ms, beside; /* sums: how long they took, and how many ran at a time when they ended */
	} seen[SHARING_LEVELS];
	double peak_bytes, card_bytes; /* of one task, and of the GPU; 0: not known */
};

/* How many tasks a GPU gets now. */
size_t sharing_parts(const struct sharing *sharing);
/* The memory that a task needs at most, and that of the card; 0: not known, then nothing is shared. */
void sharing_set_memory(struct sharing *sharing, double peak_bytes, double card_bytes);
/* A task that shared its GPU by `parts` has finished after this time; `running` tasks ran when it ended, with itself. True
 * if the number of tasks has changed. */
bool sharing_take(struct sharing *sharing, size_t parts, double running, double wall_ms);
/* A task failed for its neighbours: one step back, for good. */
void sharing_fail(struct sharing *sharing, size_t parts);
/* Writes what was measured, as an object, and reads it again. False: it is none; then *ret is left as it is. */
void sharing_write(const struct sharing *sharing, struct json *out);
bool sharing_read(const struct node *measured, struct sharing *ret);
/* Adds a sentence with the figures. */
void sharing_explain(const struct sharing *sharing, struct buf *out);

#endif
