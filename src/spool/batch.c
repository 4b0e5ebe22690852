/* See batch.h. A runner takes the claim first and reads the descriptor second. Here the descriptor goes first and the
 * claim second: a runner that takes the claim after this finds no descriptor. */
#include "spool/batch.h"

#include "base/mem.h"
#include "spool/paths.h"

#include <errno.h>
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

bool spool_batch_is_visible(const char *batch_dir)
{
	const char *slash = strrchr(batch_dir, '/');
	char *parent = slash ? mem_copy(batch_dir, (size_t)(slash - batch_dir)) : mem_strdup(".");
	bool visible = access(parent, F_OK) == 0;
	free(parent);
	return visible;
}
