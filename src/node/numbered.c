/* See numbered.h. */
#include "node/numbered.h"

#include "base/mem.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define NUMBERED_DIGITS_MAX 15

static const struct {
	const char *word, *step_name;
} numbered_words[] = {
	{"epoch", "epoch"}, {"step", "step"}, {"iteration", "step"}, {"iter", "step"}, {"round", "step"},
};

/* The number behind a word that ends at `at`: "_12", "=12", "12". 0: none; else where it ends. */
static size_t numbered_digits(const char *path, size_t at, size_t *ret_begin)
{
	at += path[at] == '_' || path[at] == '-' || path[at] == '=';
	size_t end = at;
	while (isdigit((unsigned char)path[end]))
		end++;
	*ret_begin = at;
	return end == at || end - at > NUMBERED_DIGITS_MAX || isalnum((unsigned char)path[end]) ? 0 : end;
}

struct numbered numbered_of(const char *path)
{
	struct numbered ret = {0};
	for (size_t i = 0; path[i]; i++) {
		if (i && isalpha((unsigned char)path[i - 1]))
			continue;
		for (size_t k = 0; k < COUNT_OF(numbered_words); k++) {
			size_t len = strlen(numbered_words[k].word), begin, end;
			if (strncasecmp(path + i, numbered_words[k].word, len) != 0 ||
			    !(end = numbered_digits(path, i + len, &begin)))
				continue;
			for (size_t at = begin; at < end; at++)
				ret.number = ret.number * 10 + (path[at] - '0');
			ret.path = mem_printf("%.*s*%s", (int)begin, path, path + end);
			ret.step_name = numbered_words[k].step_name;
			return ret;
		}
	}
	return ret;
}
