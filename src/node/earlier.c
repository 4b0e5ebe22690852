/* END is the last record of a journal: the end of the file answers. */
#include "node/earlier.h"

#include "base/limits.h"
#include "base/mem.h"
#include "journal/journal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

static int earlier_record_cb(void *ctx, const struct journal_record *record)
{
	bool *ended = ctx;
	*ended |= record->kind == JOURNAL_END;
	return 0;
}

static bool earlier_scan(int fd)
{
	size_t size = LIMIT_JOURNAL_RECORD_BYTES + 1024;
	char *data = mem_alloc(size);
	struct stat st;
	bool ended = false;
	off_t from = 0;
	if (fstat(fd, &st) == 0 && st.st_size > (off_t)size)
		from = st.st_size - (off_t)size;
	ssize_t n = pread(fd, data, size, from);
	/* The first line may be cut: then its sum is wrong, and it is passed over. */
	if (n > 0 && journal_read(data, (size_t)n, earlier_record_cb, &ended, NULL) < 0)
		ended = false;
	free(data);
	return ended;
}

bool earlier_has_ended(const struct descriptor *d)
{
	if (!descriptor_resumes(d))
		return true;
	char *path = mem_printf("%s/attempts/%" PRId64 "/journal", d->task_dir, d->attempt - 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return true;
	bool ended = earlier_scan(fd);
	close(fd);
	return ended;
}
