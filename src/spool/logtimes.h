/* When the lines of an output were written. The script writes its output itself, so the runner looks how long the two
 * files are, about once a second while they grow, and keeps that in the file `logtimes` of the attempt. A record has 42
 * bytes, so that the daemon finds a place in the file without reading it all. */
#ifndef SPOOL_LOGTIMES_H
#define SPOOL_LOGTIMES_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* The writer, in the runner. */
struct logtimes {
	const char *attempt_dir;
	int64_t started_ms, next_ms, next_write_ms; /* monotonic */
	int64_t bytes[2]; /* of stdout and stderr at the last look */
	struct buf unwritten;
};

/* `attempt_dir` must live as long. */
void logtimes_begin(struct logtimes *times, const char *attempt_dir, int64_t now_ms);
/* Call it often. The distance of two records grows with the running time, so the file of a task that runs for a week
 * stays below 1 MB. */
void logtimes_poll(struct logtimes *times, int64_t now_ms, int64_t wall_ms);
/* The script has ended. One that ended within LOGTIMES_LOOK_MS has no file: its lines are as old as its end. */
void logtimes_end(struct logtimes *times, int64_t wall_ms);

/* `time_ms` (of the node's clock): the output had so many bytes. */
typedef void (*logtimes_f)(void *ctx, int64_t bytes, int64_t time_ms);
/* Calls `each` for the records that say when the bytes from `from` to `to` of stdout or stderr were written, in their
 * order: the first has more than `from`, the last has `to` or more unless no record has. */
void logtimes_read(const char *attempt_dir, bool is_error, int64_t from, int64_t to, logtimes_f each, void *ctx);

#endif
