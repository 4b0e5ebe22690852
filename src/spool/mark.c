/* See mark.h. Environments of other users' processes cannot be read, but those are not our processes. */
#include "spool/mark.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/num.h"
#include "base/pace.h"
#include "spool/paths.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Larger environments are cut: ours comes early enough in any that people have. */
#define MARK_ENVIRON_BYTES (1u << 20)
#define MARK_SIZE_BYTES 300
/* The most looks for what is left. */
#define MARK_LOOKS_MOST 10

enum mark_owner { MARK_OTHER, MARK_OURS, MARK_NOT_KNOWN };

/* Does a process have this line in its environment? One that is just becoming another program has memory and no environment
 * yet. */
static enum mark_owner mark_owner_of(const char *pid, const char *variable)
{
	char path[64];
	struct buf text = buf_make(MARK_ENVIRON_BYTES), size = buf_make(MARK_SIZE_BYTES);
	enum mark_owner owner = MARK_OTHER;
	snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	int rc = fs_read(path, MARK_ENVIRON_BYTES, &text, NULL);
	rc = rc == -E2BIG ? 0 : rc;
	for (size_t at = 0; rc == 0 && at < text.len && owner == MARK_OTHER; at += strlen(text.data + at) + 1)
		owner = strcmp(text.data + at, variable) == 0 ? MARK_OURS : MARK_OTHER;
	snprintf(path, sizeof(path), "/proc/%.20s/statm", pid);
	if (rc == 0 && !text.len && fs_read(path, MARK_SIZE_BYTES, &size, NULL) == 0 && buf_text(&size)[0] > '0')
		owner = MARK_NOT_KNOWN;
	buf_free(&text);
	buf_free(&size);
	return owner;
}

/* One look at all processes. True when another one is due: what was killed may have started something meanwhile. */
static bool mark_look(const char *variable, int signal, size_t *found)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	uint64_t pid;
	bool again = false;
	while (dir && (entry = readdir(dir))) {
		if (num_parse_unsigned(entry->d_name, strlen(entry->d_name), INT32_MAX, &pid) < 0 || pid <= 1 ||
		    (pid_t)pid == getpid() || (pid_t)pid == getppid())
			continue;
		enum mark_owner owner = mark_owner_of(entry->d_name, variable);
		if (owner == MARK_OURS && kill((pid_t)pid, signal) == 0)
			++*found;
		again |= owner != MARK_OTHER;
	}
	if (dir)
		closedir(dir);
	return again;
}

/* How many were found at the first look that found any. */
static size_t mark_kill(const char *variable)
{
	size_t found = 0;
	for (int i = 0; i < MARK_LOOKS_MOST; i++) {
		size_t now = 0;
		if (!mark_look(variable, SIGKILL, &now))
			break;
		found = found ? found : now;
		usleep(TRACE_LOOK_US);
	}
	return found;
}

static char *mark_of_attempt(const char *attempt_dir)
{
	char *path = spool_path(attempt_dir, SPOOL_REPORT), *variable = mem_printf("SLUICE_REPORT=%s", path);
	free(path);
	return variable;
}

void spool_mark_kill_attempt(const char *attempt_dir)
{
	char *variable = mark_of_attempt(attempt_dir);
	mark_kill(variable);
	free(variable);
}

size_t spool_mark_kill_task(const char *task_dir)
{
	char *variable = mem_printf("SLUICE_TASK_DIR=%s", task_dir);
	size_t found = mark_kill(variable);
	free(variable);
	return found;
}

bool spool_mark_lives(const char *attempt_dir)
{
	char *variable = mark_of_attempt(attempt_dir);
	size_t found = 0;
	mark_look(variable, 0, &found);
	free(variable);
	return found > 0;
}
