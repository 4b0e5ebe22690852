/* Measures what the script and all its processes use, from /proc and from the kernel's figures for ended children. */
#ifndef NODE_USAGE_H
#define NODE_USAGE_H

#include "base/cost.h"
#include "base/mem.h"
#include "base/sample.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum usage_count {
	USAGE_FAULTS, /* pages that were touched for the first time */
	USAGE_READ, /* bytes from storage */
	USAGE_WRITE, /* and to it */
	USAGE_CALLS, /* to read and write anything */
	USAGE_COUNTS
};

struct usage_process {
	uint64_t pid, parent, started, threads;
	uint64_t own_ticks; /* of the process itself */
	uint64_t ticks; /* with the children that it waited for */
	uint64_t pages;
	uint64_t counts[USAGE_COUNTS]; /* with the children that it waited for; 0 where the kernel does not say */
	uint64_t gone
		[USAGE_COUNTS]; /* of them what was counted while they lived: those that are gone since the last look */
	char state;
	bool ours, knows_io;
};
typedef VEC(struct usage_process) usage_processes;

/* What was seen the last time, for the rates. A zeroed struct has seen nothing. */
struct usage {
	pid_t helper; /* a child of the runner that is not the script's; 0: none */
	pid_t looker; /* reads the stack of the script (stack.h), and is not part of it; 0 */
	pid_t adopted; /* the script, where it is not a child of the runner (warm.h); 0: it is */
	double helper_ms; /* CPU time of helpers that have ended: the kernel counts them as children too */
	int64_t helper_kib, ended_kib; /* peak of an ended helper, and of the other ended children */
	usage_processes seen; /* processes of the script, by pid */
	int64_t seen_ms; /* monotonic; 0: never */
	double cpu_ms;
	double looked_bytes; /* the sum of resident memory when shared pages were divided */
	int64_t looked_ms; /* when that was, monotonic */
	double look_cpu_ms; /* what it took */
	double looking_ms; /* of that in the newest sample */
};

/* Looks at every living descendant of this process. Sets FIGURE_CPU, raises FIGURE_MEMORY, which is the largest of: the
 * peak of any single ended process, and what all living processes had together whenever it was looked at (shared pages
 * count once, as far as the kernel says so), and adds to FIGURE_READ and FIGURE_WRITE. Fills in the figures of the host in
 * `sample`; rates need a second look. */
void usage_sample(struct usage *usage, int64_t now_ms, struct cost *cost, struct sample *sample);
/* Was this process one of the script's when it was looked at? */
bool usage_has(const struct usage *usage, int64_t pid);
void usage_free(struct usage *usage);
/* The memory that all living processes of the script use together. Only if the sum of their resident memory is above
 * `limit_bytes`, shared pages are divided among them, which is slower. */
double usage_memory_bytes(const struct usage *usage, double limit_bytes);
/* A child was waited for. */
void usage_ended(struct usage *usage, bool helper, const struct rusage *used);
/* What an ended process that was not waited for yet has read and written since the last look, with the children that it
 * waited for: added to FIGURE_READ and FIGURE_WRITE. Nothing where the kernel does not say. */
void usage_read_ended(const struct usage *usage, pid_t pid, struct cost *cost);
/* The same of a process that another one waited for, which knows these totals. */
struct usage_traffic {
	uint64_t read_bytes, write_bytes;
};
void usage_take_ended(const struct usage *usage, int64_t pid, struct usage_traffic used, struct cost *cost);
/* Counts only ended children: exact once all have ended and were waited for. */
void usage_final(const struct usage *usage, struct cost *cost);

#endif
