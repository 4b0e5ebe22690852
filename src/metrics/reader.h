/* Shared by the readers of this folder. A file is split into records (lines, or lines joined by an open quote). A
 * format parses one record, and the numbers in it become a row. A format without lines reads the bytes as they come
 * (`feed`). */
#ifndef METRICS_READER_H
#define METRICS_READER_H

#include "base/buf.h"
#include "metrics/metrics.h"
#include "metrics/part.h"
#include "metrics/step.h"

struct metrics_ops {
	bool quotes; /* a newline between double quotes does not end a record */
	/* Parses one record, passes its numbers to metrics_add, then calls metrics_give. */
	void (*record)(struct metrics_reader *reader, const char *text, size_t len);
	/* Instead of `record`: reads bytes in pieces of any size. It keeps incomplete data in reader->record or in its
	 * own struct. The rows must not depend on how the bytes are split. */
	void (*feed)(struct metrics_reader *reader, const char *data, size_t len);
	void (*finish)(struct metrics_reader *reader); /* the file has ended; may be NULL */
	/* The file was replaced. Also called before freeing if `free` is NULL. May be NULL. */
	void (*restart)(struct metrics_reader *reader);
	/* As metrics_resume, metrics_join, metrics_want and metrics_free say; may be NULL. */
	void (*resume)(struct metrics_reader *reader);
	void (*join)(struct metrics_reader *reader, const char *prefix, struct metrics_reader *other);
	void (*want)(struct metrics_reader *reader, const char *const *names, size_t count);
	void (*free)(struct metrics_reader *reader);
};

struct metrics_reader {
	const struct metrics_ops *ops;
	metrics_row_f row;
	void *ctx;
	/* The record being collected. */
	struct buf record;
	bool in_quotes, skipping, unquoted; /* unquoted: quotes are characters like any other */
	uint64_t line, record_line;
	/* The row being collected. */
	VEC(struct metric) cells;
	bool whole; /* it is the first object of its file, and may be all of it */
	int64_t epochs; /* as in a row; stays until it is set again */
	struct metrics_step step;
	struct metrics_parts parts;
	/* What was wrong. */
	char complaint[200];
	unsigned complaints;
	char remarks[METRICS_REMARKS][200]; /* by why something is shown otherwise than its file has it; "": none */
};

/* `size` bytes that begin with a struct metrics_reader. */
void *metrics_reader_new(size_t size, const struct metrics_ops *ops, metrics_row_f row, void *ctx);
/* A name as it is kept: valid UTF-8, no control characters, no space around it, at most
 * LIMIT_METRIC_NAME_BYTES. The caller frees it. */
char *metrics_clean_name(const char *name, size_t len);
/* Adds a number to the row. The name must stay until metrics_give. */
void metrics_add(struct metrics_reader *reader, const char *name, double value);
/* The same, and remarks that the value is not the text that stands for it in the file. */
void metrics_add_text(struct metrics_reader *reader, const char *name, double value, const char *text, size_t len);
/* Gives the collected numbers as one row, and forgets them. Does nothing if there are none. */
void metrics_give(struct metrics_reader *reader);
/* The same for a format whose rows have their own steps and times: the step is used unchanged. Columns that count
 * (epoch, …) are metrics like others. */
void metrics_give_at(struct metrics_reader *reader, int64_t step, const char *step_name, int64_t time_ms);
/* Remarks besides those about steps (enum step_moved). */
enum metrics_remark {
	METRICS_REMARK_ROUNDED = STEP_MOVED_KINDS, /* a number is not exact */
	METRICS_REMARK_RUNS, /* several trainings in one file */
	METRICS_REMARK_TWICE, /* a name stands twice in one row */
	METRICS_REMARK_LEFT, /* what should be a number is none */
	METRICS_REMARK_EARLY, /* a value may be of the epoch that is printed behind it */
	METRICS_REMARK_KINDS
};
/* The first remark of each kind is kept. */
void metrics_remark(struct metrics_reader *reader, unsigned kind, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Remarks that curves of several trainings are in one file: `name` is that of `first` alone, and `shown` is that of
 * `other` ("fold 2"). */
void metrics_remark_runs(struct metrics_reader *reader, const char *first, const char *other, const char *name,
			 const char *shown);
void metrics_complain(struct metrics_reader *reader, const char *fmt, ...) PRINTF_LIKE(2, 3);

struct metrics_reader *metrics_csv_open(metrics_row_f row, void *ctx);
bool metrics_csv_begins(const char *head, size_t len);
struct metrics_reader *metrics_jsonl_open(metrics_row_f row, void *ctx);
bool metrics_jsonl_begins(const char *head, size_t len);
struct metrics_reader *metrics_document_open(metrics_row_f row, void *ctx);
struct metrics_reader *metrics_tfevents_open(metrics_row_f row, void *ctx);
struct metrics_reader *metrics_printed_open(metrics_row_f row, void *ctx);
bool metrics_tfevents_begins(const char *head, size_t len);

#endif
