/* See folder.h. */
#include "node/folder.h"

#include <strings.h>

size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) : 0;
}

bool folder_is_same(const char *path, const char *other)
{
	size_t len = folder_length(path);
	return len == folder_length(other) && memcmp(path, other, len) == 0;
}

/* Does `other` lie in a folder above that of `path`? */
static bool folder_is_above(const char *other, const char *path)
{
	size_t above = folder_length(other), len = folder_length(path);
	return above < len && memcmp(other, path, above) == 0 && (above == 0 || path[above] == '/');
}

static bool folder_is_part(const char *name, size_t len)
{
	static const char *const parts[] = {"train",      "training", "val",  "valid",
					    "validation", "test",     "eval", "evaluation"};
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (strlen(parts[i]) == len && strncasecmp(parts[i], name, len) == 0)
			return true;
	return false;
}

char *folder_prefix(const char *path, const char *const *others, size_t count)
{
	size_t len = folder_length(path), above = 0, begin = len;
	bool found = false;

	for (size_t i = 0; i < count; i++)
		if (folder_is_above(others[i], path)) {
			found = true;
			above = folder_length(others[i]) > above ? folder_length(others[i]) : above;
		}
	while (begin && path[begin - 1] != '/')
		begin--;
	if (found)
		return mem_copy(path + above + (above > 0), len + 1 - above - (above > 0));
	return folder_is_part(path + begin, len - begin) ? mem_copy(path + begin, len + 1 - begin) : mem_strdup("");
}
