/* See reason.h. */
#include "node/reason.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

/* Lines after an exception that may still belong to it: hints, notes, what the launcher adds. */
#define REASON_AFTER 6

struct line {
	const char *at;
	size_t len;
};

struct lines {
	VEC(struct line) all; /* that hold something */
};

static struct lines reason_split(const char *text)
{
	struct lines lines = {0};
	while (*text) {
		size_t len = strcspn(text, "\n"), used = len;
		while (used && isspace((unsigned char)text[used - 1]))
			used--;
		if (used)
			vec_push(&lines.all, ((struct line){text, used}));
		text += len + (text[len] == '\n');
	}
	return lines;
}

static bool line_starts(const struct line *line, const char *prefix)
{
	size_t len = strlen(prefix);
	return line->len >= len && memcmp(line->at, prefix, len) == 0;
}

static const char *line_find(const struct line *line, const char *text)
{
	return memmem(line->at, line->len, text, strlen(text));
}

static bool line_is_indented(const struct line *line)
{
	return line->at[0] == ' ' || line->at[0] == '\t';
}

/* What a cluster or a shell adds after the script's own words. */
static bool line_is_noise(const struct line *line)
{
	static const char *const starts[] = {"srun: ", "slurmstepd: ", "make: *** ", "During handling of",
					     "The above exception"};
	for (size_t i = 0; i < COUNT_OF(starts); i++)
		if (line_starts(line, starts[i]))
			return true;
	return false;
}

/* package.SomeError: message, or SomeError alone. */
static bool line_is_exception(const struct line *line)
{
	static const char *const ends[] = {"Error", "Exception", "Interrupt", "Exit", "Failure"};
	size_t len = 0;
	while (len < line->len &&
	       (isalnum((unsigned char)line->at[len]) || line->at[len] == '_' || line->at[len] == '.'))
		len++;
	if (!len || isdigit((unsigned char)line->at[0]) || (len < line->len && line->at[len] != ':'))
		return false;
	for (size_t i = 0; i < COUNT_OF(ends); i++) {
		size_t end = strlen(ends[i]);
		if (len >= end && memcmp(line->at + len - end, ends[i], end) == 0)
			return true;
	}
	return false;
}

static void reason_put(const struct line *line, struct buf *out)
{
	const char *at = line->at;
	size_t len = line->len;
	while (len && isspace((unsigned char)*at)) {
		at++;
		len--;
	}
	if (len > REASON_CHARS) {
		len = REASON_CHARS;
		while (len && ((unsigned char)at[len] & 0xc0) == 0x80)
			len--;
		text_utf8_clean(at, len, out);
		buf_add_text(out, "…");
		return;
	}
	text_utf8_clean(at, len, out);
}

/* The exception below the last traceback, or the last line that looks like one where the traceback's head is cut off. */
static const struct line *reason_python(const struct lines *lines)
{
	size_t from = lines->all.len;
	for (size_t i = lines->all.len; i-- > 0 && from == lines->all.len;)
		if (line_find(&lines->all.at[i], "Traceback (most recent call last)"))
			from = i;
	for (size_t i = from + 1; i < lines->all.len; i++)
		if (!line_is_indented(&lines->all.at[i]))
			return &lines->all.at[i];
	for (size_t i = lines->all.len; i-- > 0;)
		if (line_is_exception(&lines->all.at[i]))
			return &lines->all.at[i];
	return NULL;
}

/* "terminate called after throwing an instance of 'std::runtime_error'" and "  what():  bad" */
static bool reason_cpp(const struct lines *lines, struct buf *out)
{
	static const char thrown[] = "terminate called after throwing an instance of '";
	for (size_t i = lines->all.len; i-- > 0;) {
		const struct line *line = &lines->all.at[i];
		const char *at = line_find(line, thrown);
		if (!at)
			continue;
		const char *type = at + strlen(thrown),
			   *end = memchr(type, '\'', (size_t)(line->at + line->len - type));
		struct buf text = buf_make(BUF_UNLIMITED);
		buf_add(&text, type, (size_t)((end ? end : line->at + line->len) - type));
		const struct line *next = i + 1 < lines->all.len ? &lines->all.at[i + 1] : NULL;
		const char *what = next ? line_find(next, "what():") : NULL;
		if (what) {
			what += strlen("what():");
			while (what < next->at + next->len && *what == ' ')
				what++;
			buf_add_text(&text, ": ");
			buf_add(&text, what, (size_t)(next->at + next->len - what));
		}
		reason_put(&(struct line){buf_text(&text), text.len}, out);
		buf_free(&text);
		return true;
	}
	return false;
}

/* The last line that has one of the words. */
static const struct line *reason_with(const struct lines *lines, const char *const *words)
{
	for (size_t i = lines->all.len; i-- > 0;)
		for (size_t k = 0; words[k]; k++)
			if (line_find(&lines->all.at[i], words[k]))
				return &lines->all.at[i];
	return NULL;
}

static const struct line *reason_last(const struct lines *lines)
{
	for (size_t i = lines->all.len; i-- > 0;)
		if (!line_is_noise(&lines->all.at[i]))
			return &lines->all.at[i];
	return NULL;
}

/* An exception that was caught and printed long before the end did not end the script: Python leaves with 1 on its own. */
static bool reason_is_last(const struct lines *lines, const struct line *found, int exit_code)
{
	size_t after = (size_t)(lines->all.at + lines->all.len - 1 - found);
	return exit_code == 1 || after <= REASON_AFTER;
}

bool reason_find(const char *tail, int exit_code, struct buf *out)
{
	static const char *const of_signal[] = {"Fatal Python error:", "Assertion `", "assertion failed", "panicked at",
						NULL};
	static const char *const of_usage[] = {": error: ", NULL};
	struct lines lines = reason_split(tail);
	const struct line *found = NULL;
	bool done = reason_cpp(&lines, out);
	if (!done && exit_code < 0)
		found = reason_with(&lines, of_signal);
	if (!done && exit_code >= 0) {
		found = reason_python(&lines);
		if (found && !reason_is_last(&lines, found, exit_code))
			found = NULL;
		if (!found && exit_code == 2)
			found = reason_with(&lines, of_usage);
		if (!found)
			found = reason_last(&lines);
	}
	if (found)
		reason_put(found, out);
	free(lines.all.at);
	return done || found;
}

bool reason_last_line(const char *text, struct buf *out)
{
	struct lines lines = reason_split(text);
	const struct line *found = reason_last(&lines);
	if (found)
		reason_put(found, out);
	free(lines.all.at);
	return found;
}
