/* See script.h. */
#include "script/script.h"

#include "base/text.h"
#include "script/reader.h"
#include "script/syntax.h"

enum language { LANGUAGE_OTHER, LANGUAGE_PYTHON, LANGUAGE_SHELL, LANGUAGE_MAKE };

static enum language script_language(const char *name, const char *text)
{
	if (text_ends(name, ".py"))
		return LANGUAGE_PYTHON;
	if (text_ends(name, ".sh") || text_ends(name, ".bash"))
		return LANGUAGE_SHELL;
	if (text_ends(name, "Makefile") || text_ends(name, "makefile") || text_ends(name, ".mk"))
		return LANGUAGE_MAKE;
	if (!text_starts(text, "#!"))
		return LANGUAGE_OTHER;
	size_t len = strcspn(text, "\n");
	if (memmem(text, len, "python", 6))
		return LANGUAGE_PYTHON;
	return memmem(text, len, "sh", 2) ? LANGUAGE_SHELL : LANGUAGE_OTHER;
}

static void script_read_python(const char *text, size_t len, struct script *script)
{
	struct lex lex;
	lex_read(text, len, &lex);
	bool old = text_starts(text, "#!") && memmem(text, strcspn(text, "\n"), "python2", 7);
	if (!old)
		syntax_check(&lex);
	struct reader reader = {.lex = &lex, .script = script};
	python_read(&reader);
	python_read_metrics(&reader, text);
	python_read_deaf(&reader, text, len);
	if (!old && lex.wrong) {
		script->wrong = mem_printf("syntax error: %s", lex.wrong);
		script->wrong_line = lex.wrong_line;
		script->sure = false;
	}
	lex_free(&lex);
}

/* make takes NAME=value for every variable. */
static void script_read_make(struct script *ret)
{
	ret->reads = SCRIPT_OVERRIDES;
	ret->parser = "make";
	ret->parser_line = 1;
}

/* Python reads such lines; a shell takes the \r as part of the last word. */
static bool script_has_windows_ends(const char *text)
{
	size_t len = strcspn(text, "\n");
	return text[len] && len && text[len - 1] == '\r';
}

static void script_refuse_ends(const char *name, struct script *ret)
{
	ret->wrong = mem_printf(
		"the lines end as on Windows (\\r\\n), which the shell does not read; `sed -i 's/\\r$//' %s` "
		"makes them right",
		name);
	ret->wrong_line = 1;
}

void script_read(const char *name, const char *text, size_t len, struct script *ret)
{
	*ret = (struct script){0};
	enum language language = script_language(name, text);
	ret->seeds = memmem(text, len, "SLUICE_SEED", 11) || memmem(text, len, "sluice.seed(", 12);
	if (text_ends(name, ".ipynb"))
		ret->wrong = mem_printf(
			"this is a notebook, not a script; `jupyter nbconvert --to script %s` makes one", name);
	if (language == LANGUAGE_OTHER)
		return;
	if (memchr(text, 0, len)) {
		ret->wrong = mem_strdup("this is a binary file, not the text of a script");
		return;
	}
	if (text_utf8_check(text, len) != len) { /* Python refuses it unless its first lines name the encoding */
		if (language == LANGUAGE_PYTHON && !memmem(text, len < 200 ? len : 200, "coding", 6))
			ret->wrong = mem_strdup("the text is not UTF-8");
		return;
	}
	if (language == LANGUAGE_PYTHON)
		script_read_python(text, len, ret);
	else if (language == LANGUAGE_MAKE)
		script_read_make(ret);
	else if (script_has_windows_ends(text))
		script_refuse_ends(name, ret);
	else
		shell_read(text, ret);
	if (language == LANGUAGE_SHELL && !ret->wrong)
		shell_read_deaf(text, ret);
}

static void argument_free(struct script_argument *argument)
{
	free(argument->name);
	free(argument->flag);
	free(argument->off);
	for (size_t i = 0; i < argument->others.len; i++)
		free(argument->others.at[i]);
	free(argument->others.at);
	free(argument->command);
	free(argument->help);
	node_free(argument->fallback);
	node_free(argument->choices);
}

void script_narrow(struct script *script, const char *subcommand)
{
	size_t kept = 0, word = subcommand ? strcspn(subcommand, " ") : 0;
	for (size_t i = 0; i < script->arguments.len; i++) {
		struct script_argument *argument = &script->arguments.at[i];
		bool same = !argument->command || !subcommand ||
			(strlen(argument->command) == word && memcmp(argument->command, subcommand, word) == 0);
		if (same)
			script->arguments.at[kept++] = *argument;
		else
			argument_free(argument);
	}
	script->arguments.len = kept;
}

void script_free(struct script *script)
{
	for (size_t i = 0; i < script->arguments.len; i++)
		argument_free(&script->arguments.at[i]);
	for (size_t i = 0; i < script->columns.len; i++)
		free(script->columns.at[i]);
	for (size_t i = 0; i < script->commands.len; i++)
		free(script->commands.at[i]);
	free(script->commands.at);
	free(script->arguments.at);
	free(script->columns.at);
	free(script->writers.at);
	free(script->metric);
	free(script->metric_from);
	free(script->wrong);
	free(script->variable);
	*script = (struct script){0};
}

/* Does the flag begin with this name? batch-size and batch_size are one name. */
static bool script_flag_begins(const char *flag, const char *name)
{
	flag += strspn(flag, "-");
	for (; *name; flag++, name++)
		if ((*flag == '-' ? '_' : *flag) != (*name == '-' ? '_' : *name))
			return false;
	return true;
}

static bool script_flag_is(const char *flag, const char *name)
{
	return flag && script_flag_begins(flag, name) && strlen(flag + strspn(flag, "-")) == strlen(name);
}

static bool argument_has_other(const struct script_argument *argument, const char *name)
{
	for (size_t i = 0; i < argument->others.len; i++)
		if (script_flag_is(argument->others.at[i], name))
			return true;
	return false;
}

static bool argument_is(const struct script_argument *argument, const char *name)
{
	return script_flag_is(argument->name, name) || script_flag_is(argument->flag, name) ||
		script_flag_is(argument->off, name) || argument_has_other(argument, name);
}

static bool argument_begins(const struct script_argument *argument, const char *name)
{
	bool begins = argument->flag && text_starts(argument->flag, "--") && script_flag_begins(argument->flag, name);
	for (size_t i = 0; i < argument->others.len && !begins; i++)
		begins = text_starts(argument->others.at[i], "--") && script_flag_begins(argument->others.at[i], name);
	return begins;
}

bool script_means_off(const struct script_argument *argument, const char *name)
{
	if (!argument->off || strcmp(argument->name, name) == 0)
		return false;
	return script_flag_is(argument->off, name) || (!argument->flag && argument_has_other(argument, name));
}

const struct script_argument *script_find(const struct script *script, const char *name)
{
	const struct script_argument *found = NULL;
	for (size_t i = 0; i < script->arguments.len; i++)
		if (argument_is(&script->arguments.at[i], name))
			return &script->arguments.at[i];
	for (size_t i = 0; script->abbreviates && i < script->arguments.len; i++) {
		if (!argument_begins(&script->arguments.at[i], name))
			continue;
		if (found)
			return NULL; /* it begins two */
		found = &script->arguments.at[i];
	}
	return found;
}

bool script_is_abbreviation(const struct script *script, const char *name)
{
	for (size_t i = 0; i < script->arguments.len; i++)
		if (argument_is(&script->arguments.at[i], name))
			return false;
	return script_find(script, name) != NULL;
}

const char *script_pass(const struct script *script)
{
	switch (script->reads) {
	case SCRIPT_FLAGS: return "flags";
	case SCRIPT_POSITIONS: return "positional";
	case SCRIPT_OVERRIDES: return "overrides";
	case SCRIPT_ENVIRONMENT: return "env";
	case SCRIPT_UNKNOWN: break;
	}
	return NULL;
}
