/* What follows for an experiment from attempts that ended before their script began. Several on one node, while tasks start
 * on another: that node is left out of later submissions. Several in a row with no start in between: something is wrong
 * everywhere, and the experiment is held back: one task is tried at a time, with growing pauses, until one starts.
 *
 * Pure: no store and no clock; all times come from the caller and are monotonic. hold.c carries it out. */
#ifndef ENGINE_UNSTARTED_H
#define ENGINE_UNSTARTED_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* A node that ended this many without a start there is left out. */
#define UNSTARTED_NODE_COUNT 3
/* This many without a start anywhere: the experiment is held back. */
#define UNSTARTED_HOLD_COUNT 5

struct unstarted_node {
	char *name;
	int64_t failures; /* since the last start there */
	int64_t failed_ms, started_ms; /* the last of each; -1: none */
};

struct unstarted {
	VEC(struct unstarted_node) nodes;
	int64_t in_row; /* since the last start anywhere */
	int64_t tries; /* of them, those after a pause: each makes the next pause longer */
	int64_t until_ms; /* held back: nothing is tried before */
	char *why; /* what happened to the last of them; NULL */
};

/* One ended before its script began. node: where; NULL where that is not known or it had several. of_node: the reason may lie
 * with the node; a full disk does not. */
void unstarted_add_failure(struct unstarted *u, const char *node, bool of_node, const char *why, int64_t now_ms);
/* A script began. True: that ends a time in which the experiment was held back. */
bool unstarted_add_start(struct unstarted *u, const char *node, int64_t now_ms);
/* Is it held back, and until when is nothing tried? */
bool unstarted_is_held(const struct unstarted *u);
int64_t unstarted_held_until_ms(const struct unstarted *u);
/* Why its tasks wait, in words; NULL where it is not held back. The caller frees the text. */
char *unstarted_words(const struct unstarted *u);
/* "cpu2,cpu3": the nodes to leave out now; NULL: none. The caller frees the text. */
char *unstarted_excluded(const struct unstarted *u, int64_t now_ms);
/* Begins anew: what was wrong may have been put right. */
void unstarted_forget(struct unstarted *u);

#endif
