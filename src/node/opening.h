/* The first records of a journal, written before the script begins: START, the files that were there before it
 * (BEFORE), and notes about how it is started. */
#ifndef NODE_OPENING_H
#define NODE_OPENING_H

#include "node/follow.h"
#include "node/recorder.h"
#include "spool/descriptor.h"
#include "spool/slot.h"

#include <sys/types.h>

struct opening {
	const struct spool_descriptor *d;
	const struct spool_slot *slot;
	const char *memory; /* how its limit is kept; NULL: it has none */
	const char *gpus; /* that sluice assigned; NULL: none */
	pid_t pid; /* of the script, which waits */
	struct follow *follow;
	const char *notes; /* one a line */
	bool cold; /* no process was asked to start it warm */
	bool ended_earlier; /* processes of an earlier attempt were ended */
};

/* Returns when START and every BEFORE record are in the journal. It waits for room on the disk where there is none. */
void opening_write(const struct opening *o, struct recorder *recorder);

#endif
