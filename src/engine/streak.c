/* See streak.h. */
#include "engine/streak.h"

#include "base/buf.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

/* "lr 0.1 is too large" and "lr 1e-3 is too large" are of a kind, as are two paths that differ in a task's number. */
static char *streak_kind(const char *words)
{
	struct buf kind = buf_make(BUF_UNLIMITED);
	while (*words) {
		if (isdigit((unsigned char)*words)) {
			buf_add_char(&kind, '#');
			words += strspn(words, "0123456789.eE+-");
		} else {
			buf_add_char(&kind, *words++);
		}
	}
	return buf_take(&kind);
}

int64_t streak_add_failure(struct streak *streak, const char *words)
{
	char *kind = streak_kind(words);
	if (!streak->kind || strcmp(kind, streak->kind) != 0)
		streak->count = 0;
	free(streak->kind);
	streak->kind = kind;
	return ++streak->count;
}

void streak_forget(struct streak *streak)
{
	free(streak->kind);
	*streak = (struct streak){0};
}

bool streak_is_enough(const struct streak *streak, int64_t asked, bool any_success)
{
	int64_t enough = asked >= 0 ? asked : any_success ? STREAK_LATER : STREAK_FIRST;
	return enough > 0 && streak->count >= enough;
}
