/* Reacts to attempts that ended before their script began. If several ended on one node while tasks start on another,
 * later submissions avoid that node. If several ended in a row with no start in between, something is wrong everywhere.
 * Then the experiment is held back: one task is tried at a time, with growing pauses, until one starts.
 *
 * Pure: no store and no clock; all times come from the caller and are monotonic. hold.c carries it out. */
#ifndef ENGINE_UNSTARTED_H
#define ENGINE_UNSTARTED_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* A node is avoided after this many failures on it without a start. */
#define UNSTARTED_NODE_COUNT 3
/* The experiment is held back after this many failures without a start anywhere. */
#define UNSTARTED_HOLD_COUNT 5

struct unstarted_node {
	char *name;
	int64_t failures; /* since the last start there */
	int64_t failed_ms, started_ms; /* the last of each; -1: none */
};

struct unstarted {
	VEC(struct unstarted_node) nodes;
	int64_t in_row; /* since the last start anywhere */
	int64_t tries; /* how many of them came after a pause: each makes the next pause longer */
	int64_t until_ms; /* if held back: nothing is tried before this time */
	char *why; /* what happened to the last of them; NULL */
};

/* An attempt ended before its script began. node: where; NULL if that is not known, or if it had several nodes.
 * of_node: the node may be the reason; it is not for a full disk, for example. */
void unstarted_add_failure(struct unstarted *u, const char *node, bool of_node, const char *why, int64_t now_ms);
/* A script began. True: the experiment was held back until now. */
bool unstarted_add_start(struct unstarted *u, const char *node, int64_t now_ms);
/* Is the experiment held back, and until when is nothing tried? */
bool unstarted_is_held(const struct unstarted *u);
int64_t unstarted_held_until_ms(const struct unstarted *u);
/* Why its tasks wait, in words; NULL if it is not held back. The caller frees the text. */
char *unstarted_words(const struct unstarted *u);
/* The nodes to avoid now, as "cpu2,cpu3"; NULL: none. The caller frees the text. */
char *unstarted_excluded(const struct unstarted *u, int64_t now_ms);
/* Forgets everything, because the problem may have been fixed. */
void unstarted_forget(struct unstarted *u);

#endif
