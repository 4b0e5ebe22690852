/* The user's own pattern over what a script prints: 'val_loss is (?P<val_loss>[0-9.]+)'. Python's way to name a group
 * is known to most; the rest is an extended regular expression of POSIX, with \d, \w and \s. Features that need
 * backtracking (references, lookahead) are refused, so the work grows only with the length of the line. */
#include "base/limits.h"
#include "metrics/number.h"
#include "metrics/reader.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <regex.h>

#define PATTERN_BYTES_MAX 512
#define PATTERN_GROUPS_MAX 32
#define PATTERN_REPEAT_MAX 64
/* A longer line is passed over. */
#define PATTERN_LINE_BYTES 4096
/* The C library keeps what it has worked out of an expression; it is dropped after so many lines. */
#define PATTERN_FRESH_LINES 10000

struct pattern {
	struct metrics_reader reader;
	char *text; /* as POSIX has it */
	regex_t regex;
	char *names[PATTERN_GROUPS_MAX]; /* by group; NULL: it has none */
	size_t groups;
	unsigned lines; /* since the expression was compiled */
};

struct pattern_reading {
	const char *text, *at;
	struct buf posix;
	char *names[PATTERN_GROUPS_MAX];
	size_t groups, named;
	bool bracket;
};

static int pattern_refuse(const struct pattern_reading *r, const char *what, struct error *err)
{
	return errorf(err, -EINVAL, "the pattern has %s at character %zu, which is not available; write it without",
		      what, (size_t)(r->at - r->text) + 1);
}

/* "(?P<name>", "(?<name>", "(?:" and "(". */
static int pattern_open_group(struct pattern_reading *r, struct error *err)
{
	const char *name = NULL;
	buf_add_char(&r->posix, '(');
	if (++r->groups == PATTERN_GROUPS_MAX)
		return errorf(err, -EINVAL, "the pattern has %d groups or more", PATTERN_GROUPS_MAX);
	if (r->at[1] != '?') {
		r->at++;
		return 0;
	}
	if (strncmp(r->at, "(?:", 3) == 0) {
		r->at += 3;
		return 0;
	}
	if (strncmp(r->at, "(?P<", 4) == 0)
		name = r->at + 4;
	else if (strncmp(r->at, "(?<", 3) == 0 && (isalpha((unsigned char)r->at[3]) || r->at[3] == '_'))
		name = r->at + 3;
	const char *end = name ? strchr(name, '>') : NULL;
	if (!name)
		return pattern_refuse(r, "a special group", err);
	if (!end || end == name || end - name > LIMIT_METRIC_NAME_BYTES)
		return errorf(err, -EINVAL,
			      "the pattern has a group without a name at character %zu; write (?P<val_loss>...)",
			      (size_t)(r->at - r->text) + 1);
	r->names[r->groups] = metrics_clean_name(name, (size_t)(end - name));
	r->named++;
	r->at = end + 1;
	return 0;
}

static int pattern_escape(struct pattern_reading *r, struct error *err)
{
	static const struct {
		char letter;
		const char *alone, *within; /* within: in brackets */
	} classes[] = {
		{'d', "[0-9]", "0-9"}, {'w', "[A-Za-z0-9_]", "A-Za-z0-9_"},
		{'s', "[ \t]", " \t"}, {'S', "[^ \t]", NULL},
		{'t', "\t", "\t"},
	};
	char c = r->at[1];
	for (size_t i = 0; i < COUNT_OF(classes); i++)
		if (classes[i].letter == c && (!r->bracket || classes[i].within)) {
			buf_add_text(&r->posix, r->bracket ? classes[i].within : classes[i].alone);
			r->at += 2;
			return 0;
		}
	if (!c || isalnum((unsigned char)c) || (r->bracket && strchr("]^-\\", c)))
		return pattern_refuse(r, "an escape", err);
	if (!r->bracket)
		buf_add_char(&r->posix, '\\');
	buf_add_char(&r->posix, c);
	r->at += 2;
	return 0;
}

static int pattern_repeat(struct pattern_reading *r, struct error *err)
{
	uint64_t most = 0, number = 0;
	if (r->at[0] == '{') {
		const char *p = r->at;
		while (*p && *p != '}') {
			number = isdigit((unsigned char)*p) ? number * 10 + (uint64_t)(*p - '0') : 0;
			most = number > most ? number : most;
			if (most > PATTERN_REPEAT_MAX)
				return pattern_refuse(r, "a repetition of more than 64", err);
			p++;
		}
		/* Repetitions of repetitions multiply. */
		if (strchr(p, '{'))
			return pattern_refuse(r, "more than one repetition in braces", err);
	} else if (r->at[1] == '?' || r->at[1] == '+') {
		return pattern_refuse(r, "a lazy or possessive repetition", err);
	}
	buf_add_char(&r->posix, *r->at++);
	return 0;
}

static int pattern_read(struct pattern_reading *r, struct error *err)
{
	int rc = 0;
	if (strlen(r->text) > PATTERN_BYTES_MAX)
		return errorf(err, -EINVAL, "the pattern is longer than %d bytes", PATTERN_BYTES_MAX);
	while (rc == 0 && *r->at) {
		if (*r->at == '\\') {
			rc = pattern_escape(r, err);
		} else if (r->bracket) {
			r->bracket = *r->at != ']';
			buf_add_char(&r->posix, *r->at++);
		} else if (*r->at == '(') {
			rc = pattern_open_group(r, err);
		} else if (strchr("*+?{", *r->at)) {
			rc = pattern_repeat(r, err);
		} else if (*r->at == '[') {
			r->bracket = true;
			buf_add_char(&r->posix, *r->at++);
			if (*r->at == '^')
				buf_add_char(&r->posix, *r->at++);
			if (*r->at == ']')
				buf_add_char(&r->posix, *r->at++);
		} else {
			buf_add_char(&r->posix, *r->at++);
		}
	}
	if (rc == 0 && !r->named)
		rc = errorf(err, -EINVAL, "the pattern names no metric; write (?P<val_loss>[0-9.]+) around the number");
	return rc;
}

static int pattern_compile(const char *text, regex_t *ret, struct error *err)
{
	char why[128];
	int code = regcomp(ret, text, REG_EXTENDED);
	if (!code)
		return 0;
	regerror(code, ret, why, sizeof(why));
	return errorf(err, -EINVAL, "the pattern cannot be read: %s", why);
}

static void pattern_drop_names(char *names[PATTERN_GROUPS_MAX])
{
	for (size_t i = 0; i < PATTERN_GROUPS_MAX; i++)
		free(names[i]);
}

static void pattern_record(struct metrics_reader *reader, const char *text, size_t len)
{
	struct pattern *p = (struct pattern *)reader;
	regmatch_t found[PATTERN_GROUPS_MAX];
	const char *last = memrchr(text, '\r', len); /* of a line that was redrawn the last state counts */
	if (last) {
		len -= (size_t)(last + 1 - text);
		text = last + 1;
	}
	if (len > PATTERN_LINE_BYTES)
		return;
	char *line = mem_copy(text, len);
	if (++p->lines > PATTERN_FRESH_LINES) {
		p->lines = 0;
		regfree(&p->regex);
		if (pattern_compile(p->text, &p->regex, NULL) < 0)
			abort(); /* it was good before */
	}
	if (regexec(&p->regex, line, p->groups + 1, found, 0) == 0)
		for (size_t i = 1; i <= p->groups; i++) {
			double value;
			size_t from = (size_t)found[i].rm_so, size = (size_t)(found[i].rm_eo - found[i].rm_so);
			if (!p->names[i] || found[i].rm_so < 0)
				continue;
			if (number_parse(line + from, size, &value) == 0)
				metrics_add(reader, p->names[i], value);
			else
				metrics_complain(
					reader,
					"line %" PRIu64 ": '%.*s', which the pattern takes for %s, is not a number",
					reader->record_line, size < 40 ? (int)size : 40, line + from, p->names[i]);
		}
	metrics_give(reader);
	free(line);
}

static void pattern_free(struct metrics_reader *reader)
{
	struct pattern *p = (struct pattern *)reader;
	regfree(&p->regex);
	pattern_drop_names(p->names);
	free(p->text);
}

int metrics_open_pattern(const char *text, metrics_row_f row, void *ctx, struct metrics_reader **ret, struct error *err)
{
	static const struct metrics_ops ops = {.record = pattern_record, .free = pattern_free};
	struct pattern_reading r = {.text = text, .at = text, .posix = buf_make(BUF_UNLIMITED)};
	regex_t regex;
	int rc = pattern_read(&r, err);
	if (rc == 0)
		rc = pattern_compile(buf_text(&r.posix), &regex, err);
	if (rc < 0) {
		pattern_drop_names(r.names);
		buf_free(&r.posix);
		return rc;
	}
	struct pattern *p = metrics_reader_new(sizeof(*p), &ops, row, ctx);
	p->text = buf_take(&r.posix);
	p->regex = regex;
	p->groups = r.groups;
	memcpy(p->names, r.names, sizeof(p->names));
	*ret = &p->reader;
	return 0;
}

int metrics_check_pattern(const char *text, struct error *err)
{
	struct metrics_reader *reader;
	int rc = metrics_open_pattern(text, NULL, NULL, &reader, err);
	if (rc == 0)
		metrics_free(reader);
	return rc;
}
