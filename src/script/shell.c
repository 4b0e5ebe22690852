/* Flags of a shell script: the patterns of a case over its arguments (--lr=*), --lr)), and getopts. */
#include "script/reader.h"

#include "base/limits.h"

#include <ctype.h>

/* One alternative of a pattern, "--lr" or "--lr=*". False: it is no flag. */
static bool shell_flag(const char *from, size_t len, char **ret_flag, bool *ret_joined)
{
	*ret_joined = len > 2 && from[len - 1] == '*' && from[len - 2] == '=';
	len -= *ret_joined ? 2 : 0;
	if (len < 2 || from[0] != '-' || (from[1] != '-' && len != 2))
		return false;
	for (size_t i = 1; i < len; i++)
		if (!isalnum((unsigned char)from[i]) && from[i] != '-' && from[i] != '_' && from[i] != '.')
			return false;
	if (len == 2 && !isalpha((unsigned char)from[1]))
		return false;
	*ret_flag = mem_copy(from, len);
	return true;
}

/* The pattern of a case at the start of a line: "-l|--lr)" with the body up to ";;". */
static void shell_pattern(struct script *script, const char *line, size_t len, const char *body, unsigned number)
{
	char *best = NULL;
	bool joined = false, any_joined = false;
	for (const char *p = line, *end = line + len; p < end;) {
		size_t n = 0;
		while (p + n < end && p[n] != '|')
			n++;
		const char *from = p;
		size_t size = n;
		while (size && (isspace((unsigned char)*from) || *from == '('))
			from++, size--;
		while (size && isspace((unsigned char)from[size - 1]))
			size--;
		char *flag;
		if (shell_flag(from, size, &flag, &joined)) {
			any_joined |= joined;
			if (!best || (strlen(flag) > 2 && strlen(best) == 2)) {
				free(best);
				best = flag;
			} else {
				free(flag);
			}
		}
		p += n + 1;
	}
	if (!best)
		return;
	const char *stop = strstr(body, ";;");
	size_t size = stop ? (size_t)(stop - body) : strlen(body);
	bool takes = memmem(body, size, "$2", 2) || memmem(body, size, "${2", 3);
	struct script_argument *same = NULL;
	for (size_t i = 0; i < script->arguments.len; i++)
		if (strcmp(script->arguments.at[i].flag, best) == 0)
			same = &script->arguments.at[i];
	enum script_shape shape = any_joined ? SCRIPT_VALUE : takes ? SCRIPT_SPACED : SCRIPT_SWITCH;
	if (same)
		same->shape = same->shape == SCRIPT_SPACED || shape == SCRIPT_SPACED ? SCRIPT_SPACED : shape;
	else
		same = reader_add(script, best, shape, number);
	if (same && shape == SCRIPT_SWITCH)
		same->type = SCRIPT_BOOL;
	free(best);
}

/* getopts "l:e:v": a letter takes a value where a colon follows. */
static void shell_getopts(struct script *script, const char *at, unsigned number)
{
	at += strspn(at, " \t");
	if (*at != '"' && *at != '\'')
		return;
	for (const char *p = at + 1; *p && *p != *at && *p != '\n'; p++) {
		if (!isalpha((unsigned char)*p))
			continue;
		char flag[] = {'-', *p, 0};
		reader_add(script, flag, p[1] == ':' ? SCRIPT_SPACED : SCRIPT_SWITCH, number);
	}
}

/* alpha=$1, beta="${2:-0.5}" at the start of a line: values by their places. Inside a function, which is indented, $1 is
 * another. */
static void shell_places(struct script *script, const char *line, size_t len, unsigned number)
{
	const char *end = line + len;
	for (const char *p = line; p < end;) {
		const char *name = p;
		while (p < end && (isalnum((unsigned char)*p) || *p == '_'))
			p++;
		size_t size = (size_t)(p - name);
		if (!size || isdigit((unsigned char)*name) || p == end || *p != '=')
			return;
		p++;
		p += p < end && *p == '"';
		if (p == end || *p++ != '$')
			return;
		p += p < end && *p == '{';
		if (p == end || *p < '1' || *p > '9')
			return;
		char *text = mem_copy(name, size);
		struct script_argument *argument = reader_add(script, text, SCRIPT_PLACE, number);
		free(text);
		if (argument)
			argument->place = *p - '0';
		while (p < end && *p != ' ' && *p != ';')
			p++;
		while (p < end && (*p == ' ' || *p == ';'))
			p++;
	}
}

static void shell_read_places(const char *text, struct script *script)
{
	unsigned number = 0;
	for (const char *line = text; line && *line;) {
		const char *next = strchr(line, '\n');
		shell_places(script, line, next ? (size_t)(next - line) : strlen(line), ++number);
		line = next ? next + 1 : NULL;
	}
	if (script->arguments.len)
		script->reads = SCRIPT_POSITIONS;
}

/* The patterns in a part of a line, each with its body: `--lr) lr=$2; shift 2;; --epochs) …` */
static void shell_patterns(struct script *script, const char *at, const char *end, unsigned number)
{
	while (at && at < end) {
		at += strspn(at, " \t");
		const char *close = at < end ? memchr(at, ')', (size_t)(end - at)) : NULL;
		if (!close)
			return;
		if (*at == '-' || *at == '(')
			shell_pattern(script, at, (size_t)(close - at), close + 1, number);
		const char *next = memmem(close, (size_t)(end - close), ";;", 2);
		at = next ? next + 2 : NULL;
	}
}

/* Where the patterns of a line begin: at its start, or after `case "$1" in `. NULL: it has none. A line may have an "in"
 * before the case: `for a in "$@"; do case $a in --lr=*) …` */
static const char *shell_find_patterns(const char *line, size_t len)
{
	const char *end = line + len, *start = line + strspn(line, " \t");
	if (start < end && (*start == '-' || *start == '('))
		return start;
	const char *word = memmem(line, len, "case ", 5);
	const char *in = word ? memmem(word, (size_t)(end - word), " in ", 4) : NULL;
	return in ? in + 4 : NULL;
}

void shell_read(const char *text, struct script *script)
{
	unsigned number = 0;
	for (const char *line = text; line && *line;) {
		const char *next = strchr(line, '\n');
		size_t len = next ? (size_t)(next - line) : strlen(line);
		const char *start = line + strspn(line, " \t");
		number++;
		const char *getopts = memmem(line, len, "getopts ", 8);
		if (*start != '#' && getopts)
			shell_getopts(script, getopts + 8, number);
		else if (*start != '#')
			shell_patterns(script, shell_find_patterns(line, len), line + len, number);
		if (memmem(line, len, "SLUICE_PARAM", 12) && !script->reads)
			script->reads = SCRIPT_ENVIRONMENT;
		line = next ? next + 1 : NULL;
	}
	if (script->arguments.len) {
		script->reads = SCRIPT_FLAGS;
		script->parser = "case";
	} else if (!script->reads) {
		shell_read_places(text, script);
	}
}
