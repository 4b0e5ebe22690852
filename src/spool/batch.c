/* See batch.h. A runner takes the claim first and reads the descriptor second. Here the descriptor goes first and the
 * claim second: a runner that takes the claim after this finds no descriptor. */
#include "spool/batch.h"

#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"
#include "spool/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int batch_remove(const char *batch_dir, uint32_t index, enum spool_item item)
{
	char *path = spool_item_path(batch_dir, index, item);
	int rc = unlink(path);
	free(path);
	return rc;
}

void spool_batch_forget(const char *batch_dir, uint32_t index)
{
	struct stat st;
	char *output = spool_item_path(batch_dir, index, SPOOL_OUTPUT);
	/* With the descriptor still there the claim is what keeps a second runner out. */
	if (batch_remove(batch_dir, index, SPOOL_DESCRIPTOR) == 0 || errno == ENOENT) {
		batch_remove(batch_dir, index, SPOOL_SLOT);
		batch_remove(batch_dir, index, SPOOL_CLAIM);
	}
	if (stat(output, &st) == 0 && st.st_size == 0)
		unlink(output);
	free(output);
	rmdir(batch_dir); /* fails while the batch has other items, and where output is kept for people */
}

/* Files that a killed writer left: what the daemon was writing (only the daemon does, and this one knows its own), and
 * the private file of a runner that was killed while it took its claim. */
static bool batch_is_unfinished(const char *name)
{
	char own[32];
	snprintf(own, sizeof(own), ".%ld.tmp", (long)getpid());
	return text_ends(name, ".tmp") && !text_ends(name, own);
}

static bool batch_is_private(const char *name)
{
	const char *claim = strstr(name, ".claim.");
	return claim && claim == strchr(name, '.');
}

/* The index that a file name begins with, where spool_batch_forget would remove the file or a killed writer left it. */
static bool batch_read_name(int dir, const char *name, uint32_t *ret)
{
	const char *dot = strchr(name, '.');
	int64_t index;
	struct stat st;
	if (!dot || num_parse_int(name, (size_t)(dot - name), 0, UINT32_MAX, &index) < 0)
		return false;
	if (strcmp(dot, ".out") == 0 && (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_size > 0))
		return false; /* kept for people */
	*ret = (uint32_t)index;
	return true;
}

void spool_batch_look(const char *batch_dir, spool_over_f over, void *ctx)
{
	DIR *dir = opendir(batch_dir);
	const struct dirent *entry;
	bool empty = true;
	uint32_t index;
	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		empty = false;
		if (!batch_read_name(dirfd(dir), entry->d_name, &index))
			continue;
		bool gone = over(ctx, index) && batch_is_private(entry->d_name);
		if (gone || batch_is_unfinished(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir && empty)
		over(ctx, 0); /* the folder goes with any item of it */
	if (dir)
		closedir(dir);
}

bool spool_batch_is_visible(const char *batch_dir)
{
	const char *slash = strrchr(batch_dir, '/');
	char *parent = slash ? mem_copy(batch_dir, (size_t)(slash - batch_dir)) : mem_strdup(".");
	bool visible = access(parent, F_OK) == 0;
	free(parent);
	return visible;
}
