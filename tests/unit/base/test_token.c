/* Identities and secrets. */
#include "base/token.h"

#include "../unit.h"

static int init(void **state)
{
	(void)state;
	return token_init();
}

static void ids_are_hex_and_never_repeat(void **state)
{
	(void)state;
	static char ids[2000][TOKEN_ID_CHARS];
	for (size_t i = 0; i < COUNT_OF(ids); i++) {
		token_make_id(ids[i]);
		assert_true(token_is_id(ids[i]));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(ids[i], ids[j]);
	}
}

static void what_is_no_id_is_refused(void **state)
{
	(void)state;
	assert_true(token_is_id("0123456789abcdef0123456789abcdef"));
	assert_false(token_is_id(""));
	assert_false(token_is_id("0123456789abcdef0123456789abcde"));
	assert_false(token_is_id("0123456789abcdef0123456789abcdef0"));
	assert_false(token_is_id("0123456789ABCDEF0123456789abcdef"));
	assert_false(token_is_id("../../../../../../../../etc/pass"));
}

static void secrets_fit_a_url(void **state)
{
	(void)state;
	char a[TOKEN_SECRET_CHARS], b[TOKEN_SECRET_CHARS];
	token_make_secret(a);
	token_make_secret(b);
	assert_int_equal(strlen(a), TOKEN_SECRET_CHARS - 1);
	assert_int_equal(strspn(a, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), strlen(a));
	assert_false(token_equal(a, b));
	assert_true(token_equal(a, a));
	assert_false(token_equal(a, ""));
	assert_false(token_equal("", a));
	a[42] ^= 1;
	char c[TOKEN_SECRET_CHARS];
	memcpy(c, a, sizeof(c));
	c[42] ^= 1;
	assert_false(token_equal(a, c));
}

static void hash_is_sha256(void **state)
{
	(void)state;
	char hash[TOKEN_HASH_CHARS];
	token_hash("abc", 3, hash);
	assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	token_hash("", 0, hash);
	assert_string_equal(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_hex_and_never_repeat),
		cmocka_unit_test(what_is_no_id_is_refused),
		cmocka_unit_test(secrets_fit_a_url),
		cmocka_unit_test(hash_is_sha256),
	};
	return cmocka_run_group_tests(tests, init, NULL);
}
