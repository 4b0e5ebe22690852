/* Does a script take no value from outside? Then all tasks of an experiment compute the same. Said only where nothing is
 * left open: a module that is not in the list, or a program that is started, may read the values. */
#include "script/reader.h"

#include "base/text.h"

#include <ctype.h>

static bool deaf_is_among(const char *at, size_t len, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == len && memcmp(*words, at, len) == 0)
			return true;
	return false;
}

/* Modules that take no parameters by themselves. */
static const char *const deaf_modules[] = {
	"abc",       "array",    "bisect",       "collections", "contextlib", "copy",      "csv",       "dataclasses",
	"datetime",  "enum",     "flax",         "functools",   "gc",         "gzip",      "hashlib",   "heapq",
	"itertools", "jax",      "json",         "keras",       "lightgbm",   "logging",   "math",      "matplotlib",
	"numpy",     "operator", "optax",        "os",          "pandas",     "pathlib",   "pickle",    "polars",
	"random",    "re",       "scipy",        "seaborn",     "shutil",     "signal",    "sklearn",   "statistics",
	"string",    "struct",   "sys",          "tempfile",    "tensorflow", "textwrap",  "threading", "time",
	"timeit",    "torch",    "torchmetrics", "torchvision", "tqdm",       "traceback", "typing",    "warnings",
	"xgboost",   "zipfile",  "__future__",   NULL};
/* Names that read what is given to the script, or run something that may. */
static const char *const deaf_readers[] = {"argv",   "orig_argv", "parse_args", "flags",   "FLAGS",   "system",
					   "popen",  "execv",     "execvp",     "execvpe", "execve",  "execl",
					   "execlp", "execle",    "spawnv",     "spawnl",  "spawnvp", "posix_spawn",
					   "fork",   "environb",  NULL};
/* The same unless they are methods, as in model.eval(). */
static const char *const deaf_builtins[] = {"exec", "eval", "__import__", NULL};

/* Only modules of the list; an import that is not understood is none. */
static bool deaf_imports(const struct lex *lex)
{
	for (size_t i = 0, start = 0; i + 1 < lex->len; i++) {
		start = lex->at[i].first ? i : start;
		bool from = lex_is(&lex->at[i], "from");
		if (!from && !lex_is(&lex->at[i], "import"))
			continue;
		/* The second word of `from x import y`, or behind a colon: the latter is not known. */
		if (start != i) {
			if (from ? !lex_is(&lex->at[start], "yield") && !lex_is(&lex->at[start], "raise")
				 : !lex_is(&lex->at[start], "from"))
				return false;
			continue;
		}
		for (size_t k = i + 1; lex->at[k].kind != LEX_NEWLINE && lex->at[k].kind != LEX_END; k++) {
			bool starts = k == i + 1 || lex_is(&lex->at[k - 1], ",");
			if (starts && !deaf_is_among(lex->at[k].at, lex->at[k].len, deaf_modules))
				return false;
			if (from)
				break;
		}
	}
	return true;
}

/* The name in environ["LR"], environ.get("LR") and getenv("LR"); NULL: it is computed, or all are taken. */
static char *deaf_variable(const struct lex *lex, size_t i)
{
	size_t k = i + 1;
	if (lex_is(&lex->at[i], "environ") && lex_is(&lex->at[k], ".") &&
	    (lex_is(&lex->at[k + 1], "get") || lex_is(&lex->at[k + 1], "setdefault")))
		k += 2;
	bool opens = lex_is(&lex->at[k], "[") || lex_is(&lex->at[k], "(");
	if (!opens || lex->at[k + 1].kind != LEX_STRING || !lex->at[k + 1].plain ||
	    (!lex_is(&lex->at[k + 2], "]") && !lex_is(&lex->at[k + 2], ")") && !lex_is(&lex->at[k + 2], ",")))
		return NULL;
	struct buf text = buf_make(200);
	lex_add_string(&lex->at[k + 1], &text);
	return buf_take(&text);
}

static bool deaf_is_local(const char *name)
{
	return name && !text_starts(name, "SLUICE") && !text_starts(name, "SLURM");
}

void python_read_deaf(struct reader *r, const char *text, size_t len)
{
	const struct lex *lex = r->lex;
	if (r->script->reads || lex->wrong || !lex->len || memmem(text, len, "sluice", 6) ||
	    memmem(text, len, "SLUICE", 6) || memmem(text, len, "params.json", 11) || !deaf_imports(lex))
		return;
	char *variable = NULL;
	bool deaf = true;
	for (size_t i = 0; deaf && i + 3 < lex->len; i++) {
		const struct lex_word *word = &lex->at[i];
		if (word->kind != LEX_NAME)
			continue;
		bool imported = i && lex_is(word - 1, "import"); /* from os import environ */
		if (!imported && (lex_is(word, "environ") || lex_is(word, "getenv"))) {
			char *name = deaf_variable(lex, i);
			deaf = deaf_is_local(name);
			if (variable || !deaf) {
				free(name);
			} else {
				variable = name;
				r->script->variable_line = word->line;
			}
		} else {
			bool method = i && lex_is(word - 1, ".");
			deaf = !deaf_is_among(word->at, word->len, deaf_readers) &&
				(method || !deaf_is_among(word->at, word->len, deaf_builtins));
		}
	}
	r->script->deaf = deaf;
	if (deaf)
		r->script->variable = variable;
	else
		free(variable);
}

/* Words that begin a command of a shell script which reads nothing from outside by itself. */
static const char *const deaf_commands[] = {
	"!",      "[",        "[[",    "]]",    "break", "case",  "cat",   "cd",   "continue", "cp",
	"date",   "declare",  "do",    "done",  "echo",  "elif",  "else",  "esac", "exit",     "export",
	"false",  "fi",       "for",   "if",    "in",    "let",   "local", "ls",   "mkdir",    "mv",
	"printf", "readonly", "rm",    "seq",   "set",   "sleep", "test",  "then", "touch",    "trap",
	"true",   "ulimit",   "unset", "until", "wait",  "while", "{",     "}",    NULL};

/* The words of one line up to a sign that ends a command. */
static bool deaf_line(const char *at, const char *end)
{
	bool begins = true;
	while (at < end) {
		size_t n = 0;
		while (at + n < end && !strchr(" \t;|&()`", at[n]))
			n++;
		if (n && begins && *at == '#')
			return true;
		const char *equals = n ? memchr(at, '=', n) : NULL;
		if (n && begins && !equals && !deaf_is_among(at, n, deaf_commands))
			return false;
		static const char *const again[] = {"do",    "then",  "else", "if", "elif",
						    "while", "until", "!",    "{",  NULL};
		if (n && !equals)
			begins = begins && deaf_is_among(at, n, again);
		at += n;
		if (at < end && strchr(";|&()`", *at))
			begins = true;
		at++;
	}
	return true;
}

void shell_read_deaf(const char *text, struct script *script)
{
	size_t len = strlen(text);
	if (script->reads || memmem(text, len, "SLU", 3) || memmem(text, len, "sluice", 6) || strstr(text, "<<") ||
	    strstr(text, "params.json") || strstr(text, "\\\n"))
		return;
	for (const char *p = strchr(text, '$'); p; p = strchr(p + 1, '$')) {
		const char *name = p + 1 + (p[1] == '{');
		name += *name == '#' || *name == '!';
		if (isdigit((unsigned char)*name) || *name == '@' || *name == '*' || p[1] == '#')
			return;
	}
	for (const char *line = text; *line;) {
		size_t size = strcspn(line, "\n");
		if (!deaf_line(line, line + size))
			return;
		line += size + (line[size] == '\n');
	}
	script->deaf = len > 0;
}
