/* Which files are followed: those that the script writes, found by searching its work folder, by name, or because it was
 * told where to write. A file is polled with stat and opened only when it has changed (opening is also what makes NFS
 * look). */
#include "node/follow.h"

#include "base/limits.h"
#include "base/text.h"
#include "metrics/place.h"
#include "node/folder.h"
#include "node/follow_file.h"
#include "node/gaps.h"
#include "node/submitted.h"
#include "node/twin.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* More files than this are data, not metrics. */
#define FOLLOW_FILES_MAX 128
/* Files of which there is one for each epoch. */
#define FOLLOW_NUMBERED_MAX 2000
#define FOLLOW_NOTES_MAX 3

static void follow_search(struct follow *follow);

/* Is it worth comparing with the other one? Asked for every pair of files, so without opening anything: `head` is how this
 * one begins. One row alone says nothing: two results, or two states that are written over, may well be equal. */
static bool follow_may_be_twin(const struct follow_file *file, const struct follow_file *other,
			       const struct metrics_format *format, const char *head, size_t len)
{
	size_t both = len < other->head_len ? len : other->head_len;
	return other != file && other->reader && other->format == format && !other->numbered.path &&
		other->rows.len > 1 && both && memcmp(head, other->head, both) == 0 &&
		folder_is_same(follow_relative(file->follow, other->path), follow_relative(file->follow, file->path));
}

/* Has a file beside it that is read the same bytes? As long as that is so, it is not read. Only of JSON: a constant column
 * of two small tables may well be the same. Never of numbered files: a curve may stay where it is. */
static bool follow_is_twin(struct follow_file *file, const struct metrics_format *format)
{
	const struct follow *follow = file->follow;
	if (!format->summary || file->numbered.path || follow->named)
		return false;
	if (file->twin && (file->twin->rows.len < 2 || !twin_is_same(file->path, file->twin->path, &file->same)))
		file->twin = NULL;
	char head[FOLLOW_PRINT_BYTES];
	int fd = file->twin ? -1 : open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t len = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);
	if (fd >= 0)
		close(fd);
	for (size_t i = 0; !file->twin && len > 0 && i < follow->files.len; i++) {
		const struct follow_file *other = follow->files.at[i];
		file->same = 0;
		if (follow_may_be_twin(file, other, format, head, (size_t)len) &&
		    twin_is_same(file->path, other->path, &file->same) && file->same)
			file->twin = other;
	}
	return file->twin != NULL;
}

/* It turned out to be a twin, and has given nothing yet. */
static void follow_unread(struct follow_file *file)
{
	follow_drop_held(file);
	metrics_free(file->reader);
	free(file->source);
	free(file->result);
	file->reader = NULL;
	file->source = file->result = NULL;
	file->offset = 0;
	file->rows.len = file->over.len = file->print_len = file->head_len = 0;
	file->repeating = false;
	follow_find_cut(file);
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
	if (!file->reader) {
		const struct metrics_format *format = find_probe(file->path, &file->why_not);
		if (!format || !place_is_wanted(file->follow->config.patterns, format->name) ||
		    follow_is_twin(file, format)) {
			file->stamp = stamp; /* look again when it has changed */
			return true;
		}
		follow_open_reader(file, format->name, format);
	} else if (file->held.metrics.len && follow_is_twin(file, file->format)) {
		follow_unread(file);
		file->stamp = stamp;
		return true;
	}
	if (file->inode && stamp.inode != file->inode && !file->follow->named)
		follow_search(file->follow); /* what was here may have another name now */
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return (errno != EIO && errno != ESTALE) || follow_leaves(file, errno);
	if (fstat(fd, &st) == 0) {
		stamp = find_stamp_of(&st);
		const struct find_entry *before = find_in(&file->follow->earlier, file->path);
		file->mtime_ms = stamp.mtime_ns / 1000000;
		file->unwritten = before && find_stamp_same(&before->stamp, &stamp);
		if (!follow_is_same(file, fd, st.st_size))
			follow_begin_anew(file);
		file->inode = stamp.inode;
		complete = follow_read_fd(file, fd);
		if (complete) /* a change in between has another stamp and is read next time */
			file->stamp = stamp;
	}
	close(fd);
	return complete;
}

/* `format` NULL: as find_probe says. */
static void follow_add(struct follow *follow, const char *path, const char *kind, const struct metrics_format *format)
{
	for (size_t i = 0; i < follow->files.len; i++)
		if (strcmp(follow->files.at[i]->path, path) == 0)
			return;
	struct numbered numbered = numbered_of(follow_relative(follow, path));
	size_t *taken = numbered.path ? &follow->numbered : &follow->others;
	if (*taken == (numbered.path ? FOLLOW_NUMBERED_MAX : FOLLOW_FILES_MAX)) {
		free(numbered.path);
		return;
	}
	++*taken;
	struct follow_file *file = mem_alloc(sizeof(*file));
	const struct find_entry *earlier = find_in(&follow->earlier, path);
	file->follow = follow;
	file->numbered = numbered;
	file->path = mem_strdup(path);
	/* One that was written anew since then has nothing of an earlier attempt's. */
	if (earlier && (earlier->sum < 0 || earlier->sum == find_sum(path, earlier->stamp.size)))
		file->earlier = earlier->stamp.size;
	follow_find_cut(file);
	if (format)
		follow_open_reader(file, kind, format);
	/* Of what the journal has as a curve, the last row may be all that there is now. */
	if (format && !follow->named) {
		free(file->result);
		file->result = mem_strdup(file->source);
	}
	vec_push(&follow->files, file);
}

/* Has the file not changed since before the script started? Then it was submitted, or an earlier attempt has reported its rows. */
static bool follow_is_old(const struct follow *follow, const char *path, const struct find_stamp *stamp)
{
	if (submitted_is_untouched(follow->config.files_dir, follow->config.work_dir, path, stamp->size,
				   stamp->mtime_ns))
		return true;
	const struct find_entry *earlier = find_in(&follow->earlier, path);
	return !follow->config.retell && earlier && find_stamp_same(&earlier->stamp, stamp);
}

/* Is this the file that was read as another one, and has been renamed since? Then it goes on there. Where the old name is
 * in use again (a log that is rotated), what is left of the old file is read, and the new one goes on. */
static bool follow_is_moved(struct follow *follow, const struct find_entry *entry)
{
	for (size_t i = 0; i < follow->moved.len; i++)
		if (find_stamp_same(&follow->moved.at[i], &entry->stamp))
			return true;
	for (size_t i = 0; i < follow->files.len; i++) {
		struct follow_file *file = follow->files.at[i];
		struct stat st;
		if (!file->reader || !file->offset || file->inode != entry->stamp.inode)
			continue;
		if (strcmp(file->path, entry->path) == 0)
			return false;
		int fd = open(entry->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		bool same = fd >= 0 && fstat(fd, &st) == 0 && follow_is_same(file, fd, st.st_size);
		if (same && stat(file->path, &st) < 0) {
			free(file->path);
			file->path = mem_strdup(entry->path);
		} else if (same && st.st_ino != entry->stamp.inode && follow_read_fd(file, fd)) {
			vec_push(&follow->moved, entry->stamp);
		}
		if (fd >= 0)
			close(fd);
		return same;
	}
	return false;
}

/* Takes a file that the search found, unless it is old. */
static void follow_consider(struct follow *follow, const struct find_entry *entry)
{
	const struct follow_config *config = &follow->config;
	if (follow_is_old(follow, entry->path, &entry->stamp) ||
	    (!follow->named && !follow->finishing && find_is_temporary(entry->path)) || follow_is_moved(follow, entry))
		return;
	const char *path = follow_relative(follow, entry->path);
	const struct metrics_format *format = NULL;
	if (follow->named)
		format = find_match(config->patterns, path);
	else if (config->known)
		format = config->known(config->ctx, path);
	if (format || (!follow->named && metrics_format_for(entry->path, NULL, 0)))
		follow_add(follow, entry->path, format ? format->name : NULL, format);
}

/* Takes a file that needs no search; an output once there is something in it, since most scripts leave one empty. */
static void follow_add_if_changed(struct follow *follow, const char *path, const char *kind,
				  const struct metrics_format *format)
{
	struct stat st;
	if (!path || !format || stat(path, &st) < 0 || (st.st_size == 0 && format == metrics_format_printed()))
		return;
	struct find_stamp stamp = find_stamp_of(&st);
	if (!follow_is_old(follow, path, &stamp))
		follow_add(follow, path, kind, format);
}

static void follow_search(struct follow *follow)
{
	struct find_list list = {0};
	find_files(follow->config.work_dir, follow->named, &list);
	for (size_t i = 0; i < list.entries.len; i++)
		follow_consider(follow, &list.entries.at[i]);
	find_free(&list);
}

static void follow_copy_before(struct follow *follow, const struct find_list *before)
{
	for (size_t i = 0; i < before->entries.len; i++) {
		struct find_entry entry = before->entries.at[i];
		entry.path = mem_strdup(entry.path);
		vec_push(&follow->earlier.entries, entry);
	}
}

struct follow *follow_new(const struct follow_config *config)
{
	struct follow *follow = mem_alloc(sizeof(*follow));
	follow->config = *config;
	follow->named = place_is_named(config->patterns);
	if (config->before)
		follow_copy_before(follow, config->before);
	/* Submitted files are there before the first attempt, too. */
	else if (config->resumes || config->files_dir)
		find_files(config->work_dir, follow->named, &follow->earlier);
	return follow;
}

void follow_each_before(struct follow *follow,
			void (*each)(void *ctx, const char *path, const struct find_entry *entry), void *ctx)
{
	const struct follow_config *config = &follow->config;
	size_t given = 0;
	for (size_t i = 0; i < follow->earlier.entries.len && given < FOLLOW_FILES_MAX; i++) {
		struct find_entry *entry = &follow->earlier.entries.at[i];
		const char *path = follow_relative(follow, entry->path);
		if (follow->named ? !find_match(config->patterns, path) : !metrics_format_for(path, NULL, 0))
			continue;
		if (submitted_is_untouched(config->files_dir, config->work_dir, entry->path, entry->stamp.size,
					   entry->stamp.mtime_ns))
			continue;
		entry->sum = find_sum(entry->path, entry->stamp.size);
		each(ctx, path, entry);
		given++;
	}
}

static bool follow_poll_all(struct follow *follow, bool search)
{
	const struct follow_config *config = &follow->config;
	bool complete = true, has_first = false;

	const struct metrics_format *csv = metrics_format_for("x.csv", NULL, 0);
	const struct metrics_format *printed = metrics_format_printed();
	bool prints = printed && (!follow->named || follow_pattern(follow));

	if (!follow->named && place_is_wanted(config->patterns, csv->name))
		follow_add_if_changed(follow, config->first, csv->name, csv);
	for (size_t i = 0; i < follow->files.len; i++)
		has_first |= config->first && strcmp(follow->files.at[i]->path, config->first) == 0;
	/* A script that writes where sluice asked for it needs no search. */
	if (search && (follow->named || !has_first))
		follow_search(follow);
	follow_add_if_changed(follow, config->report, "report", metrics_format_for("x.jsonl", NULL, 0));
	for (size_t i = 0; prints && i < COUNT_OF(config->printed); i++)
		if (place_is_wanted(config->patterns, place_printed[i]))
			follow_add_if_changed(follow, config->printed[i], printed->name, printed);
	/* There may be thousands of numbered ones, each written once: a stat of each at every poll would be felt by a file
	 * server. */
	for (size_t i = 0; i < follow->files.len; i++)
		if (search || !follow->files.at[i]->numbered.path)
			complete &= follow_read(follow->files.at[i]);
	return complete;
}

void follow_poll(struct follow *follow, bool search)
{
	if (!follow->config.blocked(follow->config.ctx))
		follow_poll_all(follow, search);
}

static bool follow_has_rows(const struct follow *follow)
{
	for (size_t i = 0; i < follow->files.len; i++)
		if (follow->files.at[i]->rows.len)
			return true;
	return false;
}

/* Says of a file that was found why it is not read; of a few, since a script may write thousands. */
static void follow_note_unread(struct follow *follow, const struct follow_file *file)
{
	const char *path = follow_relative(follow, file->path);
	if ((!file->twin && !file->why_not) || (file->why_not == find_unnamed && follow_has_rows(follow)) ||
	    follow->noted++ >= FOLLOW_NOTES_MAX)
		return;
	char *text = file->twin ? mem_printf("%.200s has the same bytes as %.200s, and is read once", path,
					     follow_relative(follow, file->twin->path))
				: mem_printf("%.200s is not read as metrics: %s", path, file->why_not);
	follow->config.note(follow->config.ctx, text);
	free(text);
}

/* A file with one row that was written over faster than it was read: what was not seen is gone. */
static void follow_note_gaps(struct follow_file *file)
{
	const struct follow_config *config = &file->follow->config;
	int64_t from, to;
	if (file->over.len)
		follow_keep_step(file);
	if (file->table || strcmp(file->step_name, "row") == 0 ||
	    !gaps_find(file->over.at, file->over.len, strcmp(file->step_name, "epoch") == 0, config->resumes, &from,
		       &to))
		return;
	char *text = mem_printf("%.200s has one row, which is written over: between %s %" PRId64 " and %" PRId64
				" nothing was seen in it. What it had there is missing: append to it (JSON lines), or "
				"read what is printed (--metrics-from stdout)",
				follow_relative(file->follow, file->path), file->step_name, from, to);
	config->note(config->ctx, text);
	free(text);
}

/* The experiment says where its metrics are, and nothing was there. */
static void follow_note_nothing(const struct follow *follow)
{
	const struct node *patterns = follow->config.patterns;
	bool files = false, reports = node_get(patterns, "from") && place_is_wanted(patterns, place_report);
	size_t rows = 0;
	for (size_t i = 0; i < follow->files.len; i++) {
		const struct follow_file *file = follow->files.at[i];
		bool report = follow->config.report && strcmp(file->path, follow->config.report) == 0;
		rows += report && !reports ? 0 : file->rows.len;
		files |= !report && file->reader && file->format != metrics_format_printed();
	}
	if (!patterns || rows)
		return;
	char *why = place_say_nothing(patterns);
	char *text = mem_printf("%s%s: see 'metrics' of the experiment (--metrics, --metrics-from)", why,
				files ? "; a file was there, without a row of numbers" : "");
	follow->config.note(follow->config.ctx, text);
	free(text);
	free(why);
}

bool follow_finish(struct follow *follow, bool killed)
{
	follow->finishing = true;
	/* Two writes within one tick of the file system's clock may have the same stamp. */
	for (size_t i = 0; i < follow->files.len; i++)
		follow->files.at[i]->stamp = (struct find_stamp){0};
	if (!follow_poll_all(follow, true))
		return false;
	for (size_t i = 0; i < follow->files.len; i++) {
		struct follow_file *file = follow->files.at[i];
		if (!file->reader)
			continue;
		if (killed ||
		    file->unwritten) /* one that only an earlier attempt wrote is read because that was killed */
			metrics_drop_line(file->reader);
		metrics_finish(file->reader);
		follow_give_held(file, file->result);
		follow_note_remarks(file);
		follow_note_gaps(file);
		const char *complaint = metrics_complaint(file->reader);
		if (!complaint)
			continue;
		char *text = mem_printf("%.200s: %s", follow_relative(follow, file->path), complaint);
		follow->config.note(follow->config.ctx, text);
		free(text);
	}
	for (size_t i = 0; i < follow->files.len; i++)
		if (!follow->files.at[i]->reader)
			follow_note_unread(follow, follow->files.at[i]);
	follow_note_nothing(follow);
	return true;
}

void follow_give_up(struct follow *follow)
{
	follow->giving_up = true;
}

bool follow_has_all(const struct follow *follow, const char *path)
{
	for (size_t i = 0; i < follow->files.len; i++)
		if (strcmp(follow->files.at[i]->path, path) == 0)
			return !follow->files.at[i]->left && !metrics_complaint(follow->files.at[i]->reader);
	return false;
}

void follow_free(struct follow *follow)
{
	if (!follow)
		return;
	for (size_t i = 0; i < follow->files.len; i++) {
		struct follow_file *file = follow->files.at[i];
		follow_drop_held(file);
		metrics_free(file->reader);
		free(file->rows.at);
		free(file->over.at);
		free(file->source);
		free(file->result);
		free(file->numbered.path);
		free(file->path);
		free(file);
	}
	free(follow->files.at);
	free(follow->moved.at);
	find_free(&follow->earlier);
	free(follow);
}
