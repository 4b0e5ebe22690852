/* Secrets and identities from the system's random source, and their hashes. */
#ifndef BASE_TOKEN_H
#define BASE_TOKEN_H

#include "base/mem.h"

#include <stdbool.h>

#define TOKEN_ID_CHARS 33 /* 128 bits as hex, and the NUL: names an attempt or a batch */
#define TOKEN_SECRET_CHARS 44 /* 256 bits as URL-safe base64, and the NUL: a secret for a login */
#define TOKEN_HASH_CHARS 65 /* SHA-256 as hex, and the NUL */

/* Call it once, before any other function here. 0, or -EIO if there is no random source. */
int token_init(void) MUST_USE;
void token_make_id(char text[static TOKEN_ID_CHARS]);
void token_make_secret(char text[static TOKEN_SECRET_CHARS]);
void token_hash(const void *data, size_t len, char text[static TOKEN_HASH_CHARS]);
/* Compares in constant time. */
bool token_equal(const char *a, const char *b);
/* Exactly 32 lower-case hex digits? */
bool token_is_id(const char *text);

#endif
