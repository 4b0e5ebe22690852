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

/* What stands in front of every line of a process that torchrun started: "[rank0]: ". */
static size_t reason_rank(const char *text, size_t len)
{
	static const char rank[] = "[rank";
	size_t n = strlen(rank);
	if (len < n || memcmp(text, rank, n) != 0)
		return 0;
	while (n < len && isdigit((unsigned char)text[n]))
		n++;
	return len - n >= 3 && memcmp(text + n, "]: ", 3) == 0 ? n + 3 : 0;
}

static struct lines reason_split(const char *text)
{
	struct lines lines = {0};
	while (*text) {
		size_t len = strcspn(text, "\n"), used = len, from = reason_rank(text, len);
		while (used > from && isspace((unsigned char)text[used - 1]))
			used--;
		if (used > from)
			vec_push(&lines.all, ((struct line){text + from, used - from}));
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

/* Inside a traceback, or of the frame that rich draws around one. */
static bool line_is_indented(const struct line *line)
{
	return line->at[0] == ' ' || line->at[0] == '\t' || line_starts(line, "│") || line_starts(line, "╰");
}

/* "make: *** ", or "make[2]: *** " of a make that another one started. */
static bool line_is_make(const struct line *line)
{
	size_t len = strlen("make");
	if (!line_starts(line, "make"))
		return false;
	while (len < line->len && (isdigit((unsigned char)line->at[len]) || strchr("[]", line->at[len])))
		len++;
	struct line rest = {line->at + len, line->len - len};
	return line_starts(&rest, ": *** ");
}

/* What a cluster, a shell or an interpreter adds after the script's own words. */
static bool line_is_noise(const struct line *line)
{
	static const char *const starts[] = {
		"srun: ",
		"slurmstepd: ",
		"During handling of",
		"The above exception",
		"compilation terminated.",
		"BEGIN failed--compilation aborted",
		"Execution halted",
		"Calls: ",
		"Set the environment variable HYDRA_FULL_ERROR",
		"====",
		"----",
	};
	for (size_t i = 0; i < COUNT_OF(starts); i++)
		if (line_starts(line, starts[i]))
			return true;
	return line_is_make(line);
}

/* It explains nothing, however late it comes. */
static bool line_is_warning(const struct line *line)
{
	return line_find(line, "Warning: ") || line_find(line, "WARNING") || line_starts(line, "  warnings.warn(");
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

/* A launcher's own exception only says that the script had one. */
static bool line_is_launcher(const struct line *line)
{
	return line_find(line, "ChildFailedError") || line_find(line, "CalledProcessError");
}

static bool line_is_traceback(const struct line *line)
{
	return line_find(line, "Traceback (most recent call last)");
}

/* "  | ExceptionGroup: two went wrong (2 sub-exceptions)", below the head at `from`. False: it is no group. */
static bool reason_group(const struct lines *lines, size_t from, struct line *ret)
{
	for (size_t i = from + 1; line_find(&lines->all.at[from], "Exception Group") && i < lines->all.len; i++) {
		const struct line *line = &lines->all.at[i];
		const char *bar = memchr(line->at, '|', line->len);
		size_t rest = bar ? (size_t)(line->at + line->len - bar) : 0;
		if (rest > 2 && bar[1] == ' ' && bar[2] != ' ') {
			*ret = (struct line){bar + 2, rest - 2};
			return true;
		}
	}
	return false;
}

/* The exception of the traceback whose head is at `from`; false: its end is not there. */
static bool reason_below(const struct lines *lines, size_t from, struct line *ret)
{
	if (reason_group(lines, from, ret))
		return true;
	for (size_t i = from + 1; i < lines->all.len && !line_is_traceback(&lines->all.at[i]); i++) {
		if (!line_is_indented(&lines->all.at[i])) {
			*ret = lines->all.at[i];
			return true;
		}
	}
	return false;
}

/* The exception below the last traceback that is not a launcher's, or the last line that looks like one where the
 * traceback's head is cut off. */
static bool reason_python(const struct lines *lines, struct line *ret)
{
	bool found = false;
	for (size_t i = lines->all.len; i-- > 0;) {
		struct line line;
		if (!line_is_traceback(&lines->all.at[i]) || !reason_below(lines, i, &line))
			continue;
		if (!found || !line_is_launcher(&line))
			*ret = line;
		found = true;
		if (!line_is_launcher(&line))
			return true;
	}
	for (size_t i = lines->all.len; !found && i-- > 0;) {
		if (line_is_exception(&lines->all.at[i])) {
			*ret = lines->all.at[i];
			found = true;
		}
	}
	return found;
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

/* The last line that says something; where there is none the last warning, else the last line. */
static const struct line *reason_last(const struct lines *lines)
{
	const struct line *warning = NULL;
	for (size_t i = lines->all.len; i-- > 0;) {
		const struct line *line = &lines->all.at[i];
		if (!line_is_noise(line) && !line_is_warning(line))
			return line;
		if (!warning && line_is_warning(line))
			warning = line;
	}
	return warning || !lines->all.len ? warning : &lines->all.at[lines->all.len - 1];
}

/* How other languages begin what ends a program; the stack comes after it. */
static const struct line *reason_other(const struct lines *lines)
{
	static const char *const starts[] = {
		"Error in ", "ERROR: LoadError: ", "panic: ", "thread '", "Exception in thread \"", NULL};
	for (size_t i = lines->all.len; i-- > 0;)
		for (size_t k = 0; starts[k]; k++)
			if (line_starts(&lines->all.at[i], starts[k]))
				return &lines->all.at[i];
	return NULL;
}

/* An exception that was caught and printed long before the end did not end the script: Python leaves with 1 on its own. */
static bool reason_is_last(const struct lines *lines, const struct line *found, int exit_code)
{
	size_t after = 0;
	for (size_t i = lines->all.len; i-- > 0 && lines->all.at[i].at > found->at;)
		after += !line_is_warning(&lines->all.at[i]);
	return exit_code == 1 || after <= REASON_AFTER;
}

/* "RuntimeError: Error(s) in loading state_dict for Net:" is understood with the line below it. */
static void reason_put_whole(const struct lines *lines, const struct line *found, struct buf *out)
{
	const struct line *next = NULL;
	for (size_t i = 0; i < lines->all.len && !next; i++)
		if (lines->all.at[i].at > found->at + found->len)
			next = &lines->all.at[i];
	size_t skip = 0;
	while (next && skip < next->len && isspace((unsigned char)next->at[skip]))
		skip++;
	if (found->at[found->len - 1] != ':' || !next || skip == next->len || line_is_noise(next)) {
		reason_put(found, out);
		return;
	}
	struct buf both = buf_make(BUF_UNLIMITED);
	buf_add(&both, found->at, found->len);
	buf_add_char(&both, ' ');
	buf_add(&both, next->at + skip, next->len - skip);
	reason_put(&(struct line){buf_text(&both), both.len}, out);
	buf_free(&both);
}

bool reason_find(const char *tail, int exit_code, struct buf *out)
{
	static const char *const of_signal[] = {"Fatal Python error:", "Assertion `", "assertion failed", "panicked at",
						NULL};
	static const char *const of_usage[] = {": error: ", NULL};
	struct lines lines = reason_split(tail);
	const struct line *found = NULL;
	struct line exception;
	bool done = reason_cpp(&lines, out);
	if (!done && exit_code < 0)
		found = reason_with(&lines, of_signal);
	if (!done && exit_code >= 0) {
		if (reason_python(&lines, &exception) && reason_is_last(&lines, &exception, exit_code))
			found = &exception;
		if (!found && exit_code == 2)
			found = reason_with(&lines, of_usage);
		if (!found)
			found = reason_other(&lines);
		if (!found)
			found = reason_last(&lines);
	}
	if (found)
		reason_put_whole(&lines, found, out);
	free(lines.all.at);
	return done || found;
}

bool reason_find_exception(const char *tail, struct buf *out)
{
	struct lines lines = reason_split(tail);
	struct line line;
	bool traceback = false;
	for (size_t i = 0; i < lines.all.len; i++)
		traceback |= line_is_traceback(&lines.all.at[i]);
	bool found = traceback && reason_python(&lines, &line) && reason_is_last(&lines, &line, 0);
	if (found)
		reason_put_whole(&lines, &line, out);
	free(lines.all.at);
	return found;
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
