/* See environ.h. */
#include "base/environ.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool environ_is_variable(const char *name)
{
	return text_is_identifier(name, 200) && !strpbrk(name, ".-") && !text_starts(name, "SLUICE_");
}

bool environ_is_secret(const char *name)
{
	static const char *const words[] = {"TOKEN",   "SECRET", "PASSWORD",   "PASSWD",  "PASSPHRASE",
					    "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE", "CREDENTIAL",
					    "AUTH",    "COOKIE", "_KEY",       "DSN"};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strcasestr(name, words[i]))
			return true;
	return text_ends(name, "_PAT"); /* but not …_PATH */
}

/* No shell is to see anything but a name. */
bool environ_is_module(const char *name)
{
	if (!name || !*name || *name == '-' || strlen(name) > 400)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("/._+-@=,", *name))
			return false;
	return true;
}

/* PATH without PREFIX/bin. */
static void environ_drop_path(const char *prefix)
{
	const char *path = getenv("PATH");
	struct buf left = buf_make(BUF_UNLIMITED);
	char *bin = mem_printf("%s/bin", prefix);
	for (const char *at = path ? path : ""; *at;) {
		size_t len = strcspn(at, ":");
		if (len != strlen(bin) || memcmp(at, bin, len) != 0)
			buf_addf(&left, "%s%.*s", left.len ? ":" : "", (int)len, at);
		at += len + (at[len] == ':');
	}
	if (path)
		setenv("PATH", buf_text(&left), 1);
	free(bin);
	buf_free(&left);
}

void environ_leave_python(void)
{
	static const char *const prefixes[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
	static const char *const others[] = {"VIRTUAL_ENV_PROMPT",    "CONDA_DEFAULT_ENV", "CONDA_SHLVL",
					     "CONDA_PROMPT_MODIFIER", "PYTHONHOME",        "PYTHONPATH"};
	for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
		const char *value = getenv(prefixes[i]);
		char *prefix = value && *value ? mem_strdup(value) : NULL;
		if (prefix)
			environ_drop_path(prefix);
		free(prefix);
		unsetenv(prefixes[i]);
	}
	for (size_t i = 0; i < COUNT_OF(others); i++)
		unsetenv(others[i]);
}
