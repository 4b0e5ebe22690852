/* Finds runners by their traces on disk and in the process table. So a restarted daemon finds what an earlier one
 * started. */
#ifndef BACKEND_LOCAL_TRACE_H
#define BACKEND_LOCAL_TRACE_H

#include "backend/backend.h"

#include <sys/types.h>

enum local_trace_state {
	LOCAL_TRACE_NONE, /* no runner has claimed it */
	LOCAL_TRACE_UNKNOWN, /* its claim cannot be read now (EIO, EMFILE, ESTALE, …) */
	LOCAL_TRACE_ALIVE, /* its runner lives: pid */
	LOCAL_TRACE_GONE, /* its runner is dead, on this machine since this boot */
	LOCAL_TRACE_REBOOT, /* this machine was restarted since */
	LOCAL_TRACE_ELSEWHERE, /* claimed on another machine, and its journal still grows */
	LOCAL_TRACE_SILENT, /* claimed on another machine, and its journal has not grown for long */
};

struct local_trace {
	enum local_trace_state state;
	pid_t pid;
	bool earlier; /* GONE: it was started before this process, by an earlier daemon */
};

/* Reads the claim of an item. silent_ms: for how long its journal has not grown. Harmless. */
void local_trace_read(const char *batch_dir, uint32_t index, int64_t silent_ms, struct local_trace *ret);

/* The last line of the runner's own output (INDEX.out); NULL if there is none. The caller frees it. */
char *local_last_words(const char *batch_dir, uint32_t index);

#endif
