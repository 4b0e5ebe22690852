/* The claim: of any number of runners for one item exactly one goes on. */
#ifndef NODE_CLAIM_H
#define NODE_CLAIM_H

#include "base/error.h"

#include <stdint.h>

/* Links BATCH_DIR/INDEX.claim to a private file that says who we are. 0: it is ours; -EEXIST: somebody
 * else has it; another negative errno with err. */
int claim_take(const char *batch_dir, uint64_t index, struct error *err) MUST_USE;

#endif
