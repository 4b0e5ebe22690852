/* See leftover.h. The kernel lists children in /proc/PID/task/TID/children, each with the thread that started it; those
 * that it gave to a subreaper are with the first thread. */
#include "node/leftover.h"

#include "base/buf.h"
#include "base/fs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LEFTOVER_LIST_BYTES (1u << 20)

static bool leftover_signal_children(int signal)
{
	char path[64];
	struct buf list = buf_make(LEFTOVER_LIST_BYTES);
	bool any = false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
	if (fs_read(path, LEFTOVER_LIST_BYTES, &list, NULL) == 0) {
		char *at = list.len ? list.data : NULL, *end = NULL;
		for (long pid; at && (pid = strtol(at, &end, 10)) > 1 && end != at; at = end)
			any |= kill((pid_t)pid, signal) == 0;
	}
	buf_free(&list);
	return any;
}

bool leftover_signal(pid_t group, int signal)
{
	bool any = kill(-group, signal) == 0;
	return leftover_signal_children(signal) || any;
}
