/* The file that says what ran: see node/ran.h. Its name is the digest of its content, so that a reader can see that it
 * is complete. */
#ifndef SPOOL_RAN_H
#define SPOOL_RAN_H

#include "base/buf.h"
#include "base/error.h"

/* 32 hex digits. */
#define SPOOL_RAN_CHARS 33
/* The largest file that a reader accepts. The writer limits packages and variables before. */
#define SPOOL_RAN_BYTES (512u << 10)

/* The SHA-256 of a file in hex digits (65 characters with the end); a negative errno. */
int spool_ran_hash_file(const char *path, char hex[65]) MUST_USE;
/* The digest of a content. */
void spool_ran_digest(const char *text, size_t len, char digest[SPOOL_RAN_CHARS]);
bool spool_ran_is_digest(const char *digest);

/* ran_dir/DIGEST.json. The folder is made. */
int spool_ran_write(const char *ran_dir, const char *text, size_t len, bool sync, char digest[SPOOL_RAN_CHARS],
		    struct error *err) MUST_USE;
/* -EBADMSG: its content does not (or not yet) match the digest in its name. */
int spool_ran_read(const char *ran_dir, const char *digest, struct buf *out, struct error *err) MUST_USE;

/* Did the last attempt on this machine record what has the same sum? Then its digest, of a file that is there. */
bool spool_ran_recall(const char *ran_dir, uint64_t sum, char digest[SPOOL_RAN_CHARS]);
/* For spool_ran_recall. Where it fails, the next attempt finds out again what ran. */
void spool_ran_remember(const char *ran_dir, uint64_t sum, const char *digest);

#endif
