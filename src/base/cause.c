/* The table of causes. See cause.def. */
#include "base/cause.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *word;
	enum retry retry;
	const char *text, *remedy;
} cause_rows[CAUSE_COUNT] = {
	[CAUSE_NONE] = {.retry = RETRY_NEVER},
#define CAUSE(name, word, retry, text, remedy) [CAUSE_##name] = {word, RETRY_##retry, text, remedy},
#include "base/cause.def"
};

const char *const retry_keys[RETRY_COUNT + 1] = {
#define RETRY(name, key, times, text) [RETRY_##name] = key,
#include "base/cause.def"
};

const int retry_times[RETRY_COUNT] = {
#define RETRY(name, key, times, text) [RETRY_##name] = times,
#include "base/cause.def"
};

int cause_parse(const char *word, enum cause *ret)
{
	*ret = CAUSE_NONE;
	if (!word)
		return 0;
	for (enum cause cause = CAUSE_NONE + 1; cause < CAUSE_COUNT; cause++) {
		if (strcmp(cause_rows[cause].word, word) == 0) {
			*ret = cause;
			return 0;
		}
	}
	*ret = CAUSE_UNKNOWN;
	return -EINVAL;
}

const char *cause_name(enum cause cause)
{
	return cause_rows[cause].word;
}

const char *cause_text(enum cause cause)
{
	return cause_rows[cause].text;
}

const char *cause_remedy(enum cause cause)
{
	return cause_rows[cause].remedy;
}

enum retry cause_retry(enum cause cause)
{
	return cause_rows[cause].retry;
}
