/* The journal: the append-only file in which an attempt tells its story, and the only way news comes
 * back from a node. It is replicated by byte offset. A record is one line:
 *
 *     CRC32-of-the-JSON-in-8-hex-digits SPACE JSON NEWLINE
 *
 * A line that is cut short by a crash stays at the end until the next writer closes it with a
 * newline; a reader takes whole lines only and skips (and counts) the ones whose sum is wrong. */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include "base/cause.h"
#include "base/cost.h"
#include "base/error.h"
#include "base/metric.h"

#include <stdbool.h>
#include <stdint.h>

enum journal_kind {
	JOURNAL_START, /* the script is about to run */
	JOURNAL_METRIC, /* one row of metrics */
	JOURNAL_SAMPLE, /* resources used so far */
	JOURNAL_NOTE, /* a line for the timeline: signal received, checkpoint seen, … */
	JOURNAL_BEFORE, /* a file that may hold metrics and was there before the script started */
	JOURNAL_RAN, /* what ran is told in a file of this digest */
	JOURNAL_END, /* the script has ended */
	JOURNAL_UNKNOWN, /* a newer writer's record: skipped */
};

/* One record, as the writer takes it and as the reader gives it (texts valid during the call). */
struct journal_record {
	enum journal_kind kind;
	int64_t time_ms; /* wall clock of the node */
	/* START */
	const char *host, *version, *gpus, *job;
	int64_t pid, pgid;
	uint64_t pid_start; /* proc_start_time of the runner */
	const char *boot_id;
	bool resume; /* earlier metrics stay */
	bool checkpoint; /* something of an earlier attempt is in its checkpoint folder */
	int64_t beat_ms; /* from here on something is written at least this often; 0: an older runner, which does not say */
	/* METRIC */
	int64_t step;
	const char *step_name; /* "epoch", "step", "row" */
	const char *source; /* where the row comes from: "csv:logs/train.csv"; NULL: nothing is known */
	bool earlier; /* the file was last written by an earlier attempt */
	bool has_epoch; /* the row has an epoch beside its step */
	double epoch;
	const struct metric *metrics;
	size_t metric_count;
	/* SAMPLE, and the totals in END */
	struct cost cost;
	/* NOTE */
	const char *text;
	/* BEFORE */
	const char *path; /* relative to the work folder */
	int64_t size, mtime_ns;
	uint64_t inode;
	int64_t sum; /* of its last bytes; -1: not known */
	/* RAN */
	const char *digest;
	/* END */
	int exit_code; /* -1 when a signal ended it */
	int signal; /* 0 */
	enum cause cause; /* CAUSE_UNKNOWN: a word of a newer writer */
	const char *message; /* for people: "exit code 1", "model.py: no such file" */
	const char *tail; /* last bytes of the error output */
};

struct journal_writer;

/* Opens path for appending (0600), closing a line that was cut short. */
int journal_open(const char *path, struct journal_writer **ret, struct error *err) MUST_USE;
/* Appends one record with one write(2). -E2BIG: the record is larger than a record may be, and is not
 * taken. Any other failure (a full disk) leaves the record, or the rest of it, with the writer: it must
 * not be appended again, and goes out first with the next append or journal_flush. */
int journal_append(struct journal_writer *writer, const struct journal_record *record, struct error *err) MUST_USE;
/* Writes what an earlier failure left behind. 0 when nothing is left. */
int journal_flush(struct journal_writer *writer, struct error *err) MUST_USE;
/* fdatasync: after this the record survives the machine, and other hosts of a shared file system see it. */
int journal_sync(struct journal_writer *writer) MUST_USE;
int64_t journal_size(const struct journal_writer *writer);
/* What could not be written is lost: see journal_flush. */
void journal_close(struct journal_writer *writer);

/* Called for every good record in a chunk. A negative return stops the reading. */
typedef int (*journal_record_f)(void *ctx, const struct journal_record *record);

/* Reads whole lines out of a chunk. Returns the number of bytes used (0..len, up to and including a
 * newline), or the callback's negative value; *bad (may be NULL) is increased for every damaged line. A
 * line longer than LIMIT_JOURNAL_RECORD_BYTES counts as damaged; where its end is not in sight its
 * bytes are used up all the same, so that a reader never waits for it, and what is left of it counts
 * as another damaged line. An empty line is nothing. Pure. */
int64_t journal_read(const char *chunk, size_t len, journal_record_f record, void *ctx, unsigned *bad);

#endif
