/* What the files that read a space share. Everything that is wrong is reported with its place; reading goes on. */
#ifndef SPACE_PARSE_H
#define SPACE_PARSE_H

#include "space/space_hint.h"
#include "space/space_internal.h"

struct parse {
	struct space *space;
	struct problems *problems;
	const struct node **nodes; /* of each parameter */
	bool *bad;
	bool failed;
};

#define FAIL(p, ...) ((p)->failed = true, problem_add((p)->problems, __VA_ARGS__))

/* A parameter with one value. */
int space_parse_constant(struct parse *p, struct space_param *param, const struct node *node) MUST_USE;
/* A parameter with `min` and `max`. */
int space_parse_range(struct parse *p, struct space_param *param, const struct node *map) MUST_USE;
/* `scale` and `type` of a range; type is 0 (not given), 1 (int) or 2 (real). */
int space_parse_range_words(struct parse *p, const struct node *map, bool *ret_log, int *ret_type);
/* What to write instead of a word that is none of `words`. The caller frees it. */
char *space_word_remedy(const char *word, const char *const *words, const struct space_hint *hints);

#endif
