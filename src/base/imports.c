/* See imports.h. A small reader of Python's tokens: comments, texts (also of three quotes), and names. A statement
 * begins after a new line outside of brackets, after ";" and after ":". */
#include "base/imports.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>

#define IMPORTS_MAX 1000
#define IMPORTS_NAME_BYTES 200
#define IMPORTS_PATH_BYTES 200
/* The arguments of a call are looked at so far: a text of many calls that are never closed is not read for each of them. */
#define IMPORTS_CALL_BYTES 2000

struct imports_reader {
	const char *begin, *at, *end;
	struct imports *ret;
	bool top; /* the statement stands in no block */
};

static bool imports_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void imports_skip_comment(struct imports_reader *r)
{
	while (r->at < r->end && *r->at != '\n')
		r->at++;
}

/* Blanks, also a line that goes on behind a backslash; `brackets`: lines and comments too. */
static void imports_skip_blanks(struct imports_reader *r, bool brackets)
{
	while (r->at < r->end) {
		if (*r->at == ' ' || *r->at == '\t' || *r->at == '\r' || (brackets && *r->at == '\n'))
			r->at++;
		else if (*r->at == '\\' && r->at + 1 < r->end && (r->at[1] == '\n' || r->at[1] == '\r'))
			r->at += 2;
		else if (brackets && *r->at == '#')
			imports_skip_comment(r);
		else
			return;
	}
}

/* A path below a folder without ".", "..", "//" and a slash at its end. NULL: it is not below it, or hidden. The caller
 * frees it. */
static char *imports_path(const char *text, size_t len)
{
	char path[IMPORTS_PATH_BYTES + 2];
	const char *end = text + len;
	size_t used = 0;
	if (!len || len > IMPORTS_PATH_BYTES || *text == '/')
		return NULL;
	while (text < end) {
		const char *slash = memchr(text, '/', (size_t)(end - text));
		size_t part = (size_t)((slash ? slash : end) - text);
		if (part == 2 && memcmp(text, "..", 2) == 0) {
			if (!used)
				return NULL;
			while (used && path[--used] != '/')
				;
		} else if (part && !(part == 1 && *text == '.')) {
			if (used)
				path[used++] = '/';
			memcpy(path + used, text, part);
			used += part;
		}
		text += part + (slash != NULL);
	}
	return used && *path != '.' ? mem_copy(path, used) : NULL;
}

/* named: what stands before it says that it is a path. */
static void imports_add_path(struct imports_reader *r, const char *text, size_t len, bool named)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || strchr("\\{}%*?:", text[i]))
			return;
	char *path = r->ret->paths.len < IMPORTS_MAX ? imports_path(text, len) : NULL;
	if (path && (named || strchr(path, '/') || strchr(path, '.')) && !text_ends(path, "."))
		vec_push(&r->ret->paths, path);
	else
		free(path);
}

/* @hydra.main(config_path="conf", config_name="config"): the folder has a bare name. The place of the word before the
 * quote among these; 3: none. */
static size_t imports_named(const struct imports_reader *r, const char *quote)
{
	static const char *const words[] = {"config_path", "config_dir", "config_name"};
	const char *p = quote;
	while (p > r->begin && (p[-1] == ' ' || p[-1] == '='))
		p--;
	for (size_t i = 0; p < quote && i < COUNT_OF(words); i++) {
		size_t len = strlen(words[i]);
		if ((size_t)(p - r->begin) >= len && memcmp(p - len, words[i], len) == 0)
			return i;
	}
	return COUNT_OF(words);
}

static const char *imports_skip_space(const struct imports_reader *r, const char *p)
{
	while (p < r->end && isspace((unsigned char)*p))
		p++;
	return p;
}

/* Behind the name in open("x", "w"): the text of the mode, which is the second value or mode=. NULL: it has none. */
static const char *imports_mode(const struct imports_reader *r, const char *p)
{
	const char *end = r->end - p > IMPORTS_CALL_BYTES ? p + IMPORTS_CALL_BYTES : r->end;
	long depth = 0;
	for (size_t commas = 0; p < end && depth >= 0; p++) {
		if (*p == '\'' || *p == '"') {
			const char *close = memchr(p + 1, *p, (size_t)(end - p - 1));
			p = close ? close : end - 1;
		} else if (strchr("([{", *p) && *p) {
			depth++;
		} else if (strchr(")]}", *p) && *p) {
			depth--;
		} else if (*p == ',' && depth == 0) {
			const char *value = imports_skip_space(r, p + 1);
			bool named = r->end - value > 4 && memcmp(value, "mode", 4) == 0;
			const char *equals = named ? imports_skip_space(r, value + 4) : value;
			named = named && equals < r->end && *equals == '=';
			if (named)
				value = imports_skip_space(r, equals + 1);
			if ((named || ++commas == 1) && value < r->end && (*value == '\'' || *value == '"'))
				return value + 1;
		}
	}
	return NULL;
}

/* Does the call around the text, which ends at `end`, read a file of this name? open("x", "w") writes it. */
static bool imports_is_read(const struct imports_reader *r, const char *quote, const char *end)
{
	static const char *const calls[] = {"open",       "read_csv",     "read_table", "read_parquet",
					    "read_excel", "read_pickle",  "loadtxt",    "genfromtxt",
					    "imread",     "scan_parquet", "scan_csv",   "ImageFolder"};
	const char *p = quote;
	while (p > r->begin && p[-1] == ' ')
		p--;
	if (p == r->begin || p[-1] != '(')
		return false;
	const char *last = --p;
	while (p > r->begin && imports_is_name(p[-1]))
		p--;
	size_t at = 0, len = (size_t)(last - p);
	while (at < COUNT_OF(calls) && !(strlen(calls[at]) == len && memcmp(calls[at], p, len) == 0))
		at++;
	const char *mode = at == 0 ? imports_mode(r, end) : NULL;
	for (; mode && mode < r->end && (isalpha((unsigned char)*mode) || *mode == '+'); mode++)
		if (strchr("wax+", *mode))
			return false;
	return at < COUNT_OF(calls);
}

static void imports_add_config(struct imports_reader *r, const char *text, size_t len, bool file)
{
	char *path = r->ret->configs.len < IMPORTS_MAX ? imports_path(text, len) : NULL;
	if (path)
		vec_push(&r->ret->configs, mem_printf("%s%s", path, file && !text_ends(path, ".yaml") ? ".yaml" : ""));
	free(path);
}

/* At a quote: behind the text that it begins. */
static void imports_skip_text(struct imports_reader *r, bool plain, bool raw)
{
	char quote = *r->at;
	size_t named = imports_named(r, r->at), paths = r->ret->paths.len;
	const char *quoted = r->at;
	size_t width = r->end - r->at >= 3 && r->at[1] == quote && r->at[2] == quote ? 3 : 1;
	const char *from = r->at += width;
	while (r->at < r->end) {
		if (*r->at == '\\' && !raw && r->at + 1 < r->end) {
			r->at += 2;
		} else if (*r->at == '\n' && width == 1) {
			return;
		} else if (*r->at == quote &&
			   (width == 1 || (r->end - r->at >= 3 && r->at[1] == quote && r->at[2] == quote))) {
			if (plain && width == 1)
				imports_add_path(r, from, (size_t)(r->at - from), named < 2);
			if (r->ret->paths.len > paths && imports_is_read(r, quoted, r->at + 1))
				vec_push(&r->ret->reads, mem_strdup(r->ret->paths.at[paths]));
			if (plain && width == 1 && named < 3)
				imports_add_config(r, from, (size_t)(r->at - from), named == 2);
			r->at += width;
			return;
		} else {
			r->at++;
		}
	}
}

/* A name with dots, also in front of it and between blanks; its length in out, 0: there is none. */
static size_t imports_take_dotted(struct imports_reader *r, bool brackets, char out[static IMPORTS_NAME_BYTES + 1])
{
	size_t len = 0;
	imports_skip_blanks(r, brackets);
	while (r->at < r->end && (imports_is_name(*r->at) || *r->at == '.')) {
		if (len < IMPORTS_NAME_BYTES)
			out[len++] = *r->at;
		r->at++;
	}
	out[len] = 0;
	return len;
}

static void imports_add_module(struct imports_reader *r, const char *base, const char *name)
{
	size_t len = strlen(base);
	if (r->ret->modules.len >= IMPORTS_MAX)
		return;
	bool joins = *name && len && base[len - 1] != '.';
	vec_push(&r->ret->modules, mem_printf("%s%s%s", base, joins ? "." : "", name));
	if (r->top)
		vec_push(&r->ret->top, mem_strdup(r->ret->modules.at[r->ret->modules.len - 1]));
}

/* Behind "import": names with commas, each maybe with "as x". `base`: behind "from base import". */
static void imports_take_list(struct imports_reader *r, const char *base)
{
	char name[IMPORTS_NAME_BYTES + 1];
	bool brackets = false;
	imports_skip_blanks(r, false);
	if (r->at < r->end && *r->at == '(') {
		brackets = true;
		r->at++;
	}
	while (imports_take_dotted(r, brackets, name)) {
		imports_add_module(r, base, name);
		imports_skip_blanks(r, brackets);
		if (r->end - r->at > 2 && memcmp(r->at, "as", 2) == 0 && !imports_is_name(r->at[2])) {
			r->at += 2;
			imports_take_dotted(r, brackets, name);
			imports_skip_blanks(r, brackets);
		}
		if (r->at >= r->end || *r->at != ',')
			return;
		r->at++;
	}
}

static void imports_take_from(struct imports_reader *r)
{
	char base[IMPORTS_NAME_BYTES + 1], word[IMPORTS_NAME_BYTES + 1];
	if (!imports_take_dotted(r, false, base) || !imports_take_dotted(r, false, word) || strcmp(word, "import") != 0)
		return;
	imports_add_module(r, base, "");
	imports_take_list(r, base);
}

static bool imports_is_prefix(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr("rRbBuUfF", word[i]))
			return false;
	return len <= 2;
}

/* At a name: an import, the prefix of a text, or any other word. */
static void imports_take_word(struct imports_reader *r, bool begins)
{
	const char *word = r->at;
	while (r->at < r->end && imports_is_name(*r->at))
		r->at++;
	size_t len = (size_t)(r->at - word);
	if (r->at < r->end && (*r->at == '"' || *r->at == '\'') && imports_is_prefix(word, len)) {
		bool raw = memchr(word, 'r', len) || memchr(word, 'R', len);
		bool other = memchr(word, 'b', len) || memchr(word, 'B', len) || memchr(word, 'f', len) ||
			memchr(word, 'F', len);
		imports_skip_text(r, !other, raw);
	} else if (begins && len == 6 && memcmp(word, "import", 6) == 0) {
		imports_take_list(r, "");
	} else if (begins && len == 4 && memcmp(word, "from", 4) == 0) {
		imports_take_from(r);
	}
}

void imports_read(const char *text, size_t len, struct imports *ret)
{
	struct imports_reader r = {text, text, text + len, ret, false};
	bool begins = true;
	long depth = 0;
	*ret = (struct imports){0};
	while (r.at < r.end) {
		char c = *r.at;
		if (r.at == r.begin || r.at[-1] == '\n')
			r.top = depth == 0 && c != ' ' && c != '\t';
		if (imports_is_name(c)) {
			imports_take_word(&r, begins && depth == 0);
			begins = false;
			continue;
		}
		if (c == '#') {
			imports_skip_comment(&r);
			continue;
		}
		if (c == '"' || c == '\'') {
			imports_skip_text(&r, true, false);
			begins = false;
			continue;
		}
		depth += strchr("([{", c) && c ? 1 : 0;
		depth -= strchr(")]}", c) && c && depth ? 1 : 0;
		r.top = r.top && (c != ':' || depth);
		if (c == '\n' || c == ';' || c == ':')
			begins = true;
		else if (c != ' ' && c != '\t' && c != '\r')
			begins = false;
		r.at++;
	}
}

void imports_free(struct imports *imports)
{
	for (size_t i = 0; i < imports->modules.len; i++)
		free(imports->modules.at[i]);
	for (size_t i = 0; i < imports->top.len; i++)
		free(imports->top.at[i]);
	for (size_t i = 0; i < imports->paths.len; i++)
		free(imports->paths.at[i]);
	for (size_t i = 0; i < imports->reads.len; i++)
		free(imports->reads.at[i]);
	for (size_t i = 0; i < imports->configs.len; i++)
		free(imports->configs.at[i]);
	free(imports->reads.at);
	free(imports->configs.at);
	free(imports->modules.at);
	free(imports->top.at);
	free(imports->paths.at);
	*imports = (struct imports){0};
}
