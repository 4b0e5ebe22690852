/* Hints for words that users know from other programs. There is one table per place in the file. It is used before the
 * most similar known word is suggested. */
#ifndef SPACE_SPACE_HINT_H
#define SPACE_SPACE_HINT_H

#include <stdbool.h>

struct space_hint {
	const char *word, *remedy; /* NULL: the end */
};

/* Keys of a parameter, and words under its `type` (or W&B's `distribution`) and `scale`. */
extern const struct space_hint space_key_hints[], space_type_hints[], space_scale_hints[];

/* What to write instead, or NULL. hints may be NULL. */
const char *space_find_hint(const struct space_hint *hints, const char *word);

/* True if the command line and the form would read this text as several values: "64,32" or "1..9:log". In a file it is
 * a single text. */
bool space_looks_like_values(const char *text);

#endif
