/* See section.h. A heading has nothing on it but words for a part of the data and what usually stands beside them. */
#include "metrics/section.h"

#include "base/mem.h"
#include "metrics/words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* A longer line is a sentence, unless it is drawn over the whole width. */
#define SECTION_LINE_BYTES 120
#define SECTION_WORDS_MAX 3

static bool section_is_one_of(const char *const *list, size_t count, const char *word, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == len && strncasecmp(list[i], word, len) == 0)
			return true;
	return false;
}

static bool section_is_part(const char *word, size_t len)
{
	static const char *const more[] = {"validating", "evaluating"};
	static const char *const none[] = {"set", "learning", "learn"};
	if (section_is_one_of(more, COUNT_OF(more), word, len))
		return true;
	return word_kind_of(word, len) == WORD_PART && !section_is_one_of(none, COUNT_OF(none), word, len);
}

static bool section_is_beside(const char *word, size_t len)
{
	static const char *const words[] = {"phase", "set", "mode", "loop", "stats", "metrics", "performance", "split"};
	return section_is_one_of(words, COUNT_OF(words), word, len) || word_kind_of(word, len) == WORD_NOISE;
}

bool section_read(const char *text, size_t len, char ret[SECTION_BYTES])
{
	size_t words = 0, found = 0;
	const char *part = NULL;
	if (len > SECTION_LINE_BYTES)
		return false;
	for (size_t i = 0; i < len;) {
		size_t end = i;
		while (end < len && isalpha((unsigned char)text[end]))
			end++;
		if (end == i) {
			if (isdigit((unsigned char)text[i]) || text[i] == '%' || text[i] == '{')
				return false;
			i++;
			continue;
		}
		if (++words > SECTION_WORDS_MAX)
			return false;
		if (!part && section_is_part(text + i, end - i)) {
			part = text + i;
			found = end - i;
		} else if (!section_is_beside(text + i, end - i) && !section_is_part(text + i, end - i)) {
			return false;
		}
		i = end;
	}
	if (!part || found >= SECTION_BYTES)
		return false;
	memcpy(ret, part, found);
	ret[found] = '\0';
	return true;
}
