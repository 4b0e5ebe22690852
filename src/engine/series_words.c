/* What names and paths say by themselves, without a task: see series.h. */
#include "engine/series.h"

#include <ctype.h>
#include <string.h>

/* The bytes of a path up to its extension: "logs/val.csv" has 8, ".hidden" all of its own. */
static size_t series_stem(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

/* How much of the paths is the same, in whole parts: from the beginning (with its slash), or from the end. */
static size_t series_common_start(const char *const *stems, size_t count)
{
	size_t common = 0;
	for (size_t at = 0;; at++) {
		for (size_t i = 0; i < count; i++)
			if (!stems[i][at] || stems[i][at] != stems[0][at])
				return common;
		if (stems[0][at] == '/')
			common = at + 1;
	}
}

static size_t series_common_end(const char *const *stems, size_t count, size_t start)
{
	size_t common = 0, first = strlen(stems[0]);
	for (size_t back = 1;; back++) {
		bool ends = true; /* a part begins here in all of them */
		for (size_t i = 0; i < count; i++) {
			size_t len = strlen(stems[i]);
			if (len < start + back || stems[i][len - back] != stems[0][first - back])
				return common;
			ends &= len == start + back || stems[i][len - back - 1] == '/';
		}
		if (ends)
			common = back;
	}
}

void series_qualify(const char *const *paths, size_t count, char **ret)
{
	char **stems = mem_array(count, sizeof(*stems));
	bool alike = false;
	for (size_t i = 0; i < count; i++)
		stems[i] = mem_copy(paths[i], series_stem(paths[i]));
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			alike |= strcmp(stems[i], stems[k]) == 0;
	/* a.csv and a.tsv: the extension sets them apart */
	for (size_t i = 0; alike && i < count; i++) {
		free(stems[i]);
		stems[i] = mem_strdup(paths[i]);
	}
	size_t start = series_common_start((const char *const *)stems, count);
	size_t end = series_common_end((const char *const *)stems, count, start);
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(stems[i]) - start - end;
		while (len && stems[i][start + len - 1] == '/')
			len--;
		ret[i] = mem_copy(stems[i] + start, len);
		free(stems[i]);
	}
	free(stems);
}

static bool series_is_separator(char c)
{
	return c && strchr(" _-./", c);
}

bool series_are_alike(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b) &&
		    !(series_is_separator(*a) && series_is_separator(*b)))
			return false;
	return !*a && !*b;
}
