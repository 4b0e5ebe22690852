/* See follow_file.h. A file may be appended to, truncated and written anew, or replaced; pandas people write the whole
 * table after every epoch. So every row that was given is remembered by its sum, and when a file begins anew, rows that are
 * the same in the same place are not given again. */
#include "node/follow_file.h"

#include "base/clock.h"
#include "base/text.h"
#include "node/folder.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#define FOLLOW_CHUNK_BYTES 65536
/* Read of one file in one poll, so that signals are handled while a script writes gigabytes. */
#define FOLLOW_POLL_CHUNKS 64

static uint32_t follow_row_sum(const struct metrics_row *row)
{
	uLong sum = crc32(0, (const unsigned char *)&row->step, sizeof(row->step));
	for (size_t i = 0; i < row->count; i++) {
		const struct metric *metric = &row->metrics[i];
		sum = crc32(sum, (const unsigned char *)metric->name, (unsigned)strlen(metric->name) + 1);
		sum = crc32(sum, (const unsigned char *)&metric->value, sizeof(double));
	}
	return (uint32_t)sum;
}

/* Keeps the row, also with others of its step: what comes later counts, as in the store. */
static void follow_hold(struct follow_file *file, const struct metrics_row *row)
{
	struct follow_held *held = &file->held;
	held->row = *row;
	held->row.step_name = file->step_name;
	if (!row->time_ms)
		held->row.time_ms = clock_now_ms();
	for (size_t i = 0; i < row->count; i++) {
		size_t at = 0;
		while (at < held->metrics.len && strcmp(held->metrics.at[at].name, row->metrics[i].name) != 0)
			at++;
		if (at == held->metrics.len)
			vec_push(&held->metrics, ((struct metric){.name = mem_strdup(row->metrics[i].name)}));
		held->metrics.at[at].value = row->metrics[i].value;
	}
}

void follow_drop_held(struct follow_file *file)
{
	for (size_t i = 0; i < file->held.metrics.len; i++)
		free((char *)file->held.metrics.at[i].name);
	free(file->held.metrics.at);
	file->held = (struct follow_held){0};
}

void follow_give_held(struct follow_file *file, const char *source)
{
	struct follow_held *held = &file->held;
	if (!held->metrics.len)
		return;
	held->row.source = source;
	held->row.metrics = held->metrics.at;
	held->row.count = held->metrics.len;
	file->follow->config.row(file->follow->config.ctx, &held->row);
	follow_drop_held(file);
}

static void follow_row_cb(void *ctx, const struct metrics_row *row)
{
	struct follow_file *file = ctx;
	struct metrics_row given = *row;
	uint32_t sum = follow_row_sum(row);
	if (file->repeating) {
		if (file->repeated < file->rows.len && file->rows.at[file->repeated] == sum) {
			file->repeated++;
			return;
		}
		file->repeating = false;
		file->rows.len = file->repeated;
	}
	vec_push(&file->rows, sum);
	const char *step_name = row->step_name ? row->step_name : "row";
	bool holds = row->whole && !file->curve && strcmp(file->result, file->source) != 0 &&
		strcmp(step_name, "row") != 0 && (!file->held.metrics.len || file->held.row.step == row->step);
	if (!holds) {
		follow_give_held(file, file->source);
		file->curve = true;
	}
	file->last_step = row->step;
	snprintf(file->step_name, sizeof(file->step_name), "%s", step_name);
	if (file->numbered.path && file->rows.len == 1 && strcmp(file->step_name, "row") == 0) {
		given.step = file->numbered.number;
		given.step_name = file->numbered.step_name;
	}
	given.source = file->source;
	given.earlier = file->unwritten;
	if (file->follow->config.after && !given.time_ms)
		given.time_ms = file->mtime_ms;
	if (holds)
		follow_hold(file, &given);
	else
		file->follow->config.row(file->follow->config.ctx, &given);
}

void follow_keep_step(struct follow_file *file)
{
	file->table |= file->rows.len > 1;
	if (file->rows.len == 1 && (!file->over.len || file->over.at[file->over.len - 1] != file->last_step))
		vec_push(&file->over, file->last_step);
}

void follow_begin_anew(struct follow_file *file)
{
	follow_keep_step(file);
	metrics_restart(file->reader);
	file->offset = 0;
	file->earlier = 0;
	file->cut = (struct cut){0};
	file->print_len = 0;
	file->repeating = file->rows.len > 0;
	file->repeated = 0;
}

bool follow_is_same(const struct follow_file *file, int fd, int64_t size)
{
	char now[FOLLOW_PRINT_BYTES];
	if (size < file->offset)
		return false;
	ssize_t n = pread(fd, now, file->print_len, file->offset - (int64_t)file->print_len);
	return n == (ssize_t)file->print_len && memcmp(now, file->print, file->print_len) == 0;
}

static void follow_remember(struct follow_file *file, const char *chunk, size_t len)
{
	if (!file->offset) {
		file->head_len = len < FOLLOW_PRINT_BYTES ? len : FOLLOW_PRINT_BYTES;
		memcpy(file->head, chunk, file->head_len);
	}
	size_t keep = len < FOLLOW_PRINT_BYTES ? len : FOLLOW_PRINT_BYTES;
	size_t old = file->print_len < FOLLOW_PRINT_BYTES - keep ? file->print_len : FOLLOW_PRINT_BYTES - keep;
	memmove(file->print, file->print + file->print_len - old, old);
	memcpy(file->print + old, chunk + len - keep, keep);
	file->print_len = old + keep;
}

const char *follow_relative(const struct follow *follow, const char *path)
{
	size_t work = strlen(follow->config.work_dir);
	if (strncmp(path, follow->config.work_dir, work) == 0 && path[work] == '/')
		return path + work + 1;
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

void follow_find_cut(struct follow_file *file)
{
	const struct follow *follow = file->follow;
	if (!cuts_next(follow->config.cuts, follow_relative(follow, file->path), file->offset, &file->cut) ||
	    file->cut.at > file->earlier)
		file->cut = (struct cut){.at = file->earlier};
}

/* Another attempt writes from here on, and has gone back to its checkpoint. Where the bytes before are not those of then,
 * the file was written anew since, and this is no place in particular. */
static void follow_pass_cut(struct follow_file *file)
{
	if (file->offset != file->cut.at)
		return;
	if (file->offset == file->earlier || file->cut.sum == find_sum_of(file->print, file->print_len))
		metrics_resume(file->reader);
	follow_find_cut(file);
}

bool follow_leaves(struct follow_file *file, int error)
{
	const struct follow_config *config = &file->follow->config;
	if (!file->follow->giving_up)
		return false;
	char *text = mem_printf("%.200s could not be read to its end: %s; its last metrics may be missing here",
				follow_relative(file->follow, file->path), strerror(error));
	config->note(config->ctx, text);
	free(text);
	file->left = true;
	return true;
}

void follow_note_remarks(struct follow_file *file)
{
	const struct follow_config *config = &file->follow->config;
	bool earlier = file->offset <= file->earlier && file->offset > 0 && !config->retell;
	for (size_t i = 0; i < METRICS_REMARKS; i++) {
		const char *remark = metrics_remark_of(file->reader, i);
		if (!remark || file->remarked[i])
			continue;
		file->remarked[i] = true;
		char *text = earlier ? NULL
				     : mem_printf("%.200s: %s", follow_relative(file->follow, file->path), remark);
		if (text && metrics_remark_is_change(i))
			config->renumbered(config->ctx, text);
		else if (text)
			config->note(config->ctx, text);
		free(text);
	}
}

bool follow_read_fd(struct follow_file *file, int fd)
{
	const struct follow_config *config = &file->follow->config;
	for (int chunks = 0;; chunks++) {
		char chunk[FOLLOW_CHUNK_BYTES];
		size_t want = sizeof(chunk);
		if (config->blocked(config->ctx) || (chunks >= FOLLOW_POLL_CHUNKS && !file->follow->finishing))
			return false;
		if (file->offset < file->cut.at && (int64_t)want > file->cut.at - file->offset)
			want = (size_t)(file->cut.at - file->offset);
		ssize_t n = pread(fd, chunk, want, file->offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 || follow_leaves(file, errno);
		metrics_feed(file->reader, chunk, (size_t)n);
		follow_remember(file, chunk, (size_t)n);
		file->offset += n;
		follow_note_remarks(file);
		follow_pass_cut(file);
	}
}

/* The files of one folder are one record. Those of an earlier attempt are another one: the script may have gone back to
 * a checkpoint. */
static void follow_join(struct follow_file *file, const struct metrics_format *format)
{
	const struct follow *follow = file->follow;
	const char *path = follow_relative(follow, file->path);
	VEC(const char *) paths = {0};
	struct metrics_reader *joined = NULL;

	for (size_t i = 0; i < follow->files.len; i++) {
		const struct follow_file *other = follow->files.at[i];
		const char *rel = follow_relative(follow, other->path);
		if (other == file || (other->reader ? other->format : metrics_format_for(rel, NULL, 0)) != format)
			continue;
		vec_push(&paths, rel);
		if (other->reader && folder_is_same(rel, path) && (other->earlier > 0) == (file->earlier > 0))
			joined = other->reader;
	}
	char *prefix = folder_prefix(path, paths.at, paths.len);
	metrics_join(file->reader, prefix, joined);
	free(prefix);
	free(paths.at);
	free(file->source);
	file->source = mem_printf("%s:%.*s", format->name, folder_length(path) ? (int)folder_length(path) : 1,
				  folder_length(path) ? path : ".");
}

const char *follow_pattern(const struct follow *follow)
{
	return node_get_string(follow->config.patterns, "pattern");
}

void follow_open_reader(struct follow_file *file, const char *kind, const struct metrics_format *format)
{
	if (!format->summary) {
		free(file->numbered.path);
		file->numbered = (struct numbered){0};
	}
	const char *path = file->numbered.path ? file->numbered.path : follow_relative(file->follow, file->path);
	file->source = mem_printf("%s:%s", kind, path);
	file->result = mem_printf("%s:%s", format->summary && !file->numbered.path ? METRICS_RESULT : kind, path);
	if (format != metrics_format_printed() || !follow_pattern(file->follow) ||
	    metrics_open_pattern(follow_pattern(file->follow), follow_row_cb, file, &file->reader, NULL) < 0)
		file->reader = metrics_open(format, follow_row_cb, file);
	metrics_want(file->reader, file->follow->config.wanted, file->follow->config.wanted_count);
	file->format = format;
	if (format->folders)
		follow_join(file, format);
}
