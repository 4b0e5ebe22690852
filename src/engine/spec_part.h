/* Small readers for parts of the experiment file. Each takes a node, adds what is wrong with it to problems, and
 * returns a value that is safe to continue with. */
#ifndef ENGINE_SPEC_PART_H
#define ENGINE_SPEC_PART_H

#include "engine/spec.h"
#include "space/space_hint.h"

/* The caller frees the texts; NULL after a problem. */
char *spec_part_text(const struct node *node, size_t max, struct problems *problems);
/* A text, number or truth value, as its text. */
char *spec_part_scalar(const struct node *node, size_t max, struct problems *problems);
/* A list of scalars, NULL-terminated; never NULL. */
char **spec_part_texts(const struct node *node, const char *example, struct problems *problems);
int64_t spec_part_int(const struct node *node, int64_t min, int64_t max, int64_t fallback, struct problems *problems);
/* Index of one of the words (NULL-terminated); 0 after a problem. */
int spec_part_word(const struct node *node, const char *const *words, struct problems *problems);
int64_t spec_part_duration(const struct node *node, struct problems *problems);
int64_t spec_part_bytes(const struct node *node, struct problems *problems);
/* Is it a map, with known keys only? known NULL: any. False after a problem with the type. */
bool spec_part_map(const struct node *node, const char *const *known, struct problems *problems);
/* The same, with hints for keys that users know from other programs; NULL: no hints. */
bool spec_part_map_hinted(const struct node *node, const char *const *known, const struct space_hint *hints,
			  struct problems *problems);
/* Adds a problem for an unknown key, with what to write instead: a hint, or the most similar known key. */
void spec_part_unknown(const struct node *node, const char *const *known, const struct space_hint *hints,
		       struct problems *problems);

/* Whole sections. */
void spec_part_resources(struct spec *spec, const struct node *node, struct problems *problems);
void spec_part_checkpoint(struct spec *spec, const struct node *node, struct problems *problems);

#endif
