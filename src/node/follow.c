/* A file is polled with stat and opened only when it has changed (opening is also what makes NFS look). A
 * file may be appended to, truncated and written anew, or replaced; pandas people write the whole table
 * after every epoch. So every row that was given is remembered by its sum, and when a file begins anew, rows
 * that are the same in the same place are not given again. */
#include "node/follow.h"

#include "base/limits.h"
#include "base/text.h"
#include "node/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define FOLLOW_CHUNK_BYTES 65536
/* Read of one file in one poll, so that signals are handled while a script writes gigabytes. */
#define FOLLOW_POLL_CHUNKS 64
#define FOLLOW_PRINT_BYTES 64
/* More files than this are data, not metrics. */
#define FOLLOW_FILES_MAX 32

struct follow_file {
	struct follow *follow;
	char *path;
	bool accepted, found; /* found: by itself, so it must look like metrics */
	struct find_stamp stamp; /* when last read; zero: never */
	struct metrics_reader *reader;
	int64_t offset;
	int64_t earlier; /* bytes before this are an earlier attempt's */
	char print[FOLLOW_PRINT_BYTES]; /* the last bytes before offset */
	size_t print_len;
	VEC(uint32_t) rows; /* sums of the rows given */
	size_t repeated; /* rows seen again since the file began anew */
	bool repeating;
};

struct follow {
	struct follow_config config;
	VEC(struct follow_file *) files;
	struct find_list earlier; /* what was there before the script started */
	bool finishing;
};

static uint32_t follow_row_sum(int64_t step, const struct metric *metrics, size_t count)
{
	uLong sum = crc32(0, (const unsigned char *)&step, sizeof(step));
	for (size_t i = 0; i < count; i++) {
		sum = crc32(sum, (const unsigned char *)metrics[i].name, (unsigned)strlen(metrics[i].name) + 1);
		sum = crc32(sum, (const unsigned char *)&metrics[i].value, sizeof(double));
	}
	return (uint32_t)sum;
}

static void follow_row_cb(void *ctx, int64_t step, const char *step_name, const struct metric *metrics, size_t count)
{
	struct follow_file *file = ctx;
	uint32_t sum = follow_row_sum(step, metrics, count);
	if (file->repeating) {
		if (file->repeated < file->rows.len && file->rows.at[file->repeated] == sum) {
			file->repeated++;
			return;
		}
		file->repeating = false;
		file->rows.len = file->repeated;
	}
	vec_push(&file->rows, sum);
	file->follow->config.row(file->follow->config.ctx, step, step_name, metrics, count);
}

static void follow_begin_anew(struct follow_file *file)
{
	metrics_restart(file->reader);
	file->offset = 0;
	file->earlier = 0;
	file->print_len = 0;
	file->repeating = file->rows.len > 0;
	file->repeated = 0;
}

/* Is what we have read still there? The bytes just before the offset answer for all of it. */
static bool follow_is_same(const struct follow_file *file, int fd, int64_t size)
{
	char now[FOLLOW_PRINT_BYTES];
	if (size < file->offset)
		return false;
	ssize_t n = pread(fd, now, file->print_len, file->offset - (int64_t)file->print_len);
	return n == (ssize_t)file->print_len && memcmp(now, file->print, file->print_len) == 0;
}

static void follow_remember(struct follow_file *file, const char *chunk, size_t len)
{
	size_t keep = len < FOLLOW_PRINT_BYTES ? len : FOLLOW_PRINT_BYTES;
	size_t old = file->print_len < FOLLOW_PRINT_BYTES - keep ? file->print_len : FOLLOW_PRINT_BYTES - keep;
	memmove(file->print, file->print + file->print_len - old, old);
	memcpy(file->print + old, chunk + len - keep, keep);
	file->print_len = old + keep;
}

/* True when everything up to the end was taken. */
static bool follow_read_fd(struct follow_file *file, int fd)
{
	const struct follow_config *config = &file->follow->config;
	for (int chunks = 0;; chunks++) {
		char chunk[FOLLOW_CHUNK_BYTES];
		size_t want = sizeof(chunk);
		if (config->blocked(config->ctx) || (chunks >= FOLLOW_POLL_CHUNKS && !file->follow->finishing))
			return false;
		if (file->offset < file->earlier && (int64_t)want > file->earlier - file->offset)
			want = (size_t)(file->earlier - file->offset);
		ssize_t n = pread(fd, chunk, want, file->offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		metrics_feed(file->reader, chunk, (size_t)n);
		follow_remember(file, chunk, (size_t)n);
		file->offset += n;
		if (file->offset == file->earlier)
			metrics_resume(file->reader);
	}
}

/* True when there is nothing left to read. */
static bool follow_read(struct follow_file *file)
{
	struct stat st;
	bool complete = true;

	if (stat(file->path, &st) < 0 || !S_ISREG(st.st_mode))
		return true;
	struct find_stamp stamp = find_stamp_of(&st);
	if (find_stamp_same(&stamp, &file->stamp))
		return true;
	if (file->found && !file->accepted) {
		if (!find_looks_like_metrics(file->path)) {
			file->stamp = stamp; /* look again when it has changed */
			return true;
		}
		file->accepted = true;
	}
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return true;
	if (fstat(fd, &st) == 0) {
		stamp = find_stamp_of(&st);
		if (!follow_is_same(file, fd, st.st_size))
			follow_begin_anew(file);
		complete = follow_read_fd(file, fd);
		if (complete) /* a change in between has another stamp and is read next time */
			file->stamp = stamp;
	}
	close(fd);
	return complete;
}

static void follow_add(struct follow *follow, const char *path, const struct metrics_format *format, bool found)
{
	for (size_t i = 0; i < follow->files.len; i++)
		if (strcmp(follow->files.at[i]->path, path) == 0)
			return;
	if (follow->files.len == FOLLOW_FILES_MAX)
		return;
	struct follow_file *file = mem_alloc(sizeof(*file));
	const struct find_entry *earlier = find_in(&follow->earlier, path);
	file->follow = follow;
	file->path = mem_strdup(path);
	file->found = found;
	file->reader = metrics_open(format, follow_row_cb, file);
	if (earlier)
		file->earlier = earlier->stamp.size;
	vec_push(&follow->files, file);
}

/* Has the file not changed since before the script started? Then an earlier attempt has told its rows. */
static bool follow_is_old(const struct follow *follow, const char *path, const struct find_stamp *stamp)
{
	const struct find_entry *earlier = find_in(&follow->earlier, path);
	return !follow->config.retell && earlier && find_stamp_same(&earlier->stamp, stamp);
}

/* Takes a file that the search found, unless it is old. */
static void follow_consider(struct follow *follow, const struct find_entry *entry)
{
	const struct follow_config *config = &follow->config;
	if (follow_is_old(follow, entry->path, &entry->stamp))
		return;
	if (config->patterns) {
		const struct metrics_format *format = find_match(config->patterns,
								 entry->path + strlen(config->work_dir) + 1);
		if (format)
			follow_add(follow, entry->path, format, false);
	} else if (metrics_format_for(entry->path)) {
		follow_add(follow, entry->path, metrics_format_for(entry->path), true);
	}
}

static void follow_add_if_changed(struct follow *follow, const char *path, const struct metrics_format *format)
{
	struct stat st;
	if (!path || !format || stat(path, &st) < 0)
		return;
	struct find_stamp stamp = find_stamp_of(&st);
	if (!follow_is_old(follow, path, &stamp))
		follow_add(follow, path, format, false);
}

static void follow_search(struct follow *follow)
{
	struct find_list list = {0};
	find_files(follow->config.work_dir, follow->config.patterns != NULL, &list);
	for (size_t i = 0; i < list.entries.len; i++)
		follow_consider(follow, &list.entries.at[i]);
	find_free(&list);
}

struct follow *follow_new(const struct follow_config *config)
{
	struct follow *follow = mem_alloc(sizeof(*follow));
	follow->config = *config;
	if (config->resumes)
		find_files(config->work_dir, config->patterns != NULL, &follow->earlier);
	return follow;
}

static bool follow_poll_all(struct follow *follow, bool search)
{
	const struct follow_config *config = &follow->config;
	bool complete = true, has_first = false;

	if (!config->patterns)
		follow_add_if_changed(follow, config->first, metrics_format_for(config->first ? config->first : ""));
	for (size_t i = 0; i < follow->files.len; i++)
		has_first |= config->first && strcmp(follow->files.at[i]->path, config->first) == 0;
	/* A script that writes where it was told to needs no search. */
	if (search && (config->patterns || !has_first))
		follow_search(follow);
	follow_add_if_changed(follow, config->report, metrics_format_for(config->report));
	for (size_t i = 0; i < follow->files.len; i++)
		complete &= follow_read(follow->files.at[i]);
	return complete;
}

void follow_poll(struct follow *follow, bool search)
{
	if (!follow->config.blocked(follow->config.ctx))
		follow_poll_all(follow, search);
}

bool follow_finish(struct follow *follow)
{
	follow->finishing = true;
	/* Two writes within one tick of the file system's clock may have the same stamp. */
	for (size_t i = 0; i < follow->files.len; i++)
		follow->files.at[i]->stamp = (struct find_stamp){0};
	if (!follow_poll_all(follow, true))
		return false;
	for (size_t i = 0; i < follow->files.len; i++) {
		struct follow_file *file = follow->files.at[i];
		metrics_finish(file->reader);
		const char *complaint = metrics_complaint(file->reader);
		if (!complaint || (file->found && !file->accepted))
			continue;
		const char *name = file->path;
		size_t work = strlen(follow->config.work_dir);
		if (strncmp(name, follow->config.work_dir, work) == 0 && name[work] == '/')
			name += work + 1;
		char *text = mem_printf("%.200s: %s", name, complaint);
		follow->config.note(follow->config.ctx, text);
		free(text);
	}
	return true;
}

bool follow_has_all(const struct follow *follow, const char *path)
{
	for (size_t i = 0; i < follow->files.len; i++)
		if (strcmp(follow->files.at[i]->path, path) == 0)
			return !metrics_complaint(follow->files.at[i]->reader);
	return false;
}

void follow_free(struct follow *follow)
{
	if (!follow)
		return;
	for (size_t i = 0; i < follow->files.len; i++) {
		struct follow_file *file = follow->files.at[i];
		metrics_free(file->reader);
		free(file->rows.at);
		free(file->path);
		free(file);
	}
	free(follow->files.at);
	find_free(&follow->earlier);
	free(follow);
}
