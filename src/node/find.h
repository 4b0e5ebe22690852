/* Finding files below the work folder that may hold metrics. */
#ifndef NODE_FIND_H
#define NODE_FIND_H

#include "base/node.h"
#include "metrics/metrics.h"

#include <sys/stat.h>

/* Shows whether a file has changed. */
struct find_stamp {
	int64_t size, mtime_ns;
	uint64_t inode;
};

struct find_entry {
	char *path;
	struct find_stamp stamp;
	int64_t sum; /* of its last bytes: find_sum; -1: not known */
};

struct find_list {
	VEC(struct find_entry) entries;
	size_t looked; /* folder entries seen: bounds the work */
};

struct find_stamp find_stamp_of(const struct stat *st);
bool find_stamp_same(const struct find_stamp *a, const struct find_stamp *b);

/* How many of the last bytes a sum is of, and that sum. */
#define FIND_SUM_BYTES 64
int64_t find_sum_of(const void *bytes, size_t len);
/* A checksum of the last bytes before this position of a file. It shows whether the file still begins with the old
 * content. -1: not known. */
int64_t find_sum(const char *path, int64_t size);

/* Adds every regular file below dir whose name fits a metrics format (`any`: every regular file). Links are not
 * followed: they lead to submitted files. Stops without an error after some thousand entries. */
void find_files(const char *dir, bool any, struct find_list *list);
const struct find_entry *find_in(const struct find_list *list, const char *path); /* NULL: not there */
void find_free(struct find_list *list);

/* "metrics.tmp.csv": is it renamed when it is whole, and nothing to be read before? */
bool find_is_temporary(const char *path);

/* The format under whose name the path (relative to the work folder) matches a pattern; NULL. A pattern is
 * a text or a list of texts; * does not match a slash. */
const struct metrics_format *find_match(const struct node *patterns, const char *rel);

/* The format of a file that the user did not name; NULL: it holds no metrics, or nothing yet. It holds metrics when it
 * has a row with a column that counts (epoch, step, …) or a column named like a metric (…loss, acc…). Data and
 * predictions have neither. A format that is certain of its files needs no row. *ret_why: why a readable table does not
 * count as metrics (a constant text), or NULL. */
const struct metrics_format *find_probe(const char *path, const char **ret_why);
/* A reason that matters only where nothing else was read: nothing in the table looks like metrics. */
extern const char find_unnamed[];

#endif
