/* See find.h. The walk is bounded: a script may unpack a data set with a million files beside its
 * results. */
#include "node/find.h"

#include "base/fs.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <strings.h>
#include <unistd.h>

#define FIND_ENTRIES_MAX 5000
#define FIND_DEPTH_MAX 8
#define FIND_PROBE_BYTES 16384

struct find_stamp find_stamp_of(const struct stat *st)
{
	return (struct find_stamp){
		.size = st->st_size,
		.mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
		.inode = st->st_ino,
	};
}

bool find_stamp_same(const struct find_stamp *a, const struct find_stamp *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns && a->inode == b->inode;
}

static void find_entry(int dir, const char *path, const char *name, bool any, struct find_list *list)
{
	struct stat st;
	if (!any && !metrics_format_for(name, NULL, 0))
		return;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return;
	struct find_entry entry = {mem_printf("%s/%s", path, name), find_stamp_of(&st)};
	vec_push(&list->entries, entry);
}

static void find_folder(const char *path, bool any, int depth, struct find_list *list)
{
	DIR *dir = depth < FIND_DEPTH_MAX ? opendir(path) : NULL;
	struct dirent *entry;
	while (dir && (entry = readdir(dir)) && list->looked < FIND_ENTRIES_MAX) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		list->looked++;
		struct stat st;
		bool folder = entry->d_type == DT_DIR;
		if (entry->d_type == DT_UNKNOWN)
			folder = fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
				S_ISDIR(st.st_mode);
		if (folder) {
			char *below = mem_printf("%s/%s", path, entry->d_name);
			find_folder(below, any, depth + 1, list);
			free(below);
		} else if (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN) {
			find_entry(dirfd(dir), path, entry->d_name, any, list);
		}
	}
	if (dir)
		closedir(dir);
}

static int find_compare(const void *a, const void *b)
{
	return strcmp(((const struct find_entry *)a)->path, ((const struct find_entry *)b)->path);
}

void find_files(const char *dir, bool any, struct find_list *list)
{
	find_folder(dir, any, 0, list);
	if (list->entries.len)
		qsort(list->entries.at, list->entries.len, sizeof(*list->entries.at), find_compare);
}

const struct find_entry *find_in(const struct find_list *list, const char *path)
{
	for (size_t i = 0; i < list->entries.len; i++)
		if (strcmp(list->entries.at[i].path, path) == 0)
			return &list->entries.at[i];
	return NULL;
}

void find_free(struct find_list *list)
{
	for (size_t i = 0; i < list->entries.len; i++)
		free(list->entries.at[i].path);
	free(list->entries.at);
	*list = (struct find_list){0};
}

static bool find_matches_one(const struct node *pattern, const char *rel)
{
	const char *text = node_string(pattern);
	if (text)
		return fnmatch(text_starts(text, "./") ? text + 2 : text, rel, FNM_PATHNAME) == 0;
	for (size_t i = 0; pattern->type == NODE_LIST && i < pattern->count; i++)
		if (find_matches_one(pattern->items[i], rel))
			return true;
	return false;
}

const struct metrics_format *find_match(const struct node *patterns, const char *rel)
{
	for (const struct metrics_format *f = metrics_formats; f->name; f++) {
		const struct node *pattern = node_get(patterns, f->name);
		if (pattern && find_matches_one(pattern, rel))
			return f;
	}
	return NULL;
}

static void find_probe_cb(void *ctx, const struct metrics_row *row)
{
	static const char *const words[] = {
		"loss", "acc",       "error",  "err",    "auc",        "f1",   "mse",  "mae",
		"rmse", "score",     "reward", "return", "perplexity", "ppl",  "bleu", "iou",
		"dice", "precision", "recall", "metric", "objective",  "val_",
	};
	bool *looks = ctx;
	*looks |= strcmp(row->step_name, "row") != 0;
	for (size_t i = 0; i < row->count; i++)
		for (size_t w = 0; w < COUNT_OF(words); w++)
			*looks |= strcasestr(row->metrics[i].name, words[w]) != NULL;
}

const struct metrics_format *find_probe(const char *path)
{
	char head[FIND_PROBE_BYTES];
	bool looks = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	ssize_t n = read(fd, head, sizeof(head));
	close(fd);
	const struct metrics_format *format = n > 0 ? metrics_format_for(path, head, (size_t)n) : NULL;
	if (!format)
		return NULL;
	if (format->certain)
		return format;
	struct metrics_reader *reader = metrics_open(format, find_probe_cb, &looks);
	metrics_feed(reader, head, (size_t)n);
	if (n < (ssize_t)sizeof(head))
		metrics_finish(reader);
	metrics_free(reader);
	return looks ? format : NULL;
}
