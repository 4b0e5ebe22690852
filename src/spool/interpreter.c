/* See interpreter.h. */
#include "spool/interpreter.h"

#include "base/mem.h"
#include "base/text.h"

#include <string.h>

static const struct interpreter {
	const char *name; /* without a version */
	const char *suffix, *program; /* NULL: not chosen by us */
	const char *option; /* before the script; NULL: none */
} interpreters[] = {
	{"python", ".py", "python3", NULL}, {"bash", ".sh", "bash", NULL}, {"Rscript", ".R", "Rscript", NULL},
	{"julia", ".jl", "julia", NULL},    {"perl", ".pl", "perl", NULL}, {"make", "Makefile", "make", "-f"},
	{"make", "makefile", "make", "-f"}, {"make", ".mk", "make", "-f"}, {"sh", NULL, NULL, NULL},
	{"Rscript", ".r", "Rscript", NULL}, {"node", ".js", "node", NULL}, {"node", ".mjs", "node", NULL},
	{"ruby", ".rb", "ruby", NULL},      {"lua", ".lua", "lua", NULL},
};

const char *spool_interpreter_of(const char *script)
{
	for (size_t i = 0; i < COUNT_OF(interpreters); i++)
		if (interpreters[i].suffix && text_ends(script, interpreters[i].suffix))
			return interpreters[i].program;
	return NULL;
}

const char *spool_interpreter_option(const char *script)
{
	for (size_t i = 0; i < COUNT_OF(interpreters); i++)
		if (interpreters[i].suffix && text_ends(script, interpreters[i].suffix))
			return interpreters[i].option;
	return NULL;
}

bool spool_is_interpreter(const char *program)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;
	for (size_t i = 0; i < COUNT_OF(interpreters); i++) {
		size_t len = strlen(interpreters[i].name);
		const char *version = name + len;
		if (strncmp(name, interpreters[i].name, len) == 0 && strspn(version, "0123456789.") == strlen(version))
			return true;
	}
	return false;
}

/* Words of a line, as env -S splits them without quotes. `whole`: all of it is one word, as the kernel passes an argument. */
static void shebang_add_words(struct node *list, const char *text, size_t len, bool whole)
{
	while (len) {
		size_t n = whole ? len : 0;
		while (n < len && text[n] != ' ' && text[n] != '\t')
			n++;
		char *word = mem_copy(text, n);
		node_add(list, NULL, node_new_string(word));
		free(word);
		text += n;
		len -= n;
		for (; len && (*text == ' ' || *text == '\t'); len--)
			text++;
	}
}

struct node *spool_read_shebang(const char *text, size_t len)
{
	const char *end = text + len, *newline = memchr(text, '\n', len);
	if (len < 3 || text[0] != '#' || text[1] != '!' || memchr(text, 0, newline ? (size_t)(newline - text) : len))
		return NULL;
	if (newline)
		end = newline;
	while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	for (text += 2; text < end && (*text == ' ' || *text == '\t');)
		text++;
	size_t first = 0;
	while (text + first < end && text[first] != ' ' && text[first] != '\t')
		first++;
	const char *rest = text + first;
	while (rest < end && (*rest == ' ' || *rest == '\t'))
		rest++;
	if (!first)
		return NULL;
	struct node *words = node_new(NODE_LIST);
	bool env = first >= 4 && memcmp(text + first - 4, "/env", 4) == 0;
	bool split = env && end - rest > 3 && memcmp(rest, "-S ", 3) == 0;
	if (!env)
		shebang_add_words(words, text, first, true);
	for (rest += split ? 3 : 0; rest < end && (*rest == ' ' || *rest == '\t');)
		rest++;
	shebang_add_words(words, rest, (size_t)(end - rest), !env);
	if (!words->count) {
		node_free(words);
		return NULL;
	}
	return words;
}
