/* `name=value` arguments as members of a map, and requests made of such maps. */
#ifndef CLI_PAIRS_H
#define CLI_PAIRS_H

#include "base/node.h"
#include "cli/verbs.h"

enum pairs_kind {
	PAIRS_VALUES, /* as in an experiment: "1,2,3" a list, "0..1" a range, else a scalar */
	PAIRS_SCALAR, /* one value, typed as in YAML */
	PAIRS_NUMBER, /* a number, NaN and infinities among them */
};

/* Adds one argument to the map. -EINVAL with the argument in the message. */
int pairs_add(struct node *map, const char *text, enum pairs_kind kind, struct error *err) MUST_USE;
/* Every argument from the index `first` on. */
int pairs_add_all(struct node *map, const struct options *options, size_t first, enum pairs_kind kind,
		  struct error *err) MUST_USE;
/* POSTs the body to the target's path followed by `rest`. 0 and the answer (which may be NULL: 204), or a negative
 * errno; every error that the daemon lists is in the message. */
int pairs_post(struct client *client, const struct target *target, const char *rest, const struct node *body,
	       struct node **ret, struct error *err) MUST_USE;
/* Prints the answer as one line of JSON. */
void pairs_print_json(const struct node *answer);

#endif
