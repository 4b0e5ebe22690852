/* See stop.h. */
#include "spool/stop.h"

#include "base/fs.h"
#include "base/mem.h"
#include "base/num.h"
#include "spool/paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* Runners only look whether the mark is there. */
static const char *const stop_words[] = {[SPOOL_STOP_OVER] = "", [SPOOL_STOP_SILENT] = "silent\n"};
#define STOP_WORD_BYTES 16

int spool_stop_write(const char *attempt_dir, enum spool_stop_why why, struct error *err)
{
	int rc = fs_make_dirs(attempt_dir, SPOOL_FOLDER_MODE, err);
	if (rc < 0)
		return rc;
	char *path = spool_path(attempt_dir, SPOOL_STOP);
	rc = fs_write(path, stop_words[why], strlen(stop_words[why]), SPOOL_FILE_MODE, false, err);
	free(path);
	return rc;
}

bool spool_stop_exists(const char *attempt_dir)
{
	char *path = spool_path(attempt_dir, SPOOL_STOP);
	bool exists = access(path, F_OK) == 0;
	free(path);
	return exists;
}

bool spool_stop_says(const char *attempt_dir, enum spool_stop_why why)
{
	char *path = spool_path(attempt_dir, SPOOL_STOP);
	struct buf text = buf_make(STOP_WORD_BYTES);
	bool same = fs_read(path, STOP_WORD_BYTES, &text, NULL) >= 0 && strcmp(buf_text(&text), stop_words[why]) == 0;
	buf_free(&text);
	free(path);
	return same;
}

int spool_save_write(const char *attempt_dir, int64_t within_ms, struct error *err)
{
	char text[32], *path = spool_path(attempt_dir, SPOOL_SAVE);
	int len = snprintf(text, sizeof(text), "%" PRId64, within_ms);
	int rc = fs_write(path, text, (size_t)len, SPOOL_FILE_MODE, false, err);
	free(path);
	return rc;
}

int64_t spool_save_take(const char *attempt_dir)
{
	struct error err;
	char *path = spool_path(attempt_dir, SPOOL_SAVE);
	struct buf text = buf_make(32);
	int64_t within = 0;
	if (access(path, F_OK) == 0 && fs_read(path, 31, &text, &err) >= 0 &&
	    num_parse_int(buf_text(&text), text.len, 1, SPOOL_SAVE_MOST_MS, &within) < 0)
		within = 0;
	if (within)
		unlink(path);
	buf_free(&text);
	free(path);
	return within;
}
