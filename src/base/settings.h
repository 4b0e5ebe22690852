/* The user's settings: STATE/settings.yaml. */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include "base/error.h"
#include "base/node.h"

/* The document; the caller frees it. No such file: *ret is NULL, and 0. A negative errno with a text that names the file. */
int settings_read(const char *state_dir, struct node **ret, struct error *err) MUST_USE;

/* -EINVAL if `map` (the section `name`, "" for the whole document, or NULL) has a key that is not in `known`, a list that
 * ends with NULL. The text names the key and the nearest known one. */
int settings_check_keys(const struct node *map, const char *name, const char *const *known, struct error *err) MUST_USE;

#endif
