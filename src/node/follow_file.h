/* One of the files that follow.c follows: how it is read, and what is remembered of it. Only follow.c uses it. */
#ifndef NODE_FOLLOW_FILE_H
#define NODE_FOLLOW_FILE_H

#include "node/cuts.h"
#include "node/find.h"
#include "node/follow.h"
#include "node/numbered.h"

#define FOLLOW_PRINT_BYTES FIND_SUM_BYTES

/* A row that is not given yet. */
struct follow_held {
	struct metrics_row row;
	VEC(struct metric) metrics; /* with names of their own; none: there is no such row */
};

struct follow_file {
	struct follow *follow;
	char *path, *source; /* source: NULL until the file is read */
	char *result; /* the source where all that the file had is one object of one step; the same as source: never */
	struct follow_held held; /* the first object, while it is not known whether another step follows */
	bool curve; /* one did */
	struct find_stamp stamp; /* when last read; zero: never */
	const struct metrics_format *format;
	struct metrics_reader *reader; /* NULL: it was found and does not look like metrics so far */
	int64_t offset;
	int64_t earlier; /* bytes before this are an earlier attempt's */
	struct cut cut; /* of these, where the next one of them began, or this one */
	char print[FOLLOW_PRINT_BYTES]; /* the last bytes before offset */
	size_t print_len;
	char head[FOLLOW_PRINT_BYTES]; /* the first bytes that were read */
	size_t head_len;
	VEC(uint32_t) rows; /* sums of the rows given */
	const struct follow_file *twin; /* has the same bytes so far, and is read; NULL: none */
	int64_t same; /* how many */
	struct numbered numbered; /* path: NULL unless it is one of many */
	const char *why_not; /* why a file that was found is not read; NULL */
	int64_t mtime_ms;
	bool unwritten; /* since the script started */
	bool left; /* it could not be read to its end */
	bool remarked[METRICS_REMARKS]; /* was noted, also before the file began anew */
	size_t repeated; /* rows seen again since the file began anew */
	bool repeating;
	uint64_t inode; /* of the file that was read */
	/* A file with one row that is written over each time. */
	VEC(int64_t) over; /* the steps that were seen in it */
	int64_t last_step;
	char step_name[16];
	bool table; /* it had more rows than one */
};

struct follow {
	struct follow_config config;
	VEC(struct follow_file *) files;
	struct find_list earlier; /* what was there before the script started */
	VEC(struct find_stamp) moved; /* files that were read to their end under another name */
	size_t numbered, others; /* of `files` */
	size_t noted; /* files that are not read */
	bool named; /* the experiment names files or an expression: nothing is found by itself */
	bool finishing;
	bool giving_up; /* on files that cannot be read */
};

/* The path relative to the work folder; of a file elsewhere its name: its folder is another one in every attempt. */
const char *follow_relative(const struct follow *follow, const char *path);
/* The user's own pattern for what is printed; NULL: none. */
const char *follow_pattern(const struct follow *follow);
/* Makes the reader of a file that has none. The source of its rows begins with `kind`. */
void follow_open_reader(struct follow_file *file, const char *kind, const struct metrics_format *format);
/* Finds where the next attempt began to write. */
void follow_find_cut(struct follow_file *file);
/* Is what we have read still there? The bytes just before the offset answer for all of it. */
bool follow_is_same(const struct follow_file *file, int fd, int64_t size);
/* The file was truncated or replaced: it is read from its beginning. */
void follow_begin_anew(struct follow_file *file);
/* Reads on. True when everything up to the end was taken. */
bool follow_read_fd(struct follow_file *file, int fd);
/* A read failed: is the file left as it is? Else it is tried again. */
bool follow_leaves(struct follow_file *file, int error);
/* Gives the row that was held back, if there is one, as one of this source. */
void follow_give_held(struct follow_file *file, const char *source);
void follow_drop_held(struct follow_file *file);
/* Notes the step of a file that has one row, before that is written over. */
void follow_keep_step(struct follow_file *file);
/* Notes that rows have other steps than in the file as soon as that is so: the curve is looked at while the task runs.
 * What an earlier attempt wrote was noted by that attempt, unless it was killed. */
void follow_note_remarks(struct follow_file *file);

#endif
