/* Files that are sent before the experiment that needs them. They are streamed to STATE/uploads, under names that the
 * daemon chooses. */
#ifndef HTTP_UPLOAD_H
#define HTTP_UPLOAD_H

#include "base/error.h"

#include <stdint.h>

struct upload;

/* Makes a private file in the folder. */
int upload_open(const char *dir, struct upload **ret, struct error *err) MUST_USE;
/* 0; -E2BIG beyond LIMIT_UPLOAD_BYTES; or the negative errno of write(2). */
int upload_write(struct upload *upload, const void *data, size_t len) MUST_USE;
/* Gives the file its name, "u" and 16 hex digits, and frees the upload, also on failure. */
int upload_finish(struct upload *upload, char ret_id[static 24], uint64_t *ret_bytes, struct error *err) MUST_USE;
/* Removes the unfinished file. NULL is fine. */
void upload_abandon(struct upload *upload);
/* Removes files that were not used within a day, and unfinished ones. */
void upload_clean(const char *dir, int64_t now_ms);

#endif
