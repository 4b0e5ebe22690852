/* END is the last record of a journal, so it is enough to read the end of the file. An attempt whose runner was killed
 * before it had a journal, or that ended before its script began, says nothing about the attempts before it. Then the
 * journal of an earlier attempt is read instead. */
#include "node/earlier.h"

#include "base/limits.h"
#include "base/mem.h"
#include "journal/journal.h"
#include "spool/paths.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct earlier {
	bool began, ended, well;
};

static int earlier_record_cb(void *ctx, const struct journal_record *record)
{
	struct earlier *earlier = ctx;
	earlier->began |= record->kind == JOURNAL_START;
	earlier->ended |= record->kind == JOURNAL_END;
	earlier->well |= record->kind == JOURNAL_END && record->cause == CAUSE_OK;
	return 0;
}

static struct earlier earlier_scan(int fd)
{
	size_t size = LIMIT_JOURNAL_RECORD_BYTES + 1024;
	char *data = mem_alloc(size);
	struct stat st;
	struct earlier earlier = {0};
	off_t from = 0;
	if (fstat(fd, &st) == 0 && st.st_size > (off_t)size) {
		from = st.st_size - (off_t)size;
		earlier.began = true;
	}
	ssize_t n = pread(fd, data, size, from);
	/* The first line may be cut: then its sum is wrong, and it is passed over. */
	if (n > 0 && journal_read(data, (size_t)n, earlier_record_cb, &earlier, NULL) < 0)
		earlier.ended = false;
	free(data);
	return earlier;
}

static struct earlier earlier_read(const struct spool_descriptor *d, int64_t number)
{
	char *dir = spool_attempt_dir(d->task_dir, number), *path = spool_path(dir, SPOOL_JOURNAL);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct earlier earlier = {0};
	free(path);
	free(dir);
	if (fd < 0)
		return earlier;
	earlier = earlier_scan(fd);
	close(fd);
	return earlier;
}

/* Of the last attempt before this one whose script began. */
static struct earlier earlier_find(const struct spool_descriptor *d)
{
	struct earlier earlier = {0};
	for (int64_t number = d->attempt - 1; number > 0 && !earlier.began; number--)
		earlier = earlier_read(d, number);
	return earlier.began ? earlier : (struct earlier){0};
}

bool earlier_has_begun(const struct spool_descriptor *d)
{
	return d->attempt > 1 && earlier_read(d, d->attempt - 1).began;
}

bool earlier_has_ended(const struct spool_descriptor *d)
{
	if (!spool_descriptor_resumes(d))
		return true;
	struct earlier earlier = earlier_find(d);
	return !earlier.began || earlier.ended;
}

bool earlier_removed_copies(const struct spool_descriptor *d)
{
	struct earlier earlier = earlier_find(d);
	return earlier.well || !earlier.ended;
}
