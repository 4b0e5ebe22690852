/* Secrets and identities, from libsodium: see token.h. */
#include "base/token.h"

#include <errno.h>
#include <sodium.h>

int token_init(void)
{
	return sodium_init() < 0 ? -EIO : 0;
}

void token_make_id(char text[static TOKEN_ID_CHARS])
{
	unsigned char bytes[16];
	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2hex(text, TOKEN_ID_CHARS, bytes, sizeof(bytes));
}

void token_make_secret(char text[static TOKEN_SECRET_CHARS])
{
	unsigned char bytes[32];
	randombytes_buf(bytes, sizeof(bytes));
	sodium_bin2base64(text, TOKEN_SECRET_CHARS, bytes, sizeof(bytes), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	sodium_memzero(bytes, sizeof(bytes));
}

void token_hash(const void *data, size_t len, char text[static TOKEN_HASH_CHARS])
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256(hash, data, len);
	sodium_bin2hex(text, TOKEN_HASH_CHARS, hash, sizeof(hash));
}

bool token_equal(const char *a, const char *b)
{
	size_t n = strlen(a);
	return n == strlen(b) && sodium_memcmp(a, b, n) == 0;
}

bool token_is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") == TOKEN_ID_CHARS - 1 && !text[TOKEN_ID_CHARS - 1];
}
