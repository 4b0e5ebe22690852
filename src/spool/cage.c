/* See cage.h. */
#include "spool/cage.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/text.h"
#include "spool/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAGE_NAME "sluice-"

/* Files of a control group are there already and take one write. */
static int cage_write(const char *folder, const char *name, const char *text)
{
	char *path = mem_printf("%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

static bool cage_has_word(const char *folder, const char *name, const char *word)
{
	char *path = mem_printf("%s/%s", folder, name);
	struct buf text = buf_make(LIMIT_CGROUP_BYTES);
	bool found = false;
	if (fs_read(path, LIMIT_CGROUP_BYTES, &text, NULL) == 0)
		for (const char *at = buf_text(&text); *at && !found;) {
			size_t len = strcspn(at, " \n");
			found = len == strlen(word) && strncmp(at, word, len) == 0;
			at += len + (at[len] != 0);
		}
	buf_free(&text);
	free(path);
	return found;
}

/* The folder in which groups can be made, from the texts of /proc/self/cgroup and /proc/self/mountinfo. Version 1: the
 * group of this process. Version 2: the one above it, since a group with processes cannot give its memory to groups below,
 * unless that is a slice of systemd, which is not ours. NULL: not mounted. The caller frees it. Pure. */
static char *cage_parse(const char *groups, const char *mounts, bool *ret_v2)
{
	size_t below;
	char *own = cgroup_find(groups, mounts, ret_v2, &below);
	if (!own || !*ret_v2 || !below)
		return own;
	*strrchr(own, '/') = 0;
	/* The place of the mount itself has no slice above it that could be seen. */
	if (below > 1 && text_ends(own, ".slice")) {
		free(own);
		return NULL;
	}
	return own;
}

static char *cage_find_own(bool *ret_v2, bool own)
{
	struct buf groups = buf_make(LIMIT_CGROUP_BYTES), mounts = buf_make(LIMIT_MOUNTINFO_BYTES);
	char *found = NULL;
	size_t below;
	if (fs_read("/proc/self/cgroup", LIMIT_CGROUP_BYTES, &groups, NULL) == 0 &&
	    fs_read("/proc/self/mountinfo", LIMIT_MOUNTINFO_BYTES, &mounts, NULL) == 0)
		found = own ? cgroup_find(buf_text(&groups), buf_text(&mounts), ret_v2, &below)
			    : cage_parse(buf_text(&groups), buf_text(&mounts), ret_v2);
	buf_free(&groups);
	buf_free(&mounts);
	return found;
}

/* The folder for groups of tasks, where they can be limited; NULL. */
static char *cage_find_parent(bool *ret_v2)
{
	char *parent = cage_find_own(ret_v2, false);
	bool fits = parent && access(parent, W_OK) == 0;
	if (fits && *ret_v2 && !cage_has_word(parent, "cgroup.subtree_control", "memory"))
		fits = cage_has_word(parent, "cgroup.controllers", "memory") &&
			cage_write(parent, "cgroup.subtree_control", "+memory") == 0;
	if (fits)
		return parent;
	free(parent);
	return NULL;
}

/* Those of runners that were killed: they are empty, or rmdir(2) refuses. */
static void cage_sweep(const char *parent)
{
	DIR *dir = opendir(parent);
	struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		uint64_t pid;
		const char *number = entry->d_name + strlen(CAGE_NAME);
		if (text_starts(entry->d_name, CAGE_NAME) &&
		    num_parse_unsigned(number, strlen(number), INT32_MAX, &pid) == 0 && kill((pid_t)pid, 0) < 0 &&
		    errno == ESRCH)
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

static int cage_limit(const struct cage *cage, int64_t bytes)
{
	char text[NUM_INT_CHARS];
	num_format_int(bytes, text);
	if (cage->v2) {
		/* Swap would make the limit a slow one; the script ends as a whole, as it does where it is watched. */
		(void)!cage_write(cage->folder, "memory.swap.max", "0");
		(void)!cage_write(cage->folder, "memory.oom.group", "1");
		return cage_write(cage->folder, "memory.max", text);
	}
	int rc = cage_write(cage->folder, "memory.limit_in_bytes", text);
	if (rc == 0)
		(void)!cage_write(cage->folder, "memory.memsw.limit_in_bytes", text);
	return rc;
}

bool cage_make(int64_t bytes, struct cage *ret)
{
	*ret = (struct cage){0};
	char *parent = cage_find_parent(&ret->v2);
	if (!parent)
		return false;
	cage_sweep(parent);
	ret->folder = mem_printf("%s/" CAGE_NAME "%d", parent, (int)getpid());
	free(parent);
	if ((mkdir(ret->folder, 0755) < 0 && errno != EEXIST) || cage_limit(ret, bytes) < 0) {
		cage_remove(ret);
		return false;
	}
	return true;
}

bool cage_is_available(void)
{
	struct cage cage;
	bool made = cage_make((int64_t)1 << 40, &cage);
	cage_remove(&cage);
	return made;
}

int cage_enter(const struct cage *cage, pid_t pid)
{
	char text[NUM_INT_CHARS];
	num_format_int(pid, text);
	return cage_write(cage->folder, "cgroup.procs", text);
}

int64_t cage_kills(const struct cage *cage)
{
	return cgroup_read_kills(cage->folder, cage->v2);
}

void cage_remove(struct cage *cage)
{
	if (cage->folder)
		rmdir(cage->folder);
	free(cage->folder);
	*cage = (struct cage){0};
}

void cage_make_room(void)
{
	bool v2 = false;
	char *own = cage_find_own(&v2, true);
	struct stat st;
	if (own && v2 && text_ends(own, ".service") && stat(own, &st) == 0 && st.st_uid == geteuid() &&
	    access(own, W_OK) == 0 && cage_has_word(own, "cgroup.controllers", "memory")) {
		struct cage daemon = {.folder = mem_printf("%s/daemon", own), .v2 = true};
		if (mkdir(daemon.folder, 0755) == 0 || errno == EEXIST)
			(void)!cage_enter(&daemon, getpid());
		free(daemon.folder);
	}
	free(own);
}
