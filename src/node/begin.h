/* Takes an attempt: the claim, the descriptor, the folder of the attempt and its journal. */
#ifndef NODE_BEGIN_H
#define NODE_BEGIN_H

#include "node/recorder.h"
#include "node/room.h"
#include "spool/descriptor.h"

/* Waits, as room_wait does, for what may pass. 0: the attempt is ours, d is read and the journal is open. A negative
 * errno: nothing was begun, and another runner may begin it; -EEXIST: another runner has it; -ESRCH: it is over, and its
 * files are gone. Any other was logged. */
int begin_attempt(const char *batch_dir, uint32_t index, struct room *room, struct spool_descriptor *d,
		  struct recorder *recorder) MUST_USE;

#endif
