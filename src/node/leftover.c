/* See leftover.h. The kernel lists children in /proc/PID/task/TID/children, each with the thread that started it; those
 * that it gave to a subreaper are with the first thread. */
#include "node/leftover.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/num.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LEFTOVER_LIST_BYTES (1u << 20)

static bool leftover_signal_children(pid_t helper, int signal)
{
	char path[64];
	struct buf list = buf_make(LEFTOVER_LIST_BYTES);
	bool any = false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
	if (fs_read(path, LEFTOVER_LIST_BYTES, &list, NULL) == 0) {
		const char *at = buf_text(&list);
		for (size_t len; (len = strcspn(at, " ")); at += len + strspn(at + len, " ")) {
			uint64_t pid;
			if (num_parse_unsigned(at, len, INT32_MAX, &pid) == 0 && pid > 1 && (pid_t)pid != helper)
				any |= kill((pid_t)pid, signal) == 0;
		}
	}
	buf_free(&list);
	return any;
}

bool leftover_signal(pid_t group, pid_t helper, int signal)
{
	bool any = kill(-group, signal) == 0;
	return leftover_signal_children(helper, signal) || any;
}
