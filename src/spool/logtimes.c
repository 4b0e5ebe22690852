/* See logtimes.h. */
#include "spool/logtimes.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/num.h"
#include "base/pace.h"
#include "spool/paths.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* "1700000000000 0000000001234 0000000000056\n" */
#define LOGTIMES_DIGITS 13
#define LOGTIMES_RECORD_BYTES (3 * (LOGTIMES_DIGITS + 1))
/* Times are known to this part of the running time. */
#define LOGTIMES_SHARE 2000
/* How many records of a large file are read at once. */
#define LOGTIMES_AT_ONCE 256

static const enum spool_file logtimes_streams[2] = {SPOOL_STDOUT, SPOOL_STDERR};

static int64_t logtimes_size(const char *attempt_dir, enum spool_file file)
{
	struct stat st;
	char *path = spool_path(attempt_dir, file);
	int64_t size = lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0;
	free(path);
	return size;
}

void logtimes_begin(struct logtimes *times, const char *attempt_dir, int64_t now_ms)
{
	*times = (struct logtimes){
		.attempt_dir = attempt_dir,
		.started_ms = now_ms,
		.next_ms = now_ms + LOGTIMES_LOOK_MS,
		.next_write_ms = now_ms + LOGTIMES_WRITE_MS,
		.unwritten = buf_make(LIMIT_LOGTIMES_UNWRITTEN_BYTES),
	};
}

/* Without its records an output has no times. That is no reason to disturb the task: what cannot be written is
 * dropped. A record that was cut off would move all that follow, so the file ends where a record ends. */
static void logtimes_write(struct logtimes *times)
{
	if (!times->unwritten.len)
		return;
	char *path = spool_path(times->attempt_dir, SPOOL_LOGTIMES);
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, SPOOL_FILE_MODE);
	if (fd >= 0) {
		struct stat st;
		if (fs_write_all(fd, times->unwritten.data, times->unwritten.len) < 0 && fstat(fd, &st) == 0 &&
		    ftruncate(fd, st.st_size - st.st_size % LOGTIMES_RECORD_BYTES) < 0)
			unlink(path);
		close(fd);
	}
	free(path);
	buf_clear(&times->unwritten);
}

static void logtimes_look(struct logtimes *times, int64_t wall_ms)
{
	int64_t now[2];
	bool grown = false;
	for (int i = 0; i < 2; i++) {
		now[i] = logtimes_size(times->attempt_dir, logtimes_streams[i]);
		grown |= now[i] > times->bytes[i];
	}
	if (!grown)
		return;
	memcpy(times->bytes, now, sizeof(now));
	char record[LOGTIMES_RECORD_BYTES + 1];
	int len = snprintf(record, sizeof(record), "%0*" PRId64 " %0*" PRId64 " %0*" PRId64 "\n", LOGTIMES_DIGITS,
			   wall_ms, LOGTIMES_DIGITS, now[0], LOGTIMES_DIGITS, now[1]);
	if (len == LOGTIMES_RECORD_BYTES)
		buf_add(&times->unwritten, record, (size_t)len);
}

void logtimes_poll(struct logtimes *times, int64_t now_ms, int64_t wall_ms)
{
	if (now_ms >= times->next_ms) {
		times->next_ms = now_ms + LOGTIMES_LOOK_MS + (now_ms - times->started_ms) / LOGTIMES_SHARE;
		logtimes_look(times, wall_ms);
	}
	if (now_ms >= times->next_write_ms) {
		times->next_write_ms = now_ms + LOGTIMES_WRITE_MS;
		logtimes_write(times);
	}
}

void logtimes_end(struct logtimes *times, int64_t wall_ms)
{
	if (times->next_ms > times->started_ms + LOGTIMES_LOOK_MS)
		logtimes_look(times, wall_ms);
	logtimes_write(times);
	buf_free(&times->unwritten);
}

/* One record: its time, and the bytes of the stream. */
static bool logtimes_parse(const char *text, int stream, int64_t *ret_ms, int64_t *ret_bytes)
{
	const char *bytes = text + (1 + stream) * (LOGTIMES_DIGITS + 1);
	return num_parse_int(text, LOGTIMES_DIGITS, 0, INT64_MAX, ret_ms) == 0 &&
		num_parse_int(bytes, LOGTIMES_DIGITS, 0, INT64_MAX, ret_bytes) == 0;
}

/* The first record with more than so many bytes of the stream; `count`: there is none. */
static int64_t logtimes_first(int fd, int64_t count, int stream, int64_t bytes)
{
	int64_t low = 0, high = count, time_ms, has;
	char text[LOGTIMES_RECORD_BYTES];
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (pread(fd, text, sizeof(text), middle * LOGTIMES_RECORD_BYTES) != sizeof(text) ||
		    !logtimes_parse(text, stream, &time_ms, &has))
			return count;
		if (has > bytes)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void logtimes_read_file(int fd, int stream, int64_t from, int64_t to, logtimes_f each, void *ctx)
{
	struct stat st;
	int64_t count = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size / LOGTIMES_RECORD_BYTES : 0;
	int64_t at = logtimes_first(fd, count, stream, from), known = from, time_ms, has;
	char text[LOGTIMES_AT_ONCE * LOGTIMES_RECORD_BYTES];
	ssize_t n;
	while (known < to && (n = pread(fd, text, sizeof(text), at * LOGTIMES_RECORD_BYTES)) >= LOGTIMES_RECORD_BYTES) {
		int64_t got = n / LOGTIMES_RECORD_BYTES;
		for (int64_t i = 0; i < got && known < to; i++) {
			if (!logtimes_parse(text + i * LOGTIMES_RECORD_BYTES, stream, &time_ms, &has))
				return;
			if (has > known)
				each(ctx, known = has, time_ms);
		}
		at += got;
	}
}

void logtimes_read(const char *attempt_dir, bool is_error, int64_t from, int64_t to, logtimes_f each, void *ctx)
{
	char *path = spool_path(attempt_dir, SPOOL_LOGTIMES);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	free(path);
	if (fd < 0)
		return;
	logtimes_read_file(fd, is_error ? 1 : 0, from, to, each, ctx);
	close(fd);
}
