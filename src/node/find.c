/* See find.h. The walk is bounded: a script may unpack a data set with a million files beside its
 * results. */
#include "node/find.h"

#include "base/fs.h"
#include "base/limits.h"
#include "base/text.h"
#include "metrics/words.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

#define FIND_ENTRIES_MAX 5000
#define FIND_DEPTH_MAX 8
#define FIND_PROBE_BYTES 16384
#define FIND_VALUE_BYTES (16 << 20)
/* A table of more rows, none of which says its step, is data: at the first look a training has written a few. */
#define FIND_ROWS_MAX 1000

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

int64_t find_sum_of(const void *bytes, size_t len)
{
	return (int64_t)crc32(0, bytes, (unsigned)len);
}

int64_t find_sum(const char *path, int64_t size)
{
	unsigned char last[FIND_SUM_BYTES];
	int64_t len = size < FIND_SUM_BYTES ? size : FIND_SUM_BYTES;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : pread(fd, last, (size_t)len, size - len);
	if (fd >= 0)
		close(fd);
	return n == len ? find_sum_of(last, (size_t)len) : -1;
}

static void find_entry(int dir, const char *path, const char *name, bool any, struct find_list *list)
{
	struct stat st;
	if (!any && !metrics_format_for(name, NULL, 0))
		return;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return;
	struct find_entry entry = {mem_printf("%s/%s", path, name), find_stamp_of(&st), -1};
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
		if (folder && !any && text_starts(entry->d_name, "checkpoint-"))
			continue; /* Hugging Face copies what it has logged so far into every checkpoint */
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

/* What the first rows of a file say. */
struct find_probe {
	size_t rows;
	bool counts, named, samples;
};

static bool find_has_word(const char *name, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

/* Columns of tables in which a row is a sample and not a step. */
static bool find_is_sample(const char *name)
{
	static const char *const words[] = {"id",       "sample",     "sample_id", "idx",        "index",
					    "image_id", "label",      "target",    "y_true",     "y_pred",
					    "y_test",   "prediction", "pred",      "predicted",  "class",
					    "row_id",   "user_id",    "item_id",   "predictions"};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strcasecmp(name, words[i]) == 0)
			return true;
	return false;
}

static void find_probe_cb(void *ctx, const struct metrics_row *row)
{
	static const char *const words[] = {
		"loss", "acc",       "error",  "err",    "auc",        "f1",   "mse",     "mae",
		"rmse", "score",     "reward", "return", "perplexity", "ppl",  "bleu",    "iou",
		"dice", "precision", "recall", "metric", "objective",  "val_", "verlust", "genauigkeit",
	};
	struct find_probe *probe = ctx;
	probe->rows++;
	probe->counts |= strcmp(row->step_name, "row") != 0;
	/* The monitor of Stable-Baselines: reward, length and time of every episode. */
	probe->named |= row->count == 3 && strcmp(row->metrics[0].name, "r") == 0 &&
		strcmp(row->metrics[1].name, "l") == 0 && strcmp(row->metrics[2].name, "t") == 0;
	for (size_t i = 0; i < row->count; i++) {
		const char *name = row->metrics[i].name;
		enum word_kind kind = word_kind_of_name(name, strlen(name));
		probe->named |= kind == WORD_METRIC || kind == WORD_VAGUE ||
			find_has_word(name, words, COUNT_OF(words));
		probe->samples |= find_is_sample(row->metrics[i].name);
	}
}

/* config.json has a batch size and the weight of a loss, and no metrics. */
static bool find_is_settings(const char *path)
{
	static const char *const words[] = {"config",  "param", "arg",       "option",
					    "setting", "vocab", "tokenizer", "package"};
	const char *slash = strrchr(path, '/');
	return find_has_word(slash ? slash + 1 : path, words, COUNT_OF(words));
}

#define FIND_ADVICE "; to read it, name it: metrics: {csv: PATH}"

const char find_unnamed[] =
	"no column of it counts, such as step or epoch, and none is named like a metric" FIND_ADVICE;

const struct metrics_format *find_probe(const char *path, const char **ret_why)
{
	char head[FIND_PROBE_BYTES];
	struct find_probe probe = {0};
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	*ret_why = NULL;
	if (fd < 0)
		return NULL;
	ssize_t n = fstat(fd, &st) < 0 ? -1 : read(fd, head, sizeof(head));
	const struct metrics_format *format = n > 0 ? metrics_format_for(path, head, (size_t)n) : NULL;
	bool wide_letters = n > 1 && (memcmp(head, "\xff\xfe", 2) == 0 || memcmp(head, "\xfe\xff", 2) == 0);
	if (wide_letters && format && !format->certain) {
		close(fd);
		*ret_why = "its text is UTF-16; sluice reads UTF-8 (in Python encoding=\"utf-8\")";
		return NULL;
	}
	struct metrics_reader *reader = format && !format->certain ? metrics_open(format, find_probe_cb, &probe) : NULL;
	off_t read_so_far = 0, first_line = -1;
	/* One JSON value may be longer than the beginning that tells all about a table. */
	while (reader && n > 0) {
		const char *end = first_line < 0 ? memchr(head, '\n', (size_t)n) : NULL;
		first_line = end ? read_so_far + (end - head) : first_line;
		metrics_feed(reader, head, (size_t)n);
		read_so_far += n;
		n = probe.rows || read_so_far >= FIND_VALUE_BYTES ? 0 : read(fd, head, sizeof(head));
	}
	if (reader && read_so_far >= st.st_size)
		metrics_finish(reader);
	metrics_free(reader);
	close(fd);
	if (!reader)
		return format;
	double rows = read_so_far ? (double)probe.rows * (double)st.st_size / (double)read_so_far : 0;
	bool is_table = format == metrics_format_for("x.csv", NULL, 0);
	bool wide = is_table && (first_line < 0 ? read_so_far : first_line) > LIMIT_METRIC_LINE_BYTES;
	if (wide)
		*ret_why = "its first line is longer than 64 KB; a table of at most 256 columns is read";
	else if (!probe.counts && probe.samples)
		*ret_why = "its rows are samples, not steps" FIND_ADVICE;
	else if (!probe.counts && rows > FIND_ROWS_MAX)
		*ret_why = "it has thousands of rows and no column that counts them, such as step or epoch" FIND_ADVICE;
	if (*ret_why || (format->settings && (!probe.named || find_is_settings(path))))
		return NULL;
	if (!probe.counts && !probe.named && probe.rows && is_table)
		*ret_why = find_unnamed;
	return probe.counts || probe.named ? format : NULL;
}

bool find_is_temporary(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	for (const char *at = name; *at;) {
		size_t len = strcspn(at, "._- ");
		if ((len == 3 && strncasecmp(at, "tmp", 3) == 0) || (len == 4 && strncasecmp(at, "temp", 4) == 0))
			return true;
		at += len + (at[len] != '\0');
	}
	return *name == '.';
}
