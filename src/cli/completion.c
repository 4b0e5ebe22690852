/* Completion scripts for bash, zsh and fish, written from the verbs' tables. Ids of experiments come from
 * the hidden verb __ids, which never starts a daemon, names of strategies from __strategies. */
#include "cli/help.h"

#include "base/text.h"
#include "cli/verbs.h"

#include <errno.h>

enum completion_kind { COMPLETION_NONE, COMPLETION_WORDS, COMPLETION_FILES, COMPLETION_STRATEGIES };

/* What an option's value or a verb's arguments look like, from the words that describe them. */
static enum completion_kind completion_kind_of(const char *value)
{
	if (strchr(value, '|') && !strchr(value, ' '))
		return COMPLETION_WORDS;
	if (strstr(value, "FILE") || strstr(value, "PATH") || strstr(value, "DIR") || strstr(value, "SCRIPT"))
		return COMPLETION_FILES;
	if (strcmp(value, "STRATEGY") == 0)
		return COMPLETION_STRATEGIES;
	return COMPLETION_NONE;
}

/* "a|b|c..." as "a b c" */
static void completion_add_words(struct buf *out, const char *value)
{
	for (; *value && strcmp(value, "...") != 0; value++)
		buf_add_char(out, *value == '|' ? ' ' : *value);
}

static bool completion_takes_ids(const struct verb *verb)
{
	return verb->arguments && text_starts(verb->arguments, "ID");
}

/* The verbs whose argument is one of a few words: "create NAME | list | revoke ID" */
static void completion_add_actions(struct buf *out, const struct verb *verb)
{
	if (!verb->arguments || !strstr(verb->arguments, " | ") ||
	    !strchr("abcdefghijklmnopqrstuvwxyz", verb->arguments[0]))
		return;
	for (const char *p = verb->arguments; p; p = strstr(p, " | ")) {
		p += text_starts(p, " | ") ? 3 : 0;
		buf_add(out, p, strcspn(p, " "));
		buf_add_char(out, ' ');
	}
}

/* Inside single quotes. */
static void completion_add_quoted(struct buf *out, const char *text, const char *quote)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_add_text(out, quote);
		else
			buf_add_char(out, *text);
	}
}

static void completion_bash_verb(struct buf *out, const struct verb *verb)
{
	struct buf actions = buf_make(1024);
	buf_addf(out, "\t%s)\n\t\tcase $before in\n", verb->name);
	for (const struct verb_option *option = verb->options; option && option->name; option++) {
		char letter;
		const char *name;
		if (!option->value)
			continue;
		options_names(option, &letter, &name);
		buf_add_text(out, "\t\t");
		if (letter)
			buf_addf(out, "-%c%s", letter, name ? "|" : "");
		buf_addf(out, "%s%s) ", name ? "--" : "", name ? name : "");
		if (completion_kind_of(option->value) == COMPLETION_WORDS) {
			buf_add_text(out, "COMPREPLY=($(compgen -W '");
			completion_add_words(out, option->value);
			buf_add_text(out, "' -- \"$word\"));");
		} else if (completion_kind_of(option->value) == COMPLETION_FILES) {
			buf_add_text(out, "compopt -o default;");
		} else if (completion_kind_of(option->value) == COMPLETION_STRATEGIES) {
			buf_add_text(
				out,
				"COMPREPLY=($(compgen -W \"$(sluice __strategies 2>/dev/null | cut -f1)\" -- \"$word\"));");
		}
		buf_add_text(out, " return ;;\n");
	}
	buf_add_text(out, "\t\tesac\n\t\toptions='");
	for (const struct verb_option *option = verb->options; option && option->name; option++) {
		char letter;
		const char *name;
		options_names(option, &letter, &name);
		if (letter)
			buf_addf(out, "-%c ", letter);
		if (name)
			buf_addf(out, "--%s ", name);
	}
	completion_add_actions(&actions, verb);
	buf_addf(out, "--help'\n\t\twords='%s'\n", buf_text(&actions));
	if (completion_takes_ids(verb))
		buf_add_text(out, "\t\twords=$(sluice __ids 2>/dev/null | cut -f1)\n");
	if (verb->arguments && completion_kind_of(verb->arguments) == COMPLETION_FILES)
		buf_add_text(out, "\t\tcompopt -o default\n");
	buf_add_text(out, "\t\t;;\n");
	buf_free(&actions);
}

static void completion_write_bash(struct buf *out)
{
	const struct verb *verb;
	buf_add_text(out,
		     "# bash completion for sluice\n_sluice()\n{\n"
		     "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= words=\n"
		     "\tCOMPREPLY=()\n"
		     /* bash takes --pass=env apart: the word before is the "=", or this one is. */
		     "\tif [[ $before == '=' ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
		     "\tif [[ $word == '=' ]]; then word=; fi\n"
		     "\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -W '");
	for (size_t i = 0; (verb = cli_verb(i)); i++)
		if (!verb->hidden)
			buf_addf(out, "%s ", verb->name);
	buf_add_text(out,
		     "--help --version --licences' -- \"$word\"))\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; (verb = cli_verb(i)); i++)
		if (!verb->hidden)
			completion_bash_verb(out, verb);
	buf_add_text(out,
		     "\tesac\n\tif [[ $word == -* ]]; then\n\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
		     "\telse\n\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n\tfi\n}\n"
		     "complete -F _sluice sluice\n");
}

/* zsh gives [ ] and : a meaning inside an option's description. */
static void completion_add_zsh_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'') {
			buf_add_text(out, "'\\''");
			continue;
		}
		if (strchr("[]:\\", *text))
			buf_add_char(out, '\\');
		buf_add_char(out, *text);
	}
}

static void completion_zsh_option(struct buf *out, const struct verb_option *option)
{
	char letter;
	const char *name;
	bool repeats = option->value && text_ends(option->value, "...");
	options_names(option, &letter, &name);
	for (int i = 0; i < 2; i++) {
		if (i == 0 ? !letter : !name)
			continue;
		buf_add_text(out, " \\\n\t\t\t'");
		if (repeats)
			buf_add_char(out, '*');
		if (i == 0)
			buf_addf(out, "-%c", letter);
		else
			buf_addf(out, "--%s%s", name, option->value ? "=" : "");
		buf_add_char(out, '[');
		completion_add_zsh_text(out, option->help);
		buf_add_char(out, ']');
		if (option->value && completion_kind_of(option->value) == COMPLETION_WORDS) {
			buf_add_text(out, ":value:(");
			completion_add_words(out, option->value);
			buf_add_char(out, ')');
		} else if (option->value) {
			static const char *const by_kind[] = {[COMPLETION_NONE] = " ",
							      [COMPLETION_FILES] = "_files",
							      [COMPLETION_STRATEGIES] = "_sluice_strategies"};
			buf_addf(out, ":value:%s", by_kind[completion_kind_of(option->value)]);
		}
		buf_add_char(out, '\'');
	}
}

static void completion_zsh_verb(struct buf *out, const struct verb *verb)
{
	struct buf actions = buf_make(1024);
	completion_add_actions(&actions, verb);
	buf_addf(out, "\t\t%s)\n\t\t_arguments -s '--help[show help]'", verb->name);
	for (const struct verb_option *option = verb->options; option && option->name; option++)
		completion_zsh_option(out, option);
	if (completion_takes_ids(verb))
		buf_add_text(out, " '*:id:_sluice_ids'");
	else if (actions.len)
		buf_addf(out, " '1:action:(%s)'", buf_text(&actions));
	else if (verb->arguments && completion_kind_of(verb->arguments) == COMPLETION_FILES)
		buf_add_text(out, " '*:file:_files'");
	buf_add_text(out, "\n\t\t;;\n");
	buf_free(&actions);
}

/* A function that completes what the hidden verb __WHAT prints: "word<tab>description". */
static void completion_zsh_asked(struct buf *out, const char *what, const char *one)
{
	buf_addf(out,
		 "_sluice_%s() {\n\tlocal -a found\n\tfound=(${${(f)\"$(sluice __%s 2>/dev/null)\"}//$'\\t'/:})\n"
		 "\t_describe %s found\n}\n",
		 what, what, one);
}

static void completion_write_zsh(struct buf *out)
{
	const struct verb *verb;
	buf_add_text(out, "#compdef sluice\n");
	completion_zsh_asked(out, "ids", "id");
	completion_zsh_asked(out, "strategies", "strategy");
	buf_add_text(out,
		     "_sluice() {\n\tlocal line state\n\t_arguments -C '1:verb:->verb' '*::arg:->args'\n"
		     "\tcase $state in\n\tverb)\n\t\tlocal -a verbs\n\t\tverbs=(");
	for (size_t i = 0; (verb = cli_verb(i)); i++) {
		if (verb->hidden)
			continue;
		buf_addf(out, "\n\t\t\t'%s:", verb->name);
		completion_add_zsh_text(out, verb->summary);
		buf_add_char(out, '\'');
	}
	buf_add_text(out, ")\n\t\t_describe verb verbs\n\t\t;;\n\targs)\n\t\tcase $line[1] in\n");
	for (size_t i = 0; (verb = cli_verb(i)); i++)
		if (!verb->hidden)
			completion_zsh_verb(out, verb);
	buf_add_text(out,
		     "\t\tesac\n\t\t;;\n\tesac\n}\n"
		     "if [ \"$funcstack[1]\" = _sluice ]; then _sluice \"$@\"; else compdef _sluice sluice; fi\n");
}

static void completion_fish_option(struct buf *out, const struct verb *verb, const struct verb_option *option)
{
	char letter;
	const char *name;
	options_names(option, &letter, &name);
	buf_addf(out, "complete -c sluice -n '__fish_seen_subcommand_from %s'", verb->name);
	if (letter)
		buf_addf(out, " -s %c", letter);
	if (name)
		buf_addf(out, " -l %s", name);
	buf_add_text(out, " -d '");
	completion_add_quoted(out, option->help, "\\'");
	buf_add_char(out, '\'');
	if (option->value && completion_kind_of(option->value) == COMPLETION_WORDS) {
		buf_add_text(out, " -x -a '");
		completion_add_words(out, option->value);
		buf_add_char(out, '\'');
	} else if (option->value) {
		static const char *const by_kind[] = {
			[COMPLETION_NONE] = " -x",
			[COMPLETION_FILES] = " -r -F",
			[COMPLETION_STRATEGIES] = " -x -a '(sluice __strategies 2>/dev/null)'"};
		buf_add_text(out, by_kind[completion_kind_of(option->value)]);
	}
	buf_add_char(out, '\n');
}

static void completion_write_fish(struct buf *out)
{
	const struct verb *verb;
	buf_add_text(out, "# fish completion for sluice\ncomplete -c sluice -f\n");
	for (size_t i = 0; (verb = cli_verb(i)); i++) {
		struct buf actions = buf_make(1024);
		if (verb->hidden)
			continue;
		buf_addf(out, "complete -c sluice -n __fish_use_subcommand -a %s -d '", verb->name);
		completion_add_quoted(out, verb->summary, "\\'");
		buf_add_text(out, "'\n");
		for (const struct verb_option *option = verb->options; option && option->name; option++)
			completion_fish_option(out, verb, option);
		completion_add_actions(&actions, verb);
		if (completion_takes_ids(verb))
			buf_addf(
				out,
				"complete -c sluice -n '__fish_seen_subcommand_from %s' -a '(sluice __ids 2>/dev/null)'\n",
				verb->name);
		else if (actions.len)
			buf_addf(out, "complete -c sluice -n '__fish_seen_subcommand_from %s' -a '%s'\n", verb->name,
				 buf_text(&actions));
		else if (verb->arguments && completion_kind_of(verb->arguments) == COMPLETION_FILES)
			buf_addf(out, "complete -c sluice -n '__fish_seen_subcommand_from %s' -F\n", verb->name);
		buf_free(&actions);
	}
}

int help_write_completion(const char *shell, struct buf *out)
{
	if (strcmp(shell, "bash") == 0)
		completion_write_bash(out);
	else if (strcmp(shell, "zsh") == 0)
		completion_write_zsh(out);
	else if (strcmp(shell, "fish") == 0)
		completion_write_fish(out);
	else
		return -EINVAL;
	return 0;
}
