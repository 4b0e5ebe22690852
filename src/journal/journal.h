/* The journal: the append-only file in which the runner records what happens to an attempt. It is the only way in which
 * a node reports to the daemon. Readers remember a byte offset. A record is one line:
 *
 *     CRC32-of-the-JSON-in-8-hex-digits SPACE JSON NEWLINE
 *
 * A line that a crash cut short stays at the end until the next writer ends it with a newline. A reader takes only
 * whole lines, and skips and counts those with a wrong checksum. */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include "base/cause.h"
#include "base/cost.h"
#include "base/error.h"
#include "base/metric.h"
#include "base/sample.h"

#include <stdbool.h>
#include <stdint.h>

enum journal_kind {
	JOURNAL_START, /* the script is about to run */
	JOURNAL_METRIC, /* one row of metrics */
	JOURNAL_SAMPLE, /* resources used so far */
	JOURNAL_NOTE, /* a line for the timeline: signal received, checkpoint seen, … */
	JOURNAL_BEFORE, /* a file that may hold metrics and was there before the script started; path "": no more */
	JOURNAL_RAN, /* the file with this digest says what ran */
	JOURNAL_END, /* the script has ended */
	JOURNAL_UNKNOWN, /* a record of a newer version: skipped */
};

/* One record, for the writer and from the reader. The reader's texts are valid during the call. */
struct journal_record {
	enum journal_kind kind;
	int64_t time_ms; /* wall clock of the node */
	/* START */
	const char *host, *version, *gpus, *job;
	int64_t pid, pgid;
	uint64_t pid_start; /* proc_start_time of the runner */
	const char *boot_id;
	bool resume; /* earlier metrics stay */
	bool checkpoint; /* its checkpoint folder has files of an earlier attempt */
	int64_t beat_ms; /* the runner writes at least this often; 0: an older runner, which does not say */
	/* START, or a NOTE where it is known only later */
	bool renumbered; /* a note that rows have other steps than in the file that they come from */
	bool has_warm; /* false: nothing is said */
	bool warm; /* the script was started from a process that had its modules imported; false: cold */
	/* METRIC */
	int64_t step;
	const char *step_name; /* "epoch", "step", "row" */
	const char *source; /* where the row comes from: "csv:logs/train.csv"; NULL: nothing is known */
	bool earlier; /* the file was last written by an earlier attempt */
	bool has_epoch; /* the row has an epoch beside its step */
	double epoch;
	int64_t epochs; /* how many there will be, where that is new; 0 */
	const struct metric *metrics;
	size_t metric_count;
	/* SAMPLE, and the totals in END */
	struct cost cost;
	const struct sample *sample; /* what happens at the moment; NULL: an older runner, which does not say */
	/* NOTE */
	const char *text;
	const char *stall; /* it makes no progress: a word of model/stall.h, or STALL_OVER; NULL: any other note */
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
	enum cause cause; /* CAUSE_UNKNOWN: a word of a newer version */
	const char *message; /* for people: "exit code 1", "model.py: no such file" */
	const char *tail; /* last bytes of the error output */
};

/* It makes progress again. */
#define STALL_OVER "over"

struct journal_writer;

/* Opens path for appending (0600). Ends a line that was cut short. */
int journal_open(const char *path, struct journal_writer **ret, struct error *err) MUST_USE;
/* Appends one record with one write(2). -E2BIG: the record is too large, and is dropped. After any other failure (a
 * full disk) the writer keeps the record, or the rest of it. Do not append it again: the next append or journal_flush
 * writes it first. */
int journal_append(struct journal_writer *writer, const struct journal_record *record, struct error *err) MUST_USE;
/* Writes what an earlier failure left behind. 0 when nothing is left. */
int journal_flush(struct journal_writer *writer, struct error *err) MUST_USE;
/* fdatasync: after this the record survives the machine, and other hosts of a shared file system see it. */
int journal_sync(struct journal_writer *writer) MUST_USE;
int64_t journal_size(const struct journal_writer *writer);
/* Records that could not be written are lost: see journal_flush. */
void journal_close(struct journal_writer *writer);

/* Called for every good record in a chunk. A negative return stops the reading. */
typedef int (*journal_record_f)(void *ctx, const struct journal_record *record);

/* Reads whole lines out of a chunk. Returns the number of bytes used (0..len, up to and including a newline), or the
 * callback's negative value; *bad (may be NULL) is increased for every damaged line. A line longer than
 * LIMIT_JOURNAL_RECORD_BYTES counts as damaged; if its end is not in the chunk, its bytes are used anyway, so that a
 * reader never waits for it, and the rest of it counts as another damaged line. Empty lines are ignored. Pure. */
int64_t journal_read(const char *chunk, size_t len, journal_record_f record, void *ctx, unsigned *bad);

#endif
