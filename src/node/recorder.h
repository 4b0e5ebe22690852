/* The journal of an attempt as its runner writes it. A record that cannot be written now (a full disk) is kept and written
 * later. On a network file system the file is synced, because other hosts see only what was synced. */
#ifndef NODE_RECORDER_H
#define NODE_RECORDER_H

#include "journal/journal.h"
#include "metrics/metrics.h"

struct recorder {
	struct journal_writer *journal;
	bool shared; /* the journal is on a file system that other hosts read */
	bool unsynced; /* something was written since the last sync */
	bool blocked; /* a record waits to be written */
	int had_to_wait; /* negative errno: why the last one that had to wait could not be written; 0: none had to */
	int64_t next_sync_ms; /* monotonic */
	uint64_t rows; /* of metrics so far, of this attempt */
	int64_t epochs; /* how many there will be, as last told; 0: not known */
};

/* Opens the journal in the attempt's folder. On failure the recorder is unchanged. */
int recorder_open(struct recorder *recorder, const char *attempt_dir, struct error *err) MUST_USE;
void recorder_close(struct recorder *recorder);

/* Adds the time where the record has none. A failure is logged; the record is kept unless it is too large. */
void recorder_append(struct recorder *recorder, struct journal_record *record);
/* A line for the timeline. `ctx` is the recorder. */
void recorder_note(void *ctx, const char *text);
/* The same, about rows that have other steps than in their file. */
void recorder_note_renumbered(void *ctx, const char *text);
/* A line for the timeline where a record had to wait for room: the script may have met the same, and many programs do not
 * look whether their output was written. */
void recorder_note_wait(struct recorder *recorder);
/* How the script was started, as a line for the timeline: warm, by the process that had imported the modules, or cold. */
void recorder_note_warm(struct recorder *recorder, bool warm, const char *modules);
/* A row of metrics. `ctx` is the recorder. */
void recorder_row_cb(void *ctx, const struct metrics_row *row);
/* Does a record wait to be written? `ctx` is the recorder. */
bool recorder_is_blocked(void *ctx);

/* Tries once to write what waits. */
void recorder_flush(struct recorder *recorder);
/* Returns when everything is written and synced, however long that takes. */
void recorder_settle(struct recorder *recorder);
/* Syncs if it is time to. */
void recorder_sync_due(struct recorder *recorder, int64_t now_ms);

#endif
