/* The claim: it ensures that only one of several runners for one attempt runs it. */
#ifndef SPOOL_CLAIM_H
#define SPOOL_CLAIM_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* The process that holds a claim. Process numbers are reused; together with the start time and the boot id they
 * identify one process. */
struct spool_claim {
	char host[256], boot_id[64];
	int64_t pid, pid_start, time_ms;
};

/* Links BATCH_DIR/INDEX.claim to a private file that names this process. 0: it is ours; -EEXIST: another runner has it;
 * another negative errno with err. */
int spool_claim_take(const char *batch_dir, uint32_t index, struct error *err) MUST_USE;
/* Removes a claim that is ours. Only if nothing was started and nothing will be. */
void spool_claim_drop(const char *batch_dir, uint32_t index);
/* 1: a runner has claimed it; 0: none has, or the claim is not valid; a negative errno: it cannot be read now. */
int spool_claim_read(const char *batch_dir, uint32_t index, struct spool_claim *ret) MUST_USE;
/* 1: a runner has claimed it; 0: none has; a negative errno: the file system did not answer, so that is unknown. */
int spool_claim_look(const char *batch_dir, uint32_t index) MUST_USE;

#endif
