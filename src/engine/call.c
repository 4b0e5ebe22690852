/* See call.h. */
#include "engine/call.h"

#include "engine/spec.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/text.h"
#include "spool/interpreter.h"

#include <strings.h>
#include <unistd.h>

static void call_push(struct node *argv, char *take)
{
	node_add(argv, NULL, node_new_string(take));
	free(take);
}

char *call_text(const struct node *value)
{
	if (value->type == NODE_BOOL)
		return mem_strdup(value->boolean ? "true" : "false");
	return mem_strdup(value->string ? value->string : "");
}

/* true, 1, "yes"; everything else is false. */
static bool call_is_true(const struct node *value)
{
	if (value->type == NODE_BOOL)
		return value->boolean;
	if (node_is_number(value))
		return value->real != 0;
	const char *text = node_string(value);
	return text && (strcasecmp(text, "true") == 0 || strcasecmp(text, "yes") == 0 || strcasecmp(text, "on") == 0);
}

/* The word with {} replaced by the text. */
static void call_add_word(struct node *argv, const char *word, size_t len, const char *text, size_t text_len)
{
	const char *hole = memmem(word, len, "{}", 2);
	size_t before = hole ? (size_t)(hole - word) : len, after = hole ? len - before - 2 : 0;
	call_push(argv,
		  mem_printf("%.*s%.*s%.*s", (int)before, word, hole ? (int)text_len : 0, text, (int)after,
			     hole ? hole + 2 : ""));
}

static void call_add_words(struct node *argv, const char *how, size_t len, const char *text, size_t text_len)
{
	for (size_t i = 0; i < len;) {
		size_t word = strcspn(how + i, " ");
		word = word < len - i ? word : len - i;
		if (word)
			call_add_word(argv, how + i, word, text, text_len);
		i += word + 1;
	}
}

/* The words of a text that holds several values: "64 64". */
static const char *call_next_value(const char *text, size_t *ret_len)
{
	text += strspn(text, " ");
	*ret_len = strcspn(text, " ");
	return text;
}

/* Appends the arguments of one value. `how` is made of words in which {} is the value. A text with spaces is several
 * values where `how` ends with " {}..." (--sizes 64 64) or with " ..." (--size=64 --size=64). A form without {} is a
 * switch: ON, ON/OFF or /OFF. */
static void call_add(struct node *argv, const char *how, const struct node *value)
{
	size_t len = strlen(how), n;
	if (!strstr(how, "{}")) {
		size_t on = strcspn(how, "/");
		if (call_is_true(value) && on)
			call_push(argv, mem_copy(how, on));
		else if (!call_is_true(value) && how[on] && how[on + 1])
			call_push(argv, mem_strdup(how + on + 1));
		return;
	}
	char *text = call_text(value);
	if (text_ends(how, " {}...")) {
		call_add_words(argv, how, len - strlen(" {}..."), "", 0);
		for (const char *p = call_next_value(text, &n); n; p = call_next_value(p + n, &n))
			call_push(argv, mem_copy(p, n));
	} else if (text_ends(how, " ...")) {
		for (const char *p = call_next_value(text, &n); n; p = call_next_value(p + n, &n))
			call_add_words(argv, how, len - strlen(" ..."), p, n);
	} else {
		call_add_words(argv, how, len, text, strlen(text));
	}
	free(text);
}

const char *call_check(const char *how)
{
	if (strcmp(how, CALL_IN_COMMAND) == 0 || strcmp(how, CALL_ENV) == 0)
		return NULL;
	if (!*how || how[strspn(how, " ")] == 0)
		return "write \"--lr={}\", \"--lr {}\", \"lr={}\", \"--on/--off\", \"{}\", or env";
	if (strpbrk(how, "\n\r\t"))
		return "write it on one line";
	if (!strstr(how, "{}") && (strchr(how, ' ') || (*how != '-' && *how != '/')))
		return "write where the value goes, as in \"--lr={}\"; a switch is \"--on\" or \"--on/--off\"";
	return NULL;
}

const char *call_said(const struct spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->argument_count; i++)
		if (strcmp(spec->arguments[i].name, name) == 0)
			return spec->arguments[i].how;
	return NULL;
}

/* How this parameter is passed, for example "--batch-size={}". It comes from `arguments`, or else from `pass`, `style`
 * and `separator`. NULL: it is not an argument, or it is positional. The caller frees it. */
static char *call_how(const struct spec *spec, const char *name)
{
	const char *said = call_said(spec, name);
	if (said)
		return strcmp(said, CALL_IN_COMMAND) == 0 || strcmp(said, CALL_ENV) == 0 ? NULL : mem_strdup(said);
	if (spec->pass == SPEC_PASS_OVERRIDES)
		return mem_printf("%s={}", name);
	if (spec->pass != SPEC_PASS_FLAGS)
		return NULL;
	char *how = mem_printf("--%s%s{}", name, spec->spaced ? " " : "=");
	for (char *p = how; spec->style != SPEC_STYLE_UNDERSCORE && *p && *p != '=' && *p != ' '; p++)
		if (*p == '_')
			*p = '-';
	return how;
}

void call_add_all(struct node *argv, const struct spec *spec, const struct node *params)
{
	/* What goes by its place stands before flags that take several values. */
	for (int flags = 0; flags < 2; flags++) {
		for (size_t i = 0; i < params->count; i++) {
			const struct node *value = params->items[i];
			bool said = call_said(spec, value->key) != NULL;
			char *how = call_how(spec, value->key);
			bool placed = how ? text_starts(how, "{}") : !said && spec_passes_places(spec);
			if (placed == !flags && how)
				call_add(argv, how, value);
			else if (placed == !flags && placed)
				call_push(argv, call_text(value));
			free(how);
		}
	}
}

char *call_next_placeholder(const char *from, const char **ret_begin, const char **ret_end)
{
	for (const char *p = strchr(from, '{'); p; p = strchr(p + 1, '{')) {
		if (p[1] == '{' || (p > from && (p[-1] == '$' || p[-1] == '{'))) {
			p += p[1] == '{';
			continue;
		}
		const char *end = strchr(p, '}');
		char *name = end ? mem_copy(p + 1, (size_t)(end - p - 1)) : NULL;
		if (name && text_is_identifier(name, LIMIT_NAME_BYTES)) {
			*ret_begin = p;
			*ret_end = end + 1;
			return name;
		}
		free(name);
	}
	return NULL;
}

/* {{name}} is {name} as it stands. */
static void call_add_plain(struct buf *out, const char *from, const char *to)
{
	while (from < to) {
		const char *end = from[0] == '{' && from + 1 < to && from[1] == '{'
			? memmem(from, (size_t)(to - from), "}}", 2)
			: NULL;
		char *name = end ? mem_copy(from + 2, (size_t)(end - from - 2)) : NULL;
		if (name && text_is_identifier(name, LIMIT_NAME_BYTES)) {
			buf_addf(out, "{%s}", name);
			from = end + 2;
		} else {
			buf_add_char(out, *from++);
		}
		free(name);
	}
}

char *call_fill(const struct spec *spec, const char *word, const struct node *params)
{
	struct buf out = buf_make(BUF_UNLIMITED);
	const char *begin, *end, *from = word;
	bool placed = false;
	for (size_t i = 0; i < spec->argument_count; i++)
		placed |= strcmp(spec->arguments[i].how, CALL_IN_COMMAND) == 0;
	for (char *name; placed && (name = call_next_placeholder(from, &begin, &end)); from = end) {
		const char *said = call_said(spec, name);
		const struct node *value = node_get(params, name);
		call_add_plain(&out, from, begin);
		if (said && strcmp(said, CALL_IN_COMMAND) == 0) {
			char *text = value ? call_text(value) : mem_strdup(""); /* its condition is not met */
			buf_add_text(&out, text);
			free(text);
		} else {
			buf_add(&out, begin, (size_t)(end - begin));
		}
		free(name);
	}
	if (placed)
		call_add_plain(&out, from, from + strlen(from));
	else
		buf_add_text(&out, from); /* of an experiment without placeholders: nothing in it means anything */
	return out.len ? buf_take(&out) : mem_strdup("");
}

void call_write(const struct node *argv, struct buf *out)
{
	for (size_t i = 0; i < argv->count; i++) {
		const char *word = argv->items[i]->string;
		buf_add_text(out, i ? " " : "");
		if (*word &&
		    !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%")])
			buf_add_text(out, word);
		else
			text_shell_quote(out, word);
	}
}

/* Does the program that the script names in its first line take the place of the usual one? Not where the user says which
 * Python, where the script is a program itself, or where that program is not here (node/environment.c). */
static bool call_is_named(const struct spec *spec, const char *usual, const char *named)
{
	bool said = spec->python && strcmp(spec->python, "auto") != 0 && strcmp(spec->python, "none") != 0;
	return !strchr(usual, '/') && !(said && text_starts(usual, "python")) &&
		(!strchr(named, '/') || access(named, X_OK) == 0);
}

struct node *call_as_run(const struct node *argv, const struct spec *spec, const char *script)
{
	struct node *words = spec->script && script ? spool_read_shebang(script, strlen(script)) : NULL;
	struct node *run = node_new(NODE_LIST);
	bool named = words && argv->count && call_is_named(spec, argv->items[0]->string, words->items[0]->string);
	for (size_t i = 0; named && i < words->count; i++)
		node_add(run, NULL, node_new_string(words->items[i]->string));
	for (size_t i = named ? 1 : 0; i < argv->count; i++)
		node_add(run, NULL, node_new_string(argv->items[i]->string));
	node_free(words);
	return run;
}
