/* See unstarted.h. */
#include "engine/unstarted.h"

#include "base/buf.h"
#include "base/pace.h"

#include <inttypes.h>
#include <string.h>

static struct unstarted_node *unstarted_take_node(struct unstarted *u, const char *name)
{
	for (size_t i = 0; i < u->nodes.len; i++)
		if (strcmp(u->nodes.at[i].name, name) == 0)
			return &u->nodes.at[i];
	struct unstarted_node fresh = {.name = mem_strdup(name), .failed_ms = -1, .started_ms = -1};
	vec_push(&u->nodes, fresh);
	return &u->nodes.at[u->nodes.len - 1];
}

static int64_t unstarted_pause_ms(const struct unstarted *u)
{
	int64_t pause = UNSTARTED_HOLD_MS;
	for (int64_t i = 0; i < u->tries && pause < UNSTARTED_HOLD_MAX_MS; i++)
		pause *= 2;
	return pause < UNSTARTED_HOLD_MAX_MS ? pause : UNSTARTED_HOLD_MAX_MS;
}

/* What was on its way when the pause began says nothing new when it fails too. */
static void unstarted_hold(struct unstarted *u, int64_t now_ms)
{
	if (u->in_row < UNSTARTED_HOLD_COUNT || now_ms < u->until_ms)
		return;
	u->tries += u->in_row > UNSTARTED_HOLD_COUNT;
	u->until_ms = now_ms + unstarted_pause_ms(u);
}

void unstarted_add_failure(struct unstarted *u, const char *node, bool of_node, const char *why, int64_t now_ms)
{
	u->in_row++;
	unstarted_hold(u, now_ms);
	free(u->why);
	u->why = mem_strdup(why);
	if (!node)
		return;
	struct unstarted_node *n = unstarted_take_node(u, node);
	n->failed_ms = now_ms;
	n->failures += of_node;
}

bool unstarted_add_start(struct unstarted *u, const char *node, int64_t now_ms)
{
	bool held = unstarted_is_held(u);
	u->in_row = u->tries = u->until_ms = 0;
	free(u->why);
	u->why = NULL;
	if (node) {
		struct unstarted_node *n = unstarted_take_node(u, node);
		n->started_ms = now_ms;
		n->failures = 0;
	}
	return held;
}

bool unstarted_is_held(const struct unstarted *u)
{
	return u->in_row >= UNSTARTED_HOLD_COUNT;
}

int64_t unstarted_held_until_ms(const struct unstarted *u)
{
	return u->until_ms;
}

char *unstarted_words(const struct unstarted *u)
{
	int64_t minutes = unstarted_pause_ms(u) / 60000;
	if (!unstarted_is_held(u))
		return NULL;
	return mem_printf("held back: %" PRId64
			  " attempts in a row ended before their script began (the last: %s); one task is "
			  "tried after %" PRId64 " minute%s",
			  u->in_row, u->why ? u->why : "no reason is known", minutes, minutes == 1 ? "" : "s");
}

/* Does another node start tasks where this one does not? Else the reason lies elsewhere, and without this node there may
 * be none left. */
static bool unstarted_other_starts(const struct unstarted *u, const struct unstarted_node *node)
{
	for (size_t i = 0; i < u->nodes.len; i++) {
		const struct unstarted_node *other = &u->nodes.at[i];
		if (other != node && other->started_ms >= 0 && other->started_ms >= other->failed_ms)
			return true;
	}
	return false;
}

char *unstarted_excluded(const struct unstarted *u, int64_t now_ms)
{
	struct buf list = buf_make(BUF_UNLIMITED);
	for (size_t i = 0; i < u->nodes.len; i++) {
		const struct unstarted_node *n = &u->nodes.at[i];
		if (n->failures >= UNSTARTED_NODE_COUNT && now_ms - n->failed_ms < UNSTARTED_EXCLUDE_MS &&
		    unstarted_other_starts(u, n))
			buf_addf(&list, "%s%s", list.len ? "," : "", n->name);
	}
	if (!list.len) {
		buf_free(&list);
		return NULL;
	}
	return buf_take(&list);
}

void unstarted_forget(struct unstarted *u)
{
	for (size_t i = 0; i < u->nodes.len; i++)
		free(u->nodes.at[i].name);
	free(u->nodes.at);
	free(u->why);
	*u = (struct unstarted){0};
}
